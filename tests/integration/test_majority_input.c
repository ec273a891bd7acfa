/* Bad input of majorities: refused with a status and words, and nothing is asked of a server. None needs to be there. */
#include <glib.h>
#include <paddock/paddock.h>

#include "refused.h"
#include "ts_check.h"

enum { RIGHTS = 5, CLOSE_MS = 5000 };
#define UNTOUCHED ((void *)&it)

static struct {
    pdk_session *session[RIGHTS + 1]; /* the last names a server of the first */
    pdk_lock *lock[RIGHTS + 1];
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_right set[RIGHTS];
} it;

static void begin(void) {
    static const char *const hosts[] = {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3,127.0.0.1:4",
                                        "127.0.0.1:5", "127.0.0.1:6", "127.0.0.1:7,127.0.0.1:1"};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.open_in_background = 1;
    for (int i = 0; i <= RIGHTS; i++) {
        ck_assert_int_eq(pdk_session_open(hosts[i], &options, &it.session[i]), PDK_OK);
        ck_assert_int_eq(pdk_lock_new(it.session[i], "/a", NULL, &it.lock[i]), PDK_OK);
        if (i < RIGHTS)
            it.set[i] = pdk_right_lock(it.lock[i]);
    }
    ck_assert_int_eq(pdk_rwlock_new(it.session[2], "/rw", NULL, &it.rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(it.session[2], "/s", 3, NULL, &it.semaphore), PDK_OK);
}

static void end(void) {
    pdk_rwlock_unref(it.rwlock);
    pdk_semaphore_unref(it.semaphore);
    for (int i = 0; i <= RIGHTS; i++) {
        pdk_lock_unref(it.lock[i]);
        pdk_session_close(it.session[i], CLOSE_MS);
        pdk_session_unref(it.session[i]);
    }
}

static void never(pdk_status status, pdk_set *held, void *user) {
    (void)status;
    (void)held;
    (void)user;
    g_error("a callback of a call that was refused");
}

static void both_refuse(size_t count, int32_t need, int32_t patience_ms, const char *word) {
    pdk_set *held = UNTOUCHED;
    pdk_set_claim *claim = UNTOUCHED;
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    options.need = need;
    options.patience_ms = patience_ms;
    refused(pdk_set_acquire(it.set, count, 0, &options, &held), PDK_INVALID, word);
    refused(pdk_set_acquire_async(it.set, count, 0, &options, never, NULL, &claim), PDK_INVALID, word);
    ck_assert_ptr_eq(held, UNTOUCHED);
    ck_assert_ptr_eq(claim, UNTOUCHED);
}

START_TEST(how_many_suffice) {
    both_refuse(RIGHTS, -1, 0, "need is -1 of 5 rights; from 3 to 5, or 0 for all");
    both_refuse(RIGHTS, 6, 0, "need is 6 of 5 rights");
    both_refuse(RIGHTS, 1, 0, "need is 1 of 5 rights");
    both_refuse(RIGHTS, 2, 0, "need is 2 of 5 rights");
    both_refuse(4, 2, 0, "need is 2 of 4 rights; from 3 to 4");
    both_refuse(2, 1, 0, "need is 1 of 2 rights; from 2 to 2");
    both_refuse(1, 2, 0, "need is 2 of 1 rights; from 1 to 1");
    both_refuse(RIGHTS, INT32_MAX, 0, "need is 2147483647");
    both_refuse(RIGHTS, INT32_MIN, 0, "need is -2147483648");
}
END_TEST

START_TEST(how_patient) {
    both_refuse(RIGHTS, 3, -1, "patience_ms is -1; from 0 to 3600000");
    both_refuse(RIGHTS, 3, PDK_SET_PATIENCE_MAX_MS + 1, "patience_ms is 3600001");
    both_refuse(RIGHTS, 0, -1, "patience_ms is -1");
    ck_assert_int_eq(pdk_set_patience_max_ms(), PDK_SET_PATIENCE_MAX_MS);
}
END_TEST

START_TEST(rights_that_are_no_locks) {
    const pdk_right others[] = {pdk_right_read(it.rwlock), pdk_right_write(it.rwlock),
                                pdk_right_permits(it.semaphore, 1)};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        it.set[2] = others[i];
        both_refuse(RIGHTS, 3, 0, "rights[2]: where 3 of 5 rights suffice, each is a lock");
    }
}
END_TEST

START_TEST(two_rights_on_one_server) {
    pdk_lock *other = NULL;
    ck_assert_int_eq(pdk_lock_new(it.session[1], "/b", NULL, &other), PDK_OK);
    it.set[3] = pdk_right_lock(other); /* another path does not help */
    both_refuse(RIGHTS, 3, 0, "rights[1] and rights[3] are both on 127.0.0.1:2");
    it.set[3] = pdk_right_lock(it.lock[RIGHTS]);
    both_refuse(RIGHTS, 4, 0, "rights[0] and rights[3] are both on 127.0.0.1:1");
    pdk_lock_unref(other);
}
END_TEST

/* What is no error: it takes its time, and comes to nothing without servers. */
START_TEST(all_of_them) {
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    pdk_set *held = NULL;
    struct {
        size_t size;
        int64_t surplus;
    } old = {sizeof(size_t), 77};
    for (int32_t need = 0; need <= RIGHTS; need += RIGHTS) { /* the same */
        options.need = need;
        ck_assert_int_eq(pdk_set_acquire(it.set, RIGHTS, 50, &options, &held), PDK_UNAVAILABLE);
    }
    it.set[3] = pdk_right_lock(it.lock[RIGHTS]); /* where all are needed, ensembles may have servers in common */
    ck_assert_int_eq(pdk_set_acquire(it.set, RIGHTS, 50, &options, &held), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_set_acquire(it.set, RIGHTS, 50, (const pdk_set_options *)&old, &held), PDK_UNAVAILABLE);
    it.set[3] = pdk_right_lock(it.lock[3]);
    options.need = 3;
    options.patience_ms = 10;
    ck_assert_int_eq(pdk_set_acquire(it.set, RIGHTS, 50, &options, &held), PDK_UNAVAILABLE);
    ck_assert_ptr_null(held);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("majority_input");
    TCase *all = tcase_create("majority_input");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, how_many_suffice);
    tcase_add_test(all, how_patient);
    tcase_add_test(all, rights_that_are_no_locks);
    tcase_add_test(all, two_rights_on_one_server);
    tcase_add_test(all, all_of_them);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
