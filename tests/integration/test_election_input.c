/* Bad input to the calls of elections. It is refused with a status and a text that names the argument, and has no
 * effect. Also blocking calls from a callback, and all calls in a forked child. */
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elections.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

enum { SESSION_MS = 6000 };

#define UNTOUCHED ((void *)&it)

static struct {
    const char *path;
    ts_client *client;
    pdk_election *election;
    record *r;
    pdk_service *service;
    pdk_observer *observer;
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.election = election_on(it.client, it.path, NULL);
}

/* The calls must not even make the directory. */
static void check_no_effect(void) {
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(ts_exists(ts_bench_server(), it.path, NULL), -101);
}

static void never_leader(const char *identity, int64_t token, void *user) {
    (void)identity;
    (void)token;
    (void)user;
    g_error("a callback of a call that was refused");
}

static void never_free(void *user) { never_leader(NULL, 0, user); }

static void never_run(pdk_term *term, void *user) {
    (void)term;
    never_leader(NULL, 0, user);
}

/* ---- NULL */

START_TEST(null_is_refused) {
    pdk_election *out = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;
    pdk_observer *observer = UNTOUCHED;
    pdk_service *service = UNTOUCHED;
    pdk_election *e = it.election;

    refused(pdk_election_new(NULL, "/a", NULL, &out), PDK_INVALID, "session");
    refused(pdk_election_new(it.client->session, NULL, NULL, &out), PDK_INVALID, "path");
    refused(pdk_election_new(it.client->session, "/a", NULL, NULL), PDK_INVALID, "out");
    refused(pdk_election_join(NULL, NULL), PDK_INVALID, "election");
    refused(pdk_election_leave(NULL), PDK_INVALID, "election");
    refused(pdk_election_resign(NULL), PDK_INVALID, "election");
    refused(pdk_election_wait(NULL, 0, &hold), PDK_INVALID, "election");
    refused(pdk_election_wait(e, 0, NULL), PDK_INVALID, "out");
    refused(pdk_election_leader(NULL, 0, &list), PDK_INVALID, "election");
    refused(pdk_election_leader(e, 0, NULL), PDK_INVALID, "out");
    refused(pdk_election_list(NULL, 0, &list), PDK_INVALID, "election");
    refused(pdk_election_list(e, 0, NULL), PDK_INVALID, "out");
    refused(pdk_election_observe(NULL, never_leader, NULL, never_free, &observer), PDK_INVALID, "election");
    refused(pdk_election_observe(e, NULL, NULL, never_free, &observer), PDK_INVALID, "fn");
    refused(pdk_election_observe(e, never_leader, NULL, never_free, NULL), PDK_INVALID, "out");
    refused(pdk_service_start(NULL, never_run, NULL, NULL, &service), PDK_INVALID, "election");
    refused(pdk_service_start(e, NULL, NULL, NULL, &service), PDK_INVALID, "fn");
    refused(pdk_service_start(e, never_run, NULL, NULL, NULL), PDK_INVALID, "out");
    refused(pdk_service_resign(NULL), PDK_INVALID, "service");
    refused(pdk_service_close(NULL, 0), PDK_INVALID, "service");
    ck_assert_ptr_eq(out, UNTOUCHED);
    ck_assert_ptr_eq(hold, UNTOUCHED);
    ck_assert_ptr_eq(list, UNTOUCHED);
    ck_assert_ptr_eq(observer, UNTOUCHED);
    ck_assert_ptr_eq(service, UNTOUCHED);
    check_no_effect();
}
END_TEST

START_TEST(null_is_answered_by_calls_without_a_status) {
    ck_assert_ptr_null(pdk_election_ref(NULL));
    pdk_election_unref(NULL);
    pdk_observer_close(NULL);
    pdk_service_unref(NULL);
    ck_assert_ptr_null(pdk_term_hold(NULL));
    ck_assert(pdk_term_is_ending(NULL));
    ck_assert_int_eq(pdk_term_fd(NULL), -1);
    refused(PDK_INVALID, PDK_INVALID, "term"); /* the text that pdk_term_fd left */
}
END_TEST

/* ---- values */

