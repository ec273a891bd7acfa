#include "search.h"
#include "frontier.h"
#include "visited.h"

#include <glib.h>
#include <string.h>

enum { PROGRESS_EACH = 10000000 };

struct child {
    uint64_t hash;
    size_t size;
    uint8_t *bytes;
};

struct explorer {
    const struct search_model *model;
    FILE *out;
    struct visited visited;
    struct frontier now, next; /* this depth, and the next */
    uint32_t *parents;
    search_action *actions;
    uint64_t room;
    void *state, *after;
    search_action possible[SEARCH_ACTIONS]; /* of the state that is being expanded */
    struct child children[SEARCH_ACTIONS];
    uint8_t packed[SEARCH_ACTIONS * SEARCH_PACKED]; /* the children's bytes, one after the other */
    int64_t began;
    struct search_result result;
};

static double seconds_since(int64_t began) { return (double)(g_get_monotonic_time() - began) / 1e6; }

static void tell_progress(const struct explorer *x) {
    double seconds = seconds_since(x->began);
    if (!x->model->progress)
        return;
    fprintf(x->model->progress, "%4llu million states, depth %u, %.0f s, %.0f states/s\n",
            (unsigned long long)(x->result.states / 1000000), x->result.depth, seconds,
            (double)x->result.states / seconds);
    fflush(x->model->progress);
}

/* ---- the counter-example */

static void replay_lines(const struct search_model *m, const search_action *path, int steps, FILE *out) {
    g_autofree void *state = g_malloc0(m->size);
    m->begin(m->of, state);
    for (int i = 0; i < steps; i++) {
        m->apply(m->of, state, path[i]);
        m->tell(state, path[i], out);
    }
}

/* last: the action that broke it, or NULL when the state itself is broken. */
static void replay(const struct explorer *x, uint32_t id, const search_action *last) {
    static search_action path[SEARCH_LONGEST];
    int from = SEARCH_LONGEST;
    if (last)
        path[--from] = *last;
    for (; id != 0 && from > 0; id = x->parents[id])
        path[--from] = x->actions[id];
    if (x->model->replay) {
        x->model->replay(x->model->of, path + from, SEARCH_LONGEST - from, x->out);
        return;
    }
    fprintf(x->out, "Broken: %s\n", x->result.broken);
    replay_lines(x->model, path + from, SEARCH_LONGEST - from, x->out);
}

/* ---- states as bytes */

/* Murmur's mixing, 64 bits. */
static uint64_t hash_of(const uint8_t *bytes, size_t size) {
    const uint64_t multiplier = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t hash = size * multiplier;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        word *= multiplier;
        word ^= word >> 47;
        hash = (hash ^ word * multiplier) * multiplier;
    }
    hash ^= hash >> 47;
    hash *= multiplier;
    return hash ^ hash >> 47;
}

/* Returns where the next one has room. */
static uint8_t *pack(struct explorer *x, void *state, struct child *child, uint8_t *room) {
    const struct search_model *m = x->model;
    child->bytes = room;
    child->size = m->pack ? m->pack(m->of, state, child->bytes) : m->size;
    if (!m->pack)
        memcpy(child->bytes, state, m->size);
    child->hash = m->hash ? m->hash(state) : hash_of(child->bytes, child->size);
    visited_fetch(&x->visited, child->hash);
    return room + child->size;
}

static bool unpack_next(struct explorer *x, uint32_t *id) {
    uint8_t bytes[SEARCH_PACKED];
    const struct search_model *m = x->model;
    size_t size = frontier_pop(&x->now, id, bytes);
    if (size != 0 && m->unpack)
        m->unpack(m->of, x->state, bytes, size);
    else
        memcpy(x->state, bytes, size);
    return size != 0;
}

/* ---- the search */

static uint32_t note_origin(struct explorer *x, uint32_t parent, search_action a) {
    uint64_t id = x->result.states++;
    if (id >= x->room) {
        x->room = x->room * 2 + (1 << 16);
        x->parents = g_renew(uint32_t, x->parents, x->room);
        x->actions = g_renew(search_action, x->actions, x->room);
    }
    x->parents[id] = parent;
    x->actions[id] = a;
    return (uint32_t)id;
}

static void add(struct explorer *x, const struct child *child, uint32_t parent, search_action a) {
    const struct search_model *m = x->model;
    if (!visited_add(&x->visited, child->hash))
        return;
    struct frontier *queue = m->goes_deeper && !m->goes_deeper(a) ? &x->now : &x->next;
    frontier_push(queue, note_origin(x, parent, a), child->bytes, child->size);
    if (m->is_new)
        x->result.broken = m->is_new(m->of, child->bytes, child->size, child->hash);
    if (x->result.states % PROGRESS_EACH == 0)
        tell_progress(x);
}

/* All successors are packed first, so that the memory of the visited ones is fetched meanwhile. */
static void expand(struct explorer *x, uint32_t id) {
    const struct search_model *m = x->model;
    size_t count = m->possible(m->of, x->state, x->possible);
    uint8_t *room = x->packed;
    for (size_t i = 0; i < count && !x->result.broken; i++) {
        if (m->copy)
            m->copy(x->after, x->state);
        else
            memcpy(x->after, x->state, m->size);
        x->result.steps++;
        x->result.broken = m->apply(m->of, x->after, x->possible[i]);
        if (x->result.broken)
            replay(x, id, &x->possible[i]);
        else
            room = pack(x, x->after, &x->children[i], room);
    }
    for (size_t i = 0; i < count && !x->result.broken; i++) {
        add(x, &x->children[i], id, x->possible[i]);
        if (x->result.broken)
            replay(x, id, &x->possible[i]);
    }
    if (x->result.broken || !m->expanded)
        return;
    x->result.broken = m->expanded(m->of, x->state, x->possible, count);
    if (x->result.broken)
        replay(x, id, NULL);
}

static bool is_full(const struct explorer *x) { return x->model->most != 0 && x->result.states >= x->model->most; }

static bool is_deep(const struct explorer *x) {
    return x->model->depths != 0 && x->result.depth > (uint32_t)x->model->depths;
}

static void go_through(struct explorer *x) {
    uint32_t id;
    while (x->next.first && !x->result.broken && !is_full(x) && !is_deep(x)) {
        struct frontier empty = x->now;
        x->now = x->next;
        x->next = empty;
        while (!x->result.broken && !is_full(x) && unpack_next(x, &id))
            expand(x, id);
        x->result.depth++;
    }
    x->result.complete = !x->result.broken && !is_full(x);
    x->result.closed = x->result.complete && !x->next.first;
}

static struct search_result finish(struct explorer *x) {
    struct search_result result = x->result;
    result.seconds = seconds_since(x->began);
    visited_free(&x->visited);
    frontier_free(&x->now);
    frontier_free(&x->next);
    g_free(x->parents);
    g_free(x->actions);
    g_free(x->state);
    g_free(x->after);
    g_free(x);
    return result;
}

struct search_result search(const struct search_model *model, FILE *out) {
    struct explorer *x = g_new0(struct explorer, 1);
    g_assert(model->pack || model->size <= SEARCH_PACKED);
    x->model = model;
    x->out = out;
    x->began = g_get_monotonic_time();
    x->state = g_malloc0(model->size);
    x->after = g_malloc0(model->size);
    visited_init(&x->visited);
    model->begin(model->of, x->state);
    pack(x, x->state, &x->children[0], x->packed);
    add(x, &x->children[0], 0, 0);
    go_through(x);
    return finish(x);
}
