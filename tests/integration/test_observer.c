/* Observers of an election. They are told the present leader first, then every new one in order, across cuts and lost sessions. After the
 * stop they are told nothing, wherever it is called, and user_free runs once, after fn. Also what they cost the server. */
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* No session is lost by itself, however busy the machine is. */
enum { SLOW_MS = 20000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *a, *b; /* a's candidates are in the election, b observes it */
    pdk_election *leader, *seen;
} it;

static void make_it_with(ts_client *watching) {
    it.path = ts_fresh_path();
    it.a = ts_bench_client(SLOW_MS);
    it.b = watching;
    it.leader = election_on(it.a, it.path, "anna");
    it.seen = election_on(it.b, it.path, NULL);
}

static void make_it(void) { make_it_with(ts_bench_client(SLOW_MS)); }

/* The candidate leads, or waits to lead. */
static pdk_election *enter(const char *identity) {
    pdk_election *election = election_on(it.a, it.path, identity);
    const int before = MAX(0, ts_child_count(server(), it.path));
    candidate_join(election);
    ck_assert(ts_wait_children(server(), it.path, before + 1, 5000));
    return election;
}

static void assert_leader(record *r, const char *identity) {
    ck_assert_msg(record_wait_leader(r, identity, ts_patience(2 * SOON_MS)), "not told: %s", identity);
}

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

    for (int i = 0; i < MANY; i++)
        elections[i] = enter(names[i]);
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
        if (i == 1)
            ts_sleep_ms(1200); /* the observer looks for it meanwhile, and does not find it */
    }
    assert_leaders(r, "- anna - anna - anna -");
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

/* ---- across cuts and lost sessions */

enum { CUT, SILENT, EXPIRED, CUTS };

START_TEST(changes_during_a_cut) {
    pdk_election *anna = enter("anna"), *bruno = enter("bruno"), *clara = enter("clara");
    record *r = observer_begin(it.seen);
    ts_session_key key;
    assert_leader(r, "anna");
    ck_assert(ts_proxy_last_session(it.b->proxy, &key));
    ts_proxy_set_mode(it.b->proxy, _i == CUT ? TS_CUT : TS_BLACKHOLE);
    ck_assert(_i != CUT || ts_wait_event(it.b, PDK_SESSION_SUSPENDED, 1, ts_patience(SOON_MS)));
    ck_assert(_i != EXPIRED || ts_expire_session(server(), &key) == 0);
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 1, SOON_MS));
    record *late = observer_begin(it.seen); /* begun without a connection */
    ts_sleep_ms(100);
    assert_leaders(r, "anna");
    if (_i == EXPIRED)
        ts_proxy_heal_discard(it.b->proxy);
    else
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

/* ---- what they cost */

/* On the server a session's observers watch the leader's node together, and no node behind it. Nothing is left when that node is gone. */
START_TEST(only_the_leader_is_watched) {
    pdk_election *anna = enter("anna"), *bruno = enter("bruno"), *clara = enter("clara");
    ts_client *third = ts_bench_client(SLOW_MS);
    ts_sleep_ms(100); /* queued candidates have set theirs: each on the node ahead, and the leader on its own */
    const int64_t watches = ts_watch_count(server());
    record *one = observer_begin(it.seen), *two = observer_begin(election_on(third, it.path, NULL)), *more[10];
    for (size_t i = 0; i < G_N_ELEMENTS(more); i++)
        more[i] = observer_begin(it.seen);
    assert_leader(one, "anna");
    assert_leader(two, "anna");
    for (size_t i = 0; i < G_N_ELEMENTS(more); i++) {
        assert_leader(more[i], "anna");
        observer_stop(more[i]);
    }
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
    ck_assert_int_eq(ts_delete(server(), it.path), 0); /* a session that came again watches the directory */
    const int64_t end = ts_now_ms() + ts_patience(SOON_MS);
    while (ts_watch_count(server()) > 0) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(10);
    }
}
END_TEST

/* ---- stopped: the leader leaves and comes again, which makes two messages for each observer */

static void leader_leaves(void) { ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK); }
static void leader_comes(void) { ck_assert_int_eq(pdk_election_join(it.leader, NULL), PDK_OK); }

static void change_leader(void) {
    record *witness = observer_begin(it.leader);
    assert_leader(witness, "anna");
    leader_leaves();
    assert_leader(witness, "-");
    leader_comes();
    assert_leader(witness, "anna");
    observer_stop(witness);
    ts_sleep_ms(100);
}

/* An observer that has been told of the leader. The act is for the next message. */
static record *observe(void (*act)(record *r, void *user), void *user) {
    candidate_elected(it.leader);
    record *r = observer_begin(it.seen);
    assert_leader(r, "anna");
    assert_told(r, LEADER, 1);
    ck_assert_int_eq(record_count(r, FREED), 0);
    if (act)
        record_act(r, LEADER, act, user);
    return r;
}

/* It has been told so often, its user is freed, and it is told nothing more. */
static void assert_stopped(record *r, int told) {
    assert_told(r, FREED, 1);
    record_silence(r);
    change_leader();
    ck_assert_int_eq(record_late(r), 0);
    ck_assert_int_eq(record_count(r, LEADER), told);
    ck_assert_int_eq(record_count(r, FREED), 1);
    ck_assert(!record_overlapped(r));
}

static void stop_within(record *r, void *user) {
    (void)user;
    observer_stop(r);
    if (record_count(r, FREED) > 0)
        g_error("freed while fn runs");
}

