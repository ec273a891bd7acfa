/* Bad input of all-of: refused with a status and words, and nothing is asked of a server. */
#include <glib.h>
#include <paddock/guarded.h>
#include <stdatomic.h>
#include <string.h>

#include "all_bench.h"
#include "permits.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"
#include "ts_rwlock.h"

enum { SESSION_MS = 4000 };
#define UNTOUCHED ((void *)&it)

static struct {
    ts_client *client, *second;
    const char *path;
    pdk_lock *lock;
    pdk_rwlock *rw;
    pdk_semaphore *permits;
} it;

static void make_it(void) {
    it.client = ts_bench_client(SESSION_MS);
    it.second = ts_bench_client(SESSION_MS);
    it.path = ts_fresh_path();
    it.lock = ts_lock(it.client, it.path);
    it.rw = ts_rwlock(it.client, ts_fresh_path());
    it.permits = permits_at(it.client, ts_fresh_path(), 3);
}

static void never(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)hold;
    (void)user;
    g_error("a callback of a call that was refused");
}

/* Both forms refuse it, and leave their outputs alone. */
static void both_refuse(const pdk_right *rights, size_t count, int64_t ms, const pdk_all_options *options,
                        pdk_status status, const char *word) {
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;
    refused(pdk_acquire_all(rights, count, ms, options, &hold), status, word);
    refused(pdk_acquire_all_async(rights, count, ms, options, never, NULL, &claim), status, word);
    ck_assert_ptr_eq(hold, UNTOUCHED);
    ck_assert_ptr_eq(claim, UNTOUCHED);
}

START_TEST(arguments) {
    make_it();
    const pdk_right lock = pdk_right_lock(it.lock);
    pdk_right many[PDK_ALL_RIGHTS_MAX + 1] = {lock};
    pdk_all_options options = PDK_ALL_OPTIONS_INIT;
    pdk_hold *hold = NULL;
    both_refuse(NULL, 1, 0, NULL, PDK_INVALID, "rights: NULL");
    both_refuse(&lock, 0, 0, NULL, PDK_INVALID, "count is 0; from 1 to 100");
    both_refuse(many, PDK_ALL_RIGHTS_MAX + 1, 0, NULL, PDK_INVALID, "count is 101");
    both_refuse(&lock, 1, -2, NULL, PDK_INVALID, "timeout_ms is -2");
    refused(pdk_acquire_all(&lock, 1, 0, NULL, NULL), PDK_INVALID, "out: NULL");
    refused(pdk_acquire_all_async(&lock, 1, 0, NULL, NULL, NULL, NULL), PDK_INVALID, "fn: NULL");
    options.size = 4;
    both_refuse(&lock, 1, 0, &options, PDK_INVALID, "size is 4");
    ck_assert_int_eq(pdk_all_options_init(&options, sizeof options), PDK_OK);
    ck_assert_uint_eq(options.size, sizeof options);
    refused(pdk_all_options_init(NULL, sizeof options), PDK_INVALID, "NULL");
    ck_assert_int_eq(pdk_all_rights_max(), PDK_ALL_RIGHTS_MAX);
    ck_assert_int_eq(pdk_acquire_all(&lock, 1, ts_patience(5000), &options, &hold), PDK_OK);
    pdk_hold_release(hold);
}
END_TEST

