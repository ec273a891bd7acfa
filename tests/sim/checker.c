/* The checker's frame: which function checks which event. */
#include "checker.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name, *words;
} checks[CHECK_COUNT] = {
#define CHECK(constant, words) {#constant, words},
    CHECKS(CHECK)
#undef CHECK
};

static const char *const meetings[MET_COUNT] = {
#define MEETING(constant, name) name,
    MEETINGS(MEETING)
#undef MEETING
};

const char *meeting_name(enum meeting meeting) { return meetings[meeting]; }
const char *check_name(enum check check) { return checks[check].name; }
const char *check_words(enum check check) { return checks[check].words; }

void checker_begin(struct checker *c, const struct plan *plan) {
    /* The arrays need not be cleared: their records are begun one by one. */
    c->max_handovers = plan->handovers;
    c->max_handover_ms = plan->handover_ms;
    c->timeout = plan_timeout(plan) * INT64_C(1000000);
    c->disagree = plan->disagree != 0;
    c->broken = false;
    c->detail[0] = '\0';
    c->healed_at = INT64_MAX;
    c->holds_count = c->claims_count = c->nodes_count = c->live_count = c->valid_count = c->misled_count = 0;
    c->candidacies_count = c->observers_count = c->asks_count = c->data_count = c->reports_count = 0;
    c->group_zxid = 0;
    c->calm = plan_is_calm(plan);
    c->servers_well = true;
    for (int32_t i = 0; i < plan->count; i++)
        c->servers_well =
            c->servers_well && (plan->actions[i].kind < PLAN_BLOCK || plan->actions[i].kind > PLAN_ANSWER);
    c->listens = plan->listens != 0;
    c->every = plan->every;
    c->edge = plan_edge(plan);
    c->least = plan->least;
    c->most = plan->most;
    c->retry = plan->retry != 0;
    c->keep = plan->keep;
    c->duration = plan->duration;
    c->request = plan->request;
    c->rates = plan->rates;
    c->round_trips = 10 * INT64_C(1000000) +
                     8 * (plan->latency_most * INT64_C(1000) + (plan->far_to + plan->far_from) * INT64_C(1000000));
    memset(c->processes, 0, sizeof c->processes);
    memset(c->paths, 0, sizeof c->paths);
    memset(c->sessions, 0, sizeof c->sessions);
    memset(c->evaluated, 0, sizeof c->evaluated);
    memset(c->met, 0, sizeof c->met);
    for (int32_t i = 0; i < PLAN_PATHS; i++) {
        c->paths[i].recipe = plan_recipe(plan, i);
        c->paths[i].permits = plan_permits_most(plan, i);
        c->paths[i].delay = plan_delay(plan, i, 0) * INT64_C(1000000);
        c->paths[i].stripes = plan_stripes(plan, i, 0);
    }
    for (int32_t i = PLAN_PATHS; i < PLAN_QUEUES; i++)
        c->paths[i].stripes = c->paths[plan_path_of(i)].stripes;
}

void checker_break(struct checker *c, enum check check, const struct history_event *event, const char *format, ...) {
    if (c->broken)
        return;
    c->broken = true;
    c->check = check;
    c->at = event->at;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->detail, sizeof c->detail, format, arguments);
    va_end(arguments);
}

int64_t checker_latest(const struct checker *c, int8_t process, int64_t due) {
    const struct checker_process *p = &c->processes[process];
    int64_t from = due > p->resumed_at ? due : p->resumed_at;
    return from > INT64_MAX - p->late ? INT64_MAX : from + p->late;
}

static void process_event(struct checker *c, const struct history_event *e) {
    struct checker_process *p = &c->processes[e->id];
    if (e->kind == HISTORY_PROCESS)
        *p = (struct checker_process){.late = e->a, .resumed_at = e->at};
    else if (e->kind == HISTORY_RESUMED)
        p->resumed_at = e->at;
}

static void killed(struct checker *c, const struct history_event *e) {
    checker_hold_event(c, e);
    checker_claim_event(c, e);
}

/* Candidates wait on: they have another end. */
static void settled(struct checker *c, const struct history_event *e) {
    c->evaluated[CHECK_ENDLESS]++;
    checker_claims_end(c, e);
    checker_members_settled(c, e);
    checker_candidates_settled(c, e);
    checker_observers_look(c, e);
    if (!e->a)
        checker_break(c, CHECK_ENDLESS, e, "everybody is served, and yet it goes on");
}

static void ended(struct checker *c, const struct history_event *e) {
    c->evaluated[CHECK_ENDLESS]++;
    checker_claims_end(c, e);
    checker_holds_end(c, e);
    checker_sets_end(c, e);
    checker_asks_end(c, e);
    checker_candidates_end(c, e);
    checker_members_end(c, e);
    checker_nodes_end(c, e);
    checker_delay_end(c, e);
    checker_observers_look(c, e);
    checker_observers_end(c, e);
    if (!e->a)
        checker_break(c, CHECK_ENDLESS, e, "nothing is missing, and yet it goes on");
}

