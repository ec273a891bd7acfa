#include "set_taking.h"

#include "grant/claim.h"

#include <string.h>

/* So many times within its patience it looks whether an ensemble answers. */
#define LOOKS 4
/* The time between two looks whether it waits for itself, where all are needed. */
#define SELF_NS (250 * PDK__MS)
/* The patience is this part of the session timeout, and at least PATIENCE_LEAST. */
#define PATIENCE_PART 8
#define PATIENCE_LEAST (100 * PDK__MS)

static pdk_session *taking_session_of(const struct pdk__taken_right *r) { return r->right.queue->s; }
static struct pdk__taken_right *current(const struct pdk__taking *t) { return &t->rights[atomic_load(&t->current)]; }
static bool some_suffice(const struct pdk__taking *t) { return t->m.need < t->m.count; }
static enum pdk__right_state state_of(const struct pdk__taking *t, guint i) {
    return (enum pdk__right_state)t->m.rights[i];
}

struct pdk__taken_right *pdk__taking_current(struct pdk__taking *t) { return current(t); }
bool pdk__taking_in_time(const struct pdk__taking *t) {
    return pdk__now(taking_session_of(&t->rights[0])) < t->deadline;
}

/* The status of the call, if it comes to nothing. Takes over why. */
static void set_status(struct pdk__taking *t, pdk_status status, char *why) {
    t->status = status;
    g_free(t->why);
    t->why = why;
}

/* ---- events, under the monitor of the right's session */

static void on_ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct pdk__taken_right *r = (struct pdk__taken_right *)l;
    (void)reason;
    r->grant = NULL;
    r->taking->happened(r);
}

static void on_decided(void *user, pdk_status status, struct pdk_hold *hold) {
    struct pdk__taken_right *r = user;
    r->status = status;
    r->why = g_strdup(r->claim->why);
    r->hold = hold;
    if (hold) {
        r->grant = hold->grant;
        r->listener.ended = on_ended;
        pdk__grant_listen(r->grant, &r->listener);
    }
    atomic_store(&r->answered, true);
    r->taking->happened(r);
}

static void taking_on_alarm(pdk_session *s, void *user) {
    struct pdk__taken_right *r = user;
    (void)s;
    atomic_store(&r->taking->rung, true);
    r->taking->happened(r);
}

/* ---- its life */

void pdk__taking_init(struct pdk__taking *t, const struct pdk__right *rights, guint count,
                      const struct pdk__set_terms *terms) {
    const pdk_session *s = rights[0].queue->s;
    G_STATIC_ASSERT(PDK__MAJORITY_MOST == PDK_SET_RIGHTS_MAX);
    pdk__majority_init(&t->m, count, terms->need, terms->timeout_ms == 0);
    t->deadline = pdk__claim_deadline(s, pdk__now(s), terms->timeout_ms);
    t->patience = terms->patience_ms * PDK__MS;
    t->rights = g_new0(struct pdk__taken_right, count);
    for (guint i = 0; i < count; i++) {
        struct pdk__taken_right *r = &t->rights[i];
        r->taking = t;
        r->right = rights[i];
        r->alarm = (struct pdk__alarm){.ring = taking_on_alarm, .user = r};
    }
}

void pdk__taking_clear(struct pdk__taking *t) {
    for (guint i = 0; i < t->m.count; i++) {
        pdk__queue_unref(t->rights[i].right.queue);
        g_free(t->rights[i].right.path);
    }
    g_free(t->rights);
    g_free(t->why);
}

/* ---- one right */

static int64_t patience_with(const struct pdk__taken_right *r) {
    int64_t own = taking_session_of(r)->session_timeout_ms * PDK__MS / PATIENCE_PART;
    return r->taking->patience > 0 ? r->taking->patience : MAX(own, PATIENCE_LEAST);
}

static uint64_t random_of(const pdk_session *s) {
    uint64_t random;
    s->platform->random(&random, sizeof random);
    return random;
}

static int64_t moment_after(int64_t now, int64_t time) { return time == INT64_MAX ? time : now + time; }

