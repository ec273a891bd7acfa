/* Bad input. It is refused with a status and a text that names the argument, and has no effect: outputs stay as they
 * are, and the server has as many nodes and sessions as before. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>

#include "refused.h"
#include "ts_check.h"
#include "ts_support.h"

static ts_ensemble *server;
static pdk_session *session;
static pdk_lock *lock;
static int64_t nodes, sessions;

#define UNTOUCHED ((void *)&server)

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), NULL, &session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(session, "/in/lock", NULL, &lock), PDK_OK);
    nodes = ts_mntr(ts_ensemble_host(server, 0), "zk_znode_count");
    sessions = ts_session_count(ts_ensemble_host(server, 0));
    ck_assert_int_eq(sessions, 1);
}

static void end(void) {
    pdk_lock_unref(lock);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
    ts_ensemble_stop(server);
}

static void check_no_effect(void) {
    ck_assert_int_eq(ts_mntr(ts_ensemble_host(server, 0), "zk_znode_count"), nodes);
    ck_assert_int_eq(ts_session_count(ts_ensemble_host(server, 0)), sessions);
}

static void never(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)hold;
    (void)user;
    g_error("a callback of a call that was refused");
}

/* ---- NULL */

START_TEST(null_is_refused_by_the_session) {
    pdk_session *out = UNTOUCHED;
    refused(pdk_session_open(NULL, NULL, &out), PDK_INVALID, "hosts");
    refused(pdk_session_open(ts_ensemble_hosts(server), NULL, NULL), PDK_INVALID, "out");
    ck_assert_ptr_eq(out, UNTOUCHED);
    refused(pdk_session_close(NULL, 0), PDK_INVALID, "session");
    refused(pdk_session_flush(NULL, 0), PDK_INVALID, "session");
    int count = 77;
    refused(pdk_session_dispatch(NULL, &count), PDK_INVALID, "session");
    ck_assert_int_eq(count, 77);
    refused(pdk_session_check_sequencer(NULL, "pdk1 /n/x-lock-0000000001 exclusive 1 0", 0), PDK_INVALID, "session");
    refused(pdk_session_check_sequencer(session, NULL, 0), PDK_INVALID, "text");
    check_no_effect();
}
END_TEST

START_TEST(null_is_refused_by_the_lock) {
    pdk_lock *out = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;
    int32_t ahead = 77;
    refused(pdk_lock_new(NULL, "/a", NULL, &out), PDK_INVALID, "session");
    refused(pdk_lock_new(session, NULL, NULL, &out), PDK_INVALID, "path");
    refused(pdk_lock_new(session, "/a", NULL, NULL), PDK_INVALID, "out");
    refused(pdk_lock_acquire(NULL, 0, &hold), PDK_INVALID, "lock");
    refused(pdk_lock_acquire(lock, 0, NULL), PDK_INVALID, "out");
    refused(pdk_lock_acquire_async(NULL, 0, never, NULL, &claim), PDK_INVALID, "lock");
    refused(pdk_lock_acquire_async(lock, 0, NULL, NULL, &claim), PDK_INVALID, "fn");
    refused(pdk_lock_list(NULL, 0, &list), PDK_INVALID, "lock");
    refused(pdk_lock_list(lock, 0, NULL), PDK_INVALID, "out");
    refused(pdk_lock_holder(NULL, 0, &list), PDK_INVALID, "lock");
    refused(pdk_lock_holder(lock, 0, NULL), PDK_INVALID, "out");
    refused(pdk_claim_cancel(NULL), PDK_INVALID, "claim");
    refused(pdk_claim_position(NULL, &ahead), PDK_INVALID, "claim");
    ck_assert_ptr_eq(out, UNTOUCHED);
    ck_assert_ptr_eq(hold, UNTOUCHED);
    ck_assert_ptr_eq(claim, UNTOUCHED);
    ck_assert_ptr_eq(list, UNTOUCHED);
    ck_assert_int_eq(ahead, 77);
    check_no_effect();
}
END_TEST

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
}

