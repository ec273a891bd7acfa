/* Breadth first over the states of the model, so that the first counter-example is a shortest one.
 *
 * A state is kept as bits, and only while it waits to be expanded. For the way back every state keeps its parent and the
 * action that led there, 6 bytes; a counter-example is replayed from the beginning, telling what happens. */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One state in this many is packed again after unpacking, one in that many brought to rest by ordinary actions alone. */
enum { RECODE_EACH = 1024, CONVERGE_EACH = 256 };
enum { PROGRESS_EACH = 10000000 };

/* Instead of a last action: the state broke because no action was left. */
enum { NOTHING_MORE = UINT16_MAX };

struct child {
    uint64_t hash;
    size_t size;
    model_action action;
    uint8_t bytes[MODEL_PACKED];
};

struct explorer {
    struct model m;
    struct model_visited visited;
    struct model_frontier now, next; /* this depth, and the next */
    uint32_t *parents;
    model_action *actions;
    uint64_t room;
    struct child children[MODEL_ENABLED]; /* of the state that is being expanded */
    FILE *out;
    double began;
    struct model_result result;
};

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *grown(void *memory, size_t size) {
    void *larger = realloc(memory, size);
    if (!larger)
        abort();
    return larger;
}

static void note_origin(struct explorer *x, uint64_t parent, model_action a) {
    uint64_t id = x->result.states++;
    if (id >= x->room) {
        x->room = x->room * 2 + (1 << 16);
        x->parents = grown(x->parents, x->room * sizeof *x->parents);
        x->actions = grown(x->actions, x->room * sizeof *x->actions);
    }
    x->parents[id] = (uint32_t)parent;
    x->actions[id] = a;
}

static void tell_progress(struct explorer *x) {
    double seconds = seconds_now() - x->began;
    if (x->m.config.progress && x->result.states % PROGRESS_EACH == 0) {
        fprintf(x->m.config.progress, "%4llu million states, depth %u, %.0f s, %.0f states/s\n",
                (unsigned long long)(x->result.states / 1000000), x->result.depth, seconds,
                (double)x->result.states / seconds);
        fflush(x->m.config.progress);
    }
}

/* An unpacked state must pack to the same bits, or states would be confused. */
static void check_codec(struct explorer *x, const uint8_t *bytes, size_t size) {
    uint8_t again[MODEL_PACKED];
    struct model_state s;
    model_unpack(&x->m, &s, bytes, size);
    if (model_pack(&x->m, &s, again) != size || memcmp(bytes, again, size) != 0) {
        fprintf(stderr, "model: a state does not survive its coding\n");
        abort();
    }
}

static void check_converges(struct explorer *x, const struct child *child) {
    struct model_seen seen = x->m.seen; /* counts what the exploration does */
    struct model_state s;
    model_unpack(&x->m, &s, child->bytes, child->size);
    model_check_converges(&x->m, &s);
    x->m.seen = seen;
}

static void pack(struct explorer *x, struct model_state *s, struct child *child, model_action a) {
    child->action = a;
    child->size = model_pack(&x->m, s, child->bytes);
    child->hash = model_hash(child->bytes, child->size);
    model_visited_fetch(&x->visited, child->hash);
}

