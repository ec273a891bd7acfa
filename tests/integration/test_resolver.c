/* A slow resolver. No call waits for it longer than the caller allows. The executable's getaddrinfo replaces the C
 * library's, and answers when the test allows it. */
#include <arpa/inet.h>
#include <check.h>
#include <glib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "event_log.h"
#include "refused.h"
#include "self.h"
#include "ts_check.h"
#include "ts_support.h"

#define SLACK_MS 1000
#define GONE_MS 20000

static ts_ensemble *server;
static ts_proxy *proxy;
static struct event_log event_log;
static atomic_bool slow;
static atomic_int waiting;
static atomic_int failures; /* of the name "nowhere", that are left */
static int threads_before;

static bool is_quick(void *unused) {
    (void)unused;
    return !atomic_load(&slow);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out) {
    (void)hints;
    if (strcmp(name, "somewhere") == 0) {
        atomic_fetch_add(&waiting, 1);
        ts_wait_until(is_quick, NULL, 60000);
        atomic_fetch_sub(&waiting, 1);
        name = "127.0.0.1";
    } else if (strcmp(name, "nowhere") == 0) {
        if (atomic_fetch_sub(&failures, 1) > 0)
            return EAI_AGAIN;
        name = "127.0.0.1";
    }
    struct addrinfo *info = g_new0(struct addrinfo, 1);
    struct sockaddr_in *address = g_new0(struct sockaddr_in, 1);
    address->sin_family = AF_INET;
    address->sin_port = htons(service ? (uint16_t)g_ascii_strtoull(service, NULL, 10) : 0);
    inet_pton(AF_INET, name, &address->sin_addr);
    info->ai_family = AF_INET;
    info->ai_addr = (struct sockaddr *)address;
    info->ai_addrlen = sizeof *address;
    *out = info;
    return 0;
}

void freeaddrinfo(struct addrinfo *info) {
    g_free(info->ai_addr);
    g_free(info);
}

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) {
    threads_before = self_thread_count();
    event_log_init(&event_log);
}

static void tear_down(void) {
    atomic_store(&slow, false);
    event_log_clear(&event_log);
    ck_assert(self_wait_threads(threads_before, GONE_MS));
}

static char *hosts(void) { return g_strconcat("somewhere", strrchr(ts_ensemble_proxied_host(server, 0), ':'), NULL); }

START_TEST(opening_does_not_wait_for_it) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = (pdk_session *)&server;
    char *list = hosts();
    options.connect_timeout_ms = 300;
    atomic_store(&slow, true);
    int64_t began = ts_now_ms();
    refused(pdk_session_open(list, &options, &s), PDK_UNAVAILABLE, "hosts");
    ck_assert_int_lt(ts_now_ms() - began, 300 + SLACK_MS);
    ck_assert_ptr_eq(s, (pdk_session *)&server);
    /* only the look-up remains: it cannot be cancelled */
    ck_assert(self_wait_threads(threads_before + 1, GONE_MS));
    ck_assert_int_eq(atomic_load(&waiting), 1);
    g_free(list);
}
END_TEST

START_TEST(closing_does_not_wait_for_it) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    char *list = hosts();
    event_log_attach(&event_log, &options);
    options.session_timeout_ms = 4000;
    ck_assert_int_eq(pdk_session_open(list, &options, &s), PDK_OK);
    event_log_keep(&event_log, s);
    ck_assert_int_eq(pdk_lock_new(s, "/resolver/lock", NULL, &lock), PDK_OK);
    atomic_store(&slow, true);
    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0); /* names are resolved for each new session */
    ck_assert(event_log_wait(&event_log, PDK_SESSION_EXPIRED, 1, 20000));
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_lock_acquire(lock, 200, &hold), PDK_UNAVAILABLE);
    ck_assert_int_lt(ts_now_ms() - began, 200 + SLACK_MS);
    ck_assert_int_eq(pdk_session_id(s), 0); /* there is no session */
    began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - began, SLACK_MS);
    pdk_lock_unref(lock);
    pdk_session_unref(s);
    g_free(list);
}
END_TEST

/* Its look-up fails at once. The other one hangs, and holds up no second try. */
START_TEST(a_name_that_failed_is_not_held_up_by_one_that_hangs) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    const char *port = strrchr(ts_ensemble_proxied_host(server, 0), ':');
    char *list = g_strconcat("nowhere", port, ",somewhere", port, NULL);
    options.connect_timeout_ms = 20000;
    atomic_store(&slow, true);
    atomic_store(&failures, 2);
    ck_assert_msg(pdk_session_open(list, &options, &s) == PDK_OK, "%s", pdk_last_error());
    ck_assert_int_eq(atomic_load(&waiting), 1);
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
    g_free(list);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("resolver");
    TCase *cases = tcase_create("resolver");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, opening_does_not_wait_for_it);
    tcase_add_test(cases, closing_does_not_wait_for_it);
    tcase_add_test(cases, a_name_that_failed_is_not_held_up_by_one_that_hangs);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
