/* The access control lists of a record and of a guarded znode, in simulated time: the question about one is not sent, is refused, or its
 * answer is lost. The servers' lists let everybody do everything, and so does the session's choice. */
#include "group_bench.h"
#include "session/access.h"
#include "session/session.h"
#include "sim_thread.h"

#include <paddock/guarded.h>
#include <paddock/lease_lock.h>
#include <string.h>

enum { PATIENCE_MS = 20000, SHORT_MS = 3000, BAD_VERSION = -103, QUOTA = -125 };

static struct {
    pdk_lock *lock;
    pdk_lease_lock *lease;
    int64_t timeout_ms;
    pdk_status status;
    bool over;
} it;

/* ---- in its process */

static void make_in(void *rival, void *user) {
    static const pdk_access_entry everybody = {PDK_PERMISSION_ALL, "world", "anyone"};
    pdk_session *s = ((struct rival *)rival)->session;
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    (void)user;
    s->access.choice = PDK_ACCESS_LIST;
    s->access.list = pdk__acl_copy(&everybody, 1).entries;
    s->access.count = 1;
    options.secret = "the secret of one";
    ck_assert_int_eq(pdk_lock_new(s, "/locks/guard", NULL, &it.lock), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_new(s, "/kept/leased", &options, &it.lease), PDK_OK);
}

static void drop_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    pdk_lock_unref(it.lock);
    pdk_lease_lock_unref(it.lease);
}

static void open_guarded(void *user) {
    pdk_hold *hold = NULL;
    pdk_guarded *guarded = NULL;
    (void)user;
    it.status = pdk_lock_acquire(it.lock, PATIENCE_MS, &hold);
    if (it.status == PDK_OK)
        it.status = pdk_guarded_open(hold, "/kept/guarded", it.timeout_ms, &guarded);
    if (it.status == PDK_OK)
        pdk_guarded_close(guarded);
    if (hold)
        pdk_hold_release(hold);
    it.over = true;
}

static void acquire_lease(void *user) {
    pdk_hold *hold = NULL;
    (void)user;
    it.status = pdk_lease_lock_acquire(it.lease, it.timeout_ms, &hold);
    if (hold)
        pdk_hold_release(hold);
    it.over = true;
}

static void run_in(void *rival, void *fn) {
    sim_thread_start(&((struct rival *)rival)->process, *(void (**)(void *))fn, NULL);
}

/* ---- from outside */

static void (*const calls[])(void *user) = {open_guarded, acquire_lease};
static const char *const parents[] = {"/app/kept", "/app/kept/leased"};

static void begin(void) {
    driver_begin();
    memset(&it, 0, sizeof it);
    it.timeout_ms = PATIENCE_MS;
    group_call(group_one, make_in, NULL);
    platform_pass(SECOND);
}

static void call(int which) {
    it.over = false;
    group_call(group_one, run_in, (void *)&calls[which]);
    for (int64_t until = platform_agenda.now + 60 * SECOND; !it.over; platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    platform_pass(SECOND);
}

static void calls_with(int which, pdk_status expected) {
    call(which);
    ck_assert_str_eq(pdk_status_name(it.status), pdk_status_name(expected));
}

static const struct {
    int32_t code; /* 0: so many are not sent */
    int32_t refuse;
    pdk_status status;
} faults[] = {{0, 1, PDK_OK},
              {0, 2, PDK_OK},
              {0, 8, PDK_OK},
              {GROUP_LOST, 0, PDK_OK},
              {GROUP_NOT_NOW, 0, PDK_OK},
              {GROUP_NO_NODE, 0, PDK_OK},
              {GROUP_NOT_ALLOWED, 0, PDK_UNPROTECTED},
              {QUOTA, 0, PDK_UNPROTECTED}};

/* _i: of the one, then of the other. It is there already, and a new handle knows no list. What was refused is asked for again by the
 * next call. */
START_TEST(one_question_about_a_list_goes_wrong) {
    const int which = _i % 2, fault = _i / 2;
    begin();
    calls_with(which, PDK_OK);
    group_call(group_one, group_reopen_in, NULL);
    platform_pass(2 * TIMEOUT);
    group_arm(PDK__OP_ACL, parents[which]);
    group_fault.code = faults[fault].code;
    group_fault.refuse = faults[fault].refuse;
    calls_with(which, faults[fault].status);
    ck_assert_uint_gt(group_fault.seen, 0);
    ck_assert_int_eq(group_fault.refuse, 0);
    calls_with(which, PDK_OK);
    group_call(group_one, drop_in, NULL);
}
END_TEST

static unsigned asked;

/* The lists are always another node's. */
static const char *redirect(const struct pdk__request *request) {
    asked += request->kind == PDK__OP_ACL;
    return request->kind == PDK__OP_ACL ? "/" : NULL;
}

START_TEST(lists_that_never_fit) {
    begin();
    calls_with(_i, PDK_OK);
    it.timeout_ms = SHORT_MS;
    asked = 0;
    driver_redirects = redirect;
    calls_with(_i, PDK_UNAVAILABLE);
    ck_assert_uint_ge(asked, 4);
    ck_assert_uint_le(asked, 200);
    driver_redirects = NULL;
    calls_with(_i, PDK_OK);
    group_call(group_one, drop_in, NULL);
}
END_TEST

/* A barrier checks nothing that could differ. It is asked for again, at a pace. */
START_TEST(a_barrier_that_is_answered_with_nonsense) {
    begin();
    it.timeout_ms = SHORT_MS;
    group_arm(PDK__OP_BARRIER, "/locks/guard");
    group_fault.code = BAD_VERSION;
    group_fault.always = true;
    calls_with(0, PDK_UNAVAILABLE);
    ck_assert_uint_ge(group_fault.seen, 4);
    ck_assert_uint_le(group_fault.seen, 200);
    group_fault.code = 0;
    calls_with(0, PDK_OK);
    group_call(group_one, drop_in, NULL);
}
END_TEST

static void teardown(void) {
    driver_redirects = NULL;
    driver_teardown();
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_records_protect");
    TCase *cases = tcase_create("driver_records_protect");
    tcase_add_checked_fixture(cases, platform_setup, teardown);
    tcase_add_loop_test(cases, one_question_about_a_list_goes_wrong, 0, 2 * G_N_ELEMENTS(faults));
    tcase_add_loop_test(cases, lists_that_never_fit, 0, 2);
    tcase_add_test(cases, a_barrier_that_is_answered_with_nonsense);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
