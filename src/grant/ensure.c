/* Making sure that a hold stays valid for so long: a renewal is asked for, and waited for.
 *
 *     one right:       renew ──the lease is longer, or the hold has ended──► answered
 *     several rights:  part ──answered──► next part … ──► all of them still have enough? ──► answered; else from the first again
 *
 *     some suffice:    each part has a turn of 20 ms, again and again, until as many as are needed have enough
 *
 * Each part is ensured in its own session. Its answer is carried to the next one by that session's outbox, since no thread may have
 * two monitors; the last answer is told where the whole tells. The whole also follows the end of its own session, which may come
 * while a part is ensured in another one: nothing could be told afterwards.
 */
#include "base/text.h"
#include "grant/hold.h"
#include "grant/parts.h"
#include "grant/registry.h"
#include "session/blocking.h"
#include "session/call.h"
#include "session/renew.h"

/* ---- one right */

struct ensuring {
    struct pdk__call call;
    pdk_hold *hold; /* a reference */
    int64_t ms;
    bool urgent;         /* it counts in s->urgent */
    struct whole *whole; /* whose part it is, once it has begun; a reference; or NULL */
};

static const char ensure_name[] = "pdk_hold_ensure", ensure_async_name[] = "pdk_hold_ensure_async";

/* OK: it is valid for that long. TIMEOUT: not yet. Otherwise NOT_HELD or LOST. Under the monitor. */
static pdk_status has(pdk_hold *hold, int64_t ms) {
    pdk__assert_locked(hold->s);
    if (hold->released)
        return PDK_NOT_HELD;
    if (!pdk_hold_is_valid(hold))
        return PDK_LOST;
    return pdk_hold_remaining_ms(hold) >= ms ? PDK_OK : PDK_TIMEOUT;
}

static pdk_status fail_as(pdk_status status, const pdk_hold *hold, const char *name) {
    return pdk__fail(status, "%s: %s: %s", name, hold->node, pdk_status_text(status));
}

/* Why a hold that is not valid any more is not: NOT_HELD or LOST. */
static pdk_status how_it_ended(pdk_hold *hold, const char *name) {
    pdk__lock(hold->s);
    pdk_status status = fail_as(has(hold, 0), hold, name);
    pdk__unlock(hold->s);
    return status;
}

/* INVALID: no renewal can ever give it as much. */
static pdk_status check_ms(pdk_hold *hold, int64_t ms, const char *name) {
    pdk__lock(hold->s);
    const struct pdk__lease *lease = &hold->s->lease;
    int64_t longest = (pdk__lease_longest(lease) - 2 * pdk__lease_urgent_period(lease)) / PDK__MS;
    int64_t most = MIN(longest, pdk__hold_most_ms(hold));
    bool possible = ms >= 0 && (ms <= most || has(hold, ms) != PDK_TIMEOUT);
    pdk__unlock(hold->s);
    if (possible)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "%s: ms is %lld; from 0 to %lld%s", name, (long long)ms, (long long)most,
                     most < longest ? ", since this hold ends by itself" : " with this session timeout");
}

static pdk_status step(struct pdk__call *c) {
    struct ensuring *e = (struct ensuring *)c;
    pdk_status status = has(e->hold, e->ms);
    if (status == PDK_OK)
        return status;
    if (status != PDK_TIMEOUT)
        return fail_as(status, e->hold, c->name);
    if (!e->urgent) {
        e->urgent = true;
        c->s->urgent++;
        pdk__renew_now(c->s);
        pdk__renew_soon(c->s);
    }
    if (pdk__call_is_late(c))
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no renewal within request_timeout_ms", c->name, e->hold->node);
    return pdk__call_waits(c, &e->hold->waiters, INT64_MAX);
}

static void leave(struct pdk__call *c) {
    struct ensuring *e = (struct ensuring *)c;
    if (e->urgent)
        c->s->urgent--;
    e->urgent = false;
}

static void ensuring_free(struct pdk__call *c) {
    struct ensuring *e = (struct ensuring *)c;
    pdk_hold_unref(e->hold);
    g_free(e);
}

static struct ensuring *ensuring_new(pdk_hold *hold, int64_t ms, const char *name, int64_t until) {
    static const struct pdk__call_kind kind = {NULL, step, leave, NULL, ensuring_free};
    struct ensuring *e = g_new0(struct ensuring, 1);
    int64_t left_ms = MAX((until - pdk__now(hold->s) + PDK__MS - 1) / PDK__MS, 0);
    e->call = pdk__call_make(&kind, hold->s, name, left_ms);
    e->hold = pdk_hold_ref(hold);
    e->ms = ms;
    return e;
}

/* ---- several rights */

