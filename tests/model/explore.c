/* One state in this many is packed again after unpacking, one in that many brought to rest by ordinary actions alone. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { RECODE_EACH = 1024, CONVERGE_EACH = 256 };

/* ---- the model, as search.h wants it */

static void begin(void *of, void *state) { model_begin(of, state); }

static size_t possible(const void *of, const void *state, search_action actions[SEARCH_ACTIONS]) {
    return model_enabled(of, state, actions);
}

static const char *apply(void *of, void *state, search_action a) {
    struct model *m = of;
    model_apply(m, state, a);
    return m->broken;
}

static size_t pack(void *of, void *state, uint8_t bytes[SEARCH_PACKED]) { return model_pack(of, state, bytes); }

static void unpack(void *of, void *state, const uint8_t *bytes, size_t size) { model_unpack(of, state, bytes, size); }

static void copy(void *to, const void *from) { model_copy(to, from); }

/* An unpacked state must pack to the same bits, or states would be confused. */
static void check_codec(const struct model *m, const uint8_t *bytes, size_t size) {
    uint8_t again[SEARCH_PACKED];
    struct model_state s;
    model_unpack(m, &s, bytes, size);
    if (model_pack(m, &s, again) != size || memcmp(bytes, again, size) != 0) {
        fprintf(stderr, "model: a state does not survive its coding\n");
        abort();
    }
}

static void check_converges(struct model *m, const uint8_t *bytes, size_t size) {
    struct model_seen seen = m->seen; /* counts what the exploration does */
    struct model_state s;
    model_unpack(m, &s, bytes, size);
    model_check_converges(m, &s);
    m->seen = seen;
}

static const char *is_new(void *of, const uint8_t *bytes, size_t size, uint64_t hash) {
    struct model *m = of;
    if (hash % RECODE_EACH == 0)
        check_codec(m, bytes, size);
    if (hash % CONVERGE_EACH == 0)
        check_converges(m, bytes, size);
    return m->broken;
}

static bool is_at_rest(const search_action *actions, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (model_kind(actions[i]) < ORDINARY)
            return false;
    return true;
}

static const char *check_rest(void *of, const void *state, const search_action *actions, size_t count) {
    struct model *m = of;
    if (!is_at_rest(actions, count))
        return NULL;
    m->at_rest++;
    model_check_rest(m, state);
    return m->broken;
}

/* ---- the counter-example */

static void print_legend(struct model *m, FILE *out) {
    fprintf(out, "Broken: %s (%s)\n", m->broken, m->detail);
    fprintf(out,
            "Clients A to %c, one directory %s. A#0 is A's node with sequence 0, A' A's second contender in the queue, "
            "A1 A's\n"
            "first thread. ──► is sent, ◄── arrives; a session's requests are executed and answered in order.\n",
            'A' + m->config.clients - 1, MODEL_DIRECTORY);
    if (m->config.budgets[DOWNGRADES] != 0)
        fprintf(out, "A~#0 is the reader's node that takes over from A#0 when A only reads from then on.\n");
}

static void print_steps(struct model *m, struct model_state *s, const search_action *path, int steps) {
    for (int i = 0; i < steps && !m->broken; i++) {
        int32_t before = s->fake.tree.count;
        model_print_action(m, s, i + 1, path[i]);
        model_apply(m, s, path[i]);
        if (s->fake.tree.count != before)
            model_print_directory(m, s);
    }
}

static void replay(void *of, const search_action *path, int steps, FILE *out) {
    static struct model m;
    struct model *found = of;
    struct model_state s;
    search_action actions[SEARCH_ACTIONS];
    print_legend(found, out);
    model_init(&m, &found->config);
    model_begin(&m, &s);
    m.transcript = out;
    for (int32_t i = 0; i < MODEL_CLIENTS; i++)
        m.told[i][0] = 1;
    print_steps(&m, &s, path, steps);
    if (!m.broken && is_at_rest(actions, model_enabled(&m, &s, actions))) {
        model_check_rest(&m, &s);
    } else if (!m.broken) {
        fprintf(out, "From here on the ordinary course, without end:\n");
        model_check_converges(&m, &s);
    }
    fprintf(out, "Broken: %s (%s). At this moment:\n", m.broken ? m.broken : "NOT REPRODUCED", m.detail);
    model_print_state(&m, &s);
}

struct model_result model_explore(const struct model_config *config, FILE *out) {
    struct model m;
    struct search_model model = {.of = &m,
                                 .size = sizeof(struct model_state),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .pack = pack,
                                 .unpack = unpack,
                                 .copy = copy,
                                 .is_new = is_new,
                                 .expanded = check_rest,
                                 .replay = replay,
                                 .most = config->max_states,
                                 .progress = config->progress};
    model_init(&m, config);
    struct model_result result = {.search = search(&model, out)};
    const char *vacuous = m.broken ? NULL : model_vacuous(&m);
    result.at_rest = m.at_rest;
    result.broken = vacuous ? "not vacuous" : m.broken;
    memcpy(result.detail, m.detail, sizeof result.detail);
    if (vacuous)
        snprintf(result.detail, sizeof result.detail, "it proves nothing: %s", vacuous);
    result.seen = m.seen;
    return result;
}
