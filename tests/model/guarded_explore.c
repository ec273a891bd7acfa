/* Depth first over all states, each seen once. */
#include "guarded_model.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 400 };

struct frame {
    struct guarded_world world;
    struct guarded_action actions[GUARDED_ACTIONS];
    int count, next;
};

struct explorer {
    const struct guarded_config *config;
    struct model_visited visited;
    struct guarded_result result;
    struct frame *frames;
    int depth;
};

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ (hash >> 32);
}

static uint64_t mix_stamp(uint64_t hash, const struct pdk__stamp *s) {
    return mix(mix(hash, (uint64_t)s->token), s->number * 4 + s->digest * 64 + (s->absent ? 1 : 0));
}

static uint64_t mix_request(uint64_t hash, const struct guarded_request *r) {
    hash = mix(hash, (uint64_t)(r->step + 8 * (r->executed + 2 * (r->result + 16 * r->shown))));
    return mix_stamp(mix(hash, (uint64_t)r->version), &r->stamp);
}

static uint64_t mix_machine(uint64_t hash, const struct pdk__guarded *g) {
    unsigned flags = (g->opened ? 1u : 0) + (g->confirmed ? 2u : 0) + (g->is_pending ? 4u : 0) + (g->writing ? 8u : 0) +
                     (g->czxid != 0 ? 16u : 0);
    hash = mix(hash, (uint64_t)g->step + 8 * (uint64_t)g->end + 64 * (uint64_t)flags);
    hash = mix(mix(hash, (uint64_t)g->version), g->number);
    hash = mix_stamp(mix_stamp(hash, &g->known), &g->seen);
    return mix_stamp(mix_stamp(hash, &g->pending), &g->wanted);
}

/* Field by field: a struct has bytes between its fields. */
static uint64_t hash_of(const struct guarded_world *w) {
    uint64_t hash = mix(1, (uint64_t)(w->now + 64 * (w->newest + 1 + 4 * w->alien)));
    hash = mix(hash, (uint64_t)(w->losses + 8 * (w->stales + 8 * (w->aliens + 8 * w->gives_up))));
    for (int i = 0; i <= w->now; i++)
        hash = mix(mix_stamp(hash, &w->states[i].stamp),
                   (uint64_t)w->states[i].version * 2 + (uint64_t)w->states[i].exists);
    for (int i = 0; i < GUARDED_HOLDERS; i++) {
        const struct guarded_holder *h = &w->holders[i];
        hash = mix_request(mix_machine(hash, &h->machine), &h->now);
        for (int k = 0; k < GUARDED_LATE; k++)
            hash = mix_request(hash, &h->late[k]);
        hash = mix(
            hash, (uint64_t)(h->stands +
                             2 * (h->opened + 2 * (h->writes + 8 * (h->passed + 64 * (h->written + 128 * h->since))))));
    }
    return hash == 0 ? 1 : hash;
}

static void push(struct explorer *x, const struct guarded_world *world) {
    struct frame *frame = &x->frames[x->depth++];
    frame->world = *world;
    frame->count = guarded_possible(x->config, world, frame->actions);
    frame->next = 0;
    x->result.states++;
}

static void replay(const struct explorer *x, FILE *out) {
    struct guarded_world w;
    struct guarded_result counts = {0};
    guarded_begin(x->config, &w);
    fprintf(out, "Broken: %s\n", x->result.broken);
    for (int i = 0; i < x->depth; i++) {
        struct guarded_action action = x->frames[i].actions[x->frames[i].next - 1];
        guarded_apply(&w, action, &counts);
        guarded_tell(&w, action, out);
    }
}

static void step(struct explorer *x, FILE *out) {
    struct frame *frame = &x->frames[x->depth - 1];
    if (frame->next == frame->count) {
        x->depth--;
        return;
    }
    struct guarded_world world = frame->world;
    x->result.broken = guarded_apply(&world, frame->actions[frame->next++], &x->result);
    x->result.steps++;
    if (x->result.broken)
        replay(x, out);
    else if (model_visited_add(&x->visited, hash_of(&world)) && x->depth < DEEPEST)
        push(x, &world);
}

struct guarded_result guarded_explore(const struct guarded_config *config, FILE *out) {
    struct explorer x = {.config = config, .frames = calloc(DEEPEST, sizeof *x.frames)};
    struct guarded_world world;
    if (!x.frames)
        abort();
    model_visited_init(&x.visited);
    guarded_begin(config, &world);
    push(&x, &world);
    while (x.depth > 0 && !x.result.broken)
        step(&x, out);
    x.result.complete = x.depth == 0;
    model_visited_free(&x.visited);
    free(x.frames);
    return x.result;
}
