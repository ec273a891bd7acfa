/* Breadth first: all states of a unit before any of the next, so that the first counter-example is the earliest. A state that
 * was seen in an earlier unit was followed from there already, and farther. */
#include "lease_model.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RECOVERS_EACH = 64,    /* one state in this many is brought back to health */
    IN_PLACE = UINT16_MAX, /* instead of a last action: it broke without one */
};

struct layer {
    struct lease_state *states;
    uint32_t *ids;
    size_t count, room;
};

struct explorer {
    struct lease_model m;
    struct model_visited visited;
    struct layer now, next; /* this unit and the next */
    uint32_t *parents;
    lease_action *actions;
    uint64_t room;
    struct lease_result result;
};

static void *grown(void *memory, size_t size) {
    void *larger = realloc(memory, size);
    if (!larger)
        abort();
    return larger;
}

static void push(struct layer *layer, const struct lease_state *s, uint32_t id) {
    if (layer->count == layer->room) {
        layer->room = layer->room * 2 + 1024;
        layer->states = grown(layer->states, layer->room * sizeof *layer->states);
        layer->ids = grown(layer->ids, layer->room * sizeof *layer->ids);
    }
    layer->states[layer->count] = *s;
    layer->ids[layer->count++] = id;
}

static uint32_t note_origin(struct explorer *x, uint32_t parent, lease_action a) {
    uint64_t id = x->result.states++;
    if (id >= x->room) {
        x->room = x->room * 2 + (1 << 16);
        x->parents = grown(x->parents, x->room * sizeof *x->parents);
        x->actions = grown(x->actions, x->room * sizeof *x->actions);
    }
    x->parents[id] = parent;
    x->actions[id] = a;
    return (uint32_t)id;
}

static uint64_t hash_of(const struct lease_state *s) {
    uint64_t words[sizeof *s / sizeof(uint64_t)], hash = UINT64_C(0x9e3779b97f4a7c15);
    _Static_assert(sizeof words == sizeof *s, "a state is whole words");
    memcpy(words, s, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0xd6e8feb86659fd93);
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- the counter-example */

static void replay(struct explorer *x, uint32_t id, lease_action last, FILE *out) {
    const struct lease_config *config = &x->m.config;
    struct lease_model m;
    struct lease_state s;
    lease_action path[4096];
    int32_t steps = 0, time = 0;
    fprintf(out, "Broken: %s (%s)\nUnits of time: half a tick is %d, the timeout %d; the client's clock goes %d/16.\n",
            x->m.broken, x->m.detail, config->half, config->timeout, config->rate);
    fprintf(out, "   0  client    begins to open a session\n");
    if (last != IN_PLACE)
        path[steps++] = last;
    for (; id != 0 && steps < 4096; id = x->parents[id])
        path[steps++] = x->actions[id];
    lease_init(&m, config);
    lease_begin(&s);
    while (steps > 0 && !m.broken) {
        struct lease_state before = s;
        lease_action a = path[--steps];
        lease_apply(&m, &s, a);
        time += lease_kind_of(a) == LEASE_TICK;
        lease_tell(&m, &before, &s, a, time, out);
    }
    if (!m.broken) {
        fprintf(out, "From here on all goes well, and barriers are sent every T/10:\n");
        lease_check_recovers(&m, &s);
    } else {
        lease_tell_end(&m, &s, time, out);
    }
    fprintf(out, "Broken: %s (%s)\n", m.broken ? m.broken : "NOT REPRODUCED", m.detail);
}

/* ---- the search */

static void check_recovers(struct explorer *x, const struct lease_state *s, uint32_t id, FILE *out) {
    struct lease_seen seen = x->m.seen; /* counts what the exploration does */
    lease_check_recovers(&x->m, s);
    x->m.seen = seen;
    if (x->m.broken)
        replay(x, id, IN_PLACE, out);
}

static void expand(struct explorer *x, size_t at, FILE *out) {
    lease_action actions[LEASE_POSSIBLE];
    struct lease_state s = x->now.states[at];
    uint32_t id = x->now.ids[at];
    int32_t count = lease_possible(&x->m, &s, actions);
    for (int32_t i = 0; i < count && !x->m.broken; i++) {
        struct lease_state child = s;
        x->result.transitions++;
        lease_apply(&x->m, &child, actions[i]);
        if (x->m.broken) {
            replay(x, id, actions[i], out);
            return;
        }
        uint64_t hash = hash_of(&child);
        if (!model_visited_add(&x->visited, hash))
            continue;
        uint32_t new = note_origin(x, id, actions[i]);
        push(lease_kind_of(actions[i]) == LEASE_TICK ? &x->next : &x->now, &child, new);
        if (hash % RECOVERS_EACH == 0)
            check_recovers(x, &child, new, out);
    }
}

static bool is_full(const struct explorer *x) {
    return x->m.config.max_states != 0 && x->result.states >= x->m.config.max_states;
}

static bool is_over(const struct explorer *x) {
    int32_t horizon = x->m.config.horizon;
    return x->m.broken || is_full(x) || (horizon != 0 && x->result.units > horizon);
}

static void search(struct explorer *x, FILE *out) {
    while (x->next.count != 0 && !is_over(x)) {
        struct layer done = x->now;
        x->now = x->next;
        x->next = done;
        x->next.count = 0;
        for (size_t at = 0; at < x->now.count && !x->m.broken && !is_full(x); at++)
            expand(x, at, out);
        x->result.units++;
    }
    x->result.complete = !x->m.broken && !is_full(x);
    x->result.closed = x->result.complete && x->next.count == 0;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void begin(struct explorer *x, const struct lease_config *config) {
    struct lease_state s;
    lease_init(&x->m, config);
    model_visited_init(&x->visited);
    lease_begin(&s);
    model_visited_add(&x->visited, hash_of(&s));
    push(&x->next, &s, note_origin(x, 0, 0));
}

static struct lease_result end(struct explorer *x) {
    struct lease_result result = x->result;
    model_visited_free(&x->visited);
    free(x->now.states);
    free(x->now.ids);
    free(x->next.states);
    free(x->next.ids);
    free(x->parents);
    free(x->actions);
    free(x);
    return result;
}

struct lease_result lease_explore(const struct lease_config *config, FILE *out) {
    struct explorer *x = calloc(1, sizeof *x);
    double began = seconds_now();
    if (!x)
        abort();
    begin(x, config);
    search(x, out);
    x->result.broken = x->m.broken;
    memcpy(x->result.detail, x->m.detail, sizeof x->result.detail);
    x->result.seen = x->m.seen;
    x->result.closest = (double)x->m.seen.closest / (double)x->m.config.unit;
    if (!x->m.broken && lease_vacuous(&x->m)) {
        x->result.broken = "not vacuous";
        snprintf(x->result.detail, sizeof x->result.detail, "it proves nothing: %s", lease_vacuous(&x->m));
    }
    x->result.seconds = seconds_now() - began;
    return end(x);
}
