#include "grant/all.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "grant/claim.h"
#include "grant/parts.h"
#include "grant/registry.h"
#include "grant/taking.h"
#include "session/blocking.h"

enum phase { TAKING, DECIDED, ENDED };

struct pdk__all {
    atomic_uint refs;
    struct pdk__taking taking;
    struct pdk__follower end; /* of its session */
    atomic_bool home_ended;
    pthread_mutex_t
        steps; /* a step at a time; it comes before every monitor. All below is under it, or the blocked thread's */
    enum phase phase;
    const char *given_up; /* why, or NULL */
    pdk_status status;    /* once DECIDED */
    char *why;
    struct pdk_hold *whole; /* a reference, until it is received */
    pdk_acquired_fn fn;     /* NULL: a thread is blocked */
    void *user;
};

static pdk_session *session_of(const struct pdk__taken_right *right) { return right->right.queue->s; }
static struct pdk__taken_right *present(struct pdk__all *all) { return pdk__taking_current(&all->taking); }
/* The one in which the first right is claimed tells of the result, and of the loss. So the claim ends with it. */
static pdk_session *home(const struct pdk__all *all) { return session_of(&all->taking.rights[0]); }

static void happened(struct pdk__taking *t, pdk_session *s);
static void home_ended(struct pdk__follower *follower);

struct pdk__all *pdk__all_new(const struct pdk__right *rights, guint count, const struct pdk__all_terms *terms) {
    struct pdk__all *all = g_new0(struct pdk__all, 1);
    atomic_init(&all->refs, 1);
    pthread_mutex_init(&all->steps, NULL);
    all->taking.happened = happened;
    all->end.ended = home_ended;
    pdk__taking_init(&all->taking, rights, count, terms);
    return all;
}

static struct pdk__all *all_ref(struct pdk__all *all) {
    atomic_fetch_add(&all->refs, 1);
    return all;
}

void pdk__all_unref(struct pdk__all *all) {
    if (!all || atomic_fetch_sub(&all->refs, 1) != 1)
        return;
    pdk__taking_clear(&all->taking);
    pthread_mutex_destroy(&all->steps);
    g_free(all->why);
    g_free(all);
}

/* ---- events, under the monitor of a session */

static void carry(void *user) { (void)user; }
static void arrive(void *user);

static void happened(struct pdk__taking *t, pdk_session *s) {
    struct pdk__all *all = (struct pdk__all *)((char *)t - G_STRUCT_OFFSET(struct pdk__all, taking));
    struct pdk__taken_right *now = present(all);
    if (!all->fn && session_of(now) == s) {
        pdk__wake(&now->waiters);
        return;
    }
    all_ref(all);
    if (!pdk__later_first(s, carry, arrive, all)) /* a session answers its claims before it goes silent */
        atomic_fetch_sub(&all->refs, 1);
}

static void home_ended(struct pdk__follower *follower) {
    struct pdk__all *all = (struct pdk__all *)((char *)follower - G_STRUCT_OFFSET(struct pdk__all, end));
    atomic_store(&all->home_ended, true);
    happened(&all->taking, home(all));
}

static void follow(struct pdk__all *all) {
    pdk_session *s = home(all);
    pdk__lock(s);
    if (s->ended == PDK_OK)
        pdk__follow_end(s, &all->end);
    else
        atomic_store(&all->home_ended, true);
    pdk__unlock(s);
}

/* ---- steps */

/* One notice in the outbox of the home. After one that was too late another may be there before it is dropped. */
struct delivery {
    struct pdk__all *all; /* the claim's own reference */
    bool ran;
};

static void deliver(void *delivery);
static void drop(void *delivery);

/* It is delivered in the same section of the home's monitor in which its end is not followed any more: a close that comes before
 * that finds a step in the outbox, and waits for it, and one that comes later finds the delivery. */
static void decide(struct pdk__all *all, pdk_status status, char *why) {
    pdk_session *s = home(all);
    struct delivery *d = NULL;
    all->phase = DECIDED;
    all->status = status;
    all->why = why;
    pdk__taking_give_back(&all->taking);
    if (all->fn) {
        d = g_new0(struct delivery, 1);
        d->all = all;
    }
    pdk__lock(s);
    pdk__unfollow_end(s, &all->end);
    bool taken = !d || pdk__later(s, deliver, drop, d);
    pdk__unlock(s);
    if (!taken) { /* nobody receives it */
        g_clear_pointer(&all->whole, pdk_hold_unref);
        atomic_fetch_sub(&all->refs, 1); /* not the last: who takes a step has another one */
        g_free(d);
    }
}

static void decide_as_home_ended(struct pdk__all *all) {
    pdk_session *s = home(all);
    pdk__lock(s);
    pdk_status status = s->ended;
    char *why = g_strdup_printf("%s: %s", all->taking.rights[0].right.path, s->trouble_text);
    pdk__unlock(s);
    decide(all, status, why);
}

/* Take steps until it waits for something, or is DECIDED. */
static void take_steps(struct pdk__all *all) {
    while (all->phase == TAKING) {
        if (all->given_up) {
            decide(all, PDK_CANCELED, g_strdup(all->given_up));
            return;
        }
        if (atomic_load(&all->home_ended)) {
            decide_as_home_ended(all);
            return;
        }
        enum pdk__majority_step step = pdk__taking_go_on(&all->taking);
        if (step == PDK__MAJORITY_WAIT)
            return;
        if (step == PDK__MAJORITY_FAIL)
            decide(all, all->taking.status, g_steal_pointer(&all->taking.why));
        else if ((all->whole = pdk__taking_complete(&all->taking)))
            decide(all, PDK_OK, NULL);
    }
}

