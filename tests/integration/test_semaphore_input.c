/* The limits, options and paths of a semaphore, and where it is called from: callbacks, forked children, chroots. */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "permits.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

/* A thousand leases, under a sanitizer, keep a session busy for longer than a short lease lasts. */
enum { SESSION_MS = 20000 };

static ts_client *a;
static pdk_semaphore *semaphore; /* of 7 permits, none of them held */

#define UNTOUCHED ((void *)&a)

static void one_session(void) {
    a = ts_bench_client(SESSION_MS);
    semaphore = permits_at(a, ts_fresh_path(), 7);
}

static const char *server(void) { return ts_bench_server(); }

static void never(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)hold;
    (void)user;
    g_error("a callback of a call that was refused");
}

/* ---- arguments ---- */

START_TEST(null_is_refused) {
    pdk_semaphore *out = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;

    refused(pdk_semaphore_new(NULL, "/a", 1, NULL, &out), PDK_INVALID, "session");
    refused(pdk_semaphore_new(a->session, NULL, 1, NULL, &out), PDK_INVALID, "path");
    refused(pdk_semaphore_new(a->session, "/a", 1, NULL, NULL), PDK_INVALID, "out");
    refused(pdk_semaphore_acquire(NULL, 1, 0, &hold), PDK_INVALID, "semaphore");
    refused(pdk_semaphore_acquire(semaphore, 1, 0, NULL), PDK_INVALID, "out");
    refused(pdk_semaphore_acquire_async(NULL, 1, 0, never, NULL, &claim), PDK_INVALID, "semaphore");
    refused(pdk_semaphore_acquire_async(semaphore, 1, 0, NULL, NULL, &claim), PDK_INVALID, "fn");
    refused(pdk_semaphore_holders(NULL, 0, &list), PDK_INVALID, "semaphore");
    refused(pdk_semaphore_holders(semaphore, 0, NULL), PDK_INVALID, "out");
    ck_assert(out == UNTOUCHED && hold == UNTOUCHED && claim == UNTOUCHED && list == UNTOUCHED);
    ck_assert_ptr_null(pdk_semaphore_ref(NULL));
    pdk_semaphore_unref(NULL);
}
END_TEST

START_TEST(permits_have_bounds) {
    static const int32_t wrong[] = {0, -1, INT32_MIN, PDK_SEMAPHORE_PERMITS_MAX + 1, INT32_MAX};
    pdk_semaphore *out = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_new(a->session, "/a", wrong[i], NULL, &out), PDK_INVALID, "permits");
    }
    ck_assert_ptr_eq(out, UNTOUCHED);
    const char *path = ts_fresh_path();
    pdk_hold_release(permits_take(permits_at(a, path, PDK_SEMAPHORE_PERMITS_MAX), PDK_SEMAPHORE_COUNT_MAX));
    permits_assert_none(path);
}
END_TEST

START_TEST(a_count_has_bounds) {
    pdk_semaphore *many = permits_at(a, ts_fresh_path(), PDK_SEMAPHORE_COUNT_MAX + 5);
    const struct {
        pdk_semaphore *semaphore;
        int32_t count;
        const char *most;
    } wrong[] = {
        {semaphore, 0, "7"}, {semaphore, -1, "7"}, {semaphore, INT32_MIN, "7"}, {semaphore, 8, "7"},
        {many, 101, "100"},  {many, 105, "100"},   {many, INT32_MAX, "100"},
    };
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;

    ts_proxy_zero(a->proxy);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_acquire(wrong[i].semaphore, wrong[i].count, 0, &hold), PDK_INVALID, "count");
        refused(pdk_semaphore_acquire(wrong[i].semaphore, wrong[i].count, PDK_FOREVER, &hold), PDK_INVALID,
                wrong[i].most);
        refused(pdk_semaphore_acquire_async(wrong[i].semaphore, wrong[i].count, 9, never, NULL, &claim), PDK_INVALID,
                "count");
    }
    ck_assert(hold == UNTOUCHED && claim == UNTOUCHED);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE2), 0);
    pdk_hold_release(permits_take(semaphore, 7));
    pdk_hold_release(permits_take(many, 100));
}
END_TEST

START_TEST(timeouts_have_bounds) {
    static const int64_t wrong[] = {-2, -1000, INT64_MIN}, right[] = {PDK_FOREVER, INT64_MAX, INT32_MAX};
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_acquire(semaphore, 1, wrong[i], &hold), PDK_INVALID, "timeout_ms");
        refused(pdk_semaphore_acquire_async(semaphore, 1, wrong[i], never, NULL, &claim), PDK_INVALID, "timeout_ms");
        refused(pdk_semaphore_holders(semaphore, wrong[i], &list), PDK_INVALID, "timeout_ms");
    }
    ck_assert(hold == UNTOUCHED && claim == UNTOUCHED && list == UNTOUCHED);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, right[i], &hold), PDK_OK);
        ck_assert_int_eq(pdk_semaphore_holders(semaphore, right[i], &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    }
}
END_TEST

