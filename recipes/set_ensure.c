/* A call makes sure that a set stays valid for so long.
 *
 *     all are needed:  part ──answered──► next part … ──► all still have enough? ──► answered; else once more
 *     some suffice:    each part has a turn of 20 ms, again and again, until as many as are needed have enough
 *
 * Each part is ensured in its own session (grant/ensure.h). That session's outbox carries its answer to the next part,
 * since no thread may have two monitors. The session of the set tells the last answer. Its end may come while a part is
 * ensured in another session, and nothing could be told afterwards. So the call follows it.
 */
#include "grant/ensure.h"

#include "base/text.h"
#include "session/blocking.h"
#include "set.h"

/* Where some suffice, some may not answer, so each part has so much time before the next one. */
#define TURN (20 * PDK__MS)

static int64_t turn_until(const pdk_set *set, int64_t until) {
    return pdk__set_some_suffice(set) ? MIN(until, pdk__now(set->s) + TURN) : until;
}

/* Can as many parts as are needed ever have so much? All are checked before the first begins, since an invalid call has
 * no callback. */
static pdk_status set_check_ms(pdk_set *set, int64_t ms, const char *name) {
    guint impossible = 0;
    for (guint i = 0; i < set->count; i++) {
        pdk_hold *hold = pdk__set_take(set, i);
        impossible += hold && pdk__ensuring_check(hold, ms, name) != PDK_OK;
        pdk_hold_unref(hold);
    }
    return impossible > set->count - set->need ? PDK_INVALID : PDK_OK;
}

/* The parts, one after the other, until the set has enough. */
struct turns {
    pdk_set *set;
    int64_t ms, until;
    const char *name; /* of the call */
    guint next;       /* part */
};

static pdk_status turns_how_it_ended(const struct turns *t) {
    pdk__lock(t->set->s);
    pdk_status status = pdk__set_how_it_ended(t->set, t->name);
    pdk__unlock(t->set->s);
    return status;
}

/* The meaning of one part's answer to the set. Another part may have been lost while this one got no renewal. */
static pdk_status turns_heed(const struct turns *t, pdk_status status) {
    if (pdk__set_some_suffice(t->set))
        return PDK_OK;
    return status == PDK_UNAVAILABLE && !pdk_set_is_valid(t->set) ? turns_how_it_ended(t) : status;
}

/* Every part has been ensured, or has had its turn. TIMEOUT: once more, since the renewal of the last part takes time
 * from the first. */
static pdk_status turns_all_ensured(const struct turns *t) {
    pdk_set *set = t->set;
    bool valid = pdk_set_is_valid(set);
    if (valid && pdk_set_remaining_ms(set) >= t->ms)
        return PDK_OK;
    if (!pdk__set_some_suffice(set))
        return PDK_TIMEOUT;
    if (!valid)
        return turns_how_it_ended(t);
    if (pdk__now(set->s) >= t->until)
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no renewal within request_timeout_ms", t->name, set->name);
    return PDK_TIMEOUT;
}

/* Begin the next part's turn. NULL: *status is the set's. */
static struct pdk__ensuring *turns_next(struct turns *t, pdk_status *status) {
    struct pdk__ensuring *e = NULL;
    while (!e) {
        if (t->next == t->set->count) {
            *status = turns_all_ensured(t);
            if (*status != PDK_TIMEOUT)
                return NULL;
            t->next = 0;
        }
        pdk_hold *hold = pdk__set_take(t->set, t->next++);
        e = hold ? pdk__ensuring_new(hold, t->ms, t->name, turn_until(t->set, t->until)) : NULL;
        pdk_hold_unref(hold);
    }
    return e;
}

static pdk_status ensure_parts(struct turns t) {
    pdk_status status = PDK_OK;
    for (struct pdk__ensuring *e; status == PDK_OK && (e = turns_next(&t, &status));)
        status = turns_heed(&t, pdk__call_wait(&e->call));
    return status;
}

/* The same with a callback. The answer has a reference, and so has each part that is being ensured. */
struct answer {
    struct pdk__follower end; /* of its session */
    atomic_uint refs;
    struct turns turns; /* with a reference to the set */
    pdk_answered_fn fn;
    void *user;
    bool over; /* decided, so it follows no more. Under the monitor of its session */
    pdk_status status;
    char *text;
};

static struct answer *answer_ref(struct answer *w) {
    atomic_fetch_add(&w->refs, 1);
    return w;
}

static void answer_unref(void *answer) {
    struct answer *w = answer;
    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    pdk_set_unref(w->turns.set);
    g_free(w->text);
    g_free(w);
}

static void answer_told(void *answer) {
    struct answer *w = answer;
    if (w->status != PDK_OK)
        pdk__fail(w->status, "%s", w->text);
    w->fn(w->status, w->user);
}

/* Decide it, once. The outbox takes it, since a session tells its followers of its end before it goes silent. Under the
 * monitor. */
