/* The lock-delay among what others have written, in a forked child, and when its session is closed. */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

enum { DELAY_MS = 400, LONG_MS = 60000, SESSION_MS = 4000, PATIENCE_MS = 10000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *one, *two;
} it;

static void begin(void) {
    it.path = ts_fresh_path();
    it.one = ts_bench_client(SESSION_MS);
    it.two = ts_bench_client(SESSION_MS);
    ck_assert_int_eq(ts_create(server(), it.path, "", TS_PERSISTENT, NULL), 0);
}

static pdk_lock *delayed(const ts_client *client, int32_t delay_ms) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = delay_ms;
    return ts_lock_with(client, it.path, &options);
}

static void make(const char *child) {
    g_autofree char *path = g_strconcat(it.path, "/", child, NULL);
    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
}

static void make_pledge(int number) {
    g_autofree char *child = g_strdup_printf("pledge-_c_01234567-89ab-8def-0123-456789abcdef-%010d", number);
    make(child);
}

static void assert_children(int count) {
    ck_assert(ts_wait_children(server(), it.path, count, ts_patience(PATIENCE_MS)));
}

static int64_t acquired_within_ms(const ts_client *client, int32_t delay_ms) {
    int64_t began = ts_now_ms();
    pdk_hold *hold = ts_bench_acquire(delayed(client, delay_ms), PATIENCE_MS);
    int64_t took = ts_now_ms() - began;
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    return took;
}

/* Nothing but the same number agrees, byte for byte; and the error text has no byte of it that a terminal would obey. */
START_TEST(a_record_of_others) {
    g_autofree char *large = g_strnfill(100000, '4'), *record = NULL;
    const struct {
        const char *data, *word;
    } records[] = {
        {"", "\"\""},
        {"401", "\"401\""},
        {"0400", "\"0400\""},
        {"400 ", "\"400 \""},
        {"400\n", "\"400\\n\""},
        {"-400", "\"-400\""},
        {"\033[2J\a", "\"\\033[2J\\007\""},
        {"\xff\xfe 400", "\"\\377\\376 400\""},
        {large, "\"44444444444444444444444444444444\""},
        {"../../zookeeper", "\"../../zookeeper\""},
    };
    pdk_hold *hold = NULL;
    begin();
    record = g_strconcat(it.path, "/delay", NULL);
    make("delay");
    for (size_t i = 0; i < G_N_ELEMENTS(records); i++) {
        ck_assert_int_eq(ts_set(server(), record, records[i].data), 0);
        refused(pdk_lock_acquire(delayed(it.one, DELAY_MS), PATIENCE_MS, &hold), i == 1 ? PDK_MISMATCH : PDK_DAMAGED,
                records[i].word);
        assert_children(1);
    }
    ck_assert_int_eq(ts_set(server(), record, "400"), 0);
    acquired_within_ms(it.one, DELAY_MS);
}
END_TEST

/* A child with the name of a pledge, to which there never was a node: it counts as broken, so the next one waits once. */
START_TEST(a_pledge_of_a_stranger) {
    begin();
    make_pledge(7);
    ck_assert_int_ge(acquired_within_ms(it.one, DELAY_MS), DELAY_MS);
    assert_children(1);
    make("pledge-");
    make("pledge-of nobody");
    make("lock-0000009999"); /* a contender without a UUID, which comes later, has no pledge */
    ck_assert_int_ge(acquired_within_ms(it.two, DELAY_MS), DELAY_MS);
    assert_children(2);
    ck_assert_int_lt(acquired_within_ms(it.two, DELAY_MS), ts_patience(DELAY_MS));
}
END_TEST

/* An acquisition clears 64 away. Who has waited for the others does not wait for them again. */
START_TEST(many_broken_pledges) {
    enum { MANY = 70 };
    begin();
    for (int i = 0; i < MANY; i++)
        make_pledge(i);
    pdk_lock *lock = delayed(it.one, DELAY_MS);
    pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS));
    assert_children(1 + MANY - 64);
    pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS));
    assert_children(1);
}
END_TEST

START_TEST(the_longest_delay) {
    pdk_hold *hold = NULL;
    begin();
    pdk_lock *lock = delayed(it.one, INT32_MAX);
    pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS));
    make_pledge(7);
    refused(pdk_lock_acquire(lock, 0, &hold), PDK_BUSY, "lock-delay");
    refused(pdk_lock_acquire(lock, 2 * DELAY_MS, &hold), PDK_TIMEOUT, it.path);
    assert_children(2);
}
END_TEST

/* Who waits for a delay is answered, and its node goes; what it has waited for stays. */
START_TEST(a_session_is_closed_while_it_waits) {
    begin();
    make_pledge(7);
    ts_answer *answer = ts_acquire_async(delayed(it.one, LONG_MS), PDK_FOREVER);
    assert_children(2);
    ts_sleep_ms(100);
    ck_assert_int_eq(pdk_session_close(it.one->session, PATIENCE_MS), PDK_OK);
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_CLOSED);
    assert_children(1);
}
END_TEST

static void in_the_child(pdk_lock *lock, const pdk_hold *hold) {
    pdk_hold *other = NULL;
    bool fine = pdk_lock_acquire(lock, 0, &other) == PDK_FORKED && !pdk_hold_is_valid(hold);
    pdk_lock_unref(lock);
    ts_end_child(!fine);
}

/* The child and its end break no pledge: the next one is granted at once after the release. */
START_TEST(a_forked_child) {
    int status = -1;
    begin();
    pdk_lock *lock = delayed(it.one, LONG_MS);
    pdk_hold *hold = ts_bench_acquire(lock, PATIENCE_MS);
    fflush(NULL);
    pid_t pid = ts_fork();
    if (pid == 0)
        in_the_child(lock, hold);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_children(3);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    acquired_within_ms(it.two, LONG_MS);
    assert_children(1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lock_delay_input");
    TCase *all = ts_bench_case(suite, "lock_delay_input");
    tcase_add_test(all, a_record_of_others);
    tcase_add_test(all, a_pledge_of_a_stranger);
    tcase_add_test(all, many_broken_pledges);
    tcase_add_test(all, the_longest_delay);
    tcase_add_test(all, a_session_is_closed_while_it_waits);
    tcase_add_test(all, a_forked_child);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
