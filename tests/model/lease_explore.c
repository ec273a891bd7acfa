/* All states of a unit before any of the next, so that the first counter-example is the earliest. A state that was seen in an
 * earlier unit was followed from there already, and farther. */
#include "lease_model.h"

#include <string.h>

enum { RECOVERS_EACH = 64 }; /* one state in this many is brought back to health */

static void begin(void *of, void *state) {
    (void)of;
    lease_begin(state);
}

static size_t possible(const void *of, const void *state, search_action actions[SEARCH_ACTIONS]) {
    return (size_t)lease_possible(of, state, actions);
}

static const char *apply(void *of, void *state, search_action a) {
    struct lease_model *m = of;
    lease_apply(m, state, a);
    return m->broken;
}

static bool is_tick(search_action a) { return lease_kind_of(a) == LEASE_TICK; }

static const char *check_recovers(void *of, const uint8_t *bytes, size_t size, uint64_t hash) {
    struct lease_model *m = of;
    struct lease_state s;
    struct lease_seen seen = m->seen; /* counts what the exploration does */
    if (hash % RECOVERS_EACH != 0)
        return NULL;
    memcpy(&s, bytes, size);
    lease_check_recovers(m, &s);
    m->seen = seen;
    return m->broken;
}

static void replay(void *of, const search_action *path, int steps, FILE *out) {
    const struct lease_model *found = of;
    const struct lease_config *config = &found->config;
    struct lease_model m;
    struct lease_state s;
    int32_t time = 0;
    fprintf(out, "Broken: %s (%s)\nUnits of time: half a tick is %d, the timeout %d; the client's clock goes %d/16.\n",
            found->broken, found->detail, config->half, config->timeout, config->rate);
    fprintf(out, "   0  client    begins to open a session\n");
    lease_init(&m, config);
    lease_begin(&s);
    for (int i = 0; i < steps && !m.broken; i++) {
        struct lease_state before = s;
        lease_apply(&m, &s, path[i]);
        time += is_tick(path[i]);
        lease_tell(&m, &before, &s, path[i], time, out);
    }
    if (!m.broken) {
        fprintf(out, "From here on all goes well, and barriers are sent every T/10:\n");
        lease_check_recovers(&m, &s);
    } else {
        lease_tell_end(&m, &s, time, out);
    }
    fprintf(out, "Broken: %s (%s)\n", m.broken ? m.broken : "NOT REPRODUCED", m.detail);
}

struct lease_result lease_explore(const struct lease_config *config, FILE *out) {
    struct lease_model m;
    struct search_model model = {.of = &m,
                                 .size = sizeof(struct lease_state),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .goes_deeper = is_tick,
                                 .is_new = check_recovers,
                                 .replay = replay,
                                 .most = config->max_states,
                                 .depths = config->horizon};
    lease_init(&m, config);
    struct lease_result result = {.search = search(&model, out)};
    const char *vacuous = m.broken ? NULL : lease_vacuous(&m);
    result.broken = vacuous ? "not vacuous" : m.broken;
    memcpy(result.detail, m.detail, sizeof result.detail);
    if (vacuous)
        snprintf(result.detail, sizeof result.detail, "it proves nothing: %s", vacuous);
    result.seen = m.seen;
    result.closest = (double)m.seen.closest / (double)m.config.unit;
    return result;
}
