/* The figures of a run of many schedules, and whether they prove anything. */
#include "explore.h"

#include <glib.h>

typedef unsigned long long u;

static void print_row(FILE *out, const char *title, const char *(*name)(int32_t), const uint64_t *counts, int32_t n,
                      const char *between) {
    int column = fprintf(out, "  %s:", title);
    const char *comma = "";
    for (int32_t i = 0; i < n; i++) {
        if (counts[i] == 0)
            continue;
        column += fprintf(out, "%s", comma);
        if (column > 100)
            column = fprintf(out, "\n   ") - 1;
        column += fprintf(out, " %s %llu", name(i), (u)counts[i]);
        comma = between;
    }
    fputc('\n', out);
}

static const char *kind_name(int32_t i) { return plan_kind_name((enum plan_kind)i); }
static const char *name_of_check(int32_t i) { return check_name((enum check)i); }
static const char *name_of_meeting(int32_t i) { return meeting_name((enum meeting)i); }
static const char *status_name(int32_t i) { return pdk_status_name((pdk_status)i) + 4; }
static const char *reason_name(int32_t i) { return pdk_reason_name((pdk_reason)i); }
static const char *recipe_name(int32_t i) {
    static const char *const names[PLAN_RECIPES] = {"lock", "read/write lock", "semaphore", "election", "striped lock",
                                                    "job",  "lease lock",      "group"};
    return names[i];
}
static const char *event_name(int32_t i) {
    static const char *const names[] = {"", "CONNECTED", "SUSPENDED", "RESTORED", "EXPIRED", "REOPENED", "CLOSED"};
    return names[i];
}

void explore_print(const struct tally *t, double seconds, int32_t jobs, FILE *out) {
    double each = t->schedules ? (double)t->schedules : 1;
    fprintf(out,
            "%llu schedules, %llu events, %.0f s: %.0f schedules/s and job, %.0f an hour and job; %.0f events and %.1f "
            "s of "
            "simulated time each; %llu with 200 events or more, healed and converged; %llu in which two stalls "
            "together broke "
            "a lease\n",
            (u)t->schedules, (u)t->events, seconds, (double)t->schedules / seconds / jobs,
            (double)t->schedules / seconds / jobs * 3600, (double)t->events / each, (double)t->sim_ms / each / 1000,
            (u)t->counted, (u)t->excused);
    fprintf(
        out,
        "  %llu claims, %llu grants (%llu contended, %llu handed over), %llu lost, %llu renewals seen, %llu "
        "wake-ups; %llu "
        "writes, %llu reads, %llu stale ones refused (%llu ruined the naive resource); %llu creates without a list, "
        "%llu lists that a mirror stood for\n",
        (u)t->claims, (u)t->grants, (u)t->contended, (u)t->handovers, (u)t->lost, (u)t->extends, (u)t->wake_ups,
        (u)t->writes, (u)t->reads, (u)t->stale_refused, (u)t->stale_harmful, (u)t->enqueued, (u)t->shown);
    print_row(out, "schedules with", recipe_name, t->recipes, PLAN_RECIPES, ",");
    print_row(out, "done", kind_name, t->faults, PLAN_KIND_COUNT, "");
    print_row(out, "answers", status_name, t->answers, CHECKER_STATUSES, "");
    print_row(out, "lost by", reason_name, t->reasons, 6, "");
    print_row(out, "session events", event_name, t->session_events, 7, "");
    print_row(out, "met", name_of_meeting, t->met, MET_COUNT, ",");
    print_row(out, "checks made", name_of_check, t->checks, CHECK_COUNT, "");
    fflush(out);
}

const char *explore_vacuous(const struct tally *t) {
    static char what[80];
    for (int32_t i = 0; i < PLAN_KIND_COUNT; i++)
        if (t->faults[i] == 0) {
            g_snprintf(what, sizeof what, "no %s", kind_name(i));
            return what;
        }
    for (int32_t i = 0; i < CHECK_COUNT; i++)
        if (t->checks[i] == 0) {
            g_snprintf(what, sizeof what, "the check %s was never made", name_of_check(i));
            return what;
        }
    for (int32_t i = 0; i < MET_COUNT; i++)
        if (t->met[i] == 0) {
            g_snprintf(what, sizeof what, "no %s", name_of_meeting(i));
            return what;
        }
    for (int32_t i = PDK_SESSION_CONNECTED; i <= PDK_SESSION_CLOSED; i++)
        if (t->session_events[i] == 0)
            return event_name(i);
    for (int32_t i = PDK_REASON_EXPIRED; i <= PDK_REASON_NODE_GONE; i++)
        if (t->reasons[i] == 0)
            return reason_name(i);
    return t->contended == 0       ? "no contended grant"
           : t->handovers == 0     ? "no hand-over"
           : t->lost == 0          ? "no loss"
           : t->stale_refused == 0 ? "no stale write refused"
           : t->stale_harmful == 0 ? "no stale write ruined the naive resource"
           : t->enqueued == 0      ? "no create without a list"
           : t->shown == 0         ? "no list that a mirror stood for"
                                   : NULL;
}
