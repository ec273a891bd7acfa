/* The log callback, with the lines of the client library: each is one line, and the cycle of a lock can be read from them. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <string.h>

#include "event_log.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

static struct event_log event_log;

static void set_up(void) { event_log_init(&event_log); }
static void tear_down(void) { event_log_clear(&event_log); }

static pdk_session *open_session(pdk_log_level level, pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&event_log, &options);
    options.log_level = level;
    options.dispatch = dispatch;
    options.session_timeout_ms = 6000;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(ts_bench_ensemble()), &options, &s), PDK_OK);
    event_log_keep(&event_log, s);
    return s;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}

/* Opens, loses a hold, reconnects and closes. This logs lines at every level but ERROR. */
static void use_a_session(pdk_log_level level) {
    pdk_session *s = open_session(level, PDK_DISPATCH_THREAD);
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/log/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_eq(ts_expire(ts_ensemble_proxy(ts_bench_ensemble(), 0), ts_bench_server()), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    pdk_lock_unref(lock);
    close_session(s);
}

START_TEST(each_log_text_is_one_line) {
    use_a_session(PDK_LOG_DEBUG);
    for (guint i = 0; i < event_log.lines->len; i++) {
        const char *line = g_ptr_array_index(event_log.lines, i);
        ck_assert_msg(strlen(line) > 2 && g_utf8_validate(line, -1, NULL), "%s", line);
        ck_assert_msg(strpbrk(line, "\r\n") == NULL, "%s", line);
    }
}
END_TEST

/* The lines below `path` that are no log of the client library, without what differs from run to run. */
static GString *cycle_of(const char *path) {
    GString *cycle = g_string_new(NULL);
    for (guint i = 0; i < event_log.lines->len; i++) {
        const char *line = g_ptr_array_index(event_log.lines, i);
        const char *at = strstr(line, path), *words = at ? strchr(at, ':') : NULL;
        const char *token = words ? strstr(words, "token ") : NULL;
        if (line[0] != 'D' || !words)
            continue;
        int length = token ? (int)(token - words) : (int)strlen(words);
        g_string_append_printf(cycle, "%s%.*s\n", at[strlen(path)] == '/' ? "node" : "queue", length, words);
    }
    return cycle;
}

START_TEST(one_cycle_can_be_read_from_the_log) {
    pdk_session *s = open_session(PDK_LOG_DEBUG, PDK_DISPATCH_THREAD);
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/log/cycle", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK); /* makes the directory */
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(s, 5000), PDK_OK);
    ck_assert(event_log_wait_line(&event_log, "after deleted: gone", 5000));
    g_ptr_array_set_size(event_log.lines, 0);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(s, 5000), PDK_OK);
    ck_assert(event_log_wait_line(&event_log, "after deleted: gone", 5000));
    GString *cycle = cycle_of("/log/cycle");
    ck_assert_str_eq(cycle->str, "queue: claim 2 queues\n"
                                 "node: out, after created: in\n"
                                 "node: in, after listed: held\n"
                                 "queue: granted, \n"
                                 "queue: claim 2 is decided: PDK_OK\n"
                                 "queue: the grant with \n"
                                 "node: held, after leave: in\n"
                                 "node: in, after deleted: gone\n");
    g_string_free(cycle, TRUE);
    pdk_lock_unref(lock);
    close_session(s);
}
END_TEST

/* ---- another recipe at the path */

static bool lock_is_mixed(pdk_lock *lock) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    bool mixed = pdk_hold_is_mixed(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    return mixed;
}

static bool permit_is_mixed(pdk_session *s, const char *path) {
    pdk_semaphore *semaphore = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_semaphore_new(s, path, 2, NULL, &semaphore), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, 5000, &hold), PDK_OK);
    bool mixed = pdk_hold_is_mixed(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_semaphore_unref(semaphore);
    return mixed;
}

/* A candidate, and then permits, beside a lock: each hold tells, and the log does once. The permits' own list tells nothing, so they
 * may always be mixed. */
START_TEST(another_recipe_at_the_path_is_told) {
    static const char words[] = "/log/mixed: another recipe works here, too, beside the lock";
    pdk_session *s = open_session(PDK_LOG_WARN, PDK_DISPATCH_THREAD);
    pdk_lock *lock = NULL;
    g_autofree char *candidate = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/log/mixed", NULL, &lock), PDK_OK);
    ck_assert(!lock_is_mixed(lock));
    ck_assert(!pdk_hold_is_mixed(NULL));
    ck_assert_int_eq(pdk_session_flush(s, 5000), PDK_OK);
    ck_assert_int_eq(ts_create(ts_bench_server(), "/log/mixed/locks", "", 0, NULL),
                     0); /* of locks, maybe: nothing to tell */
    ck_assert(lock_is_mixed(lock));
    ck_assert_int_eq(pdk_session_flush(s, 5000), PDK_OK);
    ck_assert_int_eq(ts_create(ts_bench_server(), "/log/mixed/leases", "", 0, NULL), 0); /* left over: likewise */
    ck_assert(lock_is_mixed(lock));
    ck_assert_int_eq(pdk_session_flush(s, 5000), PDK_OK);
    ck_assert_int_eq(event_log_lines_with(&event_log, words), 0);
    ck_assert_int_eq(ts_bench_stranger("/log/mixed/_c_a-latch-", "", TS_SEQUENTIAL, &candidate), 0);
    ck_assert(lock_is_mixed(lock));
    ck_assert(lock_is_mixed(lock));
    ck_assert(event_log_wait_line(&event_log, words, 5000));
    ck_assert_int_eq(ts_delete(ts_bench_server(), candidate), 0);
    ck_assert(permit_is_mixed(s, "/log/mixed"));
    ck_assert(lock_is_mixed(lock));
    pdk_lock_unref(lock);
    close_session(s);
    ck_assert_int_eq(event_log_lines_with(&event_log, words), 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("log");
    TCase *cases = ts_bench_case(suite, "log");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, each_log_text_is_one_line);
    tcase_add_test(cases, one_cycle_can_be_read_from_the_log);
    tcase_add_test(cases, another_recipe_at_the_path_is_told);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
