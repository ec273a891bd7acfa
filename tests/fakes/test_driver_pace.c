/* A server whose answers do not fit together: it is asked at a bounded rate, and who leaves is not kept. */
#include "driver_bench.h"
#include "session/entry.h"
#include "session/session.h"

#include <string.h>

/* Requests of this kind are about that path. */
static enum pdk__op_kind other_kind;
static const char *other_path;

static const char *redirect(const struct pdk__request *request) {
    return request->kind == other_kind && strstr(request->path, "/locks/lock") ? other_path : NULL;
}

static void begin(enum pdk__op_kind kind, const char *path) {
    driver_begin();
    other_kind = kind;
    other_path = path;
    driver_redirects = redirect;
}

/* It is not there, or another one. */
START_TEST(a_list_that_never_fits_its_directory) {
    enum { SECONDS = 10, PER_SECOND = 20, AT_ONCE = 80 };
    begin(PDK__OP_ACL, _i ? "/app" : "/app/nowhere");
    first->session->access.choice = PDK_ACCESS_CREATOR_READERS;
    driver_want_lock(one);
    platform_pass(SECONDS * SECOND);
    ck_assert_uint_eq(one->answered, 0);
    ck_assert_uint_ge(driver_seen[PDK__OP_ACL], 3);
    ck_assert_uint_le(driver_seen[PDK__OP_ACL], AT_ONCE + SECONDS * PER_SECOND);
    ck_assert_uint_le(driver_seen[PDK__OP_LIST], AT_ONCE + SECONDS * PER_SECOND);
    ck_assert_uint_eq(driver_nodes(), 1);
    driver_drop_lock(one);
    platform_pass(100 * SIM_MS);
    ck_assert_uint_eq(driver_nodes(), 0); /* it waited for a list, and its delete does not wait */
}
END_TEST

/* Its node is in no list, so it makes another one, later and later. Whenever it is cancelled, it ends at once. */
START_TEST(who_waits_for_the_pace_leaves_at_once) {
    begin(PDK__OP_LIST, "/app/locks");
    driver_want_lock(one);
    platform_pass(10 * SECOND + _i * 170 * SIM_MS);
    ck_assert_uint_ge(driver_seen[PDK__OP_CREATE], 4);
    ck_assert_uint_le(driver_seen[PDK__OP_CREATE], 24);
    uint32_t made = driver_seen[PDK__OP_CREATE];
    driver_drop_lock(one);
    platform_pass(100 * SIM_MS);
    ck_assert_uint_eq(first->session->entries.length, 0);
    ck_assert_uint_eq(driver_seen[PDK__OP_CREATE], made);
}
END_TEST

/* Its turn comes without a connection, or the request is not taken: it goes on when it can. */
START_TEST(who_waits_for_the_pace_cannot_send) {
    begin(PDK__OP_LIST, "/app/locks");
    driver_want_lock(one);
    platform_pass(5 * SECOND);
    uint32_t made = driver_seen[PDK__OP_CREATE];
    driver_arm(PDK__OP_CREATE, "/");
    fault.refuse = _i ? INT32_MAX : 0;
    platform_block(first, _i == 0);
    platform_pass(10 * SECOND);
    ck_assert_uint_le(driver_seen[PDK__OP_CREATE] - made, 12);
    platform_block(first, false);
    fault.refuse = 0;
    other_path = NULL;
    platform_pass(10 * SECOND);
    ck_assert_uint_eq(one->granted, 1);
    ck_assert_uint_eq(driver_nodes(), 1);
}
END_TEST

/* As after many steps in a short time. */
START_TEST(a_release_is_not_late) {
    begin(PDK__OP_SYNC, NULL);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
    struct pdk__entry *entry = first->session->entries.head->data;
    for (int i = 0; i < 80; i++)
        (void)pdk__pace_next(&entry->steps, &pdk__pace_steps, pdk__now(first->session));
    driver_release_all(one);
    platform_pass(50 * SIM_MS);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_pace");
    TCase *cases = tcase_create("driver_pace");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_list_that_never_fits_its_directory, 0, 2);
    tcase_add_loop_test(cases, who_waits_for_the_pace_leaves_at_once, 0, 6);
    tcase_add_loop_test(cases, who_waits_for_the_pace_cannot_send, 0, 2);
    tcase_add_test(cases, a_release_is_not_late);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