START_TEST(timeouts_are_checked) {
    pdk_hold *hold = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;

    for (int64_t timeout_ms = -2; timeout_ms > -5; timeout_ms--) {
        refused(pdk_election_wait(it.election, timeout_ms, &hold), PDK_INVALID, "timeout_ms");
        refused(pdk_election_leader(it.election, timeout_ms, &list), PDK_INVALID, "timeout_ms");
        refused(pdk_election_list(it.election, timeout_ms, &list), PDK_INVALID, "timeout_ms");
    }
    ck_assert_ptr_eq(hold, UNTOUCHED);
    ck_assert_ptr_eq(list, UNTOUCHED);
    check_no_effect();
}
END_TEST

START_TEST(paths_are_checked) {
    static const char *const paths[] = {"",        "relative",     "/",    "/a//b", "/a/", "/a/./b",
                                        "/a/../b", "/zookeeper/e", "/\x01"};
    pdk_election *out = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        refused(pdk_election_new(it.client->session, paths[i], NULL, &out), PDK_INVALID, "path");
    }
    ck_assert_ptr_eq(out, UNTOUCHED);
}
END_TEST

START_TEST(election_options_are_checked) {
    pdk_election_options good = PDK_ELECTION_OPTIONS_INIT, bad = good;
    g_autofree char *too_long = g_strnfill(1025, 'x');
    const char *const identities[] = {"", too_long, "\xff", "\xc3"};
    pdk_election *out = UNTOUCHED;

    for (size_t i = 0; i < G_N_ELEMENTS(identities); i++) {
        bad.identity = identities[i];
        refused(pdk_election_new(it.client->session, "/a", &bad, &out), PDK_INVALID, "identity");
    }
    for (int32_t naming = -1; naming <= 2; naming += 3) {
        bad = good;
        bad.naming = naming;
        refused(pdk_election_new(it.client->session, "/a", &bad, &out), PDK_INVALID, "naming");
    }
    bad = good;
    for (size_t size = 0; size < offsetof(pdk_election_options, lock_delay_ms); size += sizeof(void *)) {
        bad = good;
        bad.size = size;
        refused(pdk_election_new(it.client->session, "/a", &bad, &out), PDK_INVALID, "size");
    }
    ck_assert_ptr_eq(out, UNTOUCHED);
}
END_TEST

/* Structs of a later version: the bytes beyond our members must be zero. */
START_TEST(larger_structs_are_accepted_when_the_rest_is_zero) {
    struct {
        pdk_election_options known;
        int64_t later;
    } options = {PDK_ELECTION_OPTIONS_INIT, 0};
    struct {
        pdk_election_callbacks known;
        int64_t later;
    } callbacks = {PDK_ELECTION_CALLBACKS_INIT, 1};
    struct {
        pdk_service_options known;
        int64_t later;
    } service = {PDK_SERVICE_OPTIONS_INIT, 1};
    pdk_election *out = NULL;
    pdk_service *running = UNTOUCHED;

    options.known.size = sizeof options;
    callbacks.known.size = sizeof callbacks;
    service.known.size = sizeof service;
    ck_assert_int_eq(pdk_election_new(it.client->session, it.path, &options.known, &out), PDK_OK);
    options.later = 1;
    refused(pdk_election_new(it.client->session, it.path, &options.known, &out), PDK_INVALID, "does not know");
    refused(pdk_election_join(out, &callbacks.known), PDK_INVALID, "does not know");
    refused(pdk_service_start(out, never_run, NULL, &service.known, &running), PDK_INVALID, "does not know");
    check_no_effect();
    ck_assert_ptr_eq(running, UNTOUCHED);
    callbacks.later = 0;
    ck_assert_int_eq(pdk_election_join(out, &callbacks.known), PDK_OK);
    pdk_election_unref(out);
}
END_TEST