static void taking_ask(struct pdk__taken_right *r, bool is_try) {
    const struct pdk__taking *t = r->taking;
    pdk_session *s = taking_session_of(r);
    bool waits = some_suffice(t) && !is_try;
    int64_t limit = waits ? pdk__majority_limit(&t->m, random_of(s)) : INT64_MAX;
    int64_t glance = waits ? pdk__majority_glance(&t->m, random_of(s)) : INT64_MAX;
    pdk__lock(s);
    r->asked_at = pdk__now(s);
    r->limit = moment_after(r->asked_at, limit);
    r->glance = moment_after(r->asked_at, glance);
    if (s->ended == PDK_OK) {
        pdk__claim_begin_until(r->right.queue, r->right.count, t->deadline, is_try, on_decided, r, &r->claim);
        if (!atomic_load(&r->answered))
            pdk__alarm_set(s, &r->alarm, r->asked_at + (some_suffice(t) ? patience_with(r) / LOOKS : SELF_NS));
    } else {
        r->status = s->ended;
        r->why = g_strdup(s->trouble_text);
        atomic_store(&r->answered, true);
    }
    pdk__unlock(s);
}

static void stop_listening(struct pdk__taken_right *r) {
    pdk__assert_locked(taking_session_of(r));
    if (r->grant)
        pdk__grant_unlisten(g_steal_pointer(&r->grant), &r->listener);
}

/* Put the right back to its state before it was asked for. */
static void forget(struct pdk__taken_right *r) {
    g_clear_pointer(&r->claim, pdk_claim_unref);
    g_clear_pointer(&r->hold, pdk_hold_unref);
    g_clear_pointer(&r->why, g_free);
    atomic_store(&r->answered, false);
}

static void give_one_back(struct pdk__taken_right *r) {
    pdk__lock(taking_session_of(r));
    pdk__alarm_off(&r->alarm);
    if (r->claim)
        pdk__claim_cancel(r->claim);
    stop_listening(r);
    if (r->hold)
        pdk__hold_discard(r->hold);
    pdk__unlock(taking_session_of(r));
    forget(r);
}

void pdk__taking_give_back(struct pdk__taking *t) {
    for (guint i = t->m.count; i-- > 0;)
        give_one_back(&t->rights[i]);
    atomic_store(&t->current, 0);
}

/* The state of the wait for a right, where not all are needed. */
enum waiting { GOES_ON, IS_SILENT, IS_TIRED, LOOKS_AROUND };

/* Has its ensemble been silent for longer than the caller is patient? An ensemble speaks by the lease of the session,
 * which only a quorum prolongs, and by the place in its queue. An ensemble in whose queue the caller has a confirmed
 * place is not silent. */
static enum waiting look_at_waiting(struct pdk__taken_right *r) {
    pdk_session *s = taking_session_of(r);
    pdk__lock(s);
    int64_t now = pdk__now(s), patience = patience_with(r);
    if (s->lease.end > now)
        r->silent_since = 0;
    else if (s->lease.end > r->silent_since) /* also where it has spoken, and was not looked at then */
        r->silent_since = s->lease.end;
    else if (r->silent_since == 0)
        r->silent_since = now;
    int64_t since = r->silent_since != 0                      ? r->silent_since
                    : pdk__queue_is_confirmed(r->right.queue) ? now
                                                              : r->asked_at;
    enum waiting found = atomic_load(&r->answered)                       ? GOES_ON
                         : pdk__majority_impatient(since, patience, now) ? IS_SILENT
                         : now >= r->limit                               ? IS_TIRED
                         : now >= r->glance                              ? LOOKS_AROUND
                                                                         : GOES_ON;
    if (found == LOOKS_AROUND)
        r->glance = INT64_MAX;
    bool over = atomic_load(&r->answered) || found == IS_SILENT || found == IS_TIRED;
    pdk__alarm_set(s, &r->alarm, over ? INT64_MAX : MIN(now + patience / LOOKS, MIN(r->limit, r->glance)));
    pdk__unlock(s);
    return found;
}

/* ---- steps */

static enum pdk__taken taken(const struct pdk__taken_right *r) {
    switch (r->status) {
    case PDK_OK:
        return PDK__TAKEN_GRANTED;
    case PDK_BUSY:
        return PDK__TAKEN_BUSY;
    case PDK_TIMEOUT:
    case PDK_UNAVAILABLE:
        return PDK__TAKEN_LATE;
    default:
        return PDK__TAKEN_REFUSED;
    }
}

static void taking_settle(struct pdk__taking *t, guint i) {
    struct pdk__taken_right *r = &t->rights[i];
    enum pdk__taken came = taken(r);
    pdk__majority_answered(&t->m, i, came);
    if (came == PDK__TAKEN_GRANTED)
        return;
    /* A right that is left out says nothing about the call, and neither does a right that was busy in a look around. */
    if (came == PDK__TAKEN_REFUSED ? pdk__majority_is_hopeless(&t->m) : state_of(t, i) != PDK__RIGHT_BUSY)
        set_status(t, r->status, g_strdup_printf("%s: %s", r->right.path, r->why));
    give_one_back(r);
}