/* Time has passed since the decision. false: it was lost meanwhile, and is TAKING again. */
static bool receive(struct pdk__all *all) {
    if (all->status == PDK_OK && !(pdk__taking_in_time(&all->taking) && pdk_hold_is_valid(all->whole))) {
        pdk_hold_unref(g_steal_pointer(&all->whole));
        all->phase = TAKING;
        follow(all);
        pdk__taking_begin_anew(&all->taking);
        return false;
    }
    all->phase = ENDED;
    return true;
}

/* ---- the blocked thread */

static void await(struct pdk__all *all) {
    struct pdk__taken_right *now = present(all);
    pdk_session *s = session_of(now);
    pdk__lock(s);
    while (!pdk__taking_has_news(&all->taking) && !atomic_load(&all->home_ended) && !all->given_up) {
        if (pdk__interrupted())
            all->given_up = PDK__INTERRUPTED;
        else
            pdk__wait(s, &now->waiters, pdk__taking_sure_until(&all->taking));
    }
    pdk__unlock(s);
}

/* The thread was cancelled, outside of all monitors by now. */
static void abandon(void *user) {
    struct pdk__all *all = user;
    decide(all, PDK_CANCELED, NULL);
    pdk__all_unref(all);
}

static void carry_out(struct pdk__all *all) {
    struct pdk__leave leave = {.after = abandon, .user = all};
    pdk__leave_push(&leave);
    follow(all);
    do {
        take_steps(all);
        while (all->phase == TAKING) {
            await(all);
            take_steps(all);
        }
    } while (!receive(all));
    pdk__leave_pop();
}

pdk_status pdk__all_wait(struct pdk__all *all, const char *call, struct pdk_hold **out) {
    pdk__cancel_off();
    if (pdk__interrupted())
        all->given_up = PDK__INTERRUPTED;
    carry_out(all);
    pdk_status status = all->status;
    if (status == PDK_OK) {
        pdk__parts_own(all->whole, pdk__this_thread());
        *out = g_steal_pointer(&all->whole);
    } else {
        pdk__fail(status, "%s: %s", call, all->why);
    }
    pdk__all_unref(all);
    pdk__cancel_back();
    return status;
}

/* ---- the callback */

static void drop(void *user) {
    struct delivery *d = user;
    struct pdk__all *all = d->all;
    if (!d->ran) { /* nobody received it */
        pthread_mutex_lock(&all->steps);
        g_clear_pointer(&all->whole, pdk_hold_unref);
        pthread_mutex_unlock(&all->steps);
    }
    pdk__all_unref(all);
    g_free(d);
}

/* The caller has a reference. */
static void go_on(struct pdk__all *all, struct pdk_claim **out) {
    pthread_mutex_lock(&all->steps);
    if (out)
        *out = pdk__claim_of_all(all->taking.rights[0].right.queue, all_ref(all));
    take_steps(all);
    pthread_mutex_unlock(&all->steps);
}

static void deliver(void *user) {
    struct delivery *d = user;
    struct pdk__all *all = d->all;
    d->ran = true;
    pthread_mutex_lock(&all->steps);
    bool received = receive(all);
    pdk_status status = all->status;
    struct pdk_hold *hold = g_steal_pointer(&all->whole);
    if (!received) {
        all_ref(all); /* the claim's own, again: that of this delivery is dropped */
        take_steps(all);
    }
    pthread_mutex_unlock(&all->steps);
    if (!received)
        return;
    if (status != PDK_OK)
        pdk__fail(status, "pdk_acquire_all_async: %s", all->why);
    all->fn(status, hold, all->user);
}

/* A step that an event has queued, or the word to the blocked thread. */
static void arrive(void *user) {
    struct pdk__all *all = user;
    if (all->fn) {
        go_on(all, NULL);
    } else {
        struct pdk__taken_right *now = present(all);
        pdk__lock(session_of(now));
        pdk__wake(&now->waiters);
        pdk__unlock(session_of(now));
    }
    pdk__all_unref(all);
}

void pdk__all_start(struct pdk__all *all, pdk_acquired_fn fn, void *user, struct pdk_claim **out) {
    all->fn = fn;
    all->user = user;
    pdk__cancel_off();
    follow(all);
    go_on(all_ref(all), out);
    pdk__all_unref(all);
    pdk__cancel_back();
}

bool pdk__all_cancel(struct pdk__all *all) {
    pdk__cancel_off();
    pthread_mutex_lock(&all->steps);
    bool taking = all->phase == TAKING;
    if (taking)
        all->given_up = "cancelled";
    pthread_mutex_unlock(&all->steps);
    go_on(all, NULL);
    pdk__cancel_back();
    return taking;
}

int32_t pdk__all_position(struct pdk__all *all) {
    pthread_mutex_lock(&all->steps);
    const struct pdk__taken_right *right = present(all);
    int32_t found = PDK__DECIDED;
    if (all->phase == TAKING) {
        pdk__lock(session_of(right));
        bool asked = right->claim && !atomic_load(&right->answered);
        found = asked ? pdk__queue_ahead(right->right.queue, right->claim) : -1;
        pdk__unlock(session_of(right));
    }
    pthread_mutex_unlock(&all->steps);
    return found;
}
