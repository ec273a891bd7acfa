/* The election on a real server: one leader, its terms and how each of them ends, resigning, and which candidate queues
 * when. */
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

/* ---- one leader */

/* Several sessions, and several elections of one session. The first in the queue leads, and the next one follows it. */
START_TEST(one_of_several_leads) {
    enum { CANDIDATES = 6 };
    const char *path = ts_fresh_path();
    ts_client *clients[3];
    pdk_election *elections[CANDIDATES];
    record *records[CANDIDATES];
    int64_t last = 0;

    for (int i = 0; i < CANDIDATES; i++) {
        if (i < 3) {
            clients[i] = ts_bench_client(SESSION_MS);
        }
        elections[i] = election_on(clients[i % 3], path, NULL);
        records[i] = candidate_join(elections[i]);
        ck_assert(ts_wait_children(server(), path, i + 1, 5000));
    }
    for (int i = 0; i < CANDIDATES; i++) {
        assert_told(records[i], ELECTED, 1);
        ts_sleep_ms(50);
        for (int later = i + 1; later < CANDIDATES; later++) {
            ck_assert_int_eq(record_count(records[later], ELECTED), 0);
        }
        ck_assert(record_hold_was_valid(records[i]));
        ck_assert(pdk_hold_is_valid(record_hold(records[i])));
        ck_assert_int_gt(record_token(records[i]), last);
        last = record_token(records[i]);
        ck_assert_int_eq(pdk_election_leave(elections[i]), PDK_OK);
        ck_assert(!pdk_hold_is_valid(record_hold(records[i])));
        assert_told(records[i], DEPOSED, 1);
    }
    ck_assert(ts_wait_children(server(), path, 0, SOON_MS));
    for (int i = 0; i < CANDIDATES; i++) {
        assert_history(records[i], "elected deposed:NONE");
    }
}
END_TEST

START_TEST(the_hold_of_a_leader) {
    const char *path = ts_fresh_path();
    ts_client *c = ts_bench_client(SESSION_MS);
    record *r = candidate_elected(election_on(c, path, NULL));
    pdk_hold *hold = record_hold(r);
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *proof = g_strdup_printf("pdk1 %s leader %" G_GINT64_FORMAT " 0", node, pdk_hold_token(hold));
    ts_stat stat;

    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    ck_assert_int_eq(pdk_hold_token(hold), stat.czxid);
    ck_assert_uint_eq(pdk_hold_handover(hold), 0);
    ck_assert_str_eq(pdk_hold_sequencer(hold), proof);
    ck_assert_int_eq(pdk_session_check_sequencer(c->session, proof, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_ensure(hold, 10), PDK_OK);
    ck_assert(!ts_fd_readable(pdk_hold_fd(hold), 0));
}
END_TEST

/* ---- the end of a term */

static struct {
    const char *path;
    ts_client *client;
    pdk_election *election;
    record *r;
} it;

static void elect_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.election = election_on(it.client, it.path, NULL);
    it.r = candidate_elected(it.election);
}

static void by_resigning(void) { ck_assert_int_eq(pdk_election_resign(it.election), PDK_OK); }
static void by_releasing(void) { ck_assert_int_eq(pdk_hold_release(pdk_hold_ref(record_hold(it.r))), PDK_OK); }
static void by_an_admin(void) { delete_node_of(record_hold(it.r)); }
static void by_expiry(void) { ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0); }

static void by_silence(void) {
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ck_assert(record_wait(it.r, DEPOSED, 1, ts_patience(SESSION_MS + SOON_MS)));
    ck_assert_int_eq(record_count(it.r, ELECTED), 1);
    ts_proxy_heal_discard(it.client->proxy);
}

static const struct {
    void (*end)(void);
    const char *history;
} ends[] = {
    {by_resigning, "elected deposed:NONE elected"},     {by_releasing, "elected deposed:NONE elected"},
    {by_an_admin, "elected deposed:NODE_GONE elected"}, {by_expiry, "elected deposed:EXPIRED elected"},
    {by_silence, "elected deposed:LEASE elected"},
};

/* There is one `deposed` for one `elected`, however the term ends. Then it is a candidate again, and as the only one it
 * leads again. */
