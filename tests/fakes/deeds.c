/* The groups, the members and the deeds of driver_bench.h. */
#include "driver_bench.h"
#include "session/chores.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_thread.h"

#include <string.h>

struct group group;
struct member_setting member_settings[2];
struct deeds deeds;

/* ---- a group */

static void on_view(pdk_group_view *view, void *user) {
    (void)user;
    group.views++;
    group.count = pdk_group_view_count(view);
    group.exact = pdk_group_view_is_exact(view);
    group.inexact += !group.exact;
    for (size_t i = 0; i < group.count; i++)
        group.status = pdk_group_view_member(view, i)->status;
}

static void on_free(void *user) {
    (void)user;
    group.freed++;
}

void group_watch(void) {
    ck_assert_int_eq(pdk_group_watch(first->session, "/group", on_view, NULL, on_free, &group.watcher), PDK_OK);
}

void group_unwatch(void) { pdk_group_watcher_close(g_steal_pointer(&group.watcher)); }

void group_join(struct driver_user *u, int member) {
    ck_assert_int_eq(pdk_group_join(u->rival->session, "/group", "one", 3, NULL, &group.members[member]), PDK_OK);
}

void group_leave(void) {
    for (int i = 0; i < GROUP_MEMBERS; i++)
        pdk_member_unref(g_steal_pointer(&group.members[i]));
}

void group_begin(int members) {
    driver_begin();
    memset(&group, 0, sizeof group);
    driver_arm(PDK__OP_GET, GROUP_DIR);
    for (int i = 0; i < members; i++)
        group_join(two, i);
    platform_pass(SECOND);
}

/* ---- a member */

static void set_by_thread(void *user) {
    struct member_setting *setting = user;
    setting->status = pdk_member_set_data(group.members[0], setting->text, strlen(setting->text), setting->timeout_ms);
    g_strlcpy(setting->why, pdk_last_error(), sizeof setting->why);
    setting->over = true;
}

struct member_setting *member_set(int number, const char *text, int64_t timeout_ms) {
    member_settings[number] = (struct member_setting){.text = text, .timeout_ms = timeout_ms, .status = PDK_INVALID};
    sim_thread_start(&first->process, set_by_thread, &member_settings[number]);
    return &member_settings[number];
}

void member_begin(void) {
    group_begin(0);
    group_join(one, 0);
    platform_pass(SECOND);
}

void member_assert_data(const char *text) { ck_assert_str_eq(platform_node(platform_child(GROUP_DIR, 0))->data, text); }

void member_assert_set(const struct member_setting *setting, pdk_status status) {
    ck_assert(setting->over);
    ck_assert_str_eq(pdk_status_name(setting->status), pdk_status_name(status));
}

void member_finish(void) {
    driver_refuses = NULL;
    group_leave();
    platform_pass(SECOND);
    ck_assert_uint_eq(platform_children(GROUP_DIR), 0);
}

/* ---- deeds */

void deeds_begin(void) {
    pdk_lease_lock_options lease = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_job_options job = PDK_JOB_OPTIONS_INIT;
    driver_begin();
    memset(&deeds, 0, sizeof deeds);
    lease.secret = "the secret of one";
    lease.duration_ms = DEED_LEASE_MS;
    job.at_most_ms = DEED_AT_MOST_MS;
    ck_assert_int_eq(pdk_lease_lock_new(first->session, "/leased", &lease, &deeds.lease), PDK_OK);
    ck_assert_int_eq(pdk_job_new(first->session, "/job", &job, &deeds.job), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(first->session, "/one", NULL, &deeds.lock), PDK_OK);
}

void deeds_end(void) {
    pdk_hold_unref(g_steal_pointer(&deeds.hold));
    pdk_lease_lock_unref(g_steal_pointer(&deeds.lease));
    pdk_job_unref(g_steal_pointer(&deeds.job));
    pdk_lock_unref(g_steal_pointer(&deeds.lock));
}

static void run(void *fn) {
    deeds.status = (*(pdk_status(**)(void))fn)();
    g_strlcpy(deeds.why, deeds.status == PDK_OK ? "" : pdk_last_error(), sizeof deeds.why);
    deeds.over = true;
}

void deed_start(pdk_status (*fn)(void)) {
    static pdk_status (*started)(void);
    started = fn;
    deeds.over = false;
    sim_thread_start(&first->process, run, &started);
}

void deed_await(void) {
    for (int64_t until = platform_agenda.now + 60 * SECOND; !deeds.over; platform_pass(SIM_MS / 10))
        ck_assert_int_lt(platform_agenda.now, until);
}

pdk_status deed(pdk_status (*fn)(void)) {
    deed_start(fn);
    deed_await();
    return deeds.status;
}

pdk_status deed_lock(void) { return pdk_lock_acquire(deeds.lock, PDK_FOREVER, &deeds.hold); }
pdk_status deed_lease(void) { return pdk_lease_lock_acquire(deeds.lease, 20000, &deeds.hold); }
pdk_status deed_job(void) { return pdk_job_acquire(deeds.job, 20000, &deeds.hold, NULL); }
pdk_status deed_nothing(void) { return PDK_OK; }
pdk_status deed_give_back(void) { return pdk_hold_release(pdk_hold_ref(deeds.hold)); }

pdk_status deed_reopen(void) {
    rival_reopen(first);
    return PDK_OK;
}

pdk_status deed_end_session(void) {
    pdk_session *s = first->session;
    pdk__lock(s);
    pdk__session_end(s, PDK_AUTH, "as a test wants it");
    pdk__chores_run_and_unlock(s);
    return PDK_OK;
}