START_TEST(callbacks_and_service_options_are_checked) {
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_service_options good = PDK_SERVICE_OPTIONS_INIT, bad;
    pdk_service *service = UNTOUCHED;

    for (size_t size = 0; size < offsetof(pdk_election_callbacks, user_free); size += sizeof(void *)) {
        callbacks.size = size;
        refused(pdk_election_join(it.election, &callbacks), PDK_INVALID, "size");
    }
    for (size_t size = 0; size < offsetof(pdk_service_options, user_free); size += sizeof(void *)) {
        bad = good;
        bad.size = size;
        refused(pdk_service_start(it.election, never_run, NULL, &bad, &service), PDK_INVALID, "size");
    }
    for (int32_t value = -1; value <= 2; value += 3) {
        bad = good;
        bad.drain = value;
        refused(pdk_service_start(it.election, never_run, NULL, &bad, &service), PDK_INVALID, "drain");
    }
    for (int32_t value = -1; value <= 0; value++) {
        bad = good;
        bad.drain_ms = value;
        refused(pdk_service_start(it.election, never_run, NULL, &bad, &service), PDK_INVALID, "drain_ms");
    }
    ck_assert_ptr_eq(service, UNTOUCHED);
    check_no_effect();
}
END_TEST

/* ---- a closed session */

START_TEST(a_closed_session) {
    pdk_election *out = UNTOUCHED;
    pdk_hold *hold = UNTOUCHED;
    pdk_contenders *list = UNTOUCHED;
    pdk_observer *observer = UNTOUCHED;
    pdk_service *service = UNTOUCHED;

    pdk_session_close(it.client->session, 5000);
    refused(pdk_election_new(it.client->session, "/a", NULL, &out), PDK_CLOSED, "closed");
    refused(pdk_election_join(it.election, NULL), PDK_CLOSED, "pdk_election_join");
    refused(pdk_election_leave(it.election), PDK_NOT_HELD, "candidate");
    refused(pdk_election_resign(it.election), PDK_NOT_HELD, "leader");
    refused(pdk_election_wait(it.election, PDK_FOREVER, &hold), PDK_CLOSED, "pdk_election_wait");
    refused(pdk_election_leader(it.election, 1000, &list), PDK_CLOSED, "pdk_election_leader");
    refused(pdk_election_list(it.election, 1000, &list), PDK_CLOSED, "pdk_election_list");
    refused(pdk_election_observe(it.election, never_leader, NULL, never_free, &observer), PDK_CLOSED,
            "pdk_election_observe");
    refused(pdk_service_start(it.election, never_run, NULL, NULL, &service), PDK_CLOSED, "pdk_service_start");
    ck_assert_ptr_eq(hold, UNTOUCHED);
    ck_assert_ptr_eq(list, UNTOUCHED);
    ck_assert_ptr_eq(out, UNTOUCHED);
    ck_assert_ptr_eq(observer, UNTOUCHED);
    ck_assert_ptr_eq(service, UNTOUCHED);
}
END_TEST

/* ---- blocking calls from a callback */

static void wait_for_the_end(pdk_term *term, void *user) {
    (void)user;
    while (!pdk_term_is_ending(term)) {
        ts_fd_readable(pdk_term_fd(term), 1000);
    }
}

static GString *wrong;

static void must_not_block(const char *call, pdk_status status) {
    if (status != PDK_WRONG_THREAD || strstr(pdk_last_error(), call) == NULL) {
        g_string_append_printf(wrong, "%s: %s (%s); ", call, pdk_status_name(status), pdk_last_error());
    }
}

static void try_all(record *r, void *user) {
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;

    (void)r;
    (void)user;
    must_not_block("pdk_election_wait", pdk_election_wait(it.election, 0, &hold));
    must_not_block("pdk_election_leader", pdk_election_leader(it.election, 1000, &list));
    must_not_block("pdk_election_list", pdk_election_list(it.election, 1000, &list));
    must_not_block("pdk_service_close", pdk_service_close(it.service, 1000));
}

START_TEST(a_callback_must_not_block) {
    pdk_election *other = election_on(it.client, ts_fresh_path(), NULL);
    pdk_election_callbacks callbacks;
    record *r = record_new();

    wrong = g_string_new(NULL);
    ck_assert_int_eq(pdk_service_start(other, wait_for_the_end, NULL, NULL, &it.service), PDK_OK);
    record_callbacks(r, &callbacks);
    callbacks.leader = record_leader;
    for (enum told what = ELECTED; what <= LEADER; what++) {
        record_act(r, what, try_all, NULL);
    }
    ck_assert_int_eq(pdk_election_join(it.election, &callbacks), PDK_OK);
    assert_told(r, ELECTED, 1);
    ck_assert(record_wait(r, LEADER, 1, 5000));
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_told(r, FAILED, 1);
    ck_assert_str_eq(wrong->str, "");
    ck_assert_int_eq(pdk_service_close(it.service, 5000), PDK_OK);
    pdk_service_unref(it.service);
    g_string_free(wrong, TRUE);
}
END_TEST

