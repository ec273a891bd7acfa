#include "grant/all.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "grant/claim.h"
#include "grant/parts.h"
#include "session/blocking.h"

enum phase { TAKING, DECIDED, ENDED };

/* One right. Under the monitor of its session, but for `asked`, and for what an answer brought once that is there. */
struct part {
    struct pdk__grant_listener listener; /* of the grant that it was given */
    struct pdk__all *all;
    struct pdk__right right;
    bool asked;
    atomic_bool answered;
    pdk_status status;
    char *why;
    struct pdk_claim *claim;     /* a reference */
    struct pdk_hold *hold;       /* a reference */
    struct pdk__grant *grant;    /* that has not ended */
    struct pdk__waiters waiters; /* the blocked thread, while this is the present one */
};

struct pdk__all {
    atomic_uint refs;
    pthread_mutex_t
        steps; /* a step at a time; it comes before every monitor. All below is under it, or the blocked thread's */
    enum phase phase;
    bool is_try;
    int64_t deadline;
    const char *given_up; /* why, or NULL */
    pdk_status status;    /* once DECIDED */
    char *why;
    struct pdk_hold *whole; /* a reference, until it is received */
    pdk_acquired_fn fn;     /* NULL: a thread is blocked */
    void *user;
    guint count;
    atomic_uint current; /* the present one; all before it are held */
    struct part parts[];
};

static struct part *present(struct pdk__all *all) { return &all->parts[atomic_load(&all->current)]; }
static pdk_session *session_of(const struct part *part) { return part->right.queue->s; }
/* The one in which the first right is claimed tells of the result, and of the loss. Something of it is claimed or held from the
 * first step to the last: so it does not end unnoticed. */
static pdk_session *home(const struct pdk__all *all) { return session_of(&all->parts[0]); }
static bool in_time(const struct pdk__all *all) { return pdk__now(home(all)) < all->deadline; }

struct pdk__all *pdk__all_new(const struct pdk__right *rights, guint count, int64_t timeout_ms) {
    struct pdk__all *all = g_malloc0(sizeof *all + count * sizeof all->parts[0]);
    atomic_init(&all->refs, 1);
    pthread_mutex_init(&all->steps, NULL);
    all->is_try = timeout_ms == 0;
    all->deadline = pdk__claim_deadline(rights[0].queue->s, pdk__now(rights[0].queue->s), timeout_ms);
    all->count = count;
    for (guint i = 0; i < count; i++) {
        all->parts[i].all = all;
        all->parts[i].right = rights[i];
    }
    return all;
}

static struct pdk__all *all_ref(struct pdk__all *all) {
    atomic_fetch_add(&all->refs, 1);
    return all;
}

void pdk__all_unref(struct pdk__all *all) {
    if (!all || atomic_fetch_sub(&all->refs, 1) != 1)
        return;
    for (guint i = 0; i < all->count; i++) {
        pdk__queue_unref(all->parts[i].right.queue);
        g_free(all->parts[i].right.path);
    }
    pthread_mutex_destroy(&all->steps);
    g_free(all->why);
    g_free(all);
}

/* ---- events, under the monitor of the part's session */

static void carry(void *user) { (void)user; }
static void arrive(void *user);

static void happened(const struct part *part) {
    struct pdk__all *all = part->all;
    pdk_session *s = session_of(part);
    struct part *now = present(all);
    if (!all->fn && session_of(now) == s) {
        pdk__wake(&now->waiters);
        return;
    }
    all_ref(all);
    if (!pdk__later_first(s, carry, arrive, all)) /* a session answers its claims before it goes silent */
        atomic_fetch_sub(&all->refs, 1);
}

static void on_ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct part *part = (struct part *)l;
    (void)reason;
    part->grant = NULL;
    happened(part);
}

static void on_decided(void *user, pdk_status status, struct pdk_hold *hold) {
    struct part *part = user;
    part->status = status;
    part->why = g_strdup(part->claim->why);
    part->hold = hold;
    if (hold) {
        part->grant = hold->grant;
        part->listener.ended = on_ended;
        pdk__grant_listen(part->grant, &part->listener);
    }
    atomic_store(&part->answered, true);
    happened(part);
}

/* ---- steps */

static void ask(struct part *part) {
    const struct pdk__all *all = part->all;
    pdk_session *s = session_of(part);
    part->asked = true;
    pdk__lock(s);
    if (s->ended == PDK_OK) {
        pdk__claim_begin_until(part->right.queue, part->right.count, all->deadline, all->is_try, on_decided, part,
                               &part->claim);
    } else {
        part->status = s->ended;
        part->why = g_strdup(s->trouble_text);
        atomic_store(&part->answered, true);
    }
    pdk__unlock(s);
}

static void stop_listening(struct part *part) {
    pdk__assert_locked(session_of(part));
    if (part->grant)
        pdk__grant_unlisten(g_steal_pointer(&part->grant), &part->listener);
}

/* As it was before it was asked for. */
static void forget(struct part *part) {
    g_clear_pointer(&part->claim, pdk_claim_unref);
    g_clear_pointer(&part->hold, pdk_hold_unref);
    g_clear_pointer(&part->why, g_free);
    part->asked = false;
    atomic_store(&part->answered, false);
}

static void give_back(struct pdk__all *all) {
    for (guint i = atomic_load(&all->current) + 1; i-- > 0;) {
        struct part *part = &all->parts[i];
        pdk__lock(session_of(part));
        if (part->claim)
            pdk__claim_cancel(part->claim);
        stop_listening(part);
        if (part->hold)
            pdk__hold_discard(part->hold);
        pdk__unlock(session_of(part));
        forget(part);
    }
    atomic_store(&all->current, 0);
}

