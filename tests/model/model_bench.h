/* For the tests of the model: exploring a configuration in the time there is, and single steps by hand. */
#ifndef MODEL_BENCH_H
#define MODEL_BENCH_H

#include "bound.h"
#include "model.h"
#include "ts_check.h"

#include <string.h>

/* Of each kind one. */
#define MAIN_FAULTS                                                                                                    \
    [LOSSES] = 1, [LAPSES] = 1, [EXPIRIES] = 1, [CANCELS] = 1, [REMOVALS] = 1, [TOUCHES] = 1, [ABANDONS] = 1

static uint64_t explored;        /* in all */
static bool explored_all = true; /* of every configuration */

struct model_row {
    const char *name;
    uint64_t least; /* states */
    struct model_config config;
};

/* Explore all of it, or as much as there is time for (bound.h). */
static inline void keeps_promises(const struct model_row *row) {
    struct model_config config = row->config;
    config.max_states = model_bound(10000);
    struct model_result r = model_explore(&config, stdout);
    printf("        %s: %llu states, %llu transitions, depth %u, %.1f s%s\n", row->name,
           (unsigned long long)r.search.states, (unsigned long long)r.search.steps, r.search.depth, r.search.seconds,
           r.search.complete ? "" : ", not all");
    explored += r.search.states;
    explored_all = explored_all && r.search.complete;
    if (config.max_states && r.broken && strcmp(r.broken, "not vacuous") == 0)
        return; /* breadth first: the part that is cut off may hold what was to be seen */
    ck_assert_msg(!r.broken, "%s: %s", r.broken, r.detail);
    ck_assert(r.search.complete || config.max_states != 0);
    ck_assert_uint_ge(r.search.states, r.search.complete ? row->least : config.max_states);
}

static inline void explored_in_all(uint64_t at_least) {
    printf("        %llu states in all\n", (unsigned long long)explored);
    ck_assert_uint_ge(explored, explored_all ? at_least : 30000);
}

/* ---- by hand */

static struct model m;
static struct model_state s;

static inline void begin_with(struct model_config config) {
    model_init(&m, &config);
    model_begin(&m, &s);
}

static inline void go(enum model_action_kind kind, int32_t client) {
    model_apply(&m, &s, search_act(kind, client, 0));
    ck_assert_msg(!m.broken, "%s: %s", m.broken, m.detail);
}

/* Two requests are executed, and their answers arrive. */
static inline void ask_two(int32_t client) {
    for (int i = 0; i < 4; i++)
        go(i < 2 ? EXECUTE : DELIVER, client);
}

/* Connect, create, list, and hear of it. */
static inline void be_granted(int32_t client) {
    go(CONNECT, client);
    ask_two(client);
    ck_assert_int_eq(s.clients[client].entries[0].grant.hold, MODEL_GRANTED);
}

/* Against the core, if need be: the client has been granted what it asked for, and took it. */
static inline void believe(int32_t client) {
    s.clients[client].entries[0].grant = (struct model_grant){.hold = MODEL_TAKEN, .valid = true};
}

static inline void check_coding(struct model_state *back) {
    uint8_t once[SEARCH_PACKED], again[SEARCH_PACKED];
    size_t size = model_pack(&m, &s, once);
    model_unpack(&m, back, once, size);
    ck_assert_uint_eq(model_pack(&m, back, again), size);
    ck_assert_mem_eq(once, again, size);
}

#endif
