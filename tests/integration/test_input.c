/* Input that one call alone refuses: paths and chroots of the greatest length, counts, rights, numbers of permits, texts that are
 * no sequencers, and calls about what is over. It is refused with a status and a text that names the argument, and has no effect.
 * What many calls refuse alike - NULL, negative times, malformed paths, structs, forks and the like - tests/input plays for each. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "recipes.h"
#include "refused.h"
#include "set_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

/* A thousand leases, under a sanitizer, keep a session busy for longer than a short lease lasts. */
enum { SESSION_MS = 20000, IN_TIME_MS = 5000 };
#define UNTOUCHED ((void *)&it)

static struct {
    ts_client *client, *second;
    const char *path;
    pdk_lock *lock; /* on path */
    pdk_rwlock *rw;
    pdk_semaphore *permits, *seven;
} it;

static void begin(void) {
    it.client = ts_bench_client(SESSION_MS);
    it.second = ts_bench_client(SESSION_MS);
    it.path = ts_fresh_path();
    it.lock = ts_lock(it.client, it.path);
    it.rw = ts_rwlock(it.client, ts_fresh_path());
    it.permits = permits_at(it.client, ts_fresh_path(), 3);
    it.seven = permits_at(it.client, ts_fresh_path(), 7);
}

static const char *server(void) { return ts_bench_server(); }

static void never(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)hold;
    (void)user;
    g_error("a callback of a call that was refused");
}

static void never_set(pdk_status status, pdk_set *held, void *user) {
    (void)held;
    never(status, NULL, user);
}

static void count_up(void *number) { ++*(int *)number; }

/* ---- paths */

static void check_text(pdk_hold *hold, pdk_session *s) {
    ck_assert_int_eq(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), ts_patience(IN_TIME_MS)), PDK_OK);
}

/* Segments of 99 bytes, and it is as long as that in all. */
static char *path_of(size_t bytes) {
    char *path = g_strnfill(bytes, 'p');
    for (size_t i = 0; i < bytes; i += 100)
        path[i] = '/';
    return path;
}

static void check_longest(pdk_session *s, size_t bytes) {
    pdk_lock *longest = NULL, *out = UNTOUCHED;
    g_autofree char *path = path_of(bytes + 1);
    refused(pdk_lock_new(s, path, NULL, &out), PDK_INVALID, "path");
    ck_assert_ptr_eq(out, UNTOUCHED);
    path[bytes] = '\0';
    ck_assert_int_eq(pdk_lock_new(s, path, NULL, &longest), PDK_OK);
    pdk_hold *hold = ts_bench_acquire(longest, ts_patience(IN_TIME_MS));
    ck_assert_ptr_nonnull(strstr(pdk_hold_sequencer(hold), path));
    check_text(hold, s);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(longest);
}

START_TEST(a_lock_with_the_longest_path) { check_longest(it.client->session, 512); }
END_TEST

START_TEST(the_chroot_counts) {
    pdk_lock *own = NULL;
    const pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    ts_client *below = ts_client_open_with(server(), "/chroot12", &options);
    ck_assert_ptr_nonnull(below);
    check_longest(below->session, 512 - strlen("/chroot12"));
    ck_assert_int_eq(pdk_lock_new(below->session, "/zookeeper", NULL, &own), PDK_OK); /* there it is an ordinary path */
    pdk_lock_unref(own);
}
END_TEST

/* The leases are below the path. */
START_TEST(permits_with_the_longest_path) {
    const size_t longest = 512 - strlen("/leases");
    g_autofree char *path = path_of(longest + 1);
    pdk_semaphore *out = UNTOUCHED;
    refused(pdk_semaphore_new(it.client->session, path, 1, NULL, &out), PDK_INVALID, "505 bytes");
    ck_assert_ptr_eq(out, UNTOUCHED);
    path[longest] = '\0';
    pdk_hold *hold = permits_take(permits_at(it.client, path, 2), 2);
    check_text(hold, it.client->session);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* ---- times */

START_TEST(for_ever_and_very_long_are_accepted) {
    static const int64_t right[] = {PDK_FOREVER, INT64_MAX, INT64_MAX / 1000000, INT32_MAX};
    const recipe *r = recipe_of(_i);
    void *object = recipe_at(r, it.client, ts_fresh_path());
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        ts_answer *held = recipe_now(r, object, right[i]);
        recipe_await(r, held, PDK_OK);
        assert_recipe(r, recipe_release(r, object, held) == PDK_OK);
        assert_recipe(r, pdk_session_flush(it.client->session, right[i]) == PDK_OK);
    }
}
END_TEST