START_TEST(every_end_of_a_term) {
    elect_it();
    const int64_t token = record_token(it.r);
    pdk_hold *first = pdk_hold_ref(record_hold(it.r));

    ends[_i].end();
    ck_assert_msg(record_wait(it.r, ELECTED, 2, ts_patience(2 * SESSION_MS)), "end %d: %s", _i, record_history(it.r));
    ts_sleep_ms(100);
    assert_history(it.r, ends[_i].history);
    ck_assert(!pdk_hold_is_valid(first));
    ck_assert(record_hold_was_valid(it.r));
    ck_assert_int_gt(record_token(it.r), token);
    ck_assert(ts_wait_children(server(), it.path, 1, SOON_MS));
    pdk_hold_unref(first);
}
END_TEST

/* The end of the session is the end of the candidate, which is told so. */
START_TEST(closing_the_session) {
    elect_it();
    record *waiting = candidate_join(election_on(it.client, it.path, NULL));

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_history(it.r, "elected deposed:CLOSED failed:CLOSED");
    assert_history(waiting, "failed:CLOSED");
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_resign(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_join(it.election, NULL), PDK_CLOSED);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
}
END_TEST

/* The successor of a lost leader is never elected before the lease has ended. */
START_TEST(a_leader_cut_off_and_its_successor) {
    elect_it();
    record *other = candidate_join(election_on(ts_bench_client(SESSION_MS), it.path, NULL));
    pdk_hold *hold = record_hold(it.r);

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    for (int elected = 0; pdk_hold_is_valid(hold); elected = record_count(other, ELECTED)) {
        ck_assert_int_eq(elected, 0); /* counted before the hold was seen valid */
        ts_sleep_ms(2);
    }
    assert_told(it.r, DEPOSED, 1);
    assert_told(other, ELECTED, 1);
    ck_assert_int_gt(record_token(other), record_token(it.r));
    ts_proxy_heal_discard(it.client->proxy);
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(SESSION_MS)));
    assert_history(it.r, "elected deposed:LEASE");
    assert_history(other, "elected");
}
END_TEST

/* A cut that is shorter than the lease does not end the term. */
START_TEST(a_short_cut_does_not_end_the_term) {
    elect_it();
    ts_proxy_set_mode(it.client->proxy, TS_CUT);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_SUSPENDED, 1, ts_patience(SOON_MS)));
    ck_assert_int_gt(ts_event_left_ms(it.client, PDK_SESSION_SUSPENDED), 0);
    ck_assert_int_gt(pdk_hold_remaining_ms(record_hold(it.r)), 0);
    ts_proxy_heal(it.client->proxy);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(SOON_MS)));
    ck_assert(pdk_hold_is_valid(record_hold(it.r)));
    assert_history(it.r, "elected");
}
END_TEST

/* ---- the order of callbacks, and which candidate queues when */

static void resign_within(record *r, void *election) {
    if (record_count(r, ELECTED) == 1) {
        pdk_election_resign(election);
    }
}

START_TEST(resigned_while_elected_runs) {
    pdk_election *election = election_on(ts_bench_client(SESSION_MS), ts_fresh_path(), NULL);
    pdk_election_callbacks callbacks;
    record *r = record_new();

    record_callbacks(r, &callbacks);
    record_act(r, ELECTED, resign_within, election);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    assert_told(r, ELECTED, 2);
    assert_history(r, "elected deposed:NONE elected");
}
END_TEST

