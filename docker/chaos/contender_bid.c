#include "contender.h"

#include <errno.h>

struct bid {
    contender *c;
    int number;
    int due;   /* what has yet to come before it has ended: the release, and that nobody will be told any more */
    bool told; /* of the loss */
    bool lost; /* as the release said, or what deposed us */
    char what[48];
};

static void describe(bid *b, const char *kind, int count) {
    int length = g_snprintf(b->what, sizeof b->what, "n=%d kind=%s", b->number, kind);
    if (count > 0)
        g_snprintf(b->what + length, sizeof b->what - (size_t)length, " count=%d", count);
}

bid *bid_new(contender *c, const char *kind, int count, int64_t timeout_ms) {
    bid *b = g_new0(bid, 1);
    g_ptr_array_add(c->bids, b);
    b->c = c;
    b->number = (int)c->bids->len;
    describe(b, kind, count);
    diary_note(c->player.diary, "claim %s timeout=%" G_GINT64_FORMAT, b->what, (gint64)timeout_ms);
    return b;
}

int bid_number(const bid *b) { return b->number; }

void bid_failed(bid *b, pdk_status status) {
    diary_note(b->c->player.diary, "failed n=%d status=%s", b->number, pdk_status_name(status));
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    bid *b = user;
    diary_note(b->c->player.diary, "lost n=%d token=%" G_GINT64_FORMAT " handover=%u reason=%s", b->number,
               (gint64)pdk_hold_token(hold), (unsigned)pdk_hold_handover(hold), pdk_reason_name(reason));
    pthread_mutex_lock(&b->c->mutex);
    b->told = true;
    pthread_cond_broadcast(&b->c->changed);
    pthread_mutex_unlock(&b->c->mutex);
}

/* Whichever comes last notes the end, so that a LOST which was due stands before it, and one after it was not due. */
static void settle(bid *b) {
    pthread_mutex_lock(&b->c->mutex);
    bool last = --b->due == 0;
    pthread_mutex_unlock(&b->c->mutex);
    if (!last)
        return;
    const char *untold = b->lost && !b->told ? " told=0" : "";
    diary_note(b->c->player.diary, "ended n=%d how=%s%s", b->number, b->lost ? "lost" : "released", untold);
}

static void on_lost_is_over(void *user) { settle(user); }

void bid_granted(bid *b, pdk_hold *hold) {
    b->due = 2;
    watchman_watch(b->c->player.watchman, hold, b->what);
    contender_expect(b->c, "on_lost", pdk_hold_on_lost(hold, on_lost, b, on_lost_is_over), PDK_OK);
}

void bid_weakens(bid *b, pdk_hold *hold) {
    describe(b, "read", 0);
    watchman_recast(b->c->player.watchman, hold, b->what);
}

void bid_await_told(bid *b) {
    pthread_mutex_lock(&b->c->mutex);
    while (!b->told)
        contender_wait(b->c, PDK_FOREVER);
    pthread_mutex_unlock(&b->c->mutex);
}

void bid_over(bid *b, bool lost) {
    b->lost = lost;
    settle(b);
}

void contender_use(contender *c, int number, const pdk_hold *hold) {
    int64_t found, count;
    if (!pdk_hold_valid(hold))
        return;
    bool done = resource_read(c->resource, &found);
    crew_pause(c->options.hold_us);
    done = done && resource_write(c->resource, found + 1) &&
           resource_offer(c->resource, pdk_hold_token(hold), pdk_hold_handover(hold), &count);
    if (!done)
        contender_fail(c, "resource", g_strerror(errno));
    g_autofree char *fence = count ? g_strdup_printf("ok count=%" G_GINT64_FORMAT, (gint64)count) : g_strdup("refused");
    diary_note(c->player.diary, "used n=%d naive=%" G_GINT64_FORMAT " fence=%s", number, (gint64)found, fence);
}

void contender_keep(contender *c, int number, const pdk_hold *hold, bool uses) {
    pthread_mutex_lock(&c->mutex);
    unsigned yields = c->yields;
    while (!c->resting && c->yields == yields && pdk_hold_valid(hold)) {
        pthread_mutex_unlock(&c->mutex);
        if (uses)
            contender_use(c, number, hold);
        pthread_mutex_lock(&c->mutex);
        contender_wait(c, USE_EVERY_MS);
    }
    pthread_mutex_unlock(&c->mutex);
}
