#include "plays.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { BETWEEN = 8 }; /* a part of the longest use, between the halves of a write */

struct claim_record {
    actor *c;
    int number;
    int due;     /* how many of two have yet to come: the release, and the end of the LOST callback */
    bool told;   /* LOST was told */
    bool lost;   /* as the release or on_deposed said */
    bool hushed; /* its end did not say whether it was lost: LOST alone does */
    char what[128];
};

static void describe(claim_record *record, const char *kind, int count) {
    int length = g_snprintf(record->what, sizeof record->what, "n=%d kind=%s", record->number, kind);
    if (count > 0)
        g_snprintf(record->what + length, sizeof record->what - (size_t)length, " count=%d", count);
}

claim_record *record_new(actor *c, const char *kind, int count, int64_t timeout_ms) {
    return record_new_with(c, kind, count, timeout_ms, "");
}

claim_record *record_new_with(actor *c, const char *kind, int count, int64_t timeout_ms, const char *more) {
    claim_record *record = g_new0(claim_record, 1);
    g_ptr_array_add(c->records, record);
    record->c = c;
    record->number = (int)c->records->len;
    describe(record, kind, count);
    event_log_note(c->player.log, "claim %s timeout=%" G_GINT64_FORMAT "%s%s", record->what, (gint64)timeout_ms,
                   *more ? " " : "", more);
    return record;
}

claim_record *record_answered(actor *c, claim_record **asking, const char *kind) {
    claim_record *record = g_steal_pointer(asking);
    return record ? record : record_new(c, kind, 0, PDK_FOREVER);
}

int record_number(const claim_record *record) { return record->number; }

void record_queued(const claim_record *record) {
    event_log_note(record->c->player.log, "queued n=%d session=%" G_GINT64_FORMAT, record->number,
                   (gint64)pdk_session_id(record->c->player.session));
}

void record_failed(claim_record *record, pdk_status status) {
    event_log_note(record->c->player.log, "failed n=%d status=%s", record->number, pdk_status_name(status));
}

static void note_loss(claim_record *record, int64_t token, uint32_t handover, pdk_reason reason) {
    event_log_note(record->c->player.log, "lost n=%d token=%" G_GINT64_FORMAT " handover=%u reason=%s", record->number,
                   (gint64)token, (unsigned)handover, pdk_reason_name(reason));
    pthread_mutex_lock(&record->c->mutex);
    record->told = true;
    pthread_cond_broadcast(&record->c->changed);
    pthread_mutex_unlock(&record->c->mutex);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    note_loss(user, pdk_hold_token(hold), pdk_hold_handover(hold), reason);
}

static void on_set_lost(pdk_set *set, pdk_reason reason, void *user) {
    (void)set;
    note_loss(user, 0, 0, reason);
}

/* The last of the two notes the end. So a due LOST stands before it, and a LOST after it was not due. */
static void settle(claim_record *record) {
    pthread_mutex_lock(&record->c->mutex);
    bool last = --record->due == 0;
    record->lost |= record->hushed && record->told;
    pthread_mutex_unlock(&record->c->mutex);
    if (!last)
        return;
    const char *untold = record->lost && !record->told ? " told=0" : "";
    event_log_note(record->c->player.log, "ended n=%d how=%s%s", record->number, record->lost ? "lost" : "released",
                   untold);
}

static void on_lost_is_over(void *user) { settle(user); }

void record_granted(claim_record *record, pdk_hold *hold) {
    record->due = 2;
    sampler_add(record->c->player.sampler, hold, record->what);
    actor_expect(record->c, "on_lost", pdk_hold_on_lost(hold, on_lost, record, on_lost_is_over), PDK_OK);
}

void record_set_granted(claim_record *record, pdk_set *set) {
    record->due = 2;
    sampler_add_set(record->c->player.sampler, set, record->what);
    actor_expect(record->c, "on_lost", pdk_set_on_lost(set, on_set_lost, record, on_lost_is_over), PDK_OK);
}

void record_add(claim_record *record, const char *more) {
    gsize length = strlen(record->what);
    g_snprintf(record->what + length, sizeof record->what - length, " %s", more);
}

void record_part(claim_record *record, pdk_set *set, int part, const char *what) {
    g_autofree char *all = g_strdup_printf("n=%d.%d %s", record->number, part, what);
    sampler_add_part(record->c->player.sampler, set, part, all);
}

void record_weakens(claim_record *record, pdk_hold *hold) {
    describe(record, "read", 0);
    sampler_change(record->c->player.sampler, hold, record->what);
}

void record_await_told(claim_record *record) {
    pthread_mutex_lock(&record->c->mutex);
    while (!record->told)
        actor_wait(record->c, PDK_FOREVER);
    pthread_mutex_unlock(&record->c->mutex);
}

void record_over(claim_record *record, bool lost) {
    record->lost = lost;
    settle(record);
}

