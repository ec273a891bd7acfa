/* Observers of an election. They are told the present leader first, then every new one in order, across cuts and lost
 * sessions. After the stop they are told nothing. Also what they cost the server. */
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *a, *b; /* a's candidates are in the election, b observes it */
    pdk_election *seen;
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.a = ts_bench_client(SESSION_MS);
    it.b = ts_bench_client(SESSION_MS);
    it.seen = election_on(it.b, it.path, NULL);
}

/* The candidate leads, or waits to lead. */
static pdk_election *enter(const char *identity) {
    pdk_election *election = election_on(it.a, it.path, identity);
    const int before = MAX(0, ts_child_count(server(), it.path));

    candidate_join(election);
    ck_assert(ts_wait_children(server(), it.path, before + 1, 5000));
    return election;
}

#define assert_leader(r, identity)                                                                                     \
    ck_assert_msg(record_wait_leader(r, identity, ts_patience(SESSION_MS + SOON_MS)), "not told: %s", identity)

#define assert_leaders(r, wanted)                                                                                      \
    do {                                                                                                               \
        g_autofree char *leaders_ = record_leaders(r);                                                                 \
        ck_assert_str_eq(leaders_, wanted);                                                                            \
        ck_assert(!record_overlapped(r));                                                                              \
    } while (0)

/* ---- the leader */

START_TEST(the_present_leader_first_and_then_every_new_one) {
    static const char *const names[] = {"anna", "bruno", "clara", "dora", "emil"}, *const order[] = {"anna", "bruno",
                                                                                                     "dora", "emil",
                                                                                                     "clara"};
    enum { MANY = G_N_ELEMENTS(names) };
    pdk_election *elections[MANY];
    int64_t last = 0;

    for (int i = 0; i < MANY; i++) {
        elections[i] = enter(names[i]);
    }
    record *r = observer_begin(it.seen);
    assert_leader(r, "anna");
    ck_assert_int_eq(pdk_election_leave(elections[2]), PDK_OK); /* candidates behind the leader change nothing */
    ck_assert(ts_wait_children(server(), it.path, MANY - 1, SOON_MS));
    ck_assert_int_eq(pdk_election_join(elections[2], NULL), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, MANY, SOON_MS));
    for (int i = 0; i < MANY; i++) {
        assert_leader(r, order[i]);
        ck_assert_int_gt(record_leader_token(r), last);
        last = record_leader_token(r);
        ck_assert_int_eq(pdk_election_leave(elections[order[i][0] - 'a']), PDK_OK);
    }
    assert_leader(r, "-");
    ck_assert_int_eq(record_leader_token(r), 0);
    assert_leaders(r, "anna bruno dora emil clara -");
}
END_TEST

/* A directory that does not exist, is created, emptied, deleted and created again. */
START_TEST(a_directory_that_comes_and_goes) {
    record *r = observer_begin(it.seen);

    assert_leader(r, "-");
    for (int i = 0; i < 3; i++) {
        pdk_election *election = enter("anna");
        assert_leader(r, "anna");
        ck_assert_int_eq(pdk_election_leave(election), PDK_OK);
        assert_leader(r, "-");
        ck_assert(ts_wait_children(server(), it.path, 0, SOON_MS));
        ck_assert_int_eq(ts_delete(server(), it.path), 0);
        if (i == 1) {
            ts_sleep_ms(1200); /* the observer looks for it meanwhile, and does not find it */
        }
    }
    assert_leaders(r, "- anna - anna - anna -");
}
END_TEST

static void serve(pdk_term *term, void *user) {
    (void)user;
    while (!pdk_term_is_ending(term)) {
        ts_sleep_ms(10);
    }
}

/* The observer's own session has the leader: it does not wait for the next poll. */
START_TEST(the_first_leader_of_a_directory_is_told_at_once) {
    record *r = observer_begin(it.seen);
    pdk_election *candidate = election_on(it.b, it.path, "anna");
    pdk_service *service = NULL;
    record *elsewhere = observer_begin(election_on(it.b, ts_fresh_path(), NULL));

    assert_leader(r, "-");
    assert_leader(elsewhere, "-");
    ts_sleep_ms(100); /* just asked, in vain */
    if (_i == 0) {
        candidate_elected(candidate);
    } else {
        ck_assert_int_eq(pdk_service_start(candidate, serve, NULL, NULL, &service), PDK_OK);
    }
    ck_assert_msg(record_wait_leader(r, "anna", ts_patience(300)), "told late");
    assert_leaders(elsewhere, "-");
    if (service) {
        ck_assert_int_eq(pdk_service_close(service, 5000), PDK_OK);
        pdk_service_unref(service);
    }
}
END_TEST