START_TEST(ensure_refuses_an_impossible_time) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(it.lock, ts_patience(IN_TIME_MS), &hold), PDK_OK);
    refused(pdk_hold_ensure(hold, -1), PDK_INVALID, "ms");
    refused(pdk_hold_ensure(hold, INT64_MIN), PDK_INVALID, "ms");
    refused(pdk_hold_ensure(hold, pdk_session_timeout_ms(it.client->session)), PDK_INVALID, "ms");
    refused(pdk_hold_ensure(hold, INT64_MAX), PDK_INVALID, "ms");
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_ensure(hold, 0), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- counts */

START_TEST(permits_have_bounds) {
    static const int32_t wrong[] = {0, -1, INT32_MIN, PDK_SEMAPHORE_PERMITS_MAX + 1, INT32_MAX};
    pdk_semaphore *out = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_new(it.client->session, "/a", wrong[i], NULL, &out), PDK_INVALID, "permits");
    }
    ck_assert_ptr_eq(out, UNTOUCHED);
    const char *path = ts_fresh_path();
    pdk_hold_release(permits_take(permits_at(it.client, path, PDK_SEMAPHORE_PERMITS_MAX), PDK_SEMAPHORE_COUNT_MAX));
    permits_assert_none(path);
}
END_TEST

START_TEST(a_count_has_bounds) {
    pdk_semaphore *many = permits_at(it.client, ts_fresh_path(), PDK_SEMAPHORE_COUNT_MAX + 5);
    const struct {
        pdk_semaphore *semaphore;
        int32_t count;
        const char *most;
    } wrong[] = {
        {it.seven, 0, "7"}, {it.seven, -1, "7"}, {it.seven, INT32_MIN, "7"}, {it.seven, 8, "7"},
        {many, 101, "100"}, {many, 105, "100"},  {many, INT32_MAX, "100"},
    };
    pdk_hold *hold = UNTOUCHED;
    pdk_claim *claim = UNTOUCHED;

    ts_proxy_zero(it.client->proxy);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(pdk_semaphore_acquire(wrong[i].semaphore, wrong[i].count, 0, &hold), PDK_INVALID, "count");
        refused(pdk_semaphore_acquire(wrong[i].semaphore, wrong[i].count, PDK_FOREVER, &hold), PDK_INVALID,
                wrong[i].most);
        refused(pdk_semaphore_acquire_async(wrong[i].semaphore, wrong[i].count, 9, never, NULL, &claim), PDK_INVALID,
                "count");
    }
    ck_assert(hold == UNTOUCHED && claim == UNTOUCHED);
    ck_assert_uint_eq(ts_proxy_count(it.client->proxy, TS_OP_CREATE2), 0);
    pdk_hold_release(permits_take(it.seven, 7));
    pdk_hold_release(permits_take(many, 100));
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
    pdk_semaphore *many = permits_at(it.client, path, PDK_SEMAPHORE_PERMITS_MAX);
    while (count < HOLDS_MAX && pdk_semaphore_acquire(many, EACH, 5000, &holds[count]) == PDK_OK) {
        count++;
    }
    ck_assert_int_lt(count, HOLDS_MAX);
    ck_assert_int_gt(count, 15);
    refused(pdk_semaphore_acquire(many, EACH, 5000, &none), PDK_LIMIT, "1000 KiB");
    refused(pdk_semaphore_acquire(many, EACH, 0, &none), PDK_LIMIT, "1000 KiB");
    ck_assert(permits_wait_queued(path, 0));
    ck_assert(permits_wait_taken(path, count * EACH));
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK); /* the session has heard of that too */
    ck_assert_int_eq(pdk_semaphore_acquire(many, 1, 5000, &none), PDK_OK); /* there is room for a few */
    pdk_hold_release(none);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    }
    permits_assert_none(path);
    pdk_hold_release(permits_take(many, EACH));
}
END_TEST

/* ---- sets */

/* Both forms refuse it, and leave their outputs alone. */
static void both_refuse(const pdk_right *rights, size_t count, int64_t ms, const pdk_set_options *options,
                        pdk_status status, const char *word) {
    pdk_set *held = UNTOUCHED;
    pdk_set_claim *claim = UNTOUCHED;
    refused(pdk_set_acquire(rights, count, ms, options, &held), status, word);
    refused(pdk_set_acquire_async(rights, count, ms, options, never_set, NULL, &claim), status, word);
    ck_assert_ptr_eq(held, UNTOUCHED);
    ck_assert_ptr_eq(claim, UNTOUCHED);
}