static void answer_decide(struct answer *w, pdk_status status) {
    w->over = true;
    w->status = status;
    w->text = status == PDK_OK ? NULL : g_strdup(pdk_last_error());
    pdk__later(w->turns.set->s, answer_told, answer_unref, w);
}

/* The session of the set has ended: the set is lost by now, if it was not released. */
static void home_ended(struct pdk__follower *follower) {
    struct answer *w = (struct answer *)follower;
    answer_decide(w, pdk__set_how_it_ended(w->turns.set, w->turns.name));
}

static void answer_over(struct answer *w, pdk_status status) {
    pdk_session *s = w->turns.set->s;
    pdk__lock(s);
    if (!w->over) {
        pdk__unfollow_end(s, &w->end);
        answer_decide(w, status);
    }
    pdk__unlock(s);
}

static void answer_go_on(struct answer *w, pdk_status status);

static void part_begin(struct pdk__call *c) { ((struct pdk__ensuring *)c)->of = answer_ref(c->user); }

/* The answer goes on from here, and not from the call's `tell`: a session that goes silent drops calls that are due,
 * but frees them, and another session tells for the set. */
static void part_free(struct pdk__call *c) {
    struct answer *w = ((struct pdk__ensuring *)c)->of;
    pdk_status status = c->status;
    if (status != PDK_OK)
        pdk__fail(status, "%s", c->text);
    pdk__ensuring_free(c);
    if (w) {
        answer_go_on(w, turns_heed(&w->turns, status));
        answer_unref(w);
    }
}

/* OK: it is being ensured. Otherwise its session has ended, and so has its hold. */
static pdk_status answer_start_part(struct answer *w, struct pdk__ensuring *e) {
    static const struct pdk__call_kind kind = {part_begin, pdk__ensuring_step, pdk__ensuring_leave, NULL, part_free};
    pdk_hold *hold = pdk_hold_ref(e->hold);
    e->call.kind = &kind;
    e->call.user = w;
    pdk_status status = pdk__call_start(&e->call);
    if (status != PDK_OK)
        status = pdk__ensuring_how_it_ended(hold, w->turns.name);
    pdk_hold_unref(hold);
    return status;
}

/* true: a part is being ensured. false: *status is the set's. */
static bool answer_ensure_next(struct answer *w, pdk_status *status) {
    bool begun = false;
    for (struct pdk__ensuring *e; !begun && *status == PDK_OK && (e = turns_next(&w->turns, status));) {
        *status = answer_start_part(w, e);
        begun = *status == PDK_OK;
        *status = turns_heed(&w->turns, *status);
    }
    return begun;
}

static void answer_go_on(struct answer *w, pdk_status status) {
    if (!answer_ensure_next(w, &status))
        answer_over(w, status);
}

static pdk_status answer_start(struct turns turns, pdk_answered_fn fn, void *user) {
    pdk_session *s = turns.set->s;
    struct answer *w = g_new0(struct answer, 1);
    atomic_init(&w->refs, 1);
    w->end.ended = home_ended;
    w->turns = turns;
    pdk_set_ref(turns.set);
    w->fn = fn;
    w->user = user;
    pdk__lock(s);
    pdk_status status = pdk__session_usable(s, turns.name);
    if (status == PDK_OK)
        pdk__follow_end(s, &answer_ref(w)->end);
    pdk__unlock(s);
    if (status == PDK_OK)
        answer_go_on(w, PDK_OK);
    answer_unref(w);
    return status;
}

/* ---- the public functions */

static pdk_status set_check(pdk_set *set, int64_t ms, const char *call) {
    if (!set)
        return pdk__fail(PDK_INVALID, "%s: set: NULL", call);
    if (!pdk__set_is_ours(set))
        return pdk__fail(PDK_FORKED, "%s: the set belongs to the parent process", call);
    return set_check_ms(set, ms, call);
}

static struct turns turns_of(pdk_set *set, int64_t ms, const char *call) {
    return (struct turns){set, ms, pdk__deadline(set->s, set->s->request_timeout_ms), call, 0};
}

pdk_status pdk_set_ensure(pdk_set *set, int64_t ms) {
    static const char call[] = "pdk_set_ensure";
    pdk_status status = set_check(set, ms, call);
    if (status != PDK_OK)
        return status;
    status = pdk__may_block(set->s, call, 0);
    return status == PDK_OK ? ensure_parts(turns_of(set, ms, call)) : status;
}

pdk_status pdk_set_ensure_async(pdk_set *set, int64_t ms, pdk_answered_fn fn, void *user) {
    static const char call[] = "pdk_set_ensure_async";
    pdk_status status = pdk__call_check_fn(call, fn);
    if (status != PDK_OK)
        return status;
    status = set_check(set, ms, call);
    return status == PDK_OK ? answer_start(turns_of(set, ms, call), fn, user) : status;
}
