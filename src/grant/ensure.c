/* Making sure that a hold stays valid for so long: a renewal is asked for, and waited for.
 *
 *     one right:       renew ──the lease is longer, or the hold has ended──► answered
 *     several rights:  part ──answered──► next part … ──► all of them still have enough? ──► answered; else from the first again
 *
 *     some suffice:    each part has a turn of 20 ms, again and again, until as many as are needed have enough
 *
 * Each part is ensured in its own session. Its answer is carried to the next one as a callback, since no thread may have two
 * monitors; the last answer is told where the whole tells.
 */
#include "base/text.h"
#include "grant/hold.h"
#include "grant/parts.h"
#include "session/blocking.h"
#include "session/call.h"
#include "session/renew.h"

/* ---- one right */

struct ensuring {
    struct pdk__call call;
    pdk_hold *hold; /* a reference */
    int64_t ms;
    bool urgent;         /* it counts in s->urgent */
    struct whole *whole; /* whose part it is; a reference; or NULL */
};

static void whole_unref(void *whole);

static const char ensure_name[] = "pdk_hold_ensure", ensure_async_name[] = "pdk_hold_ensure_async";

/* OK: it is valid for that long. TIMEOUT: not yet. Otherwise NOT_HELD or LOST. Under the monitor. */
static pdk_status has(pdk_hold *hold, int64_t ms) {
    pdk__assert_locked(hold->s);
    if (hold->released)
        return PDK_NOT_HELD;
    if (!pdk_hold_valid(hold))
        return PDK_LOST;
    return pdk_hold_remaining_ms(hold) >= ms ? PDK_OK : PDK_TIMEOUT;
}

static pdk_status begin(struct pdk__call *c) {
    const struct ensuring *e = (const struct ensuring *)c;
    const struct pdk__lease *lease = &c->s->lease;
    int64_t longest = (pdk__lease_longest(lease) - 2 * pdk__lease_urgent_period(lease)) / PDK__MS;
    int64_t most = MIN(longest, pdk__hold_most_ms(e->hold));
    if (e->ms >= 0 && (e->ms <= most || has(e->hold, e->ms) != PDK_TIMEOUT))
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "%s: ms is %lld; from 0 to %lld%s", c->name, (long long)e->ms, (long long)most,
                     most < longest ? ", since this hold ends by itself" : " with this session timeout");
}

static pdk_status step(struct pdk__call *c) {
    struct ensuring *e = (struct ensuring *)c;
    pdk_status status = has(e->hold, e->ms);
    if (status == PDK_OK)
        return status;
    if (status != PDK_TIMEOUT)
        return pdk__fail(status, "%s: %s: %s", c->name, e->hold->node, pdk_status_text(status));
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
    if (e->whole)
        whole_unref(e->whole);
    g_free(e);
}

static struct ensuring *ensuring_new(pdk_hold *hold, int64_t ms, const char *name, int64_t until) {
    static const struct pdk__call_kind kind = {begin, step, leave, NULL, ensuring_free};
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

/* What the answer of one part is to the whole. */
static pdk_status heed(const pdk_hold *whole, pdk_status status) {
    return pdk__parts_some_suffice(whole->parts) && status != PDK_INVALID ? PDK_OK : status;
}

/* The parts, one after the other, until the whole has enough. */
struct turns {
    pdk_hold *whole;
    int64_t ms, until;
    const char *name; /* of the call */
    guint next;       /* part */
};

/* Every part has been ensured, or has had its turn. TIMEOUT: once more. The renewal of the last part takes time from the first. */
static pdk_status all_ensured(const struct turns *t) {
    pdk_hold *whole = t->whole;
    bool valid = pdk_hold_valid(whole);
    if (valid && pdk__parts_remaining_ms(whole) >= t->ms)
        return PDK_OK;
    if (!pdk__parts_some_suffice(whole->parts))
        return PDK_TIMEOUT;
    if (!valid) {
        pdk__lock(whole->s);
        pdk_status status = whole->released ? PDK_NOT_HELD : PDK_LOST;
        pdk__unlock(whole->s);
        return pdk__fail(status, "%s: %s: %s", t->name, whole->node, pdk_status_text(status));
    }
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
        status = heed(t.whole, pdk__call_wait(&e->call));
    return status;
}

/* The same with a callback. */
struct whole {
    atomic_uint refs;
    struct turns turns; /* with a reference to the hold */
    pdk_answered_fn fn;
    void *user;
    pdk_status status;
    char *text;
};

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

/* Takes over a reference. */
static void whole_over(struct whole *w, pdk_status status) {
    w->status = status;
    w->text = status == PDK_OK ? NULL : g_strdup(pdk_error_text());
    if (!pdk__later(w->turns.whole->s, whole_told, whole_unref, w))
        whole_unref(w); /* its session has been closed */
}

static void part_ensured(pdk_status status, void *user);

/* true: a part is being ensured. false: *status is that of the whole. */
static bool ensure_next(struct whole *w, pdk_status *status) {
    for (struct ensuring *e; (e = next_turn(&w->turns, status));) {
        atomic_fetch_add(&w->refs, 1);
        e->whole = w;
        e->call.answered = part_ensured;
        e->call.user = w;
        *status = pdk__call_start(&e->call);
        if (*status == PDK_OK)
            return true;
        *status = heed(w->turns.whole, *status);
        if (*status != PDK_OK)
            return false;
    }
    return false;
}

static void part_ensured(pdk_status status, void *user) {
    struct whole *w = user;
    status = heed(w->turns.whole, status);
    if (status == PDK_OK && ensure_next(w, &status))
        return;
    atomic_fetch_add(&w->refs, 1);
    whole_over(w, status);
}

static pdk_status start_whole(struct turns turns, pdk_answered_fn fn, void *user) {
    struct whole *w = g_new0(struct whole, 1);
    atomic_init(&w->refs, 1);
    w->turns = turns;
    pdk_hold_ref(turns.whole);
    w->fn = fn;
    w->user = user;
    pdk_status status;
    bool begun = ensure_next(w, &status);
    if (!begun && status == PDK_OK)
        whole_over(w, status);
    else
        whole_unref(w);
    return begun ? PDK_OK : status;
}

/* ---- the public functions */

static pdk_status check(const pdk_hold *hold, const char *name) {
    if (!hold)
        return pdk__fail(PDK_INVALID, "%s: hold: NULL", name);
    if (!pdk__hold_is_ours(hold))
        return pdk__fail(PDK_FORKED, "%s: the hold belongs to the parent process", name);
    return PDK_OK;
}

pdk_status pdk_hold_ensure(pdk_hold *hold, int64_t ms) {
    pdk_status status = check(hold, ensure_name);
    if (status == PDK_OK)
        status = pdk__may_block(hold->s, ensure_name, 0);
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
