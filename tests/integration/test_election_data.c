/* What a leader publishes during its term: who reads it, who is told, and that nobody sees it in another term. */
#include <glib.h>
#include <string.h>

#include "published.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_record.h"
#include "ts_support.h"

START_TEST(it_is_read_and_told_and_changed) {
    pdk_observer *observer = NULL;
    lead();
    struct watch *w = data_watch_begin(led.seen, &observer);
    record *plain = observer_begin(led.seen);
    assert_newest(w, "anna");
    assert_seen("anna");
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    assert_seen("anna=one");
    ck_assert_int_eq(publish("two"), PDK_OK);
    ck_assert_int_eq(publish("two"), PDK_OK);
    assert_newest(w, "anna=two");
    ck_assert_int_eq(publish(""), PDK_OK);
    assert_newest(w, "anna=");
    ck_assert_int_eq(publish(NULL), PDK_OK);
    assert_newest(w, "anna");
    assert_seen("anna");
    ck_assert_int_eq(w->token, pdk_hold_token(led.hold));
    ts_record_lock();
    ck_assert_str_eq(w->told->str, "anna anna=one anna=two anna= anna"); /* each change once */
    ts_record_unlock();
    pdk_observer_close(observer);
    g_autofree char *leaders = record_leaders(plain);
    ck_assert_str_eq(leaders, "anna"); /* the leader is the same for who wants no data */
}
END_TEST