START_TEST(null_is_refused_by_the_hold) {
    refused(pdk_hold_ensure(NULL, 0), PDK_INVALID, "hold");
    refused(pdk_hold_on_lost(NULL, on_lost, NULL, NULL), PDK_INVALID, "hold");
    refused(pdk_hold_release(NULL), PDK_INVALID, "hold");
    ck_assert_int_eq(pdk_hold_fd(NULL), -1);
    refused(PDK_INVALID, PDK_INVALID, "hold"); /* the text that pdk_hold_fd left */
    check_no_effect();
}
END_TEST

START_TEST(null_is_answered_by_calls_without_a_status) {
    ck_assert_int_eq(pdk_hold_token(NULL), 0);
    ck_assert_uint_eq(pdk_hold_handover(NULL), 0);
    ck_assert_ptr_nonnull(pdk_hold_token_text(NULL));
    ck_assert(!pdk_hold_is_valid(NULL));
    ck_assert_int_eq(pdk_hold_remaining_ms(NULL), 0);
    ck_assert_int_eq(pdk_hold_reason(NULL), PDK_REASON_NONE);
    ck_assert_ptr_nonnull(pdk_hold_sequencer(NULL));
    pdk_hold_detach_thread(NULL);
    ck_assert_ptr_null(pdk_hold_ref(NULL));
    pdk_hold_unref(NULL);
    ck_assert_ptr_null(pdk_lock_ref(NULL));
    pdk_lock_unref(NULL);
    ck_assert_ptr_null(pdk_claim_ref(NULL));
    pdk_claim_unref(NULL);
    ck_assert_ptr_null(pdk_session_ref(NULL));
    pdk_session_unref(NULL);
    ck_assert_int_eq(pdk_session_fd(NULL), -1);
    ck_assert_int_eq(pdk_session_id(NULL), 0);
    ck_assert_int_eq(pdk_session_timeout_ms(NULL), 0);
    ck_assert_int_eq(pdk_session_token_seen(NULL), 0);
    ck_assert_ptr_nonnull(pdk_session_identity(NULL));
    ck_assert_uint_eq(pdk_contenders_count(NULL), 0);
    ck_assert_ptr_null(pdk_contenders_identity(NULL, 0));
    ck_assert_ptr_null(pdk_contenders_node(NULL, 0));
    ck_assert_int_eq(pdk_contenders_session(NULL, 0), 0);
    ck_assert_int_eq(pdk_contenders_token(NULL, 0), 0);
    ck_assert_int_eq(pdk_contenders_since_ms(NULL, 0), 0);
    pdk_contenders_free(NULL);
}
END_TEST

/* ---- paths */

START_TEST(malformed_paths_are_refused) {
    static const char *const wrong[] = {
        "",         "a",          "a/b",
        "./a",      "/",          "//",
        "/a//b",    "/a/",        "/.",
        "/..",      "/a/./b",     "/a/../b",
        "/a/..",    "/zookeeper", "/zookeeper/quota",
        "/a\n",     "/a\x1b[2J",  "/a\x1f",
        "/a\x7f",   "/a\xc2\x85", "/\xff",
        "/caf\xe9", "/\xc0\xaf",  "/\xed\xa0\x80",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        pdk_lock *out = UNTOUCHED;
        refused(pdk_lock_new(session, wrong[i], NULL, &out), PDK_INVALID, "path");
        ck_assert_ptr_eq(out, UNTOUCHED);
    }
    check_no_effect();
}
END_TEST

static char *path_of(size_t bytes) {
    char *path = g_strnfill(bytes, 'p');
    for (size_t i = 0; i < bytes; i += 100)
        path[i] = '/';
    return path;
}

static void check_longest(pdk_session *s, size_t bytes) {
    pdk_lock *longest = NULL, *out = UNTOUCHED;
    pdk_hold *hold = NULL;
    char *path = path_of(bytes + 1);
    refused(pdk_lock_new(s, path, NULL, &out), PDK_INVALID, "path");
    ck_assert_ptr_eq(out, UNTOUCHED);
    path[bytes] = '\0';
    ck_assert_int_eq(pdk_lock_new(s, path, NULL, &longest), PDK_OK);
    ck_assert_msg(pdk_lock_acquire(longest, 5000, &hold) == PDK_OK, "%s", pdk_last_error());
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(hold), path));
    ck_assert_int_eq(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(longest);
    g_free(path);
}