static void add(struct explorer *x, const struct child *child, uint64_t parent) {
    if (!model_visited_add(&x->visited, child->hash))
        return;
    note_origin(x, parent, child->action);
    model_frontier_push(&x->next, child->bytes, child->size);
    if (child->hash % RECODE_EACH == 0)
        check_codec(x, child->bytes, child->size);
    if (child->hash % CONVERGE_EACH == 0)
        check_converges(x, child);
    if (x->result.states % PROGRESS_EACH == 0)
        tell_progress(x);
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

static void replay(struct explorer *x, uint64_t id, model_action last) {
    struct model_config config = x->m.config;
    static struct model m;
    struct model_state s;
    model_action path[4096];
    int steps = 0;
    print_legend(&x->m, x->out);
    if (last != NOTHING_MORE)
        path[steps++] = last;
    for (; id != 0 && steps < 4096; id = x->parents[id])
        path[steps++] = x->actions[id];
    model_init(&m, &config);
    model_begin(&m, &s);
    m.transcript = x->out;
    for (int32_t i = 0; i < MODEL_CLIENTS; i++)
        m.told[i][0] = 1;
    for (int i = 0; i < steps && !m.broken; i++) {
        int32_t before = s.fake.tree.count;
        model_print_action(&m, &s, i + 1, path[steps - 1 - i]);
        model_apply(&m, &s, path[steps - 1 - i]);
        if (s.fake.tree.count != before)
            model_print_directory(&m, &s);
    }
    if (!m.broken && last == NOTHING_MORE) {
        model_check_rest(&m, &s);
    } else if (!m.broken) {
        fprintf(x->out, "From here on the ordinary course, without end:\n");
        model_check_converges(&m, &s);
    }
    fprintf(x->out, "Broken: %s (%s). At this moment:\n", m.broken ? m.broken : "NOT REPRODUCED", m.detail);
    model_print_state(&m, &s);
}

/* ---- the search */

/* All successors are packed first, so that the memory of the visited ones is fetched meanwhile. */
static void expand(struct explorer *x, const struct model_state *s, uint64_t id) {
    model_action enabled[MODEL_ENABLED];
    size_t count = model_enabled(&x->m, s, enabled);
    bool at_rest = true;
    for (size_t i = 0; i < count; i++) {
        struct model_state child;
        model_copy(&child, s);
        at_rest = at_rest && model_kind(enabled[i]) >= ORDINARY;
        x->result.transitions++;
        model_apply(&x->m, &child, enabled[i]);
        if (x->m.broken) {
            replay(x, id, enabled[i]);
            return;
        }
        pack(x, &child, &x->children[i], enabled[i]);
    }
    for (size_t i = 0; i < count; i++) {
        add(x, &x->children[i], id);
        if (x->m.broken) {
            replay(x, id, enabled[i]);
            return;
        }
    }
    x->result.at_rest += at_rest;
    if (at_rest)
        model_check_rest(&x->m, s);
    if (x->m.broken)
        replay(x, id, NOTHING_MORE);
}

static bool is_full(const struct explorer *x) {
    return x->m.config.max_states != 0 && x->result.states >= x->m.config.max_states;
}

static void search(struct explorer *x) {
    uint64_t id = 0;
    uint8_t bytes[MODEL_PACKED];
    while (x->next.first && !x->m.broken && !is_full(x)) {
        struct model_frontier empty = x->now;
        x->now = x->next;
        x->next = empty;
        for (size_t size; !x->m.broken && !is_full(x) && (size = model_frontier_pop(&x->now, bytes)) != 0;) {
            struct model_state s;
            model_unpack(&x->m, &s, bytes, size);
            expand(x, &s, id++);
        }
        x->result.depth++;
    }
    x->result.complete = !x->m.broken && !is_full(x);
}

static struct model_result finish(struct explorer *x) {
    struct model_result result = x->result;
    model_visited_free(&x->visited);
    model_frontier_free(&x->now);
    model_frontier_free(&x->next);
    free(x->parents);
    free(x->actions);
    free(x);
    return result;
}

struct model_result model_explore(const struct model_config *config, FILE *out) {
    struct explorer *x = calloc(1, sizeof *x);
    struct model_state s;
    if (!x)
        abort();
    x->began = seconds_now();
    x->out = out;
    model_init(&x->m, config);
    model_visited_init(&x->visited);
    model_begin(&x->m, &s);
    pack(x, &s, &x->children[0], 0);
    add(x, &x->children[0], 0);
    search(x);
    x->result.broken = x->m.broken;
    memcpy(x->result.detail, x->m.detail, sizeof x->result.detail);
    x->result.seen = x->m.seen;
    if (!x->m.broken && model_vacuous(&x->m)) {
        x->result.broken = "not vacuous";
        snprintf(x->result.detail, sizeof x->result.detail, "it proves nothing: %s", model_vacuous(&x->m));
    }
    x->result.seconds = seconds_now() - x->began;
    return finish(x);
}
