/* Publishing from callbacks, services and closed sessions; what may not be published, or read. */
#include <glib.h>
#include <string.h>
#include <sys/wait.h>

#include "published.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

/* ---- without waiting */

START_TEST(calls_with_callbacks_take_turns) {
    enum { CALLS = 20 };
    struct published_answer answers[CALLS] = {0};
    lead();
    for (int i = 0; i < CALLS; i++) {
        g_autofree char *text = g_strdup_printf("%d", i);
        ck_assert_int_eq(pdk_election_publish_async(led.election, led.hold, text, strlen(text), PDK_FOREVER,
                                                    published_answered, &answers[i]),
                         PDK_OK);
    }
    for (int i = 0; i < CALLS; i++) {
        ck_assert(ts_wait_until(published_is_answered, &answers[i], ts_patience(PATIENCE_MS)));
        ck_assert_int_eq(answers[i].status, PDK_OK);
    }
    assert_seen("anna=19");
}
END_TEST

START_TEST(the_session_ends_in_the_middle) {
    struct published_answer first = {0}, second = {0};
    lead();
    ts_proxy_set_mode(led.client->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(
        pdk_election_publish_async(led.election, led.hold, "a", 1, PDK_FOREVER, published_answered, &first), PDK_OK);
    ck_assert_int_eq(pdk_election_publish_async(led.election, led.hold, "b", 1, 100, published_answered, &second),
                     PDK_OK);
    ck_assert(ts_wait_until(published_is_answered, &second, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(second.status, PDK_UNAVAILABLE);
    pdk_session_close(led.client->session, 500);
    ck_assert_int_eq(g_atomic_int_get(&first.count), 1);
    ck_assert_int_eq(first.status, PDK_CLOSED);
    refused(pdk_election_publish_async(led.election, led.hold, "c", 1, 0, published_answered, &second), PDK_CLOSED,
            "closed");
    ts_proxy_heal(led.client->proxy);
}
END_TEST

static void publish_elected(record *r, void *user) {
    (void)r;
    struct published_answer *a = user;
    led.hold = record_hold(led.candidate);
    refused(publish("blocks"), PDK_WRONG_THREAD, "callback");
    ck_assert_int_eq(
        pdk_election_publish_async(led.election, led.hold, "at once", 7, PATIENCE_MS, published_answered, a), PDK_OK);
}

START_TEST(in_the_callback_that_tells_of_the_term) {
    struct published_answer a = {0};
    led.client = led.other = ts_bench_client(SESSION_MS);
    led.path = ts_fresh_path();
    led.election = led.seen = election_on(led.client, led.path, "anna");
    led.candidate = record_new();
    record_act(led.candidate, ELECTED, publish_elected, &a);
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    record_callbacks(led.candidate, &calls);
    ck_assert_int_eq(pdk_election_join(led.election, &calls), PDK_OK);
    ck_assert(ts_wait_until(published_is_answered, &a, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(a.status, PDK_OK);
    assert_seen("anna=at once");
}
END_TEST

/* ---- others */

static void serve(pdk_term *term, void *user) {
    struct published_answer *a = user;
    published_answered(pdk_election_publish(led.election, pdk_term_hold(term), "served", 6, PATIENCE_MS), a);
    while (!pdk_term_is_ending(term))
        ts_sleep_ms(5);
}

START_TEST(a_service_publishes) {
    struct published_answer a = {0};
    pdk_service *service = NULL;
    led.client = led.other = ts_bench_client(SESSION_MS);
    led.path = ts_fresh_path();
    led.election = led.seen = election_on(led.client, led.path, "anna");
    ck_assert_int_eq(pdk_service_start(led.election, serve, &a, NULL, &service), PDK_OK);
    ck_assert(ts_wait_until(published_is_answered, &a, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(a.status, PDK_OK);
    assert_seen("anna=served");
    ck_assert_int_eq(pdk_service_close(service, PATIENCE_MS), PDK_OK);
    pdk_service_unref(service);
}
END_TEST

/* kazoo reads the whole as text. */
START_TEST(with_kazoos_naming_it_is_text) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = "anna";
    options.naming = PDK_NAMING_KAZOO;
    lead_with(&options);
    ck_assert_int_eq(publish("gr\xc3\xbcn"), PDK_OK);
    assert_seen("anna=gr\xc3\xbcn");
    refused(publish("gr\xfcn"), PDK_INVALID, "UTF-8");
    ck_assert_int_eq(publish(NULL), PDK_OK);
    assert_seen("anna");
    ck_assert_int_eq(publish("gr\xc3\xbcn"), PDK_OK);
    assert_seen("anna=gr\xc3\xbcn");
}
END_TEST

/* As the tokens of holds: with what the session puts before them. */
START_TEST(tokens_have_their_generation) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_observer *observer = NULL;
    options.token_base = pdk_token_base_above(1);
    led.client = led.other = ts_client_open_with(ts_bench_server(), NULL, &options);
    led.path = ts_fresh_path();
    led.election = led.seen = election_on(led.client, led.path, "anna");
    record *plain = observer_begin(led.seen);
    struct watch *w = data_watch_begin(led.seen, &observer);
    led.candidate = candidate_elected(led.election);
    led.hold = record_hold(led.candidate);
    ck_assert(record_wait_leader(plain, "anna", PATIENCE_MS));
    assert_newest(w, "anna");
    ck_assert_int_gt(pdk_hold_token(led.hold), options.token_base);
    ck_assert_int_eq(record_leader_token(plain), pdk_hold_token(led.hold));
    ck_assert_int_eq(w->token, pdk_hold_token(led.hold));
    pdk_observer_close(observer);
}
END_TEST

START_TEST(a_leader_that_may_not_be_read) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_observer *observer = NULL;
    options.digest = "user:secret";
    options.access = PDK_ACCESS_CREATOR;
    options.accept_unprotected = 1; /* the directory is open */
    led.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    led.other = ts_bench_client(SLOW_MS);
    led.path = ts_fresh_path();
    led.election = election_on(led.client, led.path, "anna");
    led.seen = election_on(led.other, led.path, NULL);
    ck_assert_int_eq(ts_create(ts_bench_server(), led.path, "", TS_PERSISTENT, NULL), 0);
    led.candidate = candidate_elected(led.election);
    led.hold = record_hold(led.candidate);
    struct watch *w = data_watch_begin(led.seen, &observer);
    assert_newest(w, "");
    ck_assert_int_eq(w->token, 0);
    ck_assert_int_eq(publish("secret"), PDK_OK);
    ts_sleep_ms(100);
    assert_newest(w, "");
    pdk_observer_close(observer);
}
END_TEST

START_TEST(bad_input_is_refused) {
    struct published_answer a = {0};
    pdk_observer *observer = NULL;
    lead();
    pdk_hold *other = ts_bench_acquire(ts_lock(led.client, "/t/other-than-election"), PATIENCE_MS);
    refused(pdk_election_publish(NULL, led.hold, "", 0, 0), PDK_INVALID, "election");
    refused(pdk_election_publish(led.election, NULL, "", 0, 0), PDK_INVALID, "hold");
    refused(pdk_election_publish(led.election, other, "", 0, 0), PDK_INVALID, "hold");
    refused(pdk_election_publish(led.seen, led.hold, "", 0, 0), PDK_INVALID, "hold");
    refused(pdk_election_publish(led.election, led.hold, NULL, 1, 0), PDK_INVALID, "data");
    refused(pdk_election_publish(led.election, led.hold, "", 0, -2), PDK_INVALID, "timeout_ms");
    refused(pdk_election_publish_async(led.election, led.hold, "", 0, 0, NULL, NULL), PDK_INVALID, "fn");
    refused(pdk_election_publish_async(NULL, led.hold, "", 0, 0, published_answered, &a), PDK_INVALID, "election");
    refused(pdk_election_publish_async(led.election, led.hold, "", 0, -2, published_answered, &a), PDK_INVALID,
            "timeout_ms");
    refused(pdk_election_observe_data(NULL, data_watch_note, NULL, NULL, &observer), PDK_INVALID, "election");
    refused(pdk_election_observe_data(led.election, NULL, NULL, NULL, &observer), PDK_INVALID, "fn");
    refused(pdk_election_observe_data(led.election, data_watch_note, NULL, NULL, NULL), PDK_INVALID, "out");
    ck_assert_int_eq(g_atomic_int_get(&a.count), 0);
    pdk_hold_release(other);
    assert_seen("anna");
}
END_TEST

START_TEST(the_identity_may_be_that_of_the_session) {
    lead_with(NULL);
    ck_assert_int_eq(publish("one"), PDK_OK);
    g_autofree char *seen = g_strdup_printf("%s=one", pdk_session_identity(led.client->session));
    assert_seen(seen);
}
END_TEST

/* ---- a forked child */

static void never_listed(pdk_status status, pdk_contenders *list, void *user) {
    pdk_contenders_free(list);
    published_answered(status, user);
}

START_TEST(a_forked_child_is_refused) {
    struct published_answer a = {0};
    pdk_observer *observer = NULL;
    int status = -1;
    lead();
    const pid_t child = ts_fork();
    if (child == 0) {
        bool fine =
            pdk_election_publish(led.election, led.hold, "a", 1, 0) == PDK_FORKED &&
            pdk_election_publish_async(led.election, led.hold, "a", 1, 0, published_answered, &a) == PDK_FORKED &&
            pdk_election_leader_async(led.election, 0, never_listed, &a) == PDK_FORKED &&
            pdk_election_list_async(led.election, 0, never_listed, &a) == PDK_FORKED &&
            pdk_election_observe_data(led.election, data_watch_note, NULL, NULL, &observer) == PDK_FORKED;
        ts_end_child(fine && a.count == 0 && !observer ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    assert_seen("anna");
}
END_TEST

/* ---- members of groups, which have the same mechanism */

START_TEST(a_member_sets_its_data_without_waiting) {
    enum { CALLS = 10 };
    struct published_answer answers[CALLS] = {0}, late = {0}, left = {0};
    pdk_member *member = NULL;
    g_autofree char *data = NULL;
    int length = 0;
    led.client = ts_bench_client(SESSION_MS);
    led.path = ts_fresh_path();
    ck_assert_int_eq(pdk_group_join(led.client->session, led.path, "zero", 4, NULL, &member), PDK_OK);
    for (int i = 0; i < CALLS; i++) { /* it need not be registered yet */
        g_autofree char *text = g_strdup_printf("%d", i);
        ck_assert_int_eq(pdk_member_set_data_async(member, text, 1, PDK_FOREVER, published_answered, &answers[i]),
                         PDK_OK);
    }
    for (int i = 0; i < CALLS; i++) {
        ck_assert(ts_wait_until(published_is_answered, &answers[i], ts_patience(PATIENCE_MS)));
        ck_assert_int_eq(answers[i].status, PDK_OK);
    }
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_member_wait(member, PATIENCE_MS, &hold), PDK_OK);
    ck_assert_int_eq(ts_get(ts_bench_server(), pdk_hold_node(hold), &data, &length, NULL), 0);
    ck_assert_int_eq(length, 1);
    ck_assert_int_eq(data[0], '9');
    pdk_hold_unref(hold);
    ts_proxy_set_mode(led.client->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_member_set_data_async(member, "x", 1, 100, published_answered, &late), PDK_OK);
    ck_assert(ts_wait_until(published_is_answered, &late, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(late.status, PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_member_set_data_async(member, "y", 1, PDK_FOREVER, published_answered, &left), PDK_OK);
    ck_assert_int_eq(pdk_member_leave(member), PDK_OK);
    ck_assert(ts_wait_until(published_is_answered, &left, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(left.status, PDK_NOT_HELD);
    refused(pdk_member_set_data_async(NULL, "", 0, 0, published_answered, &late), PDK_INVALID, "member");
    refused(pdk_member_set_data_async(member, "", 0, 0, NULL, NULL), PDK_INVALID, "fn");
    refused(pdk_member_set_data_async(member, NULL, 1, 0, published_answered, &late), PDK_INVALID, "data");
    refused(pdk_member_set_data_async(member, "", 0, -2, published_answered, &late), PDK_INVALID, "timeout_ms");
    ts_proxy_heal(led.client->proxy);
    pdk_member_unref(member);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_data_calls");
    TCase *tcase = ts_bench_case(suite, "election_data_calls");
    tcase_add_test(tcase, calls_with_callbacks_take_turns);
    tcase_add_test(tcase, the_session_ends_in_the_middle);
    tcase_add_test(tcase, in_the_callback_that_tells_of_the_term);
    tcase_add_test(tcase, a_service_publishes);
    tcase_add_test(tcase, with_kazoos_naming_it_is_text);
    tcase_add_test(tcase, tokens_have_their_generation);
    tcase_add_test(tcase, a_leader_that_may_not_be_read);
    tcase_add_test(tcase, bad_input_is_refused);
    tcase_add_test(tcase, the_identity_may_be_that_of_the_session);
    tcase_add_test(tcase, a_forked_child_is_refused);
    tcase_add_test(tcase, a_member_sets_its_data_without_waiting);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