/* Is a right gone that it had? */
static bool is_broken(const struct pdk__all *all) {
    guint current = atomic_load(&all->current);
    for (guint i = 0; i < current; i++)
        if (!pdk_hold_valid(all->parts[i].hold))
            return true;
    return false;
}

static struct pdk_hold *join(struct pdk__all *all) {
    struct pdk__parts *parts = pdk__parts_new(all->count);
    for (guint i = 0; i < all->count; i++) {
        struct part *part = &all->parts[i];
        pdk__lock(session_of(part));
        stop_listening(part);
        pdk__unlock(session_of(part));
        parts->part[part->right.place].hold = g_steal_pointer(&part->hold);
        parts->part[part->right.place].path = g_strdup(part->right.path);
        forget(part);
    }
    atomic_store(&all->current, 0);
    return pdk__parts_join(parts, home(all));
}

static void decide(struct pdk__all *all, pdk_status status, char *why) {
    all->phase = DECIDED;
    all->status = status;
    all->why = why;
    give_back(all);
}

static void begin_anew(struct pdk__all *all) {
    give_back(all);
    if (!in_time(all))
        decide(all, PDK_TIMEOUT, g_strdup("a part was lost, and the deadline passed before it was taken again"));
}

static void complete(struct pdk__all *all) {
    all->whole = join(all);
    if (all->whole)
        decide(all, PDK_OK, NULL);
    else
        begin_anew(all);
}

/* Take steps until it waits for an answer, or is DECIDED. */
static void take_steps(struct pdk__all *all) {
    while (all->phase == TAKING) {
        struct part *part = present(all);
        if (all->given_up)
            decide(all, PDK_CANCELED, g_strdup(all->given_up));
        else if (is_broken(all))
            begin_anew(all);
        else if (!part->asked)
            ask(part);
        else if (!atomic_load(&part->answered))
            return;
        else if (part->status != PDK_OK)
            decide(all, part->status, g_strdup_printf("%s: %s", part->right.path, part->why));
        else if (part + 1 < all->parts + all->count)
            atomic_fetch_add(&all->current, 1);
        else
            complete(all);
    }
}

/* Time has passed since the decision. false: it was lost meanwhile, and is TAKING again. */
static bool receive(struct pdk__all *all) {
    if (all->status == PDK_OK && !(in_time(all) && pdk_hold_valid(all->whole))) {
        pdk_hold_unref(g_steal_pointer(&all->whole));
        all->phase = TAKING;
        begin_anew(all);
        if (all->phase == TAKING)
            return false;
    }
    all->phase = ENDED;
    return true;
}

/* ---- the blocked thread */

/* The soonest moment at which the lease of a right that it has is over, as far as it is known. */
static int64_t sure_until(const struct pdk__all *all) {
    int64_t until = INT64_MAX;
    guint current = atomic_load(&all->current);
    for (guint i = 0; i < current; i++)
        until = MIN(until, atomic_load(&all->parts[i].hold->until));
    return until;
}

static void await(struct pdk__all *all) {
    struct part *part = present(all);
    pdk_session *s = session_of(part);
    pdk__lock(s);
    while (!atomic_load(&part->answered) && !is_broken(all) && !all->given_up) {
        if (pdk__interrupted())
            all->given_up = PDK__INTERRUPTED;
        else
            pdk__wait(s, &part->waiters, sure_until(all));
    }
    pdk__unlock(s);
}

/* The thread was cancelled, outside of all monitors by now. */
static void abandon(void *user) {
    struct pdk__all *all = user;
    give_back(all);
    pdk__all_unref(all);
}

static void carry_out(struct pdk__all *all) {
    struct pdk__leave leave = {.after = abandon, .user = all};
    pdk__leave_push(&leave);
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

static void dropped(void *user) {
    struct pdk__all *all = user;
    g_clear_pointer(&all->whole, pdk_hold_unref); /* nobody received it */
    pdk__all_unref(all);
}

static void deliver(void *all);

/* Takes over the claim's own reference, if it is DECIDED. The caller has another. */
static void go_on(struct pdk__all *all, struct pdk_claim **out) {
    pdk_session *s = home(all);
    pthread_mutex_lock(&all->steps);
    bool taking = all->phase == TAKING;
    if (out)
        *out = pdk__claim_of_all(all->parts[0].right.queue, all_ref(all));
    take_steps(all);
    bool decided = taking && all->phase == DECIDED;
    pthread_mutex_unlock(&all->steps);
    if (!decided)
        return;
    pdk__lock(s);
    bool taken = pdk__later(s, deliver, dropped, all);
    pdk__unlock(s);
    if (!taken)
        dropped(all);
}

static void deliver(void *user) {
    struct pdk__all *all = user;
    pthread_mutex_lock(&all->steps);
    bool received = receive(all);
    pdk_status status = all->status;
    struct pdk_hold *hold = g_steal_pointer(&all->whole);
    pthread_mutex_unlock(&all->steps);
    if (!received) {
        go_on(all_ref(all), NULL); /* the reference of this delivery is dropped */
        return;
    }
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
        struct part *now = present(all);
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
    const struct part *part = present(all);
    int32_t found = PDK__DECIDED;
    if (all->phase == TAKING) {
        pdk__lock(session_of(part));
        found = atomic_load(&part->answered) ? -1 : pdk__queue_ahead(part->right.queue, part->claim);
        pdk__unlock(session_of(part));
    }
    pthread_mutex_unlock(&all->steps);
    return found;
}
