/* Bad input of all-of: refused with a status and words, and nothing is asked of a server. */
#include <glib.h>
#include <paddock/guarded.h>
#include <stdatomic.h>
#include <string.h>

#include "permits.h"
#include "refused.h"
#include "set_bench.h"
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

static void never(pdk_status status, pdk_set *held, void *user) {
    (void)status;
    (void)held;
    (void)user;
    g_error("a callback of a call that was refused");
}

static void on_ensured(pdk_status status, void *user) {
    (void)status;
    (void)user;
}

static void on_lost(pdk_set *set, pdk_reason reason, void *user) {
    (void)set;
    (void)reason;
    (void)user;
}

static void count_up(void *count) { ++*(int *)count; }

/* Both forms refuse it, and leave their outputs alone. */
static void both_refuse(const pdk_right *rights, size_t count, int64_t ms, const pdk_set_options *options,
                        pdk_status status, const char *word) {
    pdk_set *held = UNTOUCHED;
    pdk_set_claim *claim = UNTOUCHED;
    refused(pdk_set_acquire(rights, count, ms, options, &held), status, word);
    refused(pdk_set_acquire_async(rights, count, ms, options, never, NULL, &claim), status, word);
    ck_assert_ptr_eq(held, UNTOUCHED);
    ck_assert_ptr_eq(claim, UNTOUCHED);
}

START_TEST(arguments) {
    make_it();
    const pdk_right lock = pdk_right_lock(it.lock);
    pdk_right many[PDK_SET_RIGHTS_MAX + 1] = {lock};
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    pdk_set *held = NULL;
    both_refuse(NULL, 1, 0, NULL, PDK_INVALID, "rights: NULL");
    both_refuse(&lock, 0, 0, NULL, PDK_INVALID, "count is 0; from 1 to 100");
    both_refuse(many, PDK_SET_RIGHTS_MAX + 1, 0, NULL, PDK_INVALID, "count is 101");
    both_refuse(&lock, 1, -2, NULL, PDK_INVALID, "timeout_ms is -2");
    refused(pdk_set_acquire(&lock, 1, 0, NULL, NULL), PDK_INVALID, "out: NULL");
    refused(pdk_set_acquire_async(&lock, 1, 0, NULL, NULL, NULL, NULL), PDK_INVALID, "fn: NULL");
    options.size = 4;
    both_refuse(&lock, 1, 0, &options, PDK_INVALID, "size is 4");
    ck_assert_int_eq(pdk_set_options_init(&options, sizeof options), PDK_OK);
    ck_assert_uint_eq(options.size, sizeof options);
    refused(pdk_set_options_init(NULL, sizeof options), PDK_INVALID, "NULL");
    ck_assert_int_eq(pdk_set_rights_max(), PDK_SET_RIGHTS_MAX);
    ck_assert_int_eq(pdk_set_acquire(&lock, 1, ts_patience(5000), &options, &held), PDK_OK);
    pdk_set_release(held);
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
    both_refuse(set, 2, PDK_FOREVER, NULL, PDK_CLOSED, "pdk_set_acquire");
    set_children(it.path, 0);
}
END_TEST

