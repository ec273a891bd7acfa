#include "sim_agenda.h"

#include <glib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)1 << 20)

struct sim_block {
    struct sim_block *next; /* the older one */
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

/* ---- random numbers */

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* splitmix64 spreads a seed over the state, as the authors of xoshiro advise. */
void sim_random_begin(struct sim_random *r, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = seed;
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        r->state[i] = z ^ z >> 31;
    }
}

uint64_t sim_random_next(struct sim_random *r) {
    uint64_t *s = r->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

int64_t sim_random_between(struct sim_random *r, int64_t least, int64_t most) {
    uint64_t span = (uint64_t)(most - least) + 1;
    return most <= least ? least : least + (int64_t)(sim_random_next(r) % span);
}

bool sim_random_one_in(struct sim_random *r, uint32_t once) { return once != 0 && sim_random_next(r) % once == 0; }

/* ---- memory */

static struct sim_block *block_new(size_t size, struct sim_block *next) {
    struct sim_block *block = g_malloc(sizeof *block + size);
    block->next = next;
    block->used = 0;
    block->size = size;
    return block;
}

void *sim_alloc(struct sim_agenda *a, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (a->blocks->used + size > a->blocks->size)
        a->blocks = block_new(MAX(size, BLOCK_SIZE), a->blocks);
    void *memory = a->blocks->bytes + a->blocks->used;
    a->blocks->used += size;
    return memset(memory, 0, size);
}

char *sim_text(struct sim_agenda *a, const char *text) {
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(sim_alloc(a, size), text, size);
}

/* ---- the heap */

static bool earlier(const struct sim_entry *x, const struct sim_entry *y) {
    return x->at != y->at ? x->at < y->at : x->order < y->order;
}

void sim_at(struct sim_agenda *a, int64_t at, sim_event_fn fn, void *subject, void *what) {
    if (a->count == a->room) {
        a->room = a->room * 2 + 64;
        a->heap = g_renew(struct sim_entry, a->heap, a->room);
    }
    struct sim_entry entry = {MAX(at, a->now), a->order++, fn, subject, what};
    size_t i = a->count++;
    for (; i > 0 && earlier(&entry, &a->heap[(i - 1) / 2]); i = (i - 1) / 2)
        a->heap[i] = a->heap[(i - 1) / 2];
    a->heap[i] = entry;
}

static struct sim_entry take_first(struct sim_agenda *a) {
    struct sim_entry first = a->heap[0], last = a->heap[--a->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < a->count; i = child) {
        if (child + 1 < a->count && earlier(&a->heap[child + 1], &a->heap[child]))
            child++;
        if (!earlier(&a->heap[child], &last))
            break;
        a->heap[i] = a->heap[child];
    }
    a->heap[i] = last;
    return first;
}

bool sim_step(struct sim_agenda *a, int64_t until) {
    if (a->count == 0 || a->heap[0].at > until) {
        a->now = MAX(a->now, until);
        return false;
    }
    struct sim_entry entry = take_first(a);
    a->now = entry.at;
    a->steps++;
    entry.fn(entry.subject, entry.what);
    return true;
}

void sim_idle(struct sim_agenda *a) { a->idle_steps++; }

void sim_agenda_init(struct sim_agenda *a) {
    memset(a, 0, sizeof *a);
    a->blocks = block_new(BLOCK_SIZE, NULL);
}

void sim_agenda_begin(struct sim_agenda *a, uint64_t seed) {
    while (a->blocks->next) {
        struct sim_block *older = a->blocks->next;
        a->blocks->next = older->next;
        g_free(older);
    }
    a->blocks->used = 0;
    a->now = 0;
    a->steps = a->idle_steps = a->order = 0;
    a->count = 0;
    sim_random_begin(&a->chance, seed);
}

void sim_agenda_free(struct sim_agenda *a) {
    sim_agenda_begin(a, 0);
    g_free(a->blocks);
    g_free(a->heap);
}