/* How long one part is ensured, before the next is, where some suffice: some may not answer. */
#define TURN (20 * PDK__MS)

static int64_t turn_until(const pdk_hold *whole, int64_t until) {
    return pdk__parts_some_suffice(whole->parts) ? MIN(until, pdk__now(whole->s) + TURN) : until;
}

/* All are asked before the first begins: a callback is for what comes later. As many as are needed must be able to have so much. */
static pdk_status check_parts_ms(const struct pdk__parts *parts, int64_t ms, const char *name) {
    guint impossible = 0;
    for (guint i = 0; i < parts->count; i++) {
        pdk_hold *hold = pdk__parts_take(parts, i);
        impossible += hold && check_ms(hold, ms, name) != PDK_OK;
        pdk_hold_unref(hold);
    }
    return impossible > parts->count - parts->need ? PDK_INVALID : PDK_OK;
}

/* The parts, one after the other, until the whole has enough. */
struct turns {
    pdk_hold *whole;
    int64_t ms, until;
    const char *name; /* of the call */
    guint next;       /* part */
};

/* What the answer of one part is to the whole. Another part may have been lost while this one got no renewal. */
static pdk_status heed(const struct turns *t, pdk_status status) {
    if (pdk__parts_some_suffice(t->whole->parts))
        return PDK_OK;
    return status == PDK_UNAVAILABLE && !pdk_hold_is_valid(t->whole) ? how_it_ended(t->whole, t->name) : status;
}

/* Every part has been ensured, or has had its turn. TIMEOUT: once more. The renewal of the last part takes time from the first. */
static pdk_status all_ensured(const struct turns *t) {
    pdk_hold *whole = t->whole;
    bool valid = pdk_hold_is_valid(whole);
    if (valid && pdk__parts_remaining_ms(whole) >= t->ms)
        return PDK_OK;
    if (!pdk__parts_some_suffice(whole->parts))
        return PDK_TIMEOUT;
    if (!valid)
        return how_it_ended(whole, t->name);
    if (pdk__now(whole->s) >= t->until)
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no renewal within request_timeout_ms", t->name, whole->node);
    return PDK_TIMEOUT;
}

/* The next part's turn. NULL: *status is that of the whole. */
static struct ensuring *next_turn(struct turns *t, pdk_status *status) {
    struct ensuring *e = NULL;
    while (!e) {
        if (t->next == t->whole->parts->count) {
            *status = all_ensured(t);
            if (*status != PDK_TIMEOUT)
                return NULL;
            t->next = 0;
        }
        pdk_hold *hold = pdk__parts_take(t->whole->parts, t->next++);
        e = hold ? ensuring_new(hold, t->ms, t->name, turn_until(t->whole, t->until)) : NULL;
        pdk_hold_unref(hold);
    }
    return e;
}

static pdk_status ensure_parts(struct turns t) {
    pdk_status status = PDK_OK;
    for (struct ensuring *e; status == PDK_OK && (e = next_turn(&t, &status));)
        status = heed(&t, pdk__call_wait(&e->call));
    return status;
}

/* The same with a callback. The answer has a reference, and so has each part that is being ensured. */
struct whole {
    struct pdk__follower end; /* of its session */
    atomic_uint refs;
    struct turns turns; /* with a reference to the hold */
    pdk_answered_fn fn;
    void *user;
    bool over; /* decided, so it follows no more. Under the monitor of its session */
    pdk_status status;
    char *text;
};

static struct whole *whole_ref(struct whole *w) {
    atomic_fetch_add(&w->refs, 1);
    return w;
}

static void whole_unref(void *whole) {
    struct whole *w = whole;
    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    pdk_hold_unref(w->turns.whole);
    g_free(w->text);
    g_free(w);
}

static void whole_told(void *whole) {
    struct whole *w = whole;
    if (w->status != PDK_OK)
        pdk__fail(w->status, "%s", w->text);
    w->fn(w->status, w->user);
}

/* Once. The outbox takes it: a session tells its followers of its end before it goes silent. Under the monitor. */
static void decide(struct whole *w, pdk_status status) {
    w->over = true;
    w->status = status;
    w->text = status == PDK_OK ? NULL : g_strdup(pdk_last_error());
    pdk__later(w->turns.whole->s, whole_told, whole_unref, w);
}

/* The whole is lost by now, if it was not released. */
static void home_ended(struct pdk__follower *follower) {
    struct whole *w = (struct whole *)follower;
    pdk_hold *hold = w->turns.whole;
    decide(w, fail_as(has(hold, 0), hold, w->turns.name));
}