/* A deposed candidate is in no queue until `deposed` has returned. */
START_TEST(it_queues_again_after_deposed_and_not_before) {
    door *d = door_new();

    elect_it();
    record_act(it.r, DEPOSED, at_door, d);
    if (_i == 0) {
        delete_node_of(record_hold(it.r));
    } else {
        ck_assert_int_eq(pdk_election_resign(it.election), PDK_OK);
    }
    assert_told(it.r, DEPOSED, 1);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ts_sleep_ms(300);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
    ck_assert_int_eq(pdk_election_resign(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_join(it.election, NULL), PDK_INVALID); /* it is a candidate all the time */
    door_open(d);
    assert_told(it.r, ELECTED, 2);
}
END_TEST

/* The next candidate leads. The one that resigned is behind all others in the queue. */
START_TEST(resigning_hands_over_and_queues_at_the_end) {
    const char *path = ts_fresh_path(), *const names[] = {"anna", "bruno", "clara"};
    pdk_election *elections[3];
    record *records[3];
    pdk_contenders *list = NULL;

    for (int i = 0; i < 3; i++) {
        elections[i] = election_on(ts_bench_client(SESSION_MS), path, names[i]);
        records[i] = candidate_join(elections[i]);
        ck_assert(ts_wait_children(server(), path, i + 1, 5000));
    }
    for (int turn = 0; turn < 4; turn++) {
        assert_told(records[turn % 3], ELECTED, turn / 3 + 1);
        ck_assert_int_eq(pdk_election_resign(elections[(turn + 1) % 3]), PDK_NOT_HELD);
        ck_assert_int_eq(pdk_election_resign(elections[turn % 3]), PDK_OK);
        assert_told(records[(turn + 1) % 3], ELECTED, (turn + 1) / 3 + 1);
        ck_assert(ts_wait_children(server(), path, 3, ts_patience(SOON_MS)));
        ck_assert_int_eq(pdk_election_list(elections[0], 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 3);
        for (int i = 0; i < 3; i++) {
            ck_assert_str_eq(pdk_contenders_identity(list, (size_t)i), names[(turn + 1 + i) % 3]);
        }
        pdk_contenders_free(list);
    }
}
END_TEST

static void *resign_main(void *election) { return GINT_TO_POINTER(pdk_election_resign(election)); }

/* Several threads resign at once, and one succeeds. */
START_TEST(resigning_from_many_threads) {
    enum { THREADS = 4 };
    GThread *threads[THREADS];
    int done = 0;
    door *d = door_new();

    elect_it();
    record_act(it.r, DEPOSED, at_door, d); /* so that it is not elected meanwhile */
    for (int i = 0; i < THREADS; i++) {
        threads[i] = g_thread_new("resign", resign_main, it.election);
    }
    for (int i = 0; i < THREADS; i++) {
        const int status = GPOINTER_TO_INT(g_thread_join(threads[i]));

        ck_assert(status == PDK_OK || status == PDK_NOT_HELD);
        done += status == PDK_OK;
    }
    ck_assert_int_eq(done, 1);
    door_open(d);
    assert_told(it.r, ELECTED, 2);
    assert_history(it.r, "elected deposed:NONE elected");
}
END_TEST

/* Waiting candidates whose node or session is lost queue again. They are told nothing of it. */
START_TEST(a_waiting_candidate_is_told_nothing) {
    elect_it();
    ts_client *c = ts_bench_client(SESSION_MS);
    record *waiting = candidate_join(election_on(c, it.path, NULL));

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_int_eq(ts_expire(c->proxy, server()), 0);
    ck_assert(ts_wait_event(c, PDK_SESSION_REOPENED, 1, ts_patience(SESSION_MS)));
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(SOON_MS)));
    g_auto(GStrv) children = ts_children(server(), it.path, NULL);
    g_autofree char *leaders = ts_hold_node(record_hold(it.r));
    for (int i = 0; children[i] != NULL; i++) {
        g_autofree char *child = g_strdup_printf("%s/%s", it.path, children[i]);

        if (strcmp(child, leaders) != 0) {
            ck_assert_int_eq(ts_delete(server(), child), 0);
        }
    }
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(2 * SESSION_MS)));
    assert_history(waiting, "");
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    assert_told(waiting, ELECTED, 1);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election");
    TCase *tcase = ts_bench_case(suite, "election");

    tcase_add_test(tcase, one_of_several_leads);
    tcase_add_test(tcase, the_hold_of_a_leader);
    tcase_add_loop_test(tcase, every_end_of_a_term, 0, G_N_ELEMENTS(ends));
    tcase_add_test(tcase, closing_the_session);
    tcase_add_test(tcase, a_leader_cut_off_and_its_successor);
    tcase_add_test(tcase, a_short_cut_does_not_end_the_term);
    tcase_add_test(tcase, resigned_while_elected_runs);
    tcase_add_loop_test(tcase, it_queues_again_after_deposed_and_not_before, 0, 2);
    tcase_add_test(tcase, resigning_hands_over_and_queues_at_the_end);
    tcase_add_test(tcase, resigning_from_many_threads);
    tcase_add_test(tcase, a_waiting_candidate_is_told_nothing);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
