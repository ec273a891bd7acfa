/* Breadth first over the states of the model, so that the first counter-example is a shortest one.
 *
 * A state is kept as bytes only while it waits to be expanded. For the way back every state keeps its parent and the action
 * that led there, 5 bytes; a counter-example is replayed from the beginning, telling what happens. */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One state in this many is brought to rest by ordinary actions alone, to see that it can be. */
enum { CONVERGE_EACH = 64, RECODE_EACH = 1024 };

/* In place of the last action: it broke by there being none. */
enum { NOTHING_MORE = MODEL_ACTIONS };

struct queue {
    uint8_t *bytes;
    size_t size, room;
};

struct explorer {
    struct model m;
    struct model_visited visited;
    struct queue now, next; /* this depth, and the next */
    uint32_t *parents;
    uint8_t *actions;
    uint64_t room;
    struct model_result result;
};

static void *grown(void *memory, size_t size) {
    void *larger = realloc(memory, size);
    if (!larger)
        abort();
    return larger;
}

static void push(struct queue *q, const uint8_t *bytes, size_t size) {
    uint16_t length = (uint16_t)size;
    if (q->size + sizeof length + size > q->room) {
        q->room = q->room * 2 + (1 << 16);
        q->bytes = grown(q->bytes, q->room);
    }
    memcpy(q->bytes + q->size, &length, sizeof length);
    memcpy(q->bytes + q->size + sizeof length, bytes, size);
    q->size += sizeof length + size;
}

static void note_origin(struct explorer *x, uint64_t parent, model_action a) {
    uint64_t id = x->result.states++;
    if (id >= x->room) {
        x->room = x->room * 2 + (1 << 16);
        x->parents = grown(x->parents, x->room * sizeof *x->parents);
        x->actions = grown(x->actions, x->room);
    }
    x->parents[id] = (uint32_t)parent;
    x->actions[id] = a;
}

/* What is unpacked must pack to the same bytes, or states would be confused. */
static void check_codec(struct explorer *x, const uint8_t *bytes, size_t size) {
    uint8_t again[MODEL_PACKED];
    struct model_state s;
    model_unpack(&x->m, &s, bytes, size);
    if (model_pack(&x->m, &s, again) != size || memcmp(bytes, again, size) != 0) {
        fprintf(stderr, "model: a state does not survive its coding\n");
        abort();
    }
}

static void add(struct explorer *x, struct model_state *s, uint64_t parent, model_action a) {
    uint8_t bytes[MODEL_PACKED];
    model_normalise(&x->m, s);
    size_t size = model_pack(&x->m, s, bytes);
    uint64_t hash = model_hash(bytes, size);
    if (!model_visited_add(&x->visited, hash))
        return;
    note_origin(x, parent, a);
    push(&x->next, bytes, size);
    if (hash % RECODE_EACH == 0)
        check_codec(x, bytes, size);
    if (hash % CONVERGE_EACH == 0) {
        struct model_seen seen = x->m.seen; /* counts what the exploration does */
        model_check_converges(&x->m, s);
        x->m.seen = seen;
    }
}

/* ---- the counter-example */

static void print_legend(struct model *m, FILE *out) {
    fprintf(out, "Broken: %s (%s)\nClients A to %c, one directory %s; A#0 is A's node with sequence 0.\n", m->broken,
            m->detail, 'A' + m->config.clients - 1, MODEL_DIRECTORY);
}

static void replay(struct explorer *x, uint64_t id, model_action last, FILE *out) {
    struct model_config config = x->m.config;
    static struct model m;
    struct model_state s;
    model_action path[4096];
    int steps = 0;
    print_legend(&x->m, out);
    if (last != NOTHING_MORE)
        path[steps++] = last;
    for (; id != 0 && steps < 4096; id = x->parents[id])
        path[steps++] = x->actions[id];
    model_init(&m, &config);
    model_begin(&m, &s);
    m.transcript = out;
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
        fprintf(out, "From here on the ordinary course, without end:\n");
        model_check_converges(&m, &s);
    }
    fprintf(out, "Broken: %s (%s). At this moment:\n", m.broken ? m.broken : "NOT REPRODUCED", m.detail);
    model_print_state(&m, &s);
}

/* ---- the search */

static void expand(struct explorer *x, const struct model_state *s, uint64_t id, FILE *out) {
    bool at_rest = true;
    for (int32_t a = 0; a < MODEL_ACTIONS && !x->m.broken; a++) {
        if (!model_enabled(&x->m, s, (model_action)a))
            continue;
        struct model_state child = *s;
        at_rest = at_rest && model_kind((model_action)a) >= ORDINARY;
        x->result.transitions++;
        model_apply(&x->m, &child, (model_action)a);
        if (!x->m.broken)
            add(x, &child, id, (model_action)a);
        if (x->m.broken)
            replay(x, id, (model_action)a, out);
    }
    x->result.at_rest += at_rest;
    if (at_rest && !x->m.broken) {
        model_check_rest(&x->m, s);
        if (x->m.broken)
            replay(x, id, NOTHING_MORE, out);
    }
}

static bool is_full(const struct explorer *x) {
    return x->m.config.max_states != 0 && x->result.states >= x->m.config.max_states;
}

static void search(struct explorer *x, FILE *out) {
    uint64_t id = 0;
    while (x->next.size != 0 && !x->m.broken && !is_full(x)) {
        struct queue done = x->now;
        x->now = x->next;
        x->next = done;
        x->next.size = 0;
        for (size_t at = 0; at < x->now.size && !x->m.broken && !is_full(x);) {
            uint16_t length;
            struct model_state s;
            memcpy(&length, x->now.bytes + at, sizeof length);
            model_unpack(&x->m, &s, x->now.bytes + at + sizeof length, length);
            expand(x, &s, id++, out);
            at += sizeof length + length;
        }
        x->result.depth++;
    }
    x->result.complete = !x->m.broken && !is_full(x);
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct model_result model_explore(const struct model_config *config, FILE *out) {
    struct explorer *x = calloc(1, sizeof *x);
    struct model_state s;
    double began = seconds_now();
    if (!x)
        abort();
    model_init(&x->m, config);
    model_visited_init(&x->visited);
    model_begin(&x->m, &s);
    add(x, &s, 0, 0);
    search(x, out);
    x->result.broken = x->m.broken;
    memcpy(x->result.detail, x->m.detail, sizeof x->result.detail);
    x->result.seen = x->m.seen;
    if (!x->m.broken && model_vacuous(&x->m)) {
        x->result.broken = "not vacuous";
        snprintf(x->result.detail, sizeof x->result.detail, "it proves nothing: %s", model_vacuous(&x->m));
    }
    x->result.seconds = seconds_now() - began;
    struct model_result result = x->result;
    model_visited_free(&x->visited);
    free(x->now.bytes);
    free(x->next.bytes);
    free(x->parents);
    free(x->actions);
    free(x);
    return result;
}
