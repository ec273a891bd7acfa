/* The promises about claims and sessions: one answer each, in time, the right one, and silence after the end. */
#include "checker.h"

#include <paddock/session.h>

static void claimed(struct checker *c, const struct history_event *e) {
    while (c->claims_count <= e->id)
        c->claims[c->claims_count++].known = false;
    c->claims[e->id] = (struct checker_claim){
        .due = e->a,
        .deadline = e->extra,
        .asked_at = e->at,
        .session = e->number,
        .count = e->count,
        .process = e->process,
        .path = e->path,
        .mode = e->mode,
        .known = true,
        .is_try = e->b != 0,
        .since = e->clock,
        .patient = e->passed < 0 ? INT64_MAX : e->clock + e->passed * INT64_C(1000000),
    };
    c->sets[e->id] = (struct checker_set){.part = {-1, -1, -1}, .need = e->mode == MODE_SET ? e->sequence : 0};
}

/* Is the hold one of the queue, or for a striped lock's of one of its stripes? */
static bool is_of(const struct checker_hold *hold, int8_t queue) {
    return hold->path == queue || plan_path_of(hold->path) == queue;
}

/* Has its process been granted its path, or one of those of a set, since it asked? */
bool checker_was_granted(const struct checker *c, const struct checker_claim *claim, int32_t id) {
    const struct checker_set *set = &c->sets[id];
    for (int32_t i = c->holds_count - 1; i >= 0; i--) {
        const struct checker_hold *hold = &c->holds[i];
        bool on_path = is_of(hold, claim->path);
        for (int32_t k = 0; k < set->count; k++)
            on_path = on_path || hold->path == set->path[k];
        if (hold->known && hold->process == claim->process && on_path && hold->granted_at >= claim->asked_at)
            return true;
    }
    return false;
}

/* May this claim be answered so, now? */
static const char *wrong_status(struct checker *c, const struct checker_claim *claim, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[claim->session];
    const char *wrong;
    if (claim->cancel_must && e->a != PDK_CANCELED)
        return "it was cancelled";
    if (checker_record_judges(c, claim, e, &wrong))
        return wrong;
    switch (e->a) {
    case PDK_OK:
        return NULL;
    case PDK_BUSY:
        return claim->is_try ? NULL : "it is not a try";
    case PDK_TIMEOUT: /* to a try, where it was granted, and ran too late to take it */
        return e->clock < claim->deadline                               ? "there is time left"
               : claim->is_try && !checker_was_granted(c, claim, e->id) ? "a try does not wait"
                                                                        : NULL;
    case PDK_UNAVAILABLE: /* to a try of a majority, where too few ensembles have a lease */
        return e->clock >= claim->deadline || (claim->is_try && c->sets[e->id].need > 0) ? NULL : "there is time left";
    case PDK_CANCELED:
        return claim->cancel_may ? NULL : "nobody cancelled it";
    case PDK_MISMATCH:
        return claim->mode == MODE_SET || checker_has_number(c, claim->path)
                   ? NULL
                   : "there is no number"; /* check_mismatch */
    case PDK_CLOSED:
        return session->closed || session->closing ? NULL : "the session is open";
    default:
        return e->a >= 0 && e->a < CHECKER_STATUSES && session->tainted[e->a] ? NULL : "nothing of that kind happened";
    }
}

static void delivered(struct checker *c, const struct checker_claim *claim, const struct history_event *e) {
    struct checker_hold *hold = e->b >= 0 && e->b < c->holds_count ? &c->holds[e->b] : NULL;
    c->evaluated[CHECK_DELIVERY]++;
    bool asked_for = hold && hold->known && is_of(hold, claim->path) && hold->process == claim->process &&
                     hold->mode == claim->mode && hold->count == claim->count && hold->nodes_count == hold->count;
    if (!asked_for || hold->received)
        checker_break(c, CHECK_DELIVERY, e, "claim %d of p%d gets a hold that is not one", e->id, claim->process);
    else if (!checker_is_valid(hold, e->at) || (e->clock >= claim->deadline && !checker_records(c, claim->path)))
        checker_break(c, CHECK_DELIVERY, e, "claim %d of p%d gets token %llx, %s", e->id, claim->process,
                      (unsigned long long)hold->token, e->clock >= claim->deadline ? "too late" : "which is over");
    if (!c->broken) {
        hold->received = true;
        hold->received_at = e->at;
        hold->wants_lost = e->extra != 0;
        checker_record_delivered(c, hold, e);
    }
}

bool checker_has_number(const struct checker *c, int8_t path) {
    return c->paths[path].recipe == PLAN_RECIPE_SEMAPHORE || c->paths[path].delay > 0 || c->paths[path].stripes > 0;
}

/* The number of permits or stripes, or the lock-delay, is the same for all, unless the plan says otherwise. */
static void check_mismatch(struct checker *c, const struct checker_claim *claim, const struct history_event *e) {
    if (claim->mode != MODE_SET && !checker_has_number(c, claim->path))
        return;
    c->evaluated[CHECK_MISMATCH]++;
    c->met[MET_MISMATCHED] += e->a == PDK_MISMATCH;
    bool has_right_one =
        c->paths[claim->path].stripes > 0 && claim->mode != MODE_SET && checker_agrees(c, claim->process, claim->path);
    if (e->a == PDK_MISMATCH && (!c->disagree || has_right_one))
        checker_break(c, CHECK_MISMATCH, e, "claim %d of p%d on path %d", e->id, claim->process, claim->path);
}