START_TEST(a_set_has_bounds) {
    const pdk_right lock = pdk_right_lock(it.lock);
    pdk_right many[PDK_SET_RIGHTS_MAX + 1] = {lock};
    both_refuse(&lock, 0, 0, NULL, PDK_INVALID, "count is 0; from 1 to 100");
    both_refuse(many, PDK_SET_RIGHTS_MAX + 1, 0, NULL, PDK_INVALID, "count is 101");
    ck_assert_int_eq(pdk_set_rights_max(), PDK_SET_RIGHTS_MAX);
}
END_TEST

START_TEST(rights_of_a_set) {
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

START_TEST(a_refusal_names_the_right) {
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

/* ---- what is over */

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
}

static void on_set_lost(pdk_set *set, pdk_reason reason, void *user) {
    (void)set;
    on_lost(NULL, reason, user);
}

START_TEST(a_second_release_is_told) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(it.lock, ts_patience(IN_TIME_MS), &hold), PDK_OK);
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
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
}
END_TEST

START_TEST(a_set_and_a_claim) {
    int32_t ahead = 0;
    int freed = 0;
    pdk_set *held = set_take(set_of(pdk_right_lock(it.lock)));
    ck_assert_int_eq(pdk_set_on_lost(held, on_set_lost, &freed, count_up), PDK_OK);
    refused(pdk_set_on_lost(held, on_set_lost, NULL, NULL), PDK_INVALID, "has a callback already");
    ck_assert(!ts_fd_readable(pdk_set_fd(held), 0));
    ck_assert_int_eq(freed, 0);
    ck_assert_int_eq(pdk_set_release(pdk_set_ref(held)), PDK_OK);
    ck_assert_int_eq(freed, 1);
    refused(pdk_set_on_lost(held, on_set_lost, NULL, NULL), PDK_NOT_HELD, "released");
    refused(pdk_set_release(held), PDK_NOT_HELD, "already released");
    held = set_take(set_of(pdk_right_lock(it.lock)));
    ck_assert_int_eq(pdk_set_on_lost(held, on_set_lost, &freed, count_up), PDK_OK);
    pdk_set_unref(held); /* releases it */
    ck_assert_int_eq(freed, 2);
    ts_answer *answer = set_async(set_of(pdk_right_lock(it.lock)), PDK_FOREVER);
    set_await(answer, PDK_OK);
    refused(pdk_set_claim_position(ts_answer_set_claim(answer), &ahead), PDK_NOT_HELD, "decided");
    refused(pdk_set_claim_cancel(ts_answer_set_claim(answer)), PDK_NOT_HELD, "too late");
    pdk_set_claim_unref(pdk_set_claim_ref(ts_answer_set_claim(answer)));
}
END_TEST

/* ---- texts and lists */

START_TEST(a_list_has_nothing_beyond_its_end) {
    static const size_t beyond[] = {1, 2, SIZE_MAX};
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_lock_acquire(it.lock, ts_patience(IN_TIME_MS), &hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_list(it.lock, 5000, &list), PDK_OK);
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
    ck_assert_int_eq(pdk_lock_list(it.lock, 5000, &list), PDK_OK); /* a free lock */
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_lock_holder(it.lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 0);
    pdk_contenders_free(list);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("input");
    TCase *paths = ts_bench_case(suite, "paths"), *counts = ts_bench_case(suite, "counts"),
          *sets = ts_bench_case(suite, "sets"), *over = ts_bench_case(suite, "over");
    TCase *const all[] = {paths, counts, sets, over};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        tcase_add_checked_fixture(all[i], begin, NULL);
    tcase_add_test(paths, a_lock_with_the_longest_path);
    tcase_add_test(paths, the_chroot_counts);
    tcase_add_test(paths, permits_with_the_longest_path);
    tcase_add_loop_test(counts, for_ever_and_very_long_are_accepted, 0, RECIPES);
    tcase_add_test(counts, ensure_refuses_an_impossible_time);
    tcase_add_test(counts, permits_have_bounds);
    tcase_add_test(counts, a_count_has_bounds);
    tcase_add_test(counts, a_session_has_its_limit);
    tcase_add_test(sets, a_set_has_bounds);
    tcase_add_test(sets, rights_of_a_set);
    tcase_add_test(sets, a_path_twice);
    tcase_add_test(sets, a_refusal_names_the_right);
    tcase_add_test(over, a_second_release_is_told);
    tcase_add_test(over, a_set_and_a_claim);
    tcase_add_test(over, a_list_has_nothing_beyond_its_end);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
