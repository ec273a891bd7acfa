/* The history: events are added, hashed and printed. */
#include "history.h"

#include <string.h>

static const struct {
    const char *name, *a, *b;
} kinds[HISTORY_KIND_COUNT] = {
#define KIND(constant, name, a, b) {name, a, b},
    HISTORY_KINDS(KIND)
#undef KIND
};

struct history_event *history_add(struct history *h, int64_t at, enum history_kind kind, int32_t id) {
    if (h->count == HISTORY_EVENTS) {
        h->full = true;
        return NULL;
    }
    struct history_event *event = &h->events[h->count++];
    memset(event, 0, sizeof *event);
    event->at = at;
    event->kind = (int16_t)kind;
    event->id = id;
    event->process = event->path = -1;
    return event;
}

/* FNV-1a, a word at a time. */
static void mix(uint64_t *hash, uint64_t word) { *hash = (*hash ^ word) * UINT64_C(0x100000001b3); }

uint64_t history_hash(const struct history *h) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int32_t i = 0; i < h->count; i++) {
        const struct history_event *e = &h->events[i];
        mix(&hash, (uint64_t)e->at);
        mix(&hash, (uint64_t)e->clock);
        mix(&hash, (uint64_t)e->a);
        mix(&hash, (uint64_t)e->b);
        mix(&hash, (uint64_t)e->extra);
        mix(&hash, (uint64_t)(uint32_t)e->id << 32 | (uint32_t)e->number);
        mix(&hash, (uint64_t)(uint32_t)e->passed << 32 | (uint32_t)e->sequence);
        mix(&hash, (uint64_t)(uint16_t)e->count << 8 | (uint8_t)e->mode);
        mix(&hash, (uint64_t)(uint16_t)e->kind << 16 | (uint64_t)(uint8_t)e->process << 8 | (uint8_t)e->path);
    }
    return hash;
}

void history_print(const struct history_event *e, FILE *out) {
    fprintf(out, "%12.6f %s %d", (double)e->at / 1e9, kinds[e->kind].name, e->id);
    if (e->process >= 0)
        fprintf(out, " p%d", e->process);
    if (e->path >= 0)
        fprintf(out, " path %d", e->path);
    if (kinds[e->kind].a[0] != '\0')
        fprintf(out, " %s=%lld", kinds[e->kind].a, (long long)e->a);
    if (kinds[e->kind].b[0] != '\0')
        fprintf(out, " %s=%lld", kinds[e->kind].b, (long long)e->b);
    if (e->mode != MODE_EXCLUSIVE)
        fputs(e->mode == MODE_SHARED ? " shared" : e->mode == MODE_SET ? " set" : " permit", out);
    if (e->count > 0)
        fprintf(out, " count=%d sequence=%d", e->count, e->sequence);
    fprintf(out, " extra=%lld session=%d\n", (long long)e->extra, e->number);
}