static void answered(struct checker *c, const struct history_event *e) {
    struct checker_claim *claim = e->id < c->claims_count ? &c->claims[e->id] : NULL;
    c->evaluated[CHECK_ANSWER_ONCE]++;
    if (!claim || !claim->known || claim->answered) {
        checker_break(c, CHECK_ANSWER_ONCE, e, "claim %d", e->id);
        return;
    }
    claim->answered = true;
    checker_striped_stirred(c, claim->path, e);
    c->evaluated[CHECK_SILENCE]++;
    if (c->sessions[claim->session].closed)
        checker_break(c, CHECK_SILENCE, e, "claim %d of p%d is answered", e->id, claim->process);
    c->evaluated[CHECK_STATUS]++;
    const char *wrong = wrong_status(c, claim, e);
    if (wrong)
        checker_break(c, CHECK_STATUS, e, "claim %d of p%d: %s; %s", e->id, claim->process,
                      pdk_status_name((pdk_status)e->a), wrong);
    check_mismatch(c, claim, e);
    c->evaluated[CHECK_DEADLINE]++;
    if (e->at > checker_latest(c, claim->process, claim->due))
        checker_break(c, CHECK_DEADLINE, e, "claim %d of p%d, by %.3f ms", e->id, claim->process,
                      (double)(e->at - claim->due) / 1e6);
    if (e->a == PDK_OK && claim->mode == MODE_SET)
        checker_set_delivered(c, claim, e);
    else if (e->a == PDK_OK)
        delivered(c, claim, e);
}

/* CONNECTED once; EXPIRED and REOPENED alternate; RESTORED after SUSPENDED; CLOSED is the last. */
static bool fits(struct checker_session *s, pdk_session_event event) {
    bool good = !s->ended;
    switch (event) {
    case PDK_SESSION_CONNECTED:
        good = good && !s->ever;
        s->ever = s->connected = s->restored = true;
        return good;
    case PDK_SESSION_REOPENED:
        good = good && s->ever && !s->connected;
        s->connected = s->restored = true;
        return good;
    case PDK_SESSION_SUSPENDED:
        good = good && s->connected;
        s->restored = false;
        return good;
    case PDK_SESSION_RESTORED:
        good = good && s->connected && !s->restored;
        s->restored = true;
        return good;
    case PDK_SESSION_EXPIRED:
        good = good && s->connected;
        s->connected = s->restored = false;
        return good;
    case PDK_SESSION_CLOSED:
        s->ended = true;
        return good && s->closing;
    }
    return false;
}

static void session_event(struct checker *c, const struct history_event *e) {
    struct checker_session *s = &c->sessions[e->id];
    switch (e->kind) {
    case HISTORY_OPEN:
        *s = (struct checker_session){.process = e->process, .known = true};
        break;
    case HISTORY_TAINTED:
        s->tainted[e->a] = true;
        break;
    case HISTORY_CLOSED:
        s->closed = s->closing = true;
        break;
    case HISTORY_CLOSING:
        s->closing = true;
        break;
    case HISTORY_ALIVE:
        c->evaluated[CHECK_SESSION_DEAD]++;
        if (!e->a && !s->closing)
            checker_break(c, CHECK_SESSION_DEAD, e, "p%d's, %.3f s after the last fault", s->process,
                          (double)(e->at - c->healed_at) / 1e9);
        break;
    case HISTORY_SESSION:
        c->evaluated[CHECK_SESSION_ORDER]++;
        c->evaluated[CHECK_SILENCE]++;
        if (s->closed)
            checker_break(c, CHECK_SILENCE, e, "p%d's session event %lld", s->process, (long long)e->a);
        else if (!fits(s, (pdk_session_event)e->a))
            checker_break(c, CHECK_SESSION_ORDER, e, "p%d's session event %lld", s->process, (long long)e->a);
        break;
    default:
        break;
    }
}

static void killed(struct checker *c, int8_t process) {
    for (int32_t i = 0; i < HISTORY_SESSIONS; i++)
        if (c->sessions[i].known && c->sessions[i].process == process)
            c->sessions[i].closed = c->sessions[i].closing = true;
}

void checker_claim_event(struct checker *c, const struct history_event *e) {
    struct checker_claim *claim = e->id < c->claims_count ? &c->claims[e->id] : NULL;
    switch (e->kind) {
    case HISTORY_CLAIM:
        claimed(c, e);
        break;
    case HISTORY_CANCEL:
        if (claim) {
            claim->cancel_may = true;
            claim->cancel_must = claim->cancel_must || e->a != 0;
        }
        break;
    case HISTORY_ANSWER:
        answered(c, e);
        break;
    case HISTORY_KILLED:
        killed(c, (int8_t)e->id);
        break;
    default:
        session_event(c, e);
        break;
    }
}

void checker_claims_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->claims_count; i++) {
        const struct checker_claim *claim = &c->claims[i];
        if (!claim->known || c->sessions[claim->session].closed)
            continue;
        c->evaluated[CHECK_WAITER_STUCK]++;
        if (!claim->answered)
            checker_break(c, CHECK_WAITER_STUCK, e, "claim %d of p%d on path %d, %.3f s after the last fault", i,
                          claim->process, claim->path, (double)(e->at - c->healed_at) / 1e9);
    }
}