static void run_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_HEALED) {
        c->healed_at = e->at;
        return;
    }
    c->evaluated[CHECK_AT_REST]++;
    if (e->b > e->a)
        checker_break(c, CHECK_AT_REST, e, "%lld events where %lld are enough", (long long)e->b, (long long)e->a);
}

/* The function for each kind of event. All other kinds are events of claims and sessions. */
static void (*const looks[HISTORY_KIND_COUNT])(struct checker *c, const struct history_event *e) = {
    [HISTORY_PROCESS] = process_event,
    [HISTORY_PAUSED] = process_event,
    [HISTORY_RESUMED] = process_event,
    [HISTORY_KILLED] = killed,
    [HISTORY_GRANT] = checker_granted,
    [HISTORY_STANDS] = checker_hold_event,
    [HISTORY_ADMITTED] = checker_striped_admitted,
    [HISTORY_DOWNGRADED] = checker_hold_event,
    [HISTORY_EXTEND] = checker_hold_event,
    [HISTORY_ENDED] = checker_hold_event,
    [HISTORY_LEASED] = checker_hold_event,
    [HISTORY_LOST] = checker_hold_event,
    [HISTORY_RELEASED] = checker_hold_event,
    [HISTORY_WRITE] = checker_hold_event,
    [HISTORY_RETIRED] = checker_hold_event,
    [HISTORY_ASKS] = checker_ask_event,
    [HISTORY_WISH] = checker_ask_event,
    [HISTORY_TOLD] = checker_ask_event,
    [HISTORY_ASK_ANSWERED] = checker_ask_event,
    [HISTORY_RIGHT] = checker_set_event,
    [HISTORY_PART] = checker_set_event,
    [HISTORY_LOOKED] = checker_set_event,
    [HISTORY_SET_LOST] = checker_set_event,
    [HISTORY_SET_RELEASED] = checker_set_event,
    [HISTORY_CREATED] = checker_node_event,
    [HISTORY_DELETED] = checker_node_event,
    [HISTORY_RMDIR] = checker_node_event,
    [HISTORY_CHANGED_FOREIGN] = checker_node_event,
    [HISTORY_PLEDGED] = checker_delay_event,
    [HISTORY_UNPLEDGED] = checker_delay_event,
    [HISTORY_RECORDED] = checker_delay_event,
    [HISTORY_WOKEN] = checker_node_event,
    [HISTORY_MISLED] = checker_node_event,
    [HISTORY_GUARDED] = checker_guarded_event,
    [HISTORY_CONTENT] = checker_guarded_event,
    [HISTORY_RECORD] = checker_record_event,
    [HISTORY_ENDING] = checker_record_event,
    [HISTORY_ENDING_ANSWERED] = checker_record_event,
    [HISTORY_RUNS] = checker_record_event,
    [HISTORY_JOINED] = checker_candidate_event,
    [HISTORY_ELECTED] = checker_candidate_event,
    [HISTORY_DEPOSED] = checker_candidate_event,
    [HISTORY_RESIGNED] = checker_candidate_event,
    [HISTORY_LEFT] = checker_candidate_event,
    [HISTORY_FAILED] = checker_candidate_event,
    [HISTORY_OBSERVES] = checker_observer_event,
    [HISTORY_LEADER] = checker_observer_event,
    [HISTORY_STOPPED] = checker_observer_event,
    [HISTORY_FREED] = checker_observer_event,
    [HISTORY_DIFFERENCE] = checker_observer_event,
    [HISTORY_MEMBER] = checker_observer_event,
    [HISTORY_VIEW] = checker_observer_event,
    [HISTORY_CHANGED] = checker_node_event,
    [HISTORY_AMENDS] = checker_candidate_event,
    [HISTORY_AMENDED] = checker_candidate_event,
    [HISTORY_PARTED] = checker_candidate_event,
    [HISTORY_HEALED] = run_event,
    [HISTORY_STEPS] = run_event,
    [HISTORY_SETTLED] = settled,
    [HISTORY_END] = ended,
};

bool checker_look(struct checker *c, const struct history_event *e) {
    (looks[e->kind] ? looks[e->kind] : checker_claim_event)(c, e);
    return !c->broken;
}

bool checker_is_settled(struct checker *c, int64_t at) {
    int32_t candidates, leaders;
    for (int8_t path = 0; path < PLAN_PATHS; path++)
        if (!checker_is_led(c, path, at, &candidates, &leaders))
            return false;
    for (int32_t i = 0; i < c->observers_count; i++)
        if (!checker_knows(c, &c->observers[i]))
            return false;
    return true;
}

bool checker_look_all(struct checker *c, const struct plan *plan, const struct history *h) {
    checker_begin(c, plan);
    for (int32_t i = 0; i < h->count && !c->broken; i++)
        checker_look(c, &h->events[i]);
    return !c->broken;
}
