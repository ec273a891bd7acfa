/* What sessions do to their process: signals, descriptors, and IPv6 where the machine has it. */
#include <check.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <paddock/paddock.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event_log.h"
#include "self.h"
#include "ts_check.h"
#include "ts_support.h"

static ts_ensemble *server;
static ts_proxy *proxy;
static struct event_log event_log;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) {
    ts_proxy_heal(proxy);
    event_log_init(&event_log);
}

static void tear_down(void) { event_log_clear(&event_log); }

static pdk_session *open_session(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&event_log, &options);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s), PDK_OK);
    event_log_keep(&event_log, s);
    return s;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}

static void use_lock(pdk_session *s) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/process/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 10000, &hold), PDK_OK);
    ck_assert_int_ge(pdk_hold_fd(hold), 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
}

/* ---- signals */

static bool all_block(void *before) {
    int found = 0;
    char *open = self_threads_open_to_signals(before, &found);
    bool blocked = open[0] == '\0' && found >= 5; /* timer, connector, dispatcher, and two of the client library */
    g_free(open);
    return blocked;
}

/* The dispatcher runs user code with the mask of the program. Between callbacks it blocks, too. */
static void check_threads_block(GHashTable *before) {
    int found = 0;
    if (ts_wait_until(all_block, before, 10000))
        return;
    char *open = self_threads_open_to_signals(before, &found);
    ck_abort_msg("%d threads; open: %s", found, open);
}

START_TEST(library_threads_block_signals_from_outside) {
    GHashTable *before = self_threads();
    pdk_session *s = open_session();
    use_lock(s);
    check_threads_block(before);
    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0); /* the next handle has threads of its own */
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    check_threads_block(before);
    close_session(s);
    g_hash_table_unref(before);
}
END_TEST

START_TEST(the_callers_signal_mask_is_left_alone) {
    sigset_t before, after;
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    pdk_session *s = open_session();
    use_lock(s);
    close_session(s);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    for (int number = 1; number <= SIGRTMAX; number++)
        ck_assert_int_eq(sigismember(&before, number), sigismember(&after, number));
    struct sigaction action;
    ck_assert_int_eq(sigaction(SIGPIPE, NULL, &action), 0);
    ck_assert(action.sa_handler == SIG_DFL);
}
END_TEST

/* ---- descriptors */

START_TEST(no_descriptor_survives_an_exec) {
    ts_proxy_heal(proxy);
    GHashTable *before = self_inheritable();
    pdk_session *s = open_session();
    use_lock(s);
    char *fresh = self_new_inheritable(before);
    ck_assert_str_eq(fresh, "");
    g_free(fresh);
    for (int i = 0; i < 2; i++) {
        ts_proxy_set_mode(proxy, TS_CUT);
        ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, i + 1, 10000));
        ts_proxy_heal(proxy);
        use_lock(s); /* connected again */
        fresh = self_new_inheritable(before);
        ck_assert_msg(fresh[0] == '\0', "after reconnect %d: %s", i + 1, fresh);
        g_free(fresh);
    }
    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    use_lock(s);
    fresh = self_new_inheritable(before);
    ck_assert_str_eq(fresh, "");
    g_free(fresh);
    close_session(s);
    g_hash_table_unref(before);
}
END_TEST

/* One that is inherited, and whose other end has no address of a server. */
START_TEST(descriptors_of_others_are_left_alone) {
    int pair[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    close_session(open_session());
    ck_assert_int_eq(fcntl(pair[0], F_GETFD), 0);
    ck_assert_int_eq(fcntl(pair[1], F_GETFD), 0);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

START_TEST(descriptors_and_threads_come_back) {
    ts_proxy_set_mode(proxy, TS_CUT); /* the proxy's own connections would count */
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    int threads = self_thread_count(), descriptors = self_descriptor_count();
    for (int i = 0; i < 20; i++) {
        pdk_session *s = NULL;
        options.dispatch = i % 2 ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD;
        ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &s), PDK_OK);
        use_lock(s);
        close_session(s);
        ck_assert_int_eq(self_descriptor_count(), descriptors);
        ck_assert(self_wait_threads(threads, 5000)); /* they have logged their last lines, and are about to end */
    }
}
END_TEST

/* ---- IPv6 */

static bool has_ipv6(void) {
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0 && bind(fd, (const struct sockaddr *)&loopback, sizeof loopback) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

START_TEST(an_ipv6_address_is_connected) {
    static const char *const everywhere[] = {"clientPortAddress=::", NULL};
    static const ts_ensemble_options options = {.config_lines = everywhere};
    if (!has_ipv6()) {
        printf("no IPv6 on this machine: not tested\n");
        return;
    }
    ts_ensemble *dual = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(dual);
    char *hosts = g_strconcat("[::1]", strrchr(ts_ensemble_host(dual, 0), ':'), "/six", NULL);
    pdk_session *s = NULL;
    GHashTable *before = self_inheritable();
    pdk_status status = pdk_session_open(hosts, NULL, &s);
    ck_assert_msg(status == PDK_OK, "%s: %s", hosts, pdk_last_error());
    use_lock(s);
    char *fresh = self_new_inheritable(before);
    ck_assert_str_eq(fresh, "");
    ck_assert_int_eq(ts_exists(ts_ensemble_hosts(dual), "/six/process/lock", NULL), 0);
    close_session(s);
    g_hash_table_unref(before);
    g_free(fresh);
    g_free(hosts);
    ts_ensemble_stop(dual);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("process");
    TCase *cases = tcase_create("process");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, library_threads_block_signals_from_outside);
    tcase_add_test(cases, the_callers_signal_mask_is_left_alone);
    tcase_add_test(cases, no_descriptor_survives_an_exec);
    tcase_add_test(cases, descriptors_of_others_are_left_alone);
    tcase_add_test(cases, descriptors_and_threads_come_back);
    tcase_add_test(cases, an_ipv6_address_is_connected);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
