/* A checker whose requests go wrong: what it has not read, in this session and with a watch, it does not answer for. */
#include "driver_bench.h"
#include "session/session.h"

static struct driver_user *const one = &driver_users[0], *const two = &driver_users[1];

static struct {
    int32_t refuse;
    enum pdk__op_kind refused;
    uint32_t reads;
} requests;

static pdk_checker *checker;
static char *text;

static bool refuses(const struct pdk__request *request) {
    bool refuse = requests.refuse > 0 && request->kind == requests.refused;
    requests.reads += request->kind == PDK__OP_WATCH;
    requests.refuse -= refuse;
    return refuse;
}

static void make_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_checker_new(((struct driver_user *)subject)->rival->session, NULL, &checker), PDK_OK);
}

static void drop_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_checker_unref(checker);
    checker = NULL;
}

static void check_in(void *subject, void *what) {
    (void)subject;
    *(pdk_status *)what = pdk_checker_check(checker, text, 0);
}

static void fill_watches_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    s->watched_bytes = *(size_t *)what;
    pdk__unlock(s);
}

static void in(sim_event_fn fn, void *what) { sim_call_in(&one->rival->process, fn, one, what); }

static pdk_status check(void) {
    pdk_status status = PDK_OK;
    in(check_in, &status);
    return status;
}

/* The second process holds the lock. The first checks its sequencer. */
static void begin(void) {
    driver_begin();
    memset(&requests, 0, sizeof requests);
    driver_refuses = refuses;
    driver_want_lock(two);
    platform_pass(SECOND);
    ck_assert_uint_eq(two->holds_count, 1);
    text = g_strdup(pdk_hold_sequencer(two->holds[0]));
    in(make_in, NULL);
}

static void end(void) {
    in(drop_in, NULL);
    g_free(text);
}

START_TEST(a_question_that_cannot_be_sent_is_sent_later) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_WATCH, PDK__OP_BARRIER};
    for (int i = 0; i < 2; i++) {
        begin();
        requests.refused = kinds[i];
        requests.refuse = 3;
        ck_assert_int_eq(check(), PDK_UNAVAILABLE);
        platform_pass(SECOND);
        ck_assert_int_eq(requests.refuse, 0);
        ck_assert_int_eq(check(), PDK_OK);
        driver_release_all(two);
        platform_pass(SECOND);
        ck_assert_int_eq(check(), PDK_LOST);
        end();
    }
}
END_TEST

/* Once in a session timeout it is read again. A reading that fails takes nothing back: the watch is set. */
START_TEST(a_reading_that_fails_takes_nothing_back) {
    begin();
    check();
    platform_pass(SECOND / 2);
    uint32_t reads = requests.reads;
    requests.refused = PDK__OP_WATCH;
    requests.refuse = 50;
    for (int i = 0; i < 30; i++) {
        platform_pass(SECOND / 10);
        ck_assert_int_eq(check(), PDK_OK);
    }
    ck_assert_uint_gt(requests.reads, reads);
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_int_eq(check(), PDK_LOST);
    end();
}
END_TEST

/* The session has a lease again before its first reading, while the node is gone. */
START_TEST(what_an_earlier_session_has_read_does_not_count) {
    begin();
    check();
    platform_pass(SECOND);
    ck_assert_int_eq(check(), PDK_OK);
    platform_block(one->rival, true);
    platform_pass(3 * TIMEOUT);
    ck_assert_int_eq(check(), PDK_UNAVAILABLE);
    driver_release_all(two);
    requests.refused = PDK__OP_WATCH;
    requests.refuse = INT32_MAX;
    platform_block(one->rival, false);
    platform_pass(2 * TIMEOUT);
    ck_assert_ptr_nonnull(strstr(one->rival->events->str, "reopened"));
    ck_assert_int_eq(check(), PDK_UNAVAILABLE);
    requests.refuse = 0;
    platform_pass(SECOND);
    ck_assert_int_eq(check(), PDK_LOST);
    end();
}
END_TEST

START_TEST(a_session_with_too_many_watches) {
    size_t all = PDK__WATCHED_BYTES_MAX, none = 0;
    begin();
    in(fill_watches_in, &all);
    ck_assert_int_eq(check(), PDK_LIMIT);
    in(fill_watches_in, &none);
    ck_assert_int_eq(check(), PDK_UNAVAILABLE);
    platform_pass(SECOND);
    ck_assert_int_eq(check(), PDK_OK);
    end();
}
END_TEST

/* It is forgotten while the question is under way. */
START_TEST(a_checker_may_go_before_its_answer) {
    begin();
    check();
    in(drop_in, NULL);
    platform_pass(SECOND);
    in(make_in, NULL);
    check();
    driver_release_all(two);
    in(drop_in, NULL);
    platform_pass(SECOND);
    in(make_in, NULL);
    check(); /* the node is gone */
    in(drop_in, NULL);
    platform_pass(SECOND);
    ck_assert_uint_ge(requests.reads, 3);
    g_free(text);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_checker");
    TCase *cases = tcase_create("driver_checker");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_question_that_cannot_be_sent_is_sent_later);
    tcase_add_test(cases, a_reading_that_fails_takes_nothing_back);
    tcase_add_test(cases, what_an_earlier_session_has_read_does_not_count);
    tcase_add_test(cases, a_session_with_too_many_watches);
    tcase_add_test(cases, a_checker_may_go_before_its_answer);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