START_TEST(options) {
    struct {
        pdk_semaphore_options known;
        int64_t more;
    } newer = {.known = PDK_SEMAPHORE_OPTIONS_INIT};
    const pdk_semaphore_options wrong[] = {{0, 256, 100, NULL},
                                           {sizeof(pdk_semaphore_options) - 1, 256, 100, NULL},
                                           {sizeof(pdk_semaphore_options), -1, 100, NULL},
                                           {sizeof(pdk_semaphore_options), 256, -1, NULL},
                                           {sizeof(pdk_semaphore_options), 256, 100, "\xff"}};
    pdk_semaphore *out = UNTOUCHED;

    ck_assert_uint_eq(newer.known.size, sizeof newer.known);
    ck_assert_int_eq(newer.known.max_handovers, 256);
    ck_assert_int_eq(newer.known.max_handover_ms, 100);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_new(a->session, "/a", 1, &wrong[i], &out), PDK_INVALID, "options");
    }
    newer.known.size = sizeof newer;
    newer.more = 1; /* this version does not know the member */
    refused(pdk_semaphore_new(a->session, "/a", 1, &newer.known, &out), PDK_INVALID, "options");
    ck_assert_ptr_eq(out, UNTOUCHED);
    newer.more = 0;
    pdk_hold_release(permits_take(permits_with(a, ts_fresh_path(), 1, &newer.known), 1));
}
END_TEST

/* The leases are below the path. The rules for paths hold for them too. */
START_TEST(paths) {
    static const char *const wrong[] = {"", "a", "/", "/a/", "/a//b", "/a/..", "/zookeeper", "/a\n", "/\xff"};
    const size_t longest = 512 - strlen("/leases");
    g_autofree char *path = g_strnfill(longest + 1, 'p');
    pdk_semaphore *out = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_new(a->session, wrong[i], 1, NULL, &out), PDK_INVALID, "path");
    }
    for (size_t i = 0; i <= longest; i += 100) {
        path[i] = '/';
    }
    refused(pdk_semaphore_new(a->session, path, 1, NULL, &out), PDK_INVALID, "505 bytes");
    ck_assert_ptr_eq(out, UNTOUCHED);
    path[longest] = '\0';
    pdk_hold *hold = permits_take(permits_at(a, path, 2), 2);
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* Nodes with long paths. Those of one claim are too many for the session, and the nodes that were made are deleted
 * again. */
START_TEST(a_session_has_its_limit) {
    enum { BYTES = 480, EACH = PDK_SEMAPHORE_COUNT_MAX, HOLDS_MAX = 24 };
    g_autofree char *path = g_strnfill(BYTES, 'p');
    pdk_hold *holds[HOLDS_MAX] = {NULL}, *none = NULL;
    int count = 0;

    path[0] = '/';
    pdk_semaphore *many = permits_at(a, path, PDK_SEMAPHORE_PERMITS_MAX);
    while (count < HOLDS_MAX && pdk_semaphore_acquire(many, EACH, 5000, &holds[count]) == PDK_OK) {
        count++;
    }
    ck_assert_int_lt(count, HOLDS_MAX);
    ck_assert_int_gt(count, 15);
    refused(pdk_semaphore_acquire(many, EACH, 5000, &none), PDK_LIMIT, "1000 KiB");
    refused(pdk_semaphore_acquire(many, EACH, 0, &none), PDK_LIMIT, "1000 KiB");
    ck_assert(permits_wait_queued(path, 0));
    ck_assert(permits_wait_taken(path, count * EACH));
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);         /* the session has heard of that too */
    ck_assert_int_eq(pdk_semaphore_acquire(many, 1, 5000, &none), PDK_OK); /* there is room for a few */
    pdk_hold_release(none);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    }
    permits_assert_none(path);
    pdk_hold_release(permits_take(many, EACH));
}
END_TEST

/* ---- callers ---- */

START_TEST(below_a_chroot) {
    const char *path = ts_fresh_path();
    pdk_session_options session_options = PDK_SESSION_OPTIONS_INIT;
    g_autofree char *full = g_strconcat("/chroot/deep", path, NULL), *longest = g_strnfill(494, 'p');
    pdk_semaphore *out = UNTOUCHED;

    ts_client *c = ts_client_open_with(server(), "/chroot/deep", &session_options);
    ck_assert_ptr_nonnull(c);
    pdk_semaphore *below = permits_at(c, path, 2), *outside = permits_at(a, full, 2);
    pdk_hold *one = permits_take(below, 1), *two = permits_take(outside, 1), *none = NULL;
    ck_assert_int_eq(permits_taken(full), 2);
    ck_assert_int_eq(permits_taken(path), 0);
    ck_assert_int_eq(pdk_semaphore_acquire(below, 1, 0, &none), PDK_BUSY);
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, pdk_hold_sequencer(one), 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(c->session, pdk_hold_sequencer(two), 5000), PDK_OK);
    longest[0] = '/';
    refused(pdk_semaphore_new(c->session, longest, 1, NULL, &out), PDK_INVALID, "chroot included");
    pdk_hold_release(one);
    pdk_hold_release(two);
    permits_assert_none(full);
}
END_TEST

