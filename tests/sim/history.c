/* What happened, noted; and the checker's frame. The promises themselves: checks_holds.c, checks_nodes.c, checks_claims.c. */
#include "history.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name, *a, *b;
} kinds[HISTORY_KIND_COUNT] = {
#define KIND(constant, name, a, b) {name, a, b},
    HISTORY_KINDS(KIND)
#undef KIND
};

static const struct {
    const char *name, *words;
} checks[CHECK_COUNT] = {
#define CHECK(constant, words) {#constant, words},
    CHECKS(CHECK)
#undef CHECK
};

const char *check_name(enum check check) { return checks[check].name; }
const char *check_words(enum check check) { return checks[check].words; }

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
        mix(&hash, (uint64_t)(uint32_t)e->passed);
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
    fprintf(out, " extra=%lld session=%d\n", (long long)e->extra, e->number);
}

/* ---- the checker's frame */

void checker_begin(struct checker *c, const struct plan *plan) {
    /* The arrays need not be cleared: their records are begun one by one. */
    c->max_handovers = plan->handovers;
    c->max_handover_ms = plan->handover_ms;
    c->timeout = plan_timeout(plan) * INT64_C(1000000);
    c->broken = false;
    c->detail[0] = '\0';
    c->healed_at = INT64_MAX;
    c->holds_count = c->claims_count = c->nodes_count = c->live_count = c->valid_count = c->lies_count = 0;
    memset(c->processes, 0, sizeof c->processes);
    memset(c->paths, 0, sizeof c->paths);
    memset(c->sessions, 0, sizeof c->sessions);
    memset(c->evaluated, 0, sizeof c->evaluated);
}

void checker_break(struct checker *c, enum check check, const struct history_event *event, const char *format, ...) {
    if (c->broken)
        return;
    c->broken = true;
    c->check = check;
    c->at = event->at;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->detail, sizeof c->detail, format, arguments);
    va_end(arguments);
}

int64_t checker_latest(const struct checker *c, int8_t process, int64_t due) {
    const struct checker_process *p = &c->processes[process];
    int64_t from = due > p->resumed_at ? due : p->resumed_at;
    return from > INT64_MAX - p->late ? INT64_MAX : from + p->late;
}

static void process_event(struct checker *c, const struct history_event *e) {
    struct checker_process *p = &c->processes[e->id];
    if (e->kind == HISTORY_PROCESS)
        *p = (struct checker_process){.late = e->a, .resumed_at = e->at};
    else if (e->kind == HISTORY_RESUMED)
        p->resumed_at = e->at;
}

static void run_event(struct checker *c, const struct history_event *e) {
    switch (e->kind) {
    case HISTORY_HEALED:
        c->healed_at = e->at;
        break;
    case HISTORY_STEPS:
        c->evaluated[CHECK_AT_REST]++;
        if (e->b > e->a)
            checker_break(c, CHECK_AT_REST, e, "%lld events where %lld are enough", (long long)e->b, (long long)e->a);
        break;
    case HISTORY_END:
        c->evaluated[CHECK_ENDLESS]++;
        checker_claims_end(c, e);
        checker_holds_end(c, e);
        checker_nodes_end(c, e);
        if (!e->a)
            checker_break(c, CHECK_ENDLESS, e, "nothing is missing, and yet it goes on");
        break;
    default:
        break;
    }
}

bool checker_look(struct checker *c, const struct history_event *e) {
    switch (e->kind) {
    case HISTORY_PROCESS:
    case HISTORY_PAUSED:
    case HISTORY_RESUMED:
    case HISTORY_KILLED:
        process_event(c, e);
        if (e->kind == HISTORY_KILLED) {
            checker_hold_event(c, e);
            checker_claim_event(c, e);
        }
        break;
    case HISTORY_GRANT:
    case HISTORY_EXTEND:
    case HISTORY_ENDED:
    case HISTORY_LEASED:
    case HISTORY_LOST:
    case HISTORY_RELEASED:
    case HISTORY_WRITE:
    case HISTORY_RETIRED:
        checker_hold_event(c, e);
        break;
    case HISTORY_CREATED:
    case HISTORY_DELETED:
    case HISTORY_RMDIR:
    case HISTORY_MEDDLED:
    case HISTORY_WOKEN:
    case HISTORY_LIED:
        checker_node_event(c, e);
        break;
    case HISTORY_HEALED:
    case HISTORY_STEPS:
    case HISTORY_END:
        run_event(c, e);
        break;
    default:
        checker_claim_event(c, e);
        break;
    }
    return !c->broken;
}

bool checker_look_all(struct checker *c, const struct plan *plan, const struct history *h) {
    checker_begin(c, plan);
    for (int32_t i = 0; i < h->count && !c->broken; i++)
        checker_look(c, &h->events[i]);
    return !c->broken;
}
