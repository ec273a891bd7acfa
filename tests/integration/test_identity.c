/* What others see of a hold: the identity of its contender, and the path of its znode. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 4000 };

static const char NAME[] = "fräser 7";

static const char *server(void) { return ts_bench_server(); }

static void assert_data(const char *node, const char *identity) {
    g_autofree char *data = NULL;
    int length = 0;

    ck_assert_int_eq(ts_get(server(), node, &data, &length, NULL), 0);
    ck_assert_int_eq(length, (int)strlen(identity));
    ck_assert_int_eq(memcmp(data, identity, strlen(identity)), 0);
}

START_TEST(a_lock_has_an_identity_of_its_own) {
    ts_client *client = ts_bench_client(SESSION_MS);
    const char *path = ts_fresh_path();
    g_autofree char *name = g_strdup(NAME);
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_contenders *list = NULL;
    options.identity = name;
    pdk_lock *lock = ts_lock_with(client, path, &options);
    memset(name, 'x', strlen(name)); /* it was copied */
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    assert_data(pdk_hold_node(hold), NAME);
    ck_assert_int_eq(pdk_lock_holder(lock, 5000, &list), PDK_OK);
    ck_assert_str_eq(pdk_contenders_identity(list, 0), NAME);
    pdk_contenders_free(list);
    g_autofree char *node = g_strdup(pdk_hold_node(hold));
    pdk_hold_ref(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_str_eq(pdk_hold_node(hold), node); /* it stays readable */
    pdk_hold_unref(hold);
}
END_TEST

START_TEST(permits_have_the_identity_of_their_semaphore) {
    pdk_semaphore_options options = PDK_SEMAPHORE_OPTIONS_INIT;
    options.identity = NAME;
    pdk_semaphore *semaphore = permits_with(ts_bench_client(SESSION_MS), ts_fresh_path(), 3, &options);
    pdk_hold *hold = permits_take(semaphore, 2);
    pdk_contenders *list = NULL;
    assert_data(pdk_hold_node(hold), NAME);
    ck_assert_int_eq(pdk_semaphore_holders(semaphore, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 2);
    ck_assert_str_eq(pdk_contenders_identity(list, 1), NAME);
    pdk_contenders_free(list);
    pdk_hold_release(hold);
}
END_TEST

static bool is_reader(void *hold) { return strstr(pdk_hold_node(hold), "-__READ__") != NULL; }

START_TEST(a_downgrade_moves_to_the_node_of_the_reader) {
    pdk_rwlock *lock = ts_rwlock(ts_bench_client(SESSION_MS), ts_fresh_path());
    pdk_hold *hold = ts_bench_write(lock, 5000);
    const char *before = pdk_hold_node(hold);
    ck_assert_msg(strstr(before, "-__WRIT__") != NULL, "%s", before);
    ck_assert_int_eq(pdk_hold_downgrade(hold), PDK_OK);
    ck_assert(ts_wait_until(is_reader, hold, ts_patience(3000)));
    ck_assert_int_eq(ts_exists(server(), pdk_hold_node(hold), NULL), 0);
    ck_assert_msg(strstr(before, "-__WRIT__") != NULL, "%s", before); /* the string lives as long as the hold */
    pdk_hold_release(hold);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("identity");
    TCase *tcase = ts_bench_case(suite, "identity");

    tcase_add_test(tcase, a_lock_has_an_identity_of_its_own);
    tcase_add_test(tcase, permits_have_the_identity_of_their_semaphore);
    tcase_add_test(tcase, a_downgrade_moves_to_the_node_of_the_reader);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