static void pass_over(struct pdk__taking *t, guint i) {
    struct pdk__taken_right *r = &t->rights[i];
    pdk__majority_pass(&t->m, i);
    give_one_back(r); /* it may have been granted just now */
    pdk__log(taking_session_of(r), PDK_LOG_INFO, "%s: its servers do not answer: passed over", r->right.path);
    if (t->status != PDK_BUSY) /* BUSY, of a try, says more */
        set_status(t, PDK_UNAVAILABLE,
                   g_strdup_printf("fewer than %u of %u ensembles answered in time; the ensemble of %s did not",
                                   t->m.need, t->m.count, r->right.path));
}

/* The node that it waits for, if the name is unique in the world; else "". */
static void predecessor_of(struct pdk__taken_right *r, char name[PDK__NAME_SIZE]) {
    pdk_session *s = taking_session_of(r);
    pdk__lock(s);
    const struct pdk__entry *entry = r->right.queue->entry;
    g_strlcpy(name, entry ? entry->c.watched : "", PDK__NAME_SIZE);
    if (!pdk__name_is_unique(name))
        name[0] = '\0';
    if (!some_suffice(r->taking))
        pdk__alarm_set(s, &r->alarm, atomic_load(&r->answered) ? INT64_MAX : pdk__now(s) + SELF_NS);
    pdk__unlock(s);
}

/* Does it wait for itself? Two names of one server are two ensembles to us. Then the node of one right may be ahead of
 * the other right's. */
static bool waits_for_itself(struct pdk__taking *t, guint i) {
    char name[PDK__NAME_SIZE];
    predecessor_of(&t->rights[i], name);
    for (guint k = 0; name[0] != '\0' && k < t->m.count; k++)
        if (pdk__majority_holds(&t->m, k) && strcmp(strrchr(t->rights[k].hold->node, '/') + 1, name) == 0)
            return true;
    return false;
}

static void refuse_itself(struct pdk__taking *t, guint i) {
    struct pdk__taken_right *r = &t->rights[i];
    char *why =
        g_strdup_printf("%s: rights[%u] waits for another right of this set: their sessions reach the same servers by "
                        "different names; name it once",
                        r->right.path, r->right.place);
    pdk__log(taking_session_of(r), PDK_LOG_WARN, "%s", why);
    pdk__majority_answered(&t->m, i, PDK__TAKEN_REFUSED);
    give_one_back(r);
    set_status(t, PDK_DEADLOCK, why);
}

static void look_after(struct pdk__taking *t, guint i) {
    struct pdk__taken_right *r = &t->rights[i];
    if (state_of(t, i) == PDK__RIGHT_ASKED && !t->m.is_try && waits_for_itself(t, i)) {
        refuse_itself(t, i);
        return;
    }
    if (!some_suffice(t))
        return;
    switch (look_at_waiting(r)) {
    case IS_SILENT:
        pass_over(t, i);
        break;
    case IS_TIRED:
        pdk__majority_tire(&t->m);
        set_status(t, PDK_TIMEOUT, g_strdup_printf("%s: the deadline passed while in line", r->right.path));
        break;
    case LOOKS_AROUND:
        pdk__majority_look_around(&t->m);
        break;
    case GOES_ON:
        break;
    }
}

/* The deadline has passed between two rounds: the status tells why there was more than one round. */
static void taking_too_late(struct pdk__taking *t) {
    if (t->m.late && t->status == PDK_OK)
        set_status(t, PDK_TIMEOUT, g_strdup("a part was lost, and the deadline passed before it was taken again"));
}

/* Look at the news since the last step. */
static void taking_look(struct pdk__taking *t) {
    bool rung = atomic_exchange(&t->rung, false);
    for (guint i = 0; i < t->m.count; i++) {
        struct pdk__taken_right *r = &t->rights[i];
        if (pdk__majority_holds(&t->m, i) && !pdk_hold_is_valid(r->hold)) {
            pdk__majority_lost(&t->m, i);
            give_one_back(r);
        } else if (pdk__majority_claims(&t->m, i) && atomic_load(&r->answered)) {
            taking_settle(t, i);
        } else if (pdk__majority_claims(&t->m, i)) {
            look_after(t, i);
        }
    }
    if (rung && t->m.pauses) {
        pdk__majority_resume(&t->m, pdk__taking_in_time(t));
        taking_too_late(t);
    }
}

