/* The arguments, paths and options of a read/write lock, and where it is called from: callbacks, closed sessions. A
 * refused call says which argument is wrong, and has no effect. */
#include <glib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000 };

static ts_client *a;
static const char *path;
static pdk_rwlock *lock;
static int64_t nodes;

#define UNTOUCHED ((void *)&a)

static const char *server(void) { return ts_bench_server(); }

static void one_session(void) {
    a = ts_bench_client(SESSION_MS);
    path = ts_fresh_path();
    lock = ts_rwlock(a, path);
    nodes = ts_mntr(server(), "zk_znode_count");
}

static void check_no_effect(void) { ck_assert_int_eq(ts_mntr(server(), "zk_znode_count"), nodes); }

static void never(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)hold;
    (void)user;
    g_error("a callback of a call that was refused");
}

/* ---- arguments ---- */

START_TEST(null_is_refused) {
    pdk_rwlock *out = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;

    refused(pdk_rwlock_new(NULL, "/a", NULL, &out), PDK_INVALID, "session");
    refused(pdk_rwlock_new(a->session, NULL, NULL, &out), PDK_INVALID, "path");
    refused(pdk_rwlock_new(a->session, "/a", NULL, NULL), PDK_INVALID, "out");
    refused(pdk_rwlock_acquire_read(NULL, 0, &hold), PDK_INVALID, "lock");
    refused(pdk_rwlock_acquire_read(lock, 0, NULL), PDK_INVALID, "out");
    refused(pdk_rwlock_acquire_write(NULL, 0, &hold), PDK_INVALID, "lock");
    refused(pdk_rwlock_acquire_write(lock, 0, NULL), PDK_INVALID, "out");
    refused(pdk_rwlock_acquire_read_async(NULL, 0, never, NULL, &claim), PDK_INVALID, "lock");
    refused(pdk_rwlock_acquire_read_async(lock, 0, NULL, NULL, &claim), PDK_INVALID, "fn");
    refused(pdk_rwlock_acquire_write_async(NULL, 0, never, NULL, &claim), PDK_INVALID, "lock");
    refused(pdk_rwlock_acquire_write_async(lock, 0, NULL, NULL, &claim), PDK_INVALID, "fn");
    refused(pdk_rwlock_list(NULL, 0, &list), PDK_INVALID, "lock");
    refused(pdk_rwlock_list(lock, 0, NULL), PDK_INVALID, "out");
    ck_assert(out == UNTOUCHED && hold == UNTOUCHED && claim == UNTOUCHED && list == UNTOUCHED);
    ck_assert_ptr_null(pdk_rwlock_ref(NULL));
    pdk_rwlock_unref(NULL);
    ck_assert(!pdk_contenders_is_shared(NULL, 0));
    check_no_effect();
}
END_TEST

START_TEST(negative_timeouts_are_refused) {
    static const int64_t wrong[] = {-2, -1000, INT64_MIN};
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_rwlock_acquire_read(lock, wrong[i], &hold), PDK_INVALID, "timeout_ms");
        refused(pdk_rwlock_acquire_write(lock, wrong[i], &hold), PDK_INVALID, "timeout_ms");
        refused(pdk_rwlock_acquire_read_async(lock, wrong[i], never, NULL, &claim), PDK_INVALID, "timeout_ms");
        refused(pdk_rwlock_acquire_write_async(lock, wrong[i], never, NULL, &claim), PDK_INVALID, "timeout_ms");
        refused(pdk_rwlock_list(lock, wrong[i], &list), PDK_INVALID, "timeout_ms");
    }
    ck_assert(hold == UNTOUCHED && claim == UNTOUCHED && list == UNTOUCHED);
    check_no_effect();
}
END_TEST

