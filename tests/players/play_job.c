/* The job. Each player asks for it again and again, by no clock of its own. Its runs are claims of kind=run. Beside that:
 *
 *     finishing n=K outcome=O     before it tells the outcome
 *     finished n=K status=S       what it was answered
 */
#include "plays.h"

/* One run in five outstays its time: it goes on until LOST. */
enum { BEGIN_MS = 500, FINISH_MS = 500, ASK_US = 400000, OUTSTAYS_PERCENT = 20, OUTCOMES = 100 };

void job_open(actor *c) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    options.every_ms = JOB_EVERY_MS;
    options.at_least_ms = JOB_AT_LEAST_MS;
    options.at_most_ms = JOB_AT_MOST_MS;
    options.history = JOB_HISTORY;
    options.identity = c->player.identity;
    actor_expect(c, "job", pdk_job_new(c->player.session, c->player.path, &options, &c->job), PDK_OK);
}

void job_close(actor *c) { pdk_job_unref(c->job); }

/* What faults may do to an ask, and that another one runs or ran. */
static bool may_fail(pdk_status status) {
    return status == PDK_SKIPPED || status == PDK_BUSY || status == PDK_LOST || status == PDK_UNAVAILABLE;
}

static bool finish_may_fail(pdk_status status) { return status == PDK_LOST || status == PDK_UNAVAILABLE; }

/* An administrator may delete the record. Then somebody else may have written it. */
static void finish(actor *c, claim_record *record, pdk_hold *hold) {
    int n = record_number(record), outcome = g_random_int_range(0, OUTCOMES);
    event_log_note(c->player.log, "finishing n=%d outcome=%d", n, outcome);
    pdk_status status = pdk_job_finish(c->job, hold, outcome, FINISH_MS);
    event_log_note(c->player.log, "finished n=%d status=%s", n, pdk_status_name(status));
    if (status == PDK_OK) {
        record_over_hushed(record);
        return;
    }
    if (!finish_may_fail(status))
        actor_expect(c, "finish", status, PDK_REPLACED);
    record_give_back(record, hold);
}

bool job_turn(player *p, int thread, void *user) {
    actor *c = user;
    pdk_hold *hold;
    (void)p;
    (void)thread;
    player_pause(ASK_US);
    pthread_mutex_lock(&c->mutex);
    claim_record *record = record_new(c, "run", 0, BEGIN_MS);
    pthread_mutex_unlock(&c->mutex);
    pdk_status status = pdk_job_acquire(c->job, BEGIN_MS, &hold, NULL);
    if (status != PDK_OK) {
        record_failed(record, status);
        if (!may_fail(status))
            actor_expect(c, "begin", status, PDK_OK);
        return true;
    }
    record_granted(record, hold);
    actor_use(c, record_number(record), hold);
    if (player_chance(OUTSTAYS_PERCENT))
        record_await_told(record);
    finish(c, record, hold);
    return true;
}