static void set_pause(struct pdk__taking *t) {
    struct pdk__taken_right *first = &t->rights[0];
    pdk_session *s = taking_session_of(first);
    int64_t pause = pdk__majority_pause(&t->m, random_of(s));
    pdk__lock(s);
    pdk__alarm_set(s, &first->alarm, MIN(pdk__now(s) + pause, t->deadline));
    pdk__unlock(s);
}

void pdk__taking_begin_anew(struct pdk__taking *t) {
    pdk__taking_give_back(t);
    pdk__majority_anew(&t->m);
    if (!pdk__taking_in_time(t))
        pdk__majority_resume(&t->m, false);
    else if (t->m.pauses)
        set_pause(t);
    taking_too_late(t);
}

/* The look around has brought too few rights, or they are not needed any more. The caller waits on, or goes on in the
 * order. */
static void end_look_around(struct pdk__taking *t) {
    struct pdk__taken_right *r = &t->rights[t->m.waits_for];
    pdk_session *s = taking_session_of(r);
    for (guint i = t->m.count; i-- > 0;)
        if (state_of(t, i) == PDK__RIGHT_FOUND || state_of(t, i) == PDK__RIGHT_TRIED)
            give_one_back(&t->rights[i]);
    pdk__majority_looked(&t->m);
    int64_t glance = pdk__majority_glance(&t->m, random_of(s));
    pdk__lock(s);
    r->glance = pdk__now(s) + glance;
    pdk__unlock(s);
}

enum pdk__majority_step pdk__taking_go_on(struct pdk__taking *t) {
    for (;;) {
        uint32_t which = 0;
        taking_look(t);
        enum pdk__majority_step step = pdk__majority_next(&t->m, &which);
        switch (step) {
        case PDK__MAJORITY_ASK:
            atomic_store(&t->current, which);
            taking_ask(&t->rights[which], t->m.is_try);
            break;
        case PDK__MAJORITY_TRY:
            pdk__log(taking_session_of(&t->rights[which]), PDK_LOG_DEBUG, "%s: tried, while another one is waited for",
                     t->rights[which].right.path);
            taking_ask(&t->rights[which], true);
            break;
        case PDK__MAJORITY_BACK:
            end_look_around(t);
            break;
        case PDK__MAJORITY_ANEW:
            pdk__taking_begin_anew(t);
            break;
        case PDK__MAJORITY_WAIT:
            if (!pdk__taking_has_news(t))
                return step;
            break;
        default:
            return step;
        }
    }
}

/* Has it lost a right that it had? */
static bool is_broken(const struct pdk__taking *t) {
    for (guint i = 0; i < t->m.count; i++)
        if (pdk__majority_holds(&t->m, i) && !pdk_hold_is_valid(t->rights[i].hold))
            return true;
    return false;
}

static bool is_answered(const struct pdk__taking *t) {
    for (guint i = 0; i < t->m.count; i++)
        if (pdk__majority_claims(&t->m, i) && atomic_load(&t->rights[i].answered))
            return true;
    return false;
}

bool pdk__taking_has_news(const struct pdk__taking *t) {
    return is_answered(t) || atomic_load(&t->rung) || is_broken(t);
}

int64_t pdk__taking_sure_until(const struct pdk__taking *t) {
    int64_t until = INT64_MAX;
    for (guint i = 0; i < t->m.count; i++)
        if (pdk__majority_holds(&t->m, i))
            until = MIN(until, pdk__hold_until(t->rights[i].hold));
    return until;
}

struct pdk_set *pdk__taking_complete(struct pdk__taking *t) {
    struct pdk_set *set = pdk__set_new(t->m.count, t->m.need);
    for (guint i = 0; i < t->m.count; i++) {
        struct pdk__taken_right *r = &t->rights[i];
        if (pdk__majority_claims(&t->m, i)) /* it is not needed; its part is taken in the background */
            give_one_back(r);
        pdk__lock(taking_session_of(r));
        stop_listening(r);
        pdk__unlock(taking_session_of(r));
        pdk__set_fill(set, &r->right, g_steal_pointer(&r->hold));
        forget(r);
    }
    atomic_store(&t->current, 0);
    if (!pdk__set_join(set, taking_session_of(&t->rights[0]))) {
        pdk__taking_begin_anew(t);
        return NULL;
    }
    set_status(t, PDK_OK, NULL); /* an earlier failure is not the reason of a later loss */
    return set;
}
