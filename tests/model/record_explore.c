#include "record_explore.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 200 };

struct frame {
    unsigned char world[RECORD_WORLD];
    struct record_action actions[RECORD_ACTIONS];
    int count, next;
};

struct explorer {
    const struct record_model *model;
    uint64_t *counts;
    struct model_visited visited;
    struct record_result result;
    struct frame *frames;
    int depth;
};

static uint64_t hash_of(const unsigned char *world, size_t size) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ world[i]) * UINT64_C(0xd6e8feb86659fd93) + (hash >> 29);
    return hash == 0 ? 1 : hash;
}

static void push(struct explorer *x, const unsigned char *world) {
    struct frame *frame = &x->frames[x->depth++];
    memcpy(frame->world, world, x->model->world_size);
    frame->count = x->model->possible(x->model->config, world, frame->actions);
    frame->next = 0;
    x->result.states++;
}

static void replay(const struct explorer *x, FILE *out) {
    unsigned char world[RECORD_WORLD];
    const struct record_model *m = x->model;
    m->begin(m->config, world);
    fprintf(out, "Broken: %s\n", x->result.broken);
    for (int i = 0; i < x->depth; i++) {
        struct record_action action = x->frames[i].actions[x->frames[i].next - 1];
        m->apply(m->config, world, action, x->counts);
        m->tell(world, action, out);
    }
}

static void step(struct explorer *x, FILE *out) {
    struct frame *frame = &x->frames[x->depth - 1];
    unsigned char world[RECORD_WORLD];
    if (frame->next == frame->count) {
        x->depth--;
        return;
    }
    memcpy(world, frame->world, x->model->world_size);
    x->result.broken = x->model->apply(x->model->config, world, frame->actions[frame->next++], x->counts);
    x->result.steps++;
    if (x->result.broken)
        replay(x, out);
    else if (model_visited_add(&x->visited, hash_of(world, x->model->world_size)) && x->depth < DEEPEST)
        push(x, world);
}

struct record_result record_explore(const struct record_model *model, uint64_t *counts, FILE *out) {
    struct explorer x = {.model = model, .counts = counts, .frames = calloc(DEEPEST, sizeof *x.frames)};
    unsigned char world[RECORD_WORLD];
    if (!x.frames || model->world_size > sizeof world)
        abort();
    model_visited_init(&x.visited);
    model->begin(model->config, world);
    push(&x, world);
    while (x.depth > 0 && !x.result.broken)
        step(&x, out);
    x.result.complete = x.depth == 0;
    model_visited_free(&x.visited);
    free(x.frames);
    return x.result;
}
