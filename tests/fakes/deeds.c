#include "deeds.h"

#include "sim_thread.h"

#include <string.h>

struct deeds deeds;

static struct sim_process *process(void) { return &group_one->rival->process; }

static void make_in(void *rival, void *unused) {
    pdk_session *s = ((struct rival *)rival)->session;
    pdk_lease_lock_options lease = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_job_options job = PDK_JOB_OPTIONS_INIT;
    (void)unused;
    lease.secret = "the secret of one";
    lease.duration_ms = DEED_LEASE_MS;
    job.at_most_ms = DEED_AT_MOST_MS;
    ck_assert_int_eq(pdk_lease_lock_new(s, "/leased", &lease, &deeds.lease), PDK_OK);
    ck_assert_int_eq(pdk_job_new(s, "/job", &job, &deeds.job), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(s, "/one", NULL, &deeds.lock), PDK_OK);
}

static void drop_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_unref(g_steal_pointer(&deeds.hold));
    pdk_lease_lock_unref(deeds.lease);
    pdk_job_unref(deeds.job);
    pdk_lock_unref(deeds.lock);
}

void deeds_begin(void) {
    driver_begin();
    memset(&deeds, 0, sizeof deeds);
    group_call(group_one, make_in, NULL);
}

void deeds_end(void) { group_call(group_one, drop_in, NULL); }

static void run(void *fn) {
    deeds.status = (*(pdk_status(**)(void))fn)();
    g_strlcpy(deeds.why, deeds.status == PDK_OK ? "" : pdk_last_error(), sizeof deeds.why);
    deeds.over = true;
}

static void start_in(void *rival, void *fn) { sim_thread_start(&((struct rival *)rival)->process, run, fn); }

void deed_start(pdk_status (*fn)(void)) {
    static pdk_status (*started)(void);
    started = fn;
    deeds.over = false;
    group_call(group_one, start_in, &started);
}

void deed_await(void) {
    for (int64_t until = platform_agenda.now + 30 * SECOND; !deeds.over; platform_pass(SIM_MS / 10))
        ck_assert_int_lt(platform_agenda.now, until);
}

pdk_status deed(pdk_status (*fn)(void)) {
    deed_start(fn);
    deed_await();
    return deeds.status;
}

pdk_status deed_lease(void) { return pdk_lease_lock_acquire(deeds.lease, 20000, &deeds.hold); }

pdk_status deed_job(void) { return pdk_job_acquire(deeds.job, 20000, &deeds.hold, NULL); }

static void is_valid_in(void *rival, void *valid) {
    (void)rival;
    *(bool *)valid = pdk_hold_is_valid(deeds.hold);
}

bool deed_is_valid(void) {
    bool valid = false;
    group_call(group_one, is_valid_in, &valid);
    return valid;
}

static void reason_in(void *rival, void *reason) {
    (void)rival;
    *(pdk_reason *)reason = pdk_hold_reason(deeds.hold);
}

pdk_reason deed_reason(void) {
    pdk_reason reason = PDK_REASON_NONE;
    group_call(group_one, reason_in, &reason);
    return reason;
}

static void block_answers(bool blocked) {
    for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
        sim_net_block(&platform_net, i, process()->host, blocked);
}

void deed_hold_answers_back(void) { block_answers(true); }
void deed_let_answers_come(void) { block_answers(false); }

void deed_hold_up(int64_t ns) {
    sim_process_pause(process(), true);
    platform_pass(ns);
    sim_process_pause(process(), false);
}