START_TEST(a_path_of_512_bytes_is_the_longest) {
    check_longest(session, 512);
    ck_assert_int_eq(pdk_session_flush(session, 5000), PDK_OK);
}
END_TEST

START_TEST(the_chroot_counts) {
    char *hosts = g_strconcat(ts_ensemble_hosts(server), "/chroot12", NULL);
    pdk_session *s = NULL;
    pdk_lock *own = NULL;
    ck_assert_int_eq(pdk_session_open(hosts, NULL, &s), PDK_OK);
    check_longest(s, 512 - strlen("/chroot12"));
    ck_assert_int_eq(pdk_lock_new(s, "/zookeeper", NULL, &own), PDK_OK); /* below the chroot it is an ordinary path */
    pdk_lock_unref(own);
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
    g_free(hosts);
}
END_TEST

/* ---- timeouts */

START_TEST(negative_timeouts_are_refused) {
    static const int64_t wrong[] = {-2, -1000, INT64_MIN};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        pdk_hold *hold = UNTOUCHED;
        pdk_claim *claim = UNTOUCHED;
        pdk_contenders *list = UNTOUCHED;
        refused(pdk_lock_acquire(lock, wrong[i], &hold), PDK_INVALID, "timeout_ms");
        refused(pdk_lock_acquire_async(lock, wrong[i], never, NULL, &claim), PDK_INVALID, "timeout_ms");
        refused(pdk_lock_list(lock, wrong[i], &list), PDK_INVALID, "timeout_ms");
        refused(pdk_lock_holder(lock, wrong[i], &list), PDK_INVALID, "timeout_ms");
        refused(pdk_session_check_sequencer(session, "pdk1 /n/x-lock-0000000001 exclusive 1 0", wrong[i]), PDK_INVALID,
                "timeout_ms");
        refused(pdk_session_flush(session, wrong[i]), PDK_INVALID, "timeout_ms");
        refused(pdk_session_close(session, wrong[i]), PDK_INVALID, "timeout_ms");
        ck_assert_ptr_eq(hold, UNTOUCHED);
        ck_assert_ptr_eq(claim, UNTOUCHED);
        ck_assert_ptr_eq(list, UNTOUCHED);
    }
    check_no_effect();
}
END_TEST