START_TEST(very_long_timeouts_are_accepted) {
    static const int64_t right[] = {PDK_FOREVER, INT64_MAX, INT64_MAX / 1000000, INT32_MAX};

    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        pdk_contenders *list = NULL;
        pdk_hold *hold = ts_bench_read(lock, right[i]);

        ck_assert_int_eq(pdk_rwlock_list(lock, right[i], &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
        ck_assert(pdk_contenders_is_shared(list, 0));
        ck_assert(!pdk_contenders_is_shared(list, 1) && !pdk_contenders_is_shared(list, SIZE_MAX));
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        ck_assert_int_eq(pdk_hold_release(ts_bench_write(lock, right[i])), PDK_OK);
    }
}
END_TEST

START_TEST(malformed_paths_are_refused) {
    static const char *const wrong[] = {"",    "a",      "/",          "//",   "/a//b", "/a/",
                                        "/..", "/a/./b", "/zookeeper", "/a\n", "/\xff"};
    g_autofree char *longest = g_strnfill(513, 'p');
    pdk_rwlock *out = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_rwlock_new(a->session, wrong[i], NULL, &out), PDK_INVALID, "path");
    }
    longest[0] = '/';
    refused(pdk_rwlock_new(a->session, longest, NULL, &out), PDK_INVALID, "path");
    ck_assert_ptr_eq(out, UNTOUCHED);
    check_no_effect();
    longest[512] = '\0';
    pdk_rwlock *with_longest = ts_rwlock(a, longest);
    pdk_hold *hold = ts_bench_write(with_longest, 5000);
    ck_assert_int_eq(pdk_hold_downgrade(hold), PDK_OK);
    const int64_t end = ts_now_ms() + ts_patience(3000);
    while (!strstr(pdk_hold_sequencer(hold), " shared/")) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(1);
    }
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- options ---- */

/* A later version, with one member more. */
struct newer_options {
    pdk_rwlock_options known;
    int64_t more;
};

START_TEST(options_out_of_range_are_refused_by_name) {
    enum { SIZE = sizeof(pdk_rwlock_options) };
    const pdk_rwlock_options defaults = PDK_RWLOCK_OPTIONS_INIT;
    const struct {
        pdk_rwlock_options options;
        const char *name;
    } wrong[] = {
        {{0, 0, 0, 0, NULL}, "size"},
        {{SIZE - 1, 0, 0, 0, NULL}, "size"},
        {{SIZE_MAX, 0, 0, 0, NULL}, "size"},
        {{SIZE, -1, 0, 0, NULL}, "naming"},
        {{SIZE, 2, 0, 0, NULL}, "naming"},
        {{SIZE, 0, -1, 0, NULL}, "max_handovers"},
        {{SIZE, 0, 0, -1, NULL}, "max_handover_ms"},
        {{SIZE, 0, 0, 0, "\xff"}, "identity"},
    };
    pdk_rwlock *out = UNTOUCHED;

    ck_assert_uint_eq(defaults.size, SIZE);
    ck_assert_int_eq(defaults.naming, PDK_NAMING_CURATOR);
    ck_assert_int_eq(defaults.max_handovers, 256);
    ck_assert_int_eq(defaults.max_handover_ms, 100);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_rwlock_new(a->session, path, &wrong[i].options, &out), PDK_INVALID, wrong[i].name);
    }
    ck_assert_ptr_eq(out, UNTOUCHED);
    check_no_effect();
}
END_TEST

START_TEST(options_of_another_version) {
    struct newer_options newer = {.known = PDK_RWLOCK_OPTIONS_INIT};
    pdk_rwlock *out = NULL;

    newer.known.size = sizeof newer;
    newer.known.naming = PDK_NAMING_KAZOO;
    ck_assert_int_eq(pdk_rwlock_new(a->session, path, &newer.known, &out), PDK_OK);
    pdk_hold *hold = ts_bench_read(out, 5000);
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(hold), "__rlock__"));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_rwlock_unref(out);
    out = UNTOUCHED;
    newer.more = 1;
    refused(pdk_rwlock_new(a->session, path, &newer.known, &out), PDK_INVALID, "options");
    ck_assert_ptr_eq(out, UNTOUCHED);
}
END_TEST

/* ---- where the calls are made ---- */

static struct {
    pdk_status read, write, contenders, read_async;
    int called;
} inside;

static void call_in_callback(pdk_status status, pdk_hold *hold, void *user) {
    pdk_hold *out = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;

    (void)user;
    if (status == PDK_OK) {
        inside.read = pdk_rwlock_acquire_read(lock, 1000, &out);
        inside.write = pdk_rwlock_acquire_write(lock, 0, &out);
        inside.contenders = pdk_rwlock_list(lock, 1000, &list);
        inside.read_async = pdk_rwlock_acquire_read_async(lock, 0, call_in_callback, NULL, NULL);
        inside.called += out == UNTOUCHED && list == UNTOUCHED;
    }
    pdk_hold_release(hold);
}