/* What every call about a set, and about a claim of one, refuses. */
START_TEST(a_set_and_a_claim) {
    make_it();
    int32_t ahead = 0;
    int freed = 0;
    pdk_set *held = set_take(set_of(pdk_right_lock(it.lock)));
    refused(pdk_set_ensure(NULL, 1), PDK_INVALID, "pdk_set_ensure: set: NULL");
    refused(pdk_set_ensure(held, -1), PDK_INVALID, "pdk_set_ensure: ms is -1");
    refused(pdk_set_ensure_async(NULL, 1, on_ensured, NULL), PDK_INVALID, "pdk_set_ensure_async: set: NULL");
    refused(pdk_set_ensure_async(held, 1, NULL, NULL), PDK_INVALID, "fn: NULL");
    refused(pdk_set_on_lost(NULL, on_lost, NULL, NULL), PDK_INVALID, "pdk_set_on_lost: set: NULL");
    refused(pdk_set_on_lost(held, NULL, NULL, NULL), PDK_INVALID, "pdk_set_on_lost: fn: NULL");
    ck_assert_int_eq(pdk_set_on_lost(held, on_lost, &freed, count_up), PDK_OK);
    refused(pdk_set_on_lost(held, on_lost, NULL, NULL), PDK_INVALID, "has a callback already");
    ck_assert_int_eq(pdk_set_fd(NULL), -1);
    ck_assert(!ts_fd_readable(pdk_set_fd(held), 0));
    refused(pdk_set_release(NULL), PDK_INVALID, "pdk_set_release: set: NULL");
    ck_assert_int_eq(freed, 0);
    ck_assert_int_eq(pdk_set_release(pdk_set_ref(held)), PDK_OK);
    ck_assert_int_eq(freed, 1);
    refused(pdk_set_on_lost(held, on_lost, NULL, NULL), PDK_NOT_HELD, "released");
    refused(pdk_set_release(held), PDK_NOT_HELD, "already released");
    held = set_take(set_of(pdk_right_lock(it.lock)));
    ck_assert_int_eq(pdk_set_on_lost(held, on_lost, &freed, count_up), PDK_OK);
    pdk_set_unref(held); /* releases it */
    ck_assert_int_eq(freed, 2);
    ts_answer *answer = set_async(set_of(pdk_right_lock(it.lock)), PDK_FOREVER);
    set_await(answer, PDK_OK);
    refused(pdk_set_claim_cancel(NULL), PDK_INVALID, "claim: NULL");
    refused(pdk_set_claim_position(NULL, &ahead), PDK_INVALID, "claim: NULL");
    refused(pdk_set_claim_position(ts_answer_set_claim(answer), NULL), PDK_INVALID, "ahead: NULL");
    refused(pdk_set_claim_position(ts_answer_set_claim(answer), &ahead), PDK_NOT_HELD, "decided");
    refused(pdk_set_claim_cancel(ts_answer_set_claim(answer)), PDK_NOT_HELD, "too late");
    ck_assert_ptr_null(pdk_set_claim_ref(NULL));
    pdk_set_claim_unref(NULL);
    pdk_set_claim_unref(pdk_set_claim_ref(ts_answer_set_claim(answer)));
}
END_TEST

static atomic_int from_callback;

static void acquire_inside(pdk_status status, pdk_hold *hold, void *user) {
    const pdk_right set[] = {pdk_right_read(it.rw), pdk_right_permits(it.permits, 1)};
    pdk_set *none = NULL;
    (void)status;
    ck_assert_int_eq(pdk_set_ensure(user, 1), PDK_WRONG_THREAD);
    atomic_store(&from_callback, (int)pdk_set_acquire(set, 2, 0, NULL, &none));
    pdk_hold_release(hold);
}

static bool answered(void *unused) {
    (void)unused;
    return atomic_load(&from_callback) != PDK_OK;
}

START_TEST(from_a_callback) {
    make_it();
    atomic_store(&from_callback, PDK_OK);
    pdk_set *held = set_take(set_of(pdk_right_lock(ts_lock(it.client, ts_fresh_path()))));
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, acquire_inside, held, NULL), PDK_OK);
    ck_assert(ts_wait_until(answered, NULL, ts_patience(5000)));
    pdk_set_release(held);
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
    pdk_set *held = NULL;
    refused(pdk_set_acquire(set, 2, ts_patience(5000), NULL, &held), PDK_NO_PERMISSION, shut);
    set_children(it.path, 0);
    ts_observer_close(admin);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set_input");
    TCase *all = ts_bench_case(suite, "set_input");
    tcase_add_test(all, arguments);
    tcase_add_test(all, rights);
    tcase_add_test(all, a_path_twice);
    tcase_add_test(all, a_closed_session);
    tcase_add_test(all, a_set_and_a_claim);
    tcase_add_test(all, from_a_callback);
    tcase_add_test(all, a_refusal_names_the_right);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
