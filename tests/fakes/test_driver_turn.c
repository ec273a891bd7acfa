/* The turn of a contender comes when its predecessor's node goes: the event alone grants, unless something leaves a doubt. Then a list is
 * asked for: each exception of docs/adr/0044. */
#include "core/names.h"
#include "driver_bench.h"
#include "session/session.h"

#include <string.h>

#define LOCK "/app/locks/lock"

static char own[256]; /* the node of the first process */

static bool is_own(const char *path) {
    return pdk__name_has_uuid_prefix(strrchr(path, '/') + 1, first->session->uuid_prefix);
}

/* The first process waits, and the second holds. */
static void wait_behind_a_holder(void) {
    driver_want_lock(two);
    platform_pass(SECOND);
    driver_want_lock(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(two->granted, 1);
    ck_assert_uint_eq(one->answered, 0);
    for (size_t i = 0; i < 2; i++)
        if (is_own(platform_child(LOCK, i)))
            g_snprintf(own, sizeof own, "%s", platform_child(LOCK, i));
}

/* The lists that are read until it is granted. */
static uint32_t lists_for_a_turn(void) {
    driver_forget_seen();
    driver_release_all(two);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(one->granted, 1);
    return driver_seen[PDK__OP_LIST];
}

START_TEST(the_end_of_the_predecessor_grants) {
    driver_begin();
    wait_behind_a_holder();
    ck_assert_uint_eq(lists_for_a_turn(), 0);
}
END_TEST

static bool is_own_watch(const struct pdk__request *request) {
    return request->kind == PDK__OP_WATCH && is_own(request->path);
}

static void write_own(void) { platform_admin(SIM_OP_SET, own); }

static void lose_the_connection(void) {
    platform_block(first, true);
    platform_pass(TIMEOUT / 2);
    platform_block(first, false);
    platform_pass(TIMEOUT / 2);
}

static bool answer_not_allowed(const struct pdk__request *request) {
    if (request->kind == PDK__OP_BARRIER && is_own(request->path))
        sim_answer_about(platform_ensemble, sim_client_session(&first->process), request->path, NOT_ALLOWED_CODE,
                         false);
    return false;
}

static bool answer_not_now(const struct pdk__request *request) {
    if (is_own_watch(request))
        sim_answer_about(platform_ensemble, sim_client_session(&first->process), request->path, NOT_NOW_CODE, false);
    return false;
}

/* What happens ahead, and meanwhile, so that there is a list. */
START_TEST(a_doubt_is_a_list) {
    static const struct {
        bool (*refuses)(const struct pdk__request *request);
        size_t watched;
        void (*meanwhile)(void);
        int lists;
    } rows[] = {
        {.refuses = is_own_watch, .lists = 1},       {.refuses = answer_not_now, .lists = 1},
        {.refuses = answer_not_allowed, .lists = 1}, {.watched = PDK__WATCHED_BYTES_MAX / 8, .lists = 1},
        {.meanwhile = write_own, .lists = 1},        {.meanwhile = lose_the_connection},
    };
    driver_begin();
    driver_refuses = rows[_i].refuses;
    driver_fill_watches(one, rows[_i].watched);
    wait_behind_a_holder();
    if (rows[_i].meanwhile)
        rows[_i].meanwhile();
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(lists_for_a_turn(), (uint32_t)rows[_i].lists);
    driver_fill_watches(one, -rows[_i].watched);
}
END_TEST

/* ---- both are of one session */

static GString *steps; /* of the log */

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)user;
    if (strstr(text, ": held, after"))
        g_string_append(steps, "lost ");
    if (strstr(text, ", after poke: held"))
        g_string_append(steps, "granted ");
}

/* An administrator deletes the holder's node. The watch of the one behind has been set before the holder's own. */
START_TEST(a_holder_of_the_same_session_hears_first) {
    struct answer behind = {0};
    pdk_lock *lock;
    driver_begin();
    steps = g_string_new(NULL);
    first->session->outbox.on_log = on_log;
    first->session->outbox.log_level = PDK_LOG_DEBUG;
    ck_assert_int_eq(pdk_lock_new(first->session, "/locks/lock", NULL, &lock), PDK_OK);
    driver_want_lock(one);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, &behind, NULL), PDK_OK);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
    const char *a = platform_child(LOCK, 0), *b = platform_child(LOCK, 1);
    platform_admin(SIM_OP_DELETE, strcmp(strrchr(a, '-'), strrchr(b, '-')) < 0 ? a : b);
    platform_pass(SECOND / 10);
    ck_assert_uint_eq(behind.granted, 1);
    ck_assert_str_eq(steps->str, "lost granted ");
    first->session->outbox.on_log = NULL;
    g_string_free(steps, TRUE);
    answer_release(&behind);
    pdk_lock_unref(lock);
}
END_TEST

/* The leader says that it is gone, since the follower does not. */
START_TEST(what_the_leader_says_is_a_list) {
    driver_begin();
    wait_behind_a_holder();
    sim_server_keep(platform_ensemble, sim_client_server(&first->process), 1);
    driver_forget_seen();
    driver_release_all(two);
    platform_pass(3 * TIMEOUT);
    ck_assert_uint_eq(one->granted, 1);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 1);
}
END_TEST

/* A session that looks at access control lists does so with each list. */
START_TEST(a_directory_that_is_looked_at_is_listed) {
    driver_begin();
    wait_behind_a_holder();
    enum pdk_access *choice = &first->session->access.choice, open = *choice;
    *choice = PDK_ACCESS_LIST;
    driver_forget_seen();
    driver_release_all(two);
    platform_pass(SECOND / 10);
    ck_assert_uint_ge(driver_seen[PDK__OP_LIST], 1);
    *choice = open;
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_turn");
    TCase *cases = tcase_create("driver_turn");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, the_end_of_the_predecessor_grants);
    tcase_add_loop_test(cases, a_doubt_is_a_list, 0, 6);
    tcase_add_test(cases, what_the_leader_says_is_a_list);
    tcase_add_test(cases, a_holder_of_the_same_session_hears_first);
    tcase_add_test(cases, a_directory_that_is_looked_at_is_listed);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
