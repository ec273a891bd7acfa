/* Depth first over all states, each seen once. */
#include "job_model.h"
#include "model.h"

#include <stdlib.h>

enum { DEEPEST = 200 };

struct frame {
    struct job_world world;
    struct job_action actions[JOB_ACTIONS];
    int count, next;
};

struct explorer {
    const struct job_config *config;
    struct model_visited visited;
    struct job_result result;
    struct frame *frames;
    int depth;
};

/* All members are of one byte, so that no bytes are between them. */
static uint64_t hash_of(const struct job_world *w) {
    const unsigned char *bytes = (const unsigned char *)w;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof *w; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0xd6e8feb86659fd93) + (hash >> 29);
    return hash == 0 ? 1 : hash;
}

static void push(struct explorer *x, const struct job_world *world) {
    struct frame *frame = &x->frames[x->depth++];
    frame->world = *world;
    frame->count = job_possible(x->config, world, frame->actions);
    frame->next = 0;
    x->result.states++;
}

static void replay(const struct explorer *x, FILE *out) {
    struct job_world w;
    struct job_result counts = {0};
    job_begin(x->config, &w);
    fprintf(out, "Broken: %s\n", x->result.broken);
    for (int i = 0; i < x->depth; i++) {
        struct job_action action = x->frames[i].actions[x->frames[i].next - 1];
        job_apply(x->config, &w, action, &counts);
        job_tell(&w, action, out);
    }
}

static void step(struct explorer *x, FILE *out) {
    struct frame *frame = &x->frames[x->depth - 1];
    if (frame->next == frame->count) {
        x->depth--;
        return;
    }
    struct job_world world = frame->world;
    x->result.broken = job_apply(x->config, &world, frame->actions[frame->next++], &x->result);
    x->result.steps++;
    if (x->result.broken)
        replay(x, out);
    else if (model_visited_add(&x->visited, hash_of(&world)) && x->depth < DEEPEST)
        push(x, &world);
}

struct job_result job_explore(const struct job_config *config, FILE *out) {
    _Static_assert(sizeof(struct job_world) ==
                       JOB_STATES * sizeof(struct job_content) + JOB_ASKS * sizeof(struct job_ask) + 6,
                   "no bytes between members");
    struct explorer x = {.config = config, .frames = calloc(DEEPEST, sizeof *x.frames)};
    struct job_world world;
    if (!x.frames)
        abort();
    model_visited_init(&x.visited);
    job_begin(config, &world);
    push(&x, &world);
    while (x.depth > 0 && !x.result.broken)
        step(&x, out);
    x.result.complete = x.depth == 0;
    model_visited_free(&x.visited);
    free(x.frames);
    return x.result;
}