static void whole_over(struct whole *w, pdk_status status) {
    pdk_session *s = w->turns.whole->s;
    pdk__lock(s);
    if (!w->over) {
        pdk__unfollow_end(s, &w->end);
        decide(w, status);
    }
    pdk__unlock(s);
}

static void go_on(struct whole *w, pdk_status status);

static void part_begin(struct pdk__call *c) { ((struct ensuring *)c)->whole = whole_ref(c->user); }

/* Its answer goes on from here, and not from where it would be told: a session that goes silent drops what is due, and the whole is
 * told by another one. */
static void part_free(struct pdk__call *c) {
    struct whole *w = ((struct ensuring *)c)->whole;
    pdk_status status = c->status;
    if (status != PDK_OK)
        pdk__fail(status, "%s", c->text);
    ensuring_free(c);
    if (w) {
        go_on(w, heed(&w->turns, status));
        whole_unref(w);
    }
}

/* OK: it is being ensured. Otherwise its session has ended, and so has its hold. */
static pdk_status start_part(struct whole *w, struct ensuring *e) {
    static const struct pdk__call_kind kind = {part_begin, step, leave, NULL, part_free};
    pdk_hold *hold = pdk_hold_ref(e->hold);
    e->call.kind = &kind;
    e->call.user = w;
    pdk_status status = pdk__call_start(&e->call);
    if (status != PDK_OK)
        status = how_it_ended(hold, w->turns.name);
    pdk_hold_unref(hold);
    return status;
}

/* true: a part is being ensured. false: *status is that of the whole. */
static bool ensure_next(struct whole *w, pdk_status *status) {
    bool begun = false;
    for (struct ensuring *e; !begun && *status == PDK_OK && (e = next_turn(&w->turns, status));) {
        *status = start_part(w, e);
        begun = *status == PDK_OK;
        *status = heed(&w->turns, *status);
    }
    return begun;
}

static void go_on(struct whole *w, pdk_status status) {
    if (!ensure_next(w, &status))
        whole_over(w, status);
}

static pdk_status start_whole(struct turns turns, pdk_answered_fn fn, void *user) {
    pdk_session *s = turns.whole->s;
    struct whole *w = g_new0(struct whole, 1);
    atomic_init(&w->refs, 1);
    w->end.ended = home_ended;
    w->turns = turns;
    pdk_hold_ref(turns.whole);
    w->fn = fn;
    w->user = user;
    pdk__lock(s);
    pdk_status status = pdk__session_usable(s, turns.name);
    if (status == PDK_OK)
        pdk__follow_end(s, &whole_ref(w)->end);
    pdk__unlock(s);
    if (status == PDK_OK)
        go_on(w, PDK_OK);
    whole_unref(w);
    return status;
}

/* ---- the public functions */

static pdk_status check(const pdk_hold *hold, const char *name) {
    if (!hold)
        return pdk__fail(PDK_INVALID, "%s: hold: NULL", name);
    if (!pdk__hold_is_ours(hold))
        return pdk__fail(PDK_FORKED, "%s: the hold belongs to the parent process", name);
    return PDK_OK;
}

static pdk_status check_possible(pdk_hold *hold, int64_t ms, const char *name) {
    return hold->parts ? check_parts_ms(hold->parts, ms, name) : check_ms(hold, ms, name);
}

pdk_status pdk_hold_ensure(pdk_hold *hold, int64_t ms) {
    pdk_status status = check(hold, ensure_name);
    if (status == PDK_OK)
        status = pdk__may_block(hold->s, ensure_name, 0);
    if (status == PDK_OK)
        status = check_possible(hold, ms, ensure_name);
    if (status != PDK_OK)
        return status;
    int64_t until = pdk__deadline(hold->s, hold->s->request_timeout_ms);
    return hold->parts ? ensure_parts((struct turns){hold, ms, until, ensure_name, 0})
                       : pdk__call_wait(&ensuring_new(hold, ms, ensure_name, until)->call);
}

pdk_status pdk_hold_ensure_async(pdk_hold *hold, int64_t ms, pdk_answered_fn fn, void *user) {
    pdk_status status = check(hold, ensure_async_name);
    if (status == PDK_OK)
        status = pdk__call_check_fn(ensure_async_name, fn);
    if (status == PDK_OK)
        status = check_possible(hold, ms, ensure_async_name);
    if (status != PDK_OK)
        return status;
    int64_t until = pdk__deadline(hold->s, hold->s->request_timeout_ms);
    if (hold->parts)
        return start_whole((struct turns){hold, ms, until, ensure_async_name, 0}, fn, user);
    struct ensuring *e = ensuring_new(hold, ms, ensure_async_name, until);
    e->call.answered = fn;
    e->call.user = user;
    return pdk__call_start(&e->call);
}
