/* The events of the history, in words. */
#include "transcript.h"

#include <stdarg.h>

static void line(const struct deployment *d, const struct history_event *e, FILE *out, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void line(const struct deployment *d, const struct history_event *e, FILE *out, const char *format, ...) {
    va_list arguments;
    fprintf(out, "%10.6f  ", (double)(e->at - d->started) / 1e9);
    if (e->process >= 0)
        fprintf(out, "p%d  == ", e->process);
    else
        fprintf(out, "    == ");
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

static double ms(int64_t ns) { return (double)ns / 1e6; }

/* The mode that is asked for, or granted. */
static const char *what(const struct history_event *e) {
    static char text[24];
    if (e->mode == MODE_SET)
        snprintf(text, sizeof text, "a set of %d rights", e->count);
    else if (e->mode != MODE_PERMIT)
        return e->mode == MODE_SHARED ? "to read" : "alone";
    else
        snprintf(text, sizeof text, "%d permits", e->count);
    return text;
}

static void hold_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    const struct checker_hold *hold = &d->checker.holds[e->id];
    const char *token = transcript_zxid(hold->token);
    unsigned handover = hold->handover;
    switch (e->kind) {
    case HISTORY_GRANT:
        line(d, e, out, "GRANT of %s, %s, token %s/%u, valid for %.3f ms", plan_path(e->path), what(e), token, handover,
             ms(e->b - e->at));
        break;
    case HISTORY_STANDS:
        line(d, e, out, "hold %s/%u stands on the node of %s", token, handover, transcript_zxid(e->a));
        break;
    case HISTORY_DOWNGRADED:
        line(d, e, out, "downgrades hold %s/%u: %s", token, handover, pdk_status_name((pdk_status)e->a));
        break;
    case HISTORY_EXTEND:
        line(d, e, out, "hold %s/%u is valid for %.3f ms from now", token, handover, ms(e->a - e->at));
        break;
    case HISTORY_ENDED:
        line(d, e, out, "hold %s/%u has ended", token, handover);
        break;
    case HISTORY_ADMITTED:
        line(d, e, out, "hold %s/%u is one of any stripe, by number %lld", token, handover, (long long)e->a);
        break;
    case HISTORY_LOST:
        line(d, e, out, "is told that hold %s/%u is LOST: %s", token, handover, pdk_reason_name((pdk_reason)e->a));
        break;
    case HISTORY_RELEASED:
        line(d, e, out, "releases hold %s/%u: %s", token, handover, pdk_status_name((pdk_status)e->a));
        break;
    default:
        line(d, e, out, "the resource of %s gets a %s of hold %s/%u: %s", plan_path(e->path),
             e->mode == MODE_SHARED ? "read" : "write", token, handover, e->b ? "accepted" : "REFUSED, it is stale");
        break;
    }
}

static void guarded_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    static const char *const calls[] = {"opens", "gets", "sets", "creates", "deletes"};
    const struct checker_hold *hold = &d->checker.holds[e->id];
    line(d, e, out, "%s %s with hold %s/%u: %s, payload %lld", calls[e->count], plan_guarded(e->path),
         transcript_zxid(hold->token), (unsigned)hold->handover, pdk_status_name((pdk_status)e->a), (long long)e->b);
}

static void claim_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    if (e->kind == HISTORY_CLAIM && e->extra == INT64_MAX)
        line(d, e, out, "claim %d of %s, %s, for ever", e->id, plan_path(e->path), what(e));
    else if (e->kind == HISTORY_CLAIM)
        line(d, e, out, "claim %d of %s, %s, %s %.0f ms", e->id, plan_path(e->path), what(e),
             e->b ? "a try, at most" : "for", ms(e->extra - e->clock));
    else if (e->kind == HISTORY_CANCEL)
        line(d, e, out, "claim %d is %s", e->id, e->a ? "cancelled" : "dropped with its lock");
    else
        line(d, e, out, "claim %d is answered: %s", e->id, pdk_status_name((pdk_status)e->a));
}