START_TEST(any_bytes_up_to_the_limit) {
    size_t size = 0;
    pdk_contenders *list = NULL;
    lead();
    g_autofree char *most = g_malloc(PDK_ELECTION_DATA_MAX + 1);
    for (size_t i = 0; i <= PDK_ELECTION_DATA_MAX; i++)
        most[i] = (char)(i * 7);
    ck_assert_uint_eq(pdk_election_data_max(), PDK_ELECTION_DATA_MAX);
    refused(pdk_election_publish(led.election, led.hold, most, PDK_ELECTION_DATA_MAX + 1, PATIENCE_MS), PDK_LIMIT,
            "size");
    ck_assert_int_eq(pdk_election_publish(led.election, led.hold, most, PDK_ELECTION_DATA_MAX, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_election_list(led.seen, PATIENCE_MS, &list), PDK_OK);
    ck_assert_str_eq(pdk_contenders_identity(list, 0), "anna");
    ck_assert_mem_eq(pdk_contenders_data(list, 0, &size), most, PDK_ELECTION_DATA_MAX);
    ck_assert_uint_eq(size, PDK_ELECTION_DATA_MAX);
    ck_assert_ptr_null(pdk_contenders_data(list, 1, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert_ptr_null(pdk_contenders_data(NULL, 0, NULL));
    pdk_contenders_free(list);
}
END_TEST

/* The next term begins without data, the leader's own too. */
START_TEST(it_ends_with_the_term) {
    pdk_observer *observer = NULL;
    lead();
    struct watch *w = data_watch_begin(led.seen, &observer);
    record *next = candidate_join(led.seen);
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    ck_assert_int_eq(pdk_election_resign(led.election), PDK_OK);
    refused(publish("late"), PDK_NOT_HELD, led.path);
    assert_told(next, ELECTED, 1);
    assert_newest(w, "anna"); /* both have the identity */
    ck_assert_int_ne(w->token, pdk_hold_token(led.hold));
    ck_assert_int_eq(pdk_election_resign(led.seen), PDK_OK);
    assert_told(led.candidate, ELECTED, 2);
    assert_seen("anna");
    led.hold = record_hold(led.candidate);
    ck_assert_int_eq(publish("again"), PDK_OK);
    assert_newest(w, "anna=again");
    pdk_observer_close(observer);
}
END_TEST

/* ---- trouble */

START_TEST(a_leader_that_is_cut_off_changes_nothing) {
    pdk_observer *observer = NULL;
    lead();
    struct watch *w = data_watch_begin(led.seen, &observer);
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    ts_proxy_set_mode(led.client->proxy, TS_BLACKHOLE);
    refused(pdk_election_publish(led.election, led.hold, "two", 3, 100), PDK_UNAVAILABLE, led.path);
    refused(pdk_election_publish(led.election, led.hold, "three", 5, 4 * SESSION_MS), PDK_LOST, led.path);
    refused(publish("four"), PDK_LOST, led.path);
    assert_newest(w, "-"); /* its session has expired */
    pdk_hold *old = pdk_hold_ref(led.hold);
    ts_proxy_heal_discard(led.client->proxy);
    assert_told(led.candidate, ELECTED, 2);
    assert_seen("anna");
    refused(pdk_election_publish(led.election, old, "late", 4, PATIENCE_MS), PDK_LOST, led.path);
    pdk_hold_unref(old);
    led.hold = record_hold(led.candidate);
    ck_assert_int_eq(publish("new"), PDK_OK);
    assert_newest(w, "anna=new");
    pdk_observer_close(observer);
}
END_TEST

/* The write, or its answer, is lost. The next connection tells. */
START_TEST(a_lost_write_is_found_or_written_again) {
    lead();
    for (int i = 0; i < 2; i++) {
        g_autofree char *text = g_strdup_printf("try %d", i);
        g_autofree char *seen = g_strdup_printf("anna=%s", text);
        ts_proxy_arm(led.client->proxy, TS_OP_SET_DATA, i == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
        ck_assert_int_eq(publish(text), PDK_OK);
        assert_seen(seen);
    }
    /* Two writes whose answers are lost: whichever landed is ours. */
    ts_proxy_arm(led.client->proxy, TS_OP_SET_DATA, TS_LOSE_REPLY, TS_BLACKHOLE);
    refused(pdk_election_publish(led.election, led.hold, "landed", 6, 100), PDK_UNAVAILABLE, led.path);
    refused(pdk_election_publish(led.election, led.hold, "not sent", 8, 100), PDK_UNAVAILABLE, led.path);
    ts_proxy_heal(led.client->proxy);
    ck_assert_int_eq(publish("last"), PDK_OK);
    assert_seen("anna=last");
}
END_TEST

START_TEST(somebody_else_writes) {
    lead();
    ck_assert_int_eq(publish("one"), PDK_OK);
    ck_assert_int_eq(ts_set(ts_bench_server(), pdk_hold_node(led.hold), "stranger"), 0);
    refused(publish("two"), PDK_REPLACED, led.path);
    assert_seen("stranger");
    ck_assert_int_eq(publish("two"), PDK_OK);
    assert_seen("anna=two");
    ck_assert_int_eq(ts_set(ts_bench_server(), pdk_hold_node(led.hold), "__REVOKE__"), 0); /* not for a znode of ours */
    refused(publish("three"), PDK_REPLACED, led.path);
    ck_assert_int_eq(ts_delete(ts_bench_server(), pdk_hold_node(led.hold)), 0);
    refused(publish("three"), PDK_LOST, led.path);
}
END_TEST

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)until_ms;
    ck_assert_str_eq(who, "op");
    g_atomic_int_inc((gint *)user);
}

static bool was_asked(void *user) { return g_atomic_int_get((gint *)user) > 0; }

/* A wish stands in front of the identity. It takes nothing away, and is not lost. */
START_TEST(a_leader_is_asked_to_let_go) {
    static gint asked;
    pdk_observer *observer = NULL;
    lead();
    record *plain = observer_begin(led.seen);
    struct watch *w = data_watch_begin(led.seen, &observer);
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    for (int i = 0; i < 3; i++) {
        g_autofree char *text = g_strdup_printf("after %d", i);
        g_autofree char *seen = g_strdup_printf("anna=%s", text);
        g_atomic_int_set(&asked, 0);
        if (i == 0)
            ck_assert_int_eq(pdk_hold_on_request(led.hold, on_asked, &asked, NULL), PDK_OK);
        ck_assert_int_eq(pdk_session_request_release(led.other->session, led.path, NULL, "op", 1000, PATIENCE_MS),
                         PDK_OK);
        assert_seen(i == 0 ? "anna=one" : i == 1 ? "anna=after 0" : "anna=after 1");
        ck_assert_int_eq(publish(text), PDK_OK);
        assert_seen(seen);
        ck_assert(ts_wait_until(was_asked, &asked, ts_patience(PATIENCE_MS)));
    }
    assert_newest(w, "anna=after 2");
    pdk_observer_close(observer);
    g_autofree char *leaders = record_leaders(plain);
    ck_assert_str_eq(leaders, "anna"); /* a wish is no other leader */
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_data");
    TCase *tcase = ts_bench_case(suite, "election_data");
    tcase_add_test(tcase, it_is_read_and_told_and_changed);
    tcase_add_test(tcase, any_bytes_up_to_the_limit);
    tcase_add_test(tcase, it_ends_with_the_term);
    tcase_add_test(tcase, a_leader_that_is_cut_off_changes_nothing);
    tcase_add_test(tcase, a_lost_write_is_found_or_written_again);
    tcase_add_test(tcase, somebody_else_writes);
    tcase_add_test(tcase, a_leader_is_asked_to_let_go);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