START_TEST(a_callback_must_not_block) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    memset(&inside, 0, sizeof inside);
    options.dispatch = PDK_DISPATCH_MANUAL;
    ts_client *manual = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(manual);
    lock = ts_rwlock(manual, path);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(lock, 5000, call_in_callback, NULL, NULL), PDK_OK);
    while (inside.called == 0) {
        ck_assert(ts_fd_readable(pdk_session_fd(manual->session), ts_patience(5000)));
        ck_assert_int_eq(pdk_session_dispatch(manual->session, NULL), PDK_OK);
    }
    ck_assert_int_eq(inside.read, PDK_WRONG_THREAD);
    ck_assert_int_eq(inside.write, PDK_WRONG_THREAD);
    ck_assert_int_eq(inside.contenders, PDK_WRONG_THREAD);
    ck_assert_int_eq(inside.read_async, PDK_OK);
}
END_TEST

/* ---- after the close ---- */

START_TEST(a_closed_session) {
    pdk_rwlock *out = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED, *held = ts_bench_write(lock, 5000);
    pdk_claim *claim = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;
    ts_lost *lost = ts_lost_watch(held);
    ts_answer *waiting[] = {ts_read_async(lock, PDK_FOREVER), ts_write_async(lock, PDK_FOREVER),
                            ts_read_thread(ts_rwlock(a, path), PDK_FOREVER),
                            ts_write_thread(ts_rwlock(a, path), PDK_FOREVER)};

    ck_assert(ts_wait_children(server(), path, 4, 5000));
    ck_assert_int_eq(pdk_hold_downgrade(held), PDK_OK); /* under way when the session ends */
    ck_assert_int_eq(pdk_session_close(a->session, 5000), PDK_OK);
    ck_assert_int_eq(ts_child_count(server(), path), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(waiting); i++) {
        ck_assert(ts_answer_wait(waiting[i], ts_patience(1000)));
        const pdk_status status = ts_answer_status(waiting[i]);
        ck_assert(status == PDK_CLOSED || (i % 2 == 0 && status == PDK_OK)); /* a reader may have been granted */
        ck_assert(status == PDK_CLOSED || !pdk_hold_is_valid(ts_answer_hold(waiting[i])));
    }
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_CLOSED);
    refused(pdk_hold_downgrade(held), PDK_LOST, "lost");
    refused(pdk_hold_release(held), PDK_LOST, "CLOSED");
    refused(pdk_rwlock_new(a->session, path, NULL, &out), PDK_CLOSED, "closed");
    refused(pdk_rwlock_acquire_read(lock, 0, &hold), PDK_CLOSED, "closed");
    refused(pdk_rwlock_acquire_write(lock, PDK_FOREVER, &hold), PDK_CLOSED, "closed");
    refused(pdk_rwlock_acquire_read_async(lock, 1000, never, NULL, &claim), PDK_CLOSED, "closed");
    refused(pdk_rwlock_acquire_write_async(lock, 1000, never, NULL, &claim), PDK_CLOSED, "closed");
    refused(pdk_rwlock_list(lock, 1000, &list), PDK_CLOSED, "closed");
    ck_assert(out == UNTOUCHED && hold == UNTOUCHED && claim == UNTOUCHED && list == UNTOUCHED);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_input");
    TCase *tcase = ts_bench_case(suite, "rwlock_input");

    tcase_add_checked_fixture(tcase, one_session, NULL);
    tcase_add_test(tcase, null_is_refused);
    tcase_add_test(tcase, negative_timeouts_are_refused);
    tcase_add_test(tcase, very_long_timeouts_are_accepted);
    tcase_add_test(tcase, malformed_paths_are_refused);
    tcase_add_test(tcase, options_out_of_range_are_refused_by_name);
    tcase_add_test(tcase, options_of_another_version);
    tcase_add_test(tcase, a_callback_must_not_block);
    tcase_add_test(tcase, a_closed_session);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
