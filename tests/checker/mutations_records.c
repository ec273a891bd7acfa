/* Spoils histories of jobs and lease locks. */
#include "mutations.h"

#include <paddock/job.h>

static bool is_record(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_RECORD; }

/* Where a server gave false answers, little is promised. */
static bool is_misled(const struct history *h) {
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_MISLED)
            return true;
    return false;
}

/* The record of the path as it was before; -1: there was none. */
static int32_t before(const struct history *h, int32_t at) {
    for (int32_t i = at - 1; i >= 0; i--)
        if (is_record(h, i) && h->events[i].path == h->events[at].path)
            return i;
    return -1;
}

bool spoil_record_foreign(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_record);
    if (at >= 0)
        h->events[at].extra ^= 1;
    return at >= 0;
}

/* The end that the hold's owner tells, as the record has it; -1: nowhere. */
static int32_t end_of(const struct history *h, int32_t hold) {
    const struct history_event *grant = mutation_grant(h, hold);
    for (int32_t i = 0; grant && i < h->count; i++)
        if (is_record(h, i) && h->events[i].a == grant->a && h->events[i].path == grant->path &&
            (h->events[i].id == 'F' || h->events[i].id == 'N'))
            return i;
    return -1;
}

static bool is_ending_that_lands(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_ENDING && end_of(h, h->events[at].id) > at;
}

bool spoil_record_untold(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_ending_that_lands);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

static bool is_job(int8_t path) { return plan_recipe(mutations_plan, path) == PLAN_RECIPE_JOB; }

static bool is_job_record(const struct history *h, int32_t at) {
    return is_record(h, at) && is_job(h->events[at].path);
}

bool spoil_record_lines(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_job_record);
    if (at >= 0)
        h->events[at].count++;
    return at >= 0;
}

static bool is_ended_well(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_ENDING_ANSWERED && e->a == PDK_OK && end_of(h, e->id) >= 0;
}

bool spoil_record_lost(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_ended_well);
    if (at >= 0)
        mutation_remove(h, end_of(h, h->events[at].id));
    return at >= 0;
}

static bool is_ended(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_ENDING_ANSWERED; }

bool spoil_record_status(struct history *h, struct sim_random *chance) {
    int32_t at = is_misled(h) ? -1 : mutation_pick(h, chance, is_ended);
    if (at >= 0)
        h->events[at].a = PDK_REPLACED;
    return at >= 0;
}

/* One that comes after another, of which it must keep clear. */
static bool is_later_start(const struct history *h, int32_t at) {
    bool spaced = mutations_plan->least > 0 || (mutations_plan->every > 0 && !mutations_plan->retry);
    return is_job_record(h, at) && spaced && h->events[at].id == 'R' && before(h, at) >= 0;
}

bool spoil_run_soon(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_later_start), start = at;
    while (start >= 0 && (start == at || h->events[start].id != 'R'))
        start = before(h, start);
    if (start < 0)
        return false;
    h->events[at].clock = h->events[start].clock;
    return true;
}

static bool is_skipped(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_RUNS && h->events[at].id >= 0 && h->events[at].mode != PDK_JOB_RUNNING;
}

bool spoil_run_skipped(struct history *h, struct sim_random *chance) {
    int32_t at = is_misled(h) ? -1 : mutation_pick(h, chance, is_skipped);
    if (at >= 0)
        h->events[at].extra += 3600 * SIM_MS * 1000;
    return at >= 0;
}

static bool is_told(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_RUNS && h->events[at].b != 0;
}

bool spoil_run_told(struct history *h, struct sim_random *chance) {
    int32_t at = is_misled(h) ? -1 : mutation_pick(h, chance, is_told);
    if (at < 0)
        return false;
    if (h->events[at].mode == PDK_JOB_FINISHED)
        h->events[at].sequence++;
    else
        h->events[at].b++;
    return true;
}

static bool is_taken_after_the_end(const struct history *h, int32_t at) {
    int32_t older = is_record(h, at) && h->events[at].id == 'H' ? before(h, at) : -1;
    return older >= 0 && h->events[older].id == 'H' && h->events[older].b != h->events[at].b;
}

bool spoil_stands(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_taken_after_the_end);
    if (at >= 0)
        h->events[at].clock = h->events[before(h, at)].clock;
    return at >= 0;
}

/* Of a hold with an end of its own, which was delivered. */
static bool is_extended(const struct history *h, int32_t at) {
    const struct history_event *grant =
        h->events[at].kind == HISTORY_EXTEND ? mutation_grant(h, h->events[at].id) : NULL;
    if (!grant || !plan_records(mutations_plan, grant->path) || (is_job(grant->path) && mutations_plan->most == 0))
        return false;
    for (int32_t i = 0; i < at; i++)
        if (h->events[i].kind == HISTORY_ANSWER && h->events[i].a == PDK_OK && h->events[i].b == grant->id)
            return true;
    return false;
}

bool spoil_overdue(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_extended);
    if (at >= 0)
        h->events[at].a += 3600 * SIM_MS * 1000;
    return at >= 0;
}