/* ---- a forked child */

static void forked(const char *call, pdk_status status) {
    if (status != PDK_FORKED || strstr(pdk_last_error(), "parent process") == NULL) {
        g_string_append_printf(wrong, "%s: %s (%s); ", call, pdk_status_name(status), pdk_last_error());
    }
}

static void use_all_in_the_child(void) {
    pdk_election *election = NULL;
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    pdk_observer *observer = NULL;
    pdk_service *service = NULL;

    forked("new", pdk_election_new(it.client->session, "/a", NULL, &election));
    forked("join", pdk_election_join(it.election, NULL));
    forked("leave", pdk_election_leave(it.election));
    forked("resign", pdk_election_resign(it.election));
    forked("await", pdk_election_wait(it.election, 1000, &hold));
    forked("leader", pdk_election_leader(it.election, 1000, &list));
    forked("candidates", pdk_election_list(it.election, 1000, &list));
    forked("observe", pdk_election_observe(it.election, never_leader, NULL, never_free, &observer));
    forked("run", pdk_service_start(it.election, never_run, NULL, NULL, &service));
    forked("service resign", pdk_service_resign(it.service));
    forked("service stop", pdk_service_close(it.service, 1000));
    pdk_observer_close(it.observer);
    pdk_service_unref(it.service);
    for (int i = 0; i < 5; i++) { /* more often than there are references */
        pdk_election_unref(it.election);
    }
    if (election || hold || list || observer || service) {
        g_string_append(wrong, "an output was touched; ");
    }
}

START_TEST(a_forked_child_is_refused) {
    pdk_election *other = election_on(it.client, ts_fresh_path(), NULL);
    record *r = candidate_elected(it.election), *watching = record_new();
    int ends[2], status = 0;
    char text[2000] = "";

    wrong = g_string_new(NULL);
    ck_assert_int_eq(pdk_service_start(other, wait_for_the_end, NULL, NULL, &it.service), PDK_OK);
    ck_assert_int_eq(pdk_election_observe(it.election, record_leader, watching, record_freed, &it.observer), PDK_OK);
    ck_assert(record_wait(watching, LEADER, 1, 5000));
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t pid = ts_fork();
    if (pid == 0) {
        alarm(20); /* a call that hangs ends the child */
        use_all_in_the_child();
        ts_end_child(write(ends[1], wrong->str, wrong->len) == (ssize_t)wrong->len ? 0 : 2);
    }
    close(ends[1]);
    ck_assert_int_ge(read(ends[0], text, sizeof text - 1), 0);
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(status, 0);
    ck_assert(pdk_hold_is_valid(record_hold(r))); /* the parent has taken no harm */
    pdk_observer_close(it.observer);
    ck_assert(record_wait(watching, FREED, 1, 5000));
    ck_assert_int_eq(pdk_service_close(it.service, 5000), PDK_OK);
    pdk_service_unref(it.service);
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    assert_told(r, DEPOSED, 1);
    g_string_free(wrong, TRUE);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_input");
    TCase *tcase = ts_bench_case(suite, "election_input");

    tcase_add_checked_fixture(tcase, make_it, NULL);
    tcase_add_test(tcase, null_is_refused);
    tcase_add_test(tcase, null_is_answered_by_calls_without_a_status);
    tcase_add_test(tcase, timeouts_are_checked);
    tcase_add_test(tcase, paths_are_checked);
    tcase_add_test(tcase, election_options_are_checked);
    tcase_add_test(tcase, larger_structs_are_accepted_when_the_rest_is_zero);
    tcase_add_test(tcase, callbacks_and_service_options_are_checked);
    tcase_add_test(tcase, a_closed_session);
    tcase_add_test(tcase, a_callback_must_not_block);
    tcase_add_test(tcase, a_forked_child_is_refused);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