static void close_within(record *r, void *session) {
    (void)r;
    pdk_session_close(session, 5000);
}

/* By its own callback; or it is stopped after that has closed the session. */
START_TEST(stopped_from_within) {
    record *r = _i ? observe(close_within, it.b->session) : observe(stop_within, NULL);
    leader_leaves();
    assert_told(r, LEADER, 2);
    leader_comes();
    change_leader();
    ck_assert_int_eq(record_count(r, FREED), !_i);
    if (_i)
        observer_stop(r);
    assert_stopped(r, 2);
}
END_TEST

/* fn runs on the session's thread. The stop does not wait for it, and leaves user_free to that thread. */
START_TEST(stopped_while_it_runs) {
    door *d = door_new();
    record *r = observe(at_door, d);
    leader_leaves();
    assert_leader(r, "-");
    leader_comes(); /* the next message is due after it */
    ts_sleep_ms(100);
    ck_assert(record_running(r));
    observer_stop(r);
    ck_assert(record_running(r));
    ck_assert_int_eq(record_count(r, FREED), 0);
    door_open(d);
    assert_stopped(r, 2);
}
END_TEST

/* The reader is slow. Every leader is told in order; what is due at the stop is not told. */
START_TEST(dispatched_late) {
    make_it_with(manual_client(SLOW_MS));
    candidate_elected(it.leader);
    record *r = observer_begin(it.seen);
    ts_sleep_ms(100);
    change_leader();
    ck_assert(manual_wait(it.b, r, LEADER, 2, 5000));
    ts_sleep_ms(300);
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    g_autofree char *leaders = record_leaders(r);
    if (strcmp(leaders, "anna anna") != 0) /* the time without a leader was short, and such a message may be left out */
        ck_assert_str_eq(leaders, "anna - anna");
    const int told = record_count(r, LEADER);
    leader_leaves();
    ck_assert(ts_fd_readable(pdk_session_fd(it.b->session), ts_patience(SOON_MS)));
    observer_stop(r);
    assert_told(r, FREED, 1);
    leader_comes();
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    assert_stopped(r, told);
}
END_TEST

/* The observer goes on without its election, and has the session's last reference. There is no user_free. */
START_TEST(the_last_user_of_its_session) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_election *election = NULL;
    pdk_observer *observer = NULL;
    record *r = record_new();
    candidate_elected(it.leader);
    options.session_timeout_ms = SLOW_MS;
    ck_assert_int_eq(pdk_session_open(ts_proxy_address(it.b->proxy), &options, &s), PDK_OK);
    ck_assert_int_eq(pdk_election_new(s, it.path, NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_observe(election, record_leader, r, NULL, &observer), PDK_OK);
    pdk_election_unref(election);
    pdk_session_unref(s);
    assert_leader(r, "anna");
    leader_leaves();
    assert_leader(r, "-");
    pdk_observer_close(observer);
    record_silence(r);
    leader_comes();
    change_leader();
    ck_assert_int_eq(record_late(r), 0);
    ck_assert_int_eq(record_count(r, FREED), 0);
}
END_TEST

/* ---- begun and stopped again and again, while leaders come and go */

static volatile gint going;

static void *begin_and_stop(void *election) {
    while (g_atomic_int_get(&going)) {
        record *r = record_new();
        pdk_observer *observer = NULL;

        g_assert(pdk_election_observe(election, record_leader, r, record_freed, &observer) == PDK_OK);
        if (g_random_boolean())
            g_usleep((gulong)g_random_int_range(0, 3000));
        pdk_observer_close(observer);
        g_assert(record_wait(r, FREED, 1, 5000));
    }
    return NULL;
}

START_TEST(begun_and_stopped_again_and_again) {
    enum { THREADS = 3 };
    GThread *threads[THREADS];

    candidate_elected(it.leader);
    record *steady = observer_begin(it.seen);
    g_atomic_int_set(&going, 1);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("churn", begin_and_stop, it.seen);
    const int64_t end = ts_now_ms() + 2000;
    for (int i = 0; ts_now_ms() < end; i++) {
        leader_leaves();
        leader_comes();
        if (i % 16 == 7) {
            ts_proxy_set_mode(it.b->proxy, TS_CUT);
            ts_proxy_heal(it.b->proxy);
        }
        ts_sleep_ms(i % 5);
    }
    g_atomic_int_set(&going, 0);
    for (int i = 0; i < THREADS; i++)
        g_thread_join(threads[i]);
    leader_leaves();
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    assert_leader(steady, "-");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("observer");
    TCase *tcase = ts_bench_case(suite, "observer");
    tcase_add_checked_fixture(tcase, make_it, NULL);
    tcase_add_test(tcase, the_present_leader_first_and_then_every_new_one);
    tcase_add_test(tcase, a_directory_that_comes_and_goes);
    tcase_add_test(tcase, an_identity_that_is_written_over);
    tcase_add_loop_test(tcase, changes_during_a_cut, 0, CUTS);
    tcase_add_test(tcase, a_candidate_is_told_of_leaders);
    tcase_add_test(tcase, only_the_leader_is_watched);
    tcase_add_loop_test(tcase, stopped_from_within, 0, 2);
    tcase_add_test(tcase, stopped_while_it_runs);
    tcase_add_test(tcase, dispatched_late);
    tcase_add_test(tcase, the_last_user_of_its_session);
    tcase_add_test(tcase, begun_and_stopped_again_and_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