static void set_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    if (e->kind == HISTORY_RIGHT)
        line(d, e, out, "claim %d is about %s, %s", e->id, plan_path(e->path), what(e));
    else if (e->kind == HISTORY_LOOKED)
        line(d, e, out, "the set of claim %d is %s, with %lld parts", e->id, e->a ? "valid" : "over", (long long)e->b);
    else if (e->kind == HISTORY_SET_LOST)
        line(d, e, out, "is told that the set of claim %d is LOST: %s", e->id, pdk_reason_name((pdk_reason)e->a));
    else if (e->kind == HISTORY_SET_RELEASED)
        line(d, e, out, "releases the set of claim %d: %s", e->id, pdk_status_name((pdk_status)e->a));
}

static void record_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    static const char *const states[] = {"runs", "has finished", "has died"};
    if (e->kind == HISTORY_RUNS && e->b != 0)
        line(d, e, out, "%s: %s; run %s %s, outcome %d, of %d", e->id < 0 ? "reads the runs" : "is skipped",
             pdk_status_name((pdk_status)e->a), transcript_zxid(e->b), states[e->mode], e->sequence, e->count);
    else if (e->kind == HISTORY_RUNS)
        line(d, e, out, "reads the runs: %s, none", pdk_status_name((pdk_status)e->a));
    else if (e->kind == HISTORY_RECORD)
        line(d, e, out, "the record of %s: %c %s, %lld, %d lines", plan_path(e->path), e->id, transcript_zxid(e->a),
             (long long)e->b, e->count);
    else if (e->kind == HISTORY_ENDING)
        line(d, e, out, "tells the end of hold %s: %lld", transcript_zxid(d->checker.holds[e->id].token),
             (long long)e->a);
    else
        line(d, e, out, "the end of hold %s is answered: %s", transcript_zxid(d->checker.holds[e->id].token),
             pdk_status_name((pdk_status)e->a));
}

static void ask_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    if (e->kind == HISTORY_ASKS && e->a == 0)
        line(d, e, out, "asks the holder of %s to let go, ask %d", plan_path(e->path), e->id);
    else if (e->kind == HISTORY_ASKS)
        line(d, e, out, "breaks a node of %s, if its token is %s, ask %d", plan_path(e->path), transcript_zxid(e->a),
             e->id);
    else if (e->kind == HISTORY_TOLD)
        line(d, e, out, "is told that hold %s is wanted, by ask %lld", transcript_zxid(d->checker.holds[e->id].token),
             (long long)e->a);
    else
        line(d, e, out, "ask %d is answered: %s", e->id, pdk_status_name((pdk_status)e->a));
}

static void candidate_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    if (e->kind == HISTORY_JOINED)
        line(d, e, out, "joins %s as candidate %d, called c%lld", plan_path(e->path), e->id, (long long)e->a);
    else if (e->kind == HISTORY_AMENDS)
        line(d, e, out, "member %d sets its data, write %d", e->id, (int32_t)e->a);
    else if (e->kind == HISTORY_AMENDED)
        line(d, e, out, "member %d is answered about write %d: %s", e->id, (int32_t)e->a,
             pdk_status_name((pdk_status)e->b));
    else if (e->kind == HISTORY_ELECTED)
        line(d, e, out, "candidate %d is ELECTED, token %s", e->id, transcript_zxid(e->a));
    else if (e->kind == HISTORY_DEPOSED)
        line(d, e, out, "candidate %d is DEPOSED: %s", e->id, pdk_reason_name((pdk_reason)e->a));
    else if (e->kind == HISTORY_LEFT)
        line(d, e, out, "candidate %d leaves", e->id);
    else
        line(d, e, out, "candidate %d %s: %s", e->id, e->kind == HISTORY_RESIGNED ? "resigns" : "fails",
             pdk_status_name((pdk_status)e->a));
}

