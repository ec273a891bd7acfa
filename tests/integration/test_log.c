/* The log callback: which lines come, at which levels, and what happens when its reader is slow. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <string.h>

#include "event_log.h"
#include "ts_check.h"
#include "ts_support.h"

static ts_ensemble *server;
static struct event_log event_log;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) { event_log_init(&event_log); }
static void tear_down(void) { event_log_clear(&event_log); }

static pdk_session *open_session(pdk_log_level level, pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&event_log, &options);
    options.log_level = level;
    options.dispatch = dispatch;
    options.session_timeout_ms = 6000;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s), PDK_OK);
    event_log_keep(&event_log, s);
    return s;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}

/* ---- levels */

static int lines_of(char level) {
    int count = 0;
    for (guint i = 0; i < event_log.lines->len; i++)
        count += ((const char *)g_ptr_array_index(event_log.lines, i))[0] == level;
    return count;
}

/* Opens, loses a hold, reconnects and closes. This logs lines at every level but ERROR. */
static void use_a_session(pdk_log_level level) {
    pdk_session *s = open_session(level, PDK_DISPATCH_THREAD);
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/log/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_eq(ts_expire(ts_ensemble_proxy(server, 0), ts_ensemble_host(server, 0)), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    pdk_lock_unref(lock);
    close_session(s);
}

START_TEST(only_chosen_levels_are_logged) {
    int level = _i;
    use_a_session((pdk_log_level)level);
    ck_assert_int_eq(lines_of('E'), 0);
    ck_assert_int_eq(lines_of('W') > 0, level >= PDK_LOG_WARN);
    ck_assert_int_eq(lines_of('I') > 0, level >= PDK_LOG_INFO);
    ck_assert_int_eq(lines_of('D') > 0, level >= PDK_LOG_DEBUG);
    ck_assert_int_eq(lines_of('?'), 0);
    if (level >= PDK_LOG_WARN)
        ck_assert_int_eq(event_log_lines_with(&event_log, "EXPIRED"), 1); /* the hold, with its reason */
}
END_TEST

START_TEST(each_log_text_is_one_line) {
    use_a_session(PDK_LOG_DEBUG);
    for (guint i = 0; i < event_log.lines->len; i++) {
        const char *line = g_ptr_array_index(event_log.lines, i);
        ck_assert_msg(strlen(line) > 2 && g_utf8_validate(line, -1, NULL), "%s", line);
        ck_assert_msg(strpbrk(line, "\r\n") == NULL, "%s", line);
    }
}
END_TEST

/* ---- one cycle of a lock, read from the log alone */

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

/* ---- a flood */

/* With manual dispatch nothing is read until we dispatch. Each lost hold is a line, and lines that are alike are bounded: what is left out
 * is counted. */
START_TEST(a_flood_of_losses_is_counted) {
    enum { HOLDS = 1200 };
    static pdk_lock *locks[HOLDS];
    static pdk_hold *holds[HOLDS];
    pdk_session *s = open_session(PDK_LOG_WARN, PDK_DISPATCH_MANUAL);
    for (int i = 0; i < HOLDS; i++) {
        char *path = g_strdup_printf("/log/%d", i);
        ck_assert_int_eq(pdk_lock_new(s, path, NULL, &locks[i]), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire(locks[i], 10000, &holds[i]), PDK_OK);
        g_free(path);
    }
    ck_assert_int_eq(ts_expire(ts_ensemble_proxy(server, 0), ts_ensemble_host(server, 0)), 0);
    ck_assert(ts_fd_readable(pdk_hold_fd(holds[HOLDS - 1]), 20000)); /* the last of them is lost */
    ck_assert_int_eq(event_log_lines_with(&event_log, ""), 0);
    for (int64_t began = ts_now_ms(); ts_now_ms() - began < 300;)
        if (ts_fd_readable(pdk_session_fd(s), 50))
            ck_assert_int_eq(pdk_session_dispatch(s, NULL), PDK_OK);
    int lost = event_log_lines_with(&event_log, " lost: EXPIRED");
    pdk_stats stats = PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(s, &stats), PDK_OK);
    ck_assert_int_ge(lost, 100);
    ck_assert_int_lt(lost, 200); /* one a second, beyond the first hundred */
    ck_assert_uint_eq((unsigned)lost + stats.log_lines_dropped, HOLDS);
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_EXPIRED), 1); /* events are never dropped */
    for (int i = 0; i < HOLDS; i++) {
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_LOST);
        pdk_lock_unref(locks[i]);
    }
    close_session(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("log");
    TCase *cases = tcase_create("log");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, only_chosen_levels_are_logged, PDK_LOG_ERROR, PDK_LOG_DEBUG + 1);
    tcase_add_test(cases, each_log_text_is_one_line);
    tcase_add_test(cases, one_cycle_can_be_read_from_the_log);
    tcase_add_test(cases, a_flood_of_losses_is_counted);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