START_TEST(an_identity_that_is_written_over) {
    pdk_election *election = enter("anna");
    record *r = observer_begin(it.seen);
    g_auto(GStrv) children = ts_children(server(), it.path, NULL);
    g_autofree char *node = g_strdup_printf("%s/%s", it.path, children[0]);

    assert_leader(r, "anna");
    const int64_t token = record_leader_token(r);
    ck_assert_int_eq(ts_set(server(), node, "bruno"), 0);
    assert_leader(r, "bruno");
    ck_assert_int_eq(ts_set(server(), node, "bruno"), 0); /* the observer is not told of this */
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_set(server(), node, ""), 0);
    assert_leader(r, "");
    ck_assert_int_eq(record_leader_token(r), token);
    g_autofree char *huge = g_strnfill(5000, 'x'), *cut = g_strnfill(1024, 'x');
    ck_assert_int_eq(ts_set(server(), node, huge), 0);
    assert_leader(r, cut);
    ck_assert_int_eq(record_count(r, LEADER), 4);
    ck_assert_int_eq(pdk_election_leave(election), PDK_OK);
    assert_leader(r, "-");
}
END_TEST

/* The leader's node may not be read. The observer is told that there is a leader. It is not told the identity, and not
 * the identity of the leader before. */
START_TEST(a_leader_that_may_not_be_read) {
    ts_observer *admin = ts_observer_open(server());
    pdk_election *anna = enter("anna"), *bruno = enter("bruno"), *clara = enter("clara");
    g_autofree char *node = NULL;
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    assert_leader(r, "bruno");
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_election_leader(it.seen, 5000, &list), PDK_OK);
    node = g_strdup_printf("%s/%s", it.path, pdk_contenders_node(list, 0));
    pdk_contenders_free(list);
    observer_stop(r);
    ck_assert_int_eq(ts_observer_set_acl(admin, node, TS_PERM_ALL & ~TS_PERM_READ, "world", "anyone"), 0);
    r = observer_begin(it.seen);
    assert_leader(r, "");
    ck_assert_int_eq(record_leader_token(r), 0);
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    assert_leader(r, "clara");
    ck_assert_int_eq(pdk_election_leave(clara), PDK_OK);
    assert_leader(r, "-");
    assert_leaders(r, "'' clara -");
    ts_observer_close(admin);
}
END_TEST

/* ---- across cuts and lost sessions */

START_TEST(changes_during_a_cut) {
    pdk_election *anna = enter("anna"), *bruno = enter("bruno"), *clara = enter("clara");
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    ts_proxy_set_mode(it.b->proxy, _i == 0 ? TS_CUT : TS_BLACKHOLE);
    ck_assert(_i == 1 || ts_wait_event(it.b, PDK_SESSION_SUSPENDED, 1, ts_patience(SOON_MS)));
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 1, SOON_MS));
    record *late = observer_begin(it.seen); /* begun without a connection */
    ts_sleep_ms(100);
    assert_leaders(r, "anna");
    ts_proxy_heal(it.b->proxy);
    assert_leader(r, "clara");
    assert_leader(late, "clara");
    assert_leaders(r, "anna clara");
    assert_leaders(late, "clara");
    ck_assert_int_eq(pdk_election_leave(clara), PDK_OK);
    assert_leader(r, "-");
    assert_leader(late, "-");
}
END_TEST

START_TEST(changes_while_the_session_is_lost) {
    pdk_election *anna = enter("anna"), *bruno = enter("bruno");
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    if (_i == 0) {
        ck_assert_int_eq(ts_expire(it.b->proxy, server()), 0);
    } else {
        ts_session_key key;

        ck_assert(ts_proxy_last_session(it.b->proxy, &key));
        ts_proxy_set_mode(it.b->proxy, TS_BLACKHOLE);
        ck_assert_int_eq(ts_expire_session(server(), &key), 0);
        ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
        ts_proxy_heal_discard(it.b->proxy);
    }
    ck_assert(ts_wait_event(it.b, PDK_SESSION_REOPENED, 1, ts_patience(2 * SESSION_MS)));
    if (_i == 0) {
        ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    }
    assert_leader(r, "bruno");
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    assert_leader(r, "-");
    assert_leaders(r, "anna bruno -"); /* the same leader is not told twice */
}
END_TEST

/* The leader loses its session, and leads again. */
START_TEST(a_leader_that_is_lost) {
    enter("anna");
    pdk_election *other = election_on(it.b, it.path, "bruno");
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    const int64_t token = record_leader_token(r);
    if (_i == 0) {
        ck_assert_int_eq(ts_expire(it.a->proxy, server()), 0);
        ck_assert(ts_wait_event(it.a, PDK_SESSION_REOPENED, 1, ts_patience(SESSION_MS)));
        const int64_t end = ts_now_ms() + ts_patience(2 * SESSION_MS);
        while (record_leader_token(r) <= token) { /* perhaps without a time in which nobody leads */
            ck_assert_int_lt(ts_now_ms(), end);
            ts_sleep_ms(5);
        }
        assert_leader(r, "anna");
    } else {
        candidate_join(other);
        ck_assert(ts_wait_children(server(), it.path, 2, 5000));
        ts_proxy_set_mode(it.a->proxy, TS_CUT);
        assert_leader(r, "bruno");
        assert_leaders(r, "anna bruno");
    }
    ck_assert_int_gt(record_leader_token(r), token);
}
END_TEST