static void observer_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    if (e->kind == HISTORY_OBSERVES)
        line(d, e, out, "observes %s, observer %d", plan_path(e->path), e->id);
    else if (e->kind == HISTORY_STOPPED)
        line(d, e, out, "observer %d is stopped", e->id);
    else if (e->kind == HISTORY_LEADER && e->a)
        line(d, e, out, "observer %d is told: c%lld leads, token %s", e->id, (long long)e->b, transcript_zxid(e->a));
    else if (e->kind == HISTORY_LEADER)
        line(d, e, out, "observer %d is told: nobody leads", e->id);
    else if (e->kind == HISTORY_MEMBER)
        line(d, e, out, "observer %d is told of member %d with write %d, token %s", e->id, (int32_t)(e->extra >> 32),
             (int32_t)e->extra, transcript_zxid(e->a));
    else if (e->kind == HISTORY_VIEW)
        line(d, e, out, "observer %d is told view %lld%s of %d members", e->id, (long long)e->a,
             e->b ? "" : ", not exact,", e->count);
}

static void session_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    static const char *const events[] = {"", "CONNECTED", "SUSPENDED", "RESTORED", "EXPIRED", "REOPENED", "CLOSED"};
    if (e->kind == HISTORY_SESSION)
        line(d, e, out, "its program is told: session %s", events[e->a]);
    else if (e->kind == HISTORY_LEASED)
        line(d, e, out, "has a lease for %.3f ms from now; the leader's clock gives its session %.3f ms",
             ms(e->a - e->at), ms(e->b - e->at));
    else
        line(d, e, out, "the session is closed%s", e->kind == HISTORY_CLOSED ? "" : " by dropping it");
}

static void process_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    line(d, e, out, "p%d %s", e->id,
         e->kind == HISTORY_PAUSED    ? "IS STOPPED (SIGSTOP)"
         : e->kind == HISTORY_RESUMED ? "goes on (SIGCONT)"
                                      : "IS KILLED");
}

void transcript_event(const struct deployment *d, const struct history_event *e, FILE *out) {
    /* Nodes were printed with their transactions. */
    static void (*const tell[HISTORY_KIND_COUNT])(const struct deployment *d, const struct history_event *e,
                                                  FILE *out) = {
        [HISTORY_GRANT] = hold_event,        [HISTORY_STANDS] = hold_event,
        [HISTORY_DOWNGRADED] = hold_event,   [HISTORY_ADMITTED] = hold_event,
        [HISTORY_EXTEND] = hold_event,       [HISTORY_ENDED] = hold_event,
        [HISTORY_LOST] = hold_event,         [HISTORY_RELEASED] = hold_event,
        [HISTORY_WRITE] = hold_event,        [HISTORY_GUARDED] = guarded_event,
        [HISTORY_CLAIM] = claim_event,       [HISTORY_CANCEL] = claim_event,
        [HISTORY_ANSWER] = claim_event,      [HISTORY_RIGHT] = set_event,
        [HISTORY_LOOKED] = set_event,        [HISTORY_SET_LOST] = set_event,
        [HISTORY_SET_RELEASED] = set_event,  [HISTORY_ASKS] = ask_event,
        [HISTORY_TOLD] = ask_event,          [HISTORY_ASK_ANSWERED] = ask_event,
        [HISTORY_JOINED] = candidate_event,  [HISTORY_ELECTED] = candidate_event,
        [HISTORY_DEPOSED] = candidate_event, [HISTORY_RESIGNED] = candidate_event,
        [HISTORY_LEFT] = candidate_event,    [HISTORY_FAILED] = candidate_event,
        [HISTORY_OBSERVES] = observer_event, [HISTORY_LEADER] = observer_event,
        [HISTORY_STOPPED] = observer_event,  [HISTORY_SESSION] = session_event,
        [HISTORY_LEASED] = session_event,    [HISTORY_CLOSED] = session_event,
        [HISTORY_CLOSING] = session_event,   [HISTORY_PAUSED] = process_event,
        [HISTORY_RESUMED] = process_event,   [HISTORY_KILLED] = process_event,
        [HISTORY_RECORD] = record_event,     [HISTORY_ENDING] = record_event,
        [HISTORY_RUNS] = record_event,       [HISTORY_ENDING_ANSWERED] = record_event,
        [HISTORY_MEMBER] = observer_event,   [HISTORY_VIEW] = observer_event,
        [HISTORY_AMENDS] = candidate_event,  [HISTORY_AMENDED] = candidate_event,
    };
    if (tell[e->kind])
        tell[e->kind](d, e, out);
}
