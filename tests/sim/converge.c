/* After the healing: every waiter is served, then candidates leave, and nothing is left to be done. */
#include "deployment.h"

#include "session/session.h"

#define STEPS_MOST 100000
/* The events of an observer's poll. */
#define POLL_STEPS 24

uint64_t run_events(const struct deployment *d) { return d->agenda.steps - d->agenda.idle_steps; }

bool run_goes_on(const struct deployment *d) { return d->agenda.steps < STEPS_MOST && !d->history.full; }

bool run_until_healed(struct deployment *d, uint64_t first) {
    uint64_t enough = first + (uint64_t)d->plan->enough;
    while (run_goes_on(d) && sim_step(&d->agenda, d->horizon)) {
        if (!observe(d))
            return false;
        if (d->plan->enough && run_events(d) >= enough)
            break;
    }
    return run_goes_on(d);
}

/* ---- is there something left to wait for? */

static bool is_connected(const pdk_session *s) { return s->link == PDK__LINK_CONNECTED && s->restored; }

static bool has_left(const pdk_session *s) { return is_connected(s) && s->entries.length == 0; }

static bool all_clients(const struct deployment *d, bool (*is_good)(const pdk_session *s)) {
    for (int32_t i = 0; i < DEPLOYMENT_CLIENTS * d->plan->processes; i++) {
        const struct client *client = deployment_client(d, i);
        if (client && !client->process->dead && (client->closed ? client->reopens : !is_good(client->s)))
            return false;
    }
    for (int32_t i = 0; i < d->plan->ensembles; i++)
        if (!sim_settled(d->ensembles[i]))
            return false;
    return true;
}

/* Candidates aside: they have a leader, and all observers know it. */
static bool is_served(struct deployment *d) {
    return d->unanswered == 0 && d->holding == 0 && d->guarding == 0 && d->asking == 0 &&
           all_clients(d, is_connected) && checker_is_settled(&d->checker, d->agenda.now);
}

static bool is_done(struct deployment *d) {
    return d->unanswered == 0 && d->holding == 0 && d->offices == 0 && d->guarding == 0 && d->asking == 0 &&
           d->checker.live_count == 0 && all_clients(d, has_left) && checker_is_settled(&d->checker, d->agenda.now);
}

/* By then every waiter has been served: dead sessions expire, a leader is elected, clients come back, and those in the
 * queue follow each other. */
/* A lock that stands for somebody else is looked at once a second. */
static int64_t time_of_record(const struct plan *plan, int32_t path) {
    return plan_recipe(plan, path) == PLAN_RECIPE_LEASE_LOCK ? (plan->duration + 1000) * SIM_MS : 0;
}

static int64_t time_to_converge(const struct deployment *d) {
    const struct plan *plan = d->plan;
    int64_t timeout = plan_timeout(plan) * SIM_MS;
    int64_t slow = plan->slow * INT64_C(1000), latency = plan->latency_most * INT64_C(1000);
    int64_t ns = 6 * timeout + 20 * plan->tick * SIM_MS + 2 * plan->election_most * SIM_MS + 10 * DEPLOYMENT_LATE_LEAST;
    ns += 2 * plan->sync_limit * plan->tick * SIM_MS;
    for (int32_t i = 0; i < d->plan->processes; i++)
        for (const struct client *client = d->players[i].client; client; client = client->older)
            for (const struct claiming *claim = client->claims; claim; claim = claim->next)
                ns += (plan->ensembles > 1 ? 4000 * SIM_MS : 0) + time_of_record(plan, claim->lock / 2) +
                      2 * claim->action->value[PLAN_HOLD] * SIM_MS + 20 * latency + 10 * slow + timeout / 8;
    for (int32_t i = 0; i < PLAN_PATHS; i++) /* that it has seen last, and the one behind it */
        ns += 3 * plan_delay(plan, i, 1) * SIM_MS;
    ns += plan->linger * SIM_MS; /* nobody comes any more */
    ns += plan->guarded * (plan->guarded_ms * SIM_MS + 10 * slow);
    return ns;
}

static void note_in_time(struct deployment *d, enum history_kind kind, bool in_time) {
    struct history_event *event = note(d, kind, 0, NULL);
    if (event)
        event->a = in_time;
    observe(d);
}

static void note_end(struct deployment *d, bool in_time) {
    for (int32_t i = 0; i < DEPLOYMENT_CLIENTS * d->plan->processes; i++) {
        const struct client *client = deployment_client(d, i);
        if (!client || !client->s || client->process->dead)
            continue;
        struct history_event *event = note(d, HISTORY_ALIVE, client->number, client);
        if (event)
            event->a = is_connected(client->s);
    }
    note_in_time(d, HISTORY_END, in_time);
}

static void watch_pass(struct deployment *d, int64_t ns) {
    int64_t until = d->agenda.now + ns;
    while (sim_step(&d->agenda, until) && observe(d))
        ;
}

/* Nothing is held, wanted or left. Only heart-beats may go on, and a write of each session every T/4, or T/10. A write
 * is so many events: from the process to its server, to the leader, to all servers, and back. Observers look now and
 * then. */
static void look_at_rest(struct deployment *d) {
    int64_t timeout = plan_timeout(d->plan) * SIM_MS;
    watch_pass(d, timeout); /* slow packets still arrive, or are given up */
    uint64_t before = run_events(d);
    watch_pass(d, timeout / 2);
    struct history_event *event = note(d, HISTORY_STEPS, 0, NULL);
    if (!event)
        return;
    event->a = 40 + d->plan->processes * (1 + plan_sides(d->plan)) * 6 * (10 + 3 * d->plan->servers) +
               d->observers_count * (3 + timeout / (500 * SIM_MS)) * POLL_STEPS;
    event->b = (int64_t)(run_events(d) - before);
    observe(d);
}

/* false: a promise is broken. */
static bool wait_for(struct deployment *d, bool (*is_good)(struct deployment *d), bool *in_time) {
    int64_t until = d->agenda.now + time_to_converge(d);
    while (!(*in_time = is_good(d)) && run_goes_on(d) && sim_step(&d->agenda, until))
        if (!observe(d))
            return false;
    return true;
}

/* Without this, candidates would go on for ever. */
static bool end_elections(struct deployment *d) {
    bool in_time;
    if (!wait_for(d, is_served, &in_time))
        return false;
    note_in_time(d, HISTORY_SETTLED, in_time);
    transcript_tell(d, "ALL CANDIDATES LEAVE");
    for (int32_t i = 0; i < d->plan->processes; i++)
        if (d->players[i].process)
            sim_run_in(d->players[i].process, d->agenda.now, true, candidates_leave_all, &d->players[i], NULL);
    return !d->checker.broken;
}

void converge(struct deployment *d) {
    bool done;
    if ((d->candidates_count > 0 || d->observers_count > 0) && !end_elections(d))
        return;
    if (!wait_for(d, is_done, &done))
        return;
    note_end(d, done);
    /* Made-up answers that were not given yet would still disturb it. */
    if (done && d->plan->rest && !d->checker.broken && d->tally.faults[PLAN_ANSWER] == 0)
        look_at_rest(d);
}