/* ---- candidates are told of leaders too */

START_TEST(a_candidate_is_told_of_leaders) {
    pdk_election *anna = enter("anna"), *bruno = election_on(it.b, it.path, "bruno");
    record *r = candidate_join_with_leaders(bruno);

    assert_leader(r, "anna");
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    assert_leader(r, "bruno");
    assert_told(r, ELECTED, 1);
    ck_assert_int_eq(record_leader_token(r), record_token(r));
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    assert_told(r, DEPOSED, 1);
    record_silence(r);
    enter("clara");
    ts_sleep_ms(200);
    ck_assert_int_eq(record_late(r), 0);
    g_autofree char *leaders = record_leaders(r); /* while it leaves, it may still be told that nobody leads */
    ck_assert(g_str_equal(leaders, "anna bruno") || g_str_equal(leaders, "anna bruno -"));
}
END_TEST

/* ---- many observers, and what they cost */

START_TEST(many_observers) {
    enum { MANY = 60 };
    record *records[MANY];
    pdk_election *anna = enter("anna"), *bruno = enter("bruno");

    ts_sleep_ms(100);
    const int64_t watches = ts_watch_count(server());
    for (int i = 0; i < MANY; i++) {
        records[i] = observer_begin(it.seen);
    }
    for (int i = 0; i < MANY; i++) {
        assert_leader(records[i], "anna");
    }
    ck_assert_int_eq(ts_watch_count(server()), watches + 1); /* one session, one node */
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    for (int i = 0; i < MANY; i++) {
        assert_leader(records[i], "bruno");
    }
    for (int i = 0; i < MANY; i += 2) {
        observer_stop(records[i]);
        ck_assert(record_wait(records[i], FREED, 1, ts_patience(SOON_MS)));
        record_silence(records[i]);
    }
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    for (int i = 0; i < MANY; i++) {
        if (i % 2 == 1) {
            assert_leader(records[i], "-");
            observer_stop(records[i]);
        }
        ck_assert_int_eq(record_late(records[i]), 0);
        assert_leaders(records[i], i % 2 == 1 ? "anna bruno -" : "anna bruno");
    }
}
END_TEST

/* On the server they watch the leader's node, and no node behind it. Nothing is left when that node is gone. */
START_TEST(only_the_leader_is_watched) {
    pdk_election *anna = enter("anna"), *bruno = enter("bruno"), *clara = enter("clara");
    ts_client *third = ts_bench_client(SESSION_MS);

    ts_sleep_ms(100); /* queued candidates have set theirs: each on the node ahead, and the leader on its own */
    const int64_t watches = ts_watch_count(server());
    record *one = observer_begin(it.seen), *two = observer_begin(election_on(third, it.path, NULL));
    assert_leader(one, "anna");
    assert_leader(two, "anna");
    ck_assert_int_eq(ts_watch_count(server()), watches + 2);
    ck_assert_int_eq(pdk_election_leave(clara), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 2, SOON_MS));
    ts_sleep_ms(100);
    ck_assert_int_eq(record_count(one, LEADER), 1);
    observer_stop(one);
    observer_stop(two);
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, SOON_MS));
    const int64_t end = ts_now_ms() + ts_patience(SOON_MS);
    while (ts_watch_count(server()) > 0) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(10);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("observer");
    TCase *tcase = ts_bench_case(suite, "observer");

    tcase_add_checked_fixture(tcase, make_it, NULL);
    tcase_add_test(tcase, the_present_leader_first_and_then_every_new_one);
    tcase_add_test(tcase, a_directory_that_comes_and_goes);
    tcase_add_loop_test(tcase, the_first_leader_of_a_directory_is_told_at_once, 0, 2);
    tcase_add_test(tcase, an_identity_that_is_written_over);
    tcase_add_test(tcase, a_leader_that_may_not_be_read);
    tcase_add_loop_test(tcase, changes_during_a_cut, 0, 2);
    tcase_add_loop_test(tcase, changes_while_the_session_is_lost, 0, 2);
    tcase_add_loop_test(tcase, a_leader_that_is_lost, 0, 2);
    tcase_add_test(tcase, a_candidate_is_told_of_leaders);
    tcase_add_test(tcase, many_observers);
    tcase_add_test(tcase, only_the_leader_is_watched);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