START_TEST(rights) {
    make_it();
    const pdk_right none[] = {pdk_right_lock(it.lock), pdk_right_lock(NULL)};
    const struct {
        pdk_right right;
        const char *word;
    } cases[] = {
        {{0, 1, it.lock}, "rights[0]: kind is 0"},
        {{5, 1, it.lock}, "rights[0]: kind is 5"},
        {pdk_right_lock(NULL), "rights[0]: the object is NULL"},
        {pdk_right_read(NULL), "rights[0]: the object is NULL"},
        {pdk_right_write(NULL), "rights[0]: the object is NULL"},
        {pdk_right_permits(NULL, 1), "rights[0]: the object is NULL"},
        {pdk_right_permits(it.permits, 0), "count is 0; from 1 to 3"},
        {pdk_right_permits(it.permits, 4), "count is 4; from 1 to 3"},
        {{PDK_RIGHT_LOCK, 2, it.lock}, "rights[0]: count is 2; 1, but for permits"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        both_refuse(&cases[i].right, 1, 0, NULL, PDK_INVALID, cases[i].word);
    both_refuse(none, 2, 0, NULL, PDK_INVALID, "rights[1]");
}
END_TEST

START_TEST(a_path_twice) {
    make_it();
    g_autofree char *queue = g_strconcat(ts_fresh_path(), "/locks", NULL);
    g_autofree char *path = g_strndup(queue, strlen(queue) - strlen("/locks"));
    pdk_rwlock *rw = ts_rwlock(it.client, it.path);
    const pdk_right twice[][3] = {
        {pdk_right_lock(it.lock), pdk_right_lock(it.lock)},
        {pdk_right_lock(it.lock), pdk_right_lock(ts_lock(it.client, it.path))},
        {pdk_right_lock(it.lock), pdk_right_write(rw)},
        {pdk_right_read(rw), pdk_right_read(rw)},
        {pdk_right_permits(it.permits, 1), pdk_right_permits(it.permits, 1)},
        {pdk_right_permits(permits_at(it.client, path, 1), 1), pdk_right_lock(ts_lock(it.client, queue))},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(twice); i++) {
        const pdk_right set[] = {twice[i][0], pdk_right_read(it.rw), twice[i][1]};
        both_refuse(set, 3, PDK_FOREVER, NULL, PDK_INVALID, "rights[0] and rights[2] are both on /t/");
    }
}
END_TEST

static bool is_closed(void *session) { return pdk_session_flush(session, 0) == PDK_CLOSED; }

START_TEST(a_closed_session) {
    make_it();
    pdk_lock *lock = ts_lock(it.second, ts_fresh_path());
    const pdk_right set[] = {pdk_right_lock(it.lock), pdk_right_lock(lock)};
    pdk_session_close(it.second->session, 5000);
    ck_assert(ts_wait_until(is_closed, it.second->session, ts_patience(5000)));
    both_refuse(set, 2, PDK_FOREVER, NULL, PDK_CLOSED, "pdk_acquire_all");
    set_children(it.path, 0);
}
END_TEST

/* What needs the hold of one right says so. */
START_TEST(what_takes_no_whole) {
    make_it();
    pdk_guarded *guarded = NULL;
    pdk_hold *hold = set_take(set_of(pdk_right_lock(it.lock), pdk_right_write(it.rw)));
    refused(pdk_guarded_open(hold, "/guarded", 1000, &guarded), PDK_INVALID, "several rights");
    refused(pdk_hold_downgrade(hold), PDK_INVALID, "not one of a read/write lock");
    pdk_hold_release(hold);
}
END_TEST

static atomic_int from_callback;

static void acquire_inside(pdk_status status, pdk_hold *hold, void *user) {
    const pdk_right set[] = {pdk_right_read(it.rw), pdk_right_permits(it.permits, 1)};
    pdk_hold *none = NULL;
    (void)status;
    (void)user;
    atomic_store(&from_callback, (int)pdk_acquire_all(set, 2, 0, NULL, &none));
    pdk_hold_release(hold);
}

static bool answered(void *unused) {
    (void)unused;
    return atomic_load(&from_callback) != PDK_OK;
}

START_TEST(from_a_callback) {
    make_it();
    atomic_store(&from_callback, PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, acquire_inside, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(answered, NULL, ts_patience(5000)));
    ck_assert_int_eq(atomic_load(&from_callback), PDK_WRONG_THREAD);
}
END_TEST

/* One that nobody may list. */
START_TEST(a_refusal_names_the_right) {
    make_it();
    const char *shut = ts_fresh_path();
    ts_observer *admin = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_create(ts_bench_server(), shut, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, shut, TS_PERM_ADMIN, "world", "anyone"), 0);
    const pdk_right set[] = {pdk_right_lock(it.lock), pdk_right_lock(ts_lock(it.client, shut))};
    pdk_hold *hold = NULL;
    refused(pdk_acquire_all(set, 2, ts_patience(5000), NULL, &hold), PDK_NO_PERMISSION, shut);
    set_children(it.path, 0);
    ts_observer_close(admin);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("all_input");
    TCase *all = ts_bench_case(suite, "all_input");
    tcase_add_test(all, arguments);
    tcase_add_test(all, rights);
    tcase_add_test(all, a_path_twice);
    tcase_add_test(all, a_closed_session);
    tcase_add_test(all, what_takes_no_whole);
    tcase_add_test(all, from_a_callback);
    tcase_add_test(all, a_refusal_names_the_right);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