START_TEST(for_ever_and_very_long_are_accepted) {
    static const int64_t right[] = {PDK_FOREVER, INT64_MAX, INT64_MAX / 1000000, INT32_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        pdk_hold *hold = NULL;
        pdk_contenders *list = NULL;
        ck_assert_int_eq(pdk_lock_acquire(lock, right[i], &hold), PDK_OK);
        ck_assert_int_eq(pdk_session_check_sequencer(session, pdk_hold_sequencer(hold), right[i]), PDK_OK);
        ck_assert_int_eq(pdk_lock_holder(lock, right[i], &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        ck_assert_int_eq(pdk_session_flush(session, right[i]), PDK_OK);
    }
}
END_TEST

START_TEST(ensure_refuses_an_impossible_time) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    refused(pdk_hold_ensure(hold, -1), PDK_INVALID, "ms");
    refused(pdk_hold_ensure(hold, INT64_MIN), PDK_INVALID, "ms");
    refused(pdk_hold_ensure(hold, pdk_session_timeout_ms(session)), PDK_INVALID, "ms");
    refused(pdk_hold_ensure(hold, INT64_MAX), PDK_INVALID, "ms");
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_ensure(hold, 0), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- sequencers and holds */

START_TEST(text_that_is_no_sequencer_is_refused) {
    static const char *const wrong[] = {
        "",
        "pdk1",
        "pdk1 /n/x-lock-0000000001 exclusive 1",
        "pdk2 /n/x-lock-0000000001 exclusive 1 0",
        "pdk1 n/x-lock-0000000001 exclusive 1 0",
        "pdk1 /n exclusive 1 0",
        "pdk1 / exclusive 1 0",
        "pdk1 /a//x-lock-0000000001 exclusive 1 0",
        "pdk1 /a/../x-lock-0000000001 exclusive 1 0",
        "pdk1 /n/x-lock-0000000001 exclusive 0 0",
        "pdk1 /n/x-lock-0000000001 exclusive -1 0",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        refused(pdk_session_check_sequencer(session, wrong[i], 5000), PDK_INVALID, "text");
    check_no_effect();
}
END_TEST

START_TEST(a_second_release_is_told) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    pdk_hold *second = pdk_hold_ref(hold), *third = pdk_hold_ref(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    refused(pdk_hold_release(second), PDK_NOT_HELD, "already released");
    refused(pdk_hold_on_lost(third, on_lost, NULL, NULL), PDK_NOT_HELD, "released");
    refused(pdk_hold_ensure(third, 0), PDK_NOT_HELD, "released");
    ck_assert(!pdk_hold_is_valid(third));
    ck_assert_int_eq(pdk_hold_remaining_ms(third), 0);
    ck_assert_int_eq(pdk_hold_reason(third), PDK_REASON_NONE);
    ck_assert_int_gt(pdk_hold_token(third), 0);
    pdk_hold_unref(third);
    ck_assert_int_eq(pdk_session_flush(session, 5000), PDK_OK);
}
END_TEST

static void count_up(void *number) { ++*(int *)number; }

START_TEST(a_refused_callback_keeps_its_user) {
    pdk_hold *hold = NULL;
    int kept = 0, freed = 0;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    refused(pdk_hold_on_lost(hold, NULL, &kept, count_up), PDK_INVALID, "fn");
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, &freed, count_up), PDK_OK);
    refused(pdk_hold_on_lost(hold, on_lost, &kept, count_up), PDK_INVALID, "has a callback already");
    pdk_hold *second = pdk_hold_ref(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(freed, 1); /* it cannot run any more */
    refused(pdk_hold_on_lost(second, on_lost, &kept, count_up), PDK_NOT_HELD, "released");
    pdk_hold_unref(second);
    ck_assert_int_eq(freed, 1);
    ck_assert_int_eq(kept, 0);
    ck_assert_int_eq(pdk_session_flush(session, 5000), PDK_OK);
}
END_TEST

START_TEST(a_list_has_nothing_beyond_its_end) {
    static const size_t beyond[] = {1, 2, SIZE_MAX};
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_list(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_int_gt(pdk_contenders_since_ms(list, 0), 1500000000000);
    for (size_t i = 0; i < G_N_ELEMENTS(beyond); i++) {
        ck_assert_ptr_null(pdk_contenders_identity(list, beyond[i]));
        ck_assert_ptr_null(pdk_contenders_node(list, beyond[i]));
        ck_assert_int_eq(pdk_contenders_session(list, beyond[i]), 0);
        ck_assert_int_eq(pdk_contenders_token(list, beyond[i]), 0);
        ck_assert_int_eq(pdk_contenders_since_ms(list, beyond[i]), 0);
    }
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_list(lock, 5000, &list), PDK_OK); /* a free lock */
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_session_flush(session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_lock_holder(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 0);
    pdk_contenders_free(list);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("input");
    TCase *cases = tcase_create("input");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_test(cases, null_is_refused_by_the_session);
    tcase_add_test(cases, null_is_refused_by_the_lock);
    tcase_add_test(cases, null_is_refused_by_the_hold);
    tcase_add_test(cases, null_is_answered_by_calls_without_a_status);
    tcase_add_test(cases, malformed_paths_are_refused);
    tcase_add_test(cases, negative_timeouts_are_refused);
    tcase_add_test(cases, text_that_is_no_sequencer_is_refused);
    tcase_add_test(cases, for_ever_and_very_long_are_accepted);
    tcase_add_test(cases, ensure_refuses_an_impossible_time);
    tcase_add_test(cases, a_second_release_is_told);
    tcase_add_test(cases, a_refused_callback_keeps_its_user);
    tcase_add_test(cases, a_list_has_nothing_beyond_its_end);
    tcase_add_test(cases, a_path_of_512_bytes_is_the_longest);
    tcase_add_test(cases, the_chroot_counts);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