static atomic_int blocking_calls; /* the number of calls that were refused in the callback, or -1 */

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    pdk_hold *more = NULL;
    pdk_contenders *list = NULL;
    int count = 0;

    (void)user;
    count += pdk_semaphore_acquire(semaphore, 1, 1000, &more) == PDK_WRONG_THREAD;
    count += pdk_semaphore_acquire(semaphore, 1, 0, &more) == PDK_WRONG_THREAD;
    count += pdk_semaphore_holders(semaphore, 1000, &list) == PDK_WRONG_THREAD;
    atomic_store(&blocking_calls, status == PDK_OK && !more && !list ? count : -1);
    pdk_hold_release(hold);
}

static bool called(void *user) {
    const ts_client *dispatching = user;

    if (dispatching != NULL) {
        pdk_session_dispatch(dispatching->session, NULL);
    }
    return atomic_load(&blocking_calls) != 0;
}

/* Callbacks run on the session's thread, or on the one that dispatches. They must not block there. */
START_TEST(callbacks_must_not_block) {
    pdk_session_options session_options = PDK_SESSION_OPTIONS_INIT;
    const char *path = ts_fresh_path();

    session_options.dispatch = PDK_DISPATCH_MANUAL;
    ts_client *manual = ts_client_open_with(server(), NULL, &session_options);
    ck_assert_ptr_nonnull(manual);
    for (int i = 0; i < 2; i++) {
        semaphore = permits_at(i == 0 ? a : manual, path, 2);
        atomic_store(&blocking_calls, 0);
        ck_assert_int_eq(pdk_semaphore_acquire_async(semaphore, 2, 5000, on_acquired, NULL, NULL), PDK_OK);
        if (i == 1) {
            ck_assert(permits_wait_taken(path, 2));
            ck_assert(permits_wait_queued(path, 0)); /* granted, and not told yet */
            ck_assert(ts_fd_readable(pdk_session_fd(manual->session), 0));
            ck_assert_int_eq(atomic_load(&blocking_calls), 0);
        }
        ck_assert(ts_wait_until(called, i == 0 ? NULL : manual, ts_patience(5000)));
        ck_assert_int_eq(atomic_load(&blocking_calls), 3);
        permits_assert_none(path);
    }
    pdk_hold_release(permits_take(semaphore, 2)); /* blocking calls need no dispatching */
}
END_TEST

/* Returns 0, or the number of the wrong call. */
static int use_in_child(pdk_hold *hold) {
    pdk_semaphore *out = NULL;
    pdk_hold *more = NULL;
    pdk_claim *claim = NULL;
    pdk_contenders *list = NULL;
    const pdk_status statuses[] = {
        pdk_semaphore_new(a->session, "/a", 1, NULL, &out),
        pdk_semaphore_acquire(semaphore, 1, 1000, &more),
        pdk_semaphore_acquire(semaphore, 1, 0, &more),
        pdk_semaphore_acquire_async(semaphore, 1, 1000, never, NULL, &claim),
        pdk_semaphore_holders(semaphore, 1000, &list),
        pdk_hold_release(hold),
    };

    for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++) {
        if (statuses[i] != PDK_FORKED) {
            return 1 + (int)i;
        }
    }
    pdk_semaphore_unref(pdk_semaphore_ref(semaphore));
    pdk_semaphore_unref(semaphore); /* one too many, if the child could unref */
    return out || more || claim || list || pdk_hold_is_valid(hold) ? 100 : 0;
}

START_TEST(a_forked_child_is_refused) {
    pdk_hold *hold = permits_take(semaphore, 3);
    int status = -1;
    const pid_t pid = ts_fork();

    if (pid == 0) {
        alarm(20);
        ts_end_child(use_in_child(hold));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_ensure(hold, 10), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_hold_release(permits_take(semaphore, 7));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_input");
    TCase *tcase = ts_bench_case(suite, "semaphore_input");

    tcase_add_checked_fixture(tcase, one_session, NULL);
    tcase_add_test(tcase, null_is_refused);
    tcase_add_test(tcase, permits_have_bounds);
    tcase_add_test(tcase, a_count_has_bounds);
    tcase_add_test(tcase, timeouts_have_bounds);
    tcase_add_test(tcase, options);
    tcase_add_test(tcase, paths);
    tcase_add_test(tcase, a_session_has_its_limit);
    tcase_add_test(tcase, below_a_chroot);
    tcase_add_test(tcase, callbacks_must_not_block);
    tcase_add_test(tcase, a_forked_child_is_refused);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