void record_over_hushed(claim_record *record) {
    record->hushed = true;
    settle(record);
}

void record_releasing(claim_record *record) { event_log_note(record->c->player.log, "releasing n=%d", record->number); }

static void releasing(claim_record *record, bool valid) {
    if (!valid)
        record_await_told(record);
    record_releasing(record);
}

static void released(claim_record *record, pdk_status status) {
    actor_expect(record->c, "release", status, PDK_LOST);
    record_over(record, status == PDK_LOST);
}

void record_give_back(claim_record *record, pdk_hold *hold) {
    releasing(record, pdk_hold_is_valid(hold));
    released(record, pdk_hold_release(hold));
}

void record_give_set_back(claim_record *record, pdk_set *set) {
    releasing(record, pdk_set_is_valid(set));
    released(record, pdk_set_release(set));
}

static void write_one(actor *c, const actor_part *part) {
    int64_t count;
    if (!resource_write(part->resource, part->found + 1, c->options.hold_us / BETWEEN) ||
        !resource_offer(part->resource, pdk_hold_token(part->hold), pdk_hold_handover(part->hold), &count))
        actor_fail(c, "resource", g_strerror(errno));
    g_autofree char *fence = count ? g_strdup_printf("ok count=%" G_GINT64_FORMAT, (gint64)count) : g_strdup("refused");
    event_log_note(c->player.log, "used n=%s naive=%" G_GINT64_FORMAT " fence=%s", part->n, (gint64)part->found, fence);
}

void actor_use_parts(actor *c, actor_part *parts, int count) {
    for (int i = 0; i < count; i++) {
        parts[i].used = pdk_hold_is_valid(parts[i].hold);
        if (parts[i].used && !resource_read(parts[i].resource, &parts[i].found, NULL))
            actor_fail(c, "resource", g_strerror(errno));
    }
    player_pause(c->options.hold_us);
    for (int i = 0; i < count; i++)
        if (parts[i].used)
            write_one(c, &parts[i]);
}

static void use_resource(actor *c, int number, const pdk_hold *hold) {
    actor_part whole = {.hold = hold, .resource = c->resource};
    g_snprintf(whole.n, sizeof whole.n, "%d", number);
    actor_use_parts(c, &whole, 1);
}

void actor_look(actor *c, int number, const pdk_hold *hold) {
    int64_t first, then;
    bool torn_first, torn;
    if (!resource_read(c->resource, &first, &torn_first))
        actor_fail(c, "resource", g_strerror(errno));
    if (!pdk_hold_is_valid(hold))
        return;
    player_pause(c->options.hold_us);
    if (!resource_read(c->resource, &then, &torn))
        actor_fail(c, "resource", g_strerror(errno));
    if (pdk_hold_is_valid(hold))
        event_log_note(c->player.log, "looked n=%d naive=%" G_GINT64_FORMAT " then=%" G_GINT64_FORMAT " torn=%d",
                       number, (gint64)first, (gint64)then, torn_first || torn);
}

void actor_peek(actor *c) {
    int64_t number;
    bool torn;
    if (!resource_read(c->resource, &number, &torn))
        actor_fail(c, "resource", g_strerror(errno));
    event_log_note(c->player.log, "peeked torn=%d", torn);
}

static void use(actor *c, int number, const pdk_hold *hold, guard *g) {
    if (!pdk_hold_is_valid(hold))
        return;
    guard_read(g);
    use_resource(c, number, hold);
    guard_write(g);
}

void actor_use(actor *c, int number, pdk_hold *hold) {
    guard *g = guard_new(c, number, hold);
    use(c, number, hold, g);
    guard_free(g);
}

/* Notes how near the lease came to its end since the last look. */
static void note_remaining(actor *c, int number, const pdk_hold *hold) {
    int64_t least = sampler_least_ms(c->player.sampler, hold);
    if (least >= 0)
        event_log_note(c->player.log, "remaining n=%d least=%" G_GINT64_FORMAT, number, (gint64)least);
}

void actor_keep(actor *c, int number, pdk_hold *hold, bool uses) {
    guard *g = guard_new(c, number, hold);
    pthread_mutex_lock(&c->mutex);
    unsigned yields = c->yields;
    int most = c->options.keep_ms ? g_random_int_range(1, c->options.keep_ms / USE_EVERY_MS + 1) : INT_MAX;
    for (int turn = 1; turn <= most && !c->resting && c->yields == yields && pdk_hold_is_valid(hold); turn++) {
        pthread_mutex_unlock(&c->mutex);
        if (turn % REMAINING_EVERY == 0)
            note_remaining(c, number, hold);
        if (uses)
            use(c, number, hold, g);
        pthread_mutex_lock(&c->mutex);
        actor_wait(c, USE_EVERY_MS);
    }
    pthread_mutex_unlock(&c->mutex);
    guard_free(g);
}
