/* Observers of an election. They are told the present leader first, then every new one in order, across cuts and lost sessions. After the
 * stop they are told nothing, wherever it is called, and user_free runs once, after fn. Also what they cost the server. */
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* Only one test waits for the end of a session. No other one is lost, however busy the machine is. */
enum { SESSION_MS = 3000, SLOW_MS = 20000, SOON_MS = 2000 };

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
    ck_assert_msg(record_wait_leader(r, identity, ts_patience(SESSION_MS + SOON_MS)), "not told: %s", identity);
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

static void serve(pdk_term *term, void *user) {
    (void)user;
    while (!pdk_term_is_ending(term))
        ts_sleep_ms(10);
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
    if (_i == 0)
        candidate_elected(candidate);
    else
        ck_assert_int_eq(pdk_service_start(candidate, serve, NULL, NULL, &service), PDK_OK);
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
    if (_i == 0)
        ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    assert_leader(r, "bruno");
    ck_assert_int_eq(pdk_election_leave(bruno), PDK_OK);
    assert_leader(r, "-");
    assert_leaders(r, "anna bruno -"); /* the same leader is not told twice */
}
END_TEST

/* The leader loses its session, and leads again. */
START_TEST(a_leader_that_is_lost) {
    it.a = ts_bench_client(SESSION_MS);
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
    for (int i = 0; i < MANY; i++)
        records[i] = observer_begin(it.seen);
    for (int i = 0; i < MANY; i++)
        assert_leader(records[i], "anna");
    ck_assert_int_eq(ts_watch_count(server()), watches + 1); /* one session, one node */
    ck_assert_int_eq(pdk_election_leave(anna), PDK_OK);
    for (int i = 0; i < MANY; i++)
        assert_leader(records[i], "bruno");
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
    ts_client *third = ts_bench_client(SLOW_MS);
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

START_TEST(stopped_by_another_thread) {
    record *r = observe(NULL, NULL);
    observer_stop(r);
    assert_stopped(r, 1);
}
END_TEST

/* Nothing has been told yet: the list is under way, its answer is, the read is, or there is no connection. */
START_TEST(stopped_before_it_is_told) {
    static const int opcodes[] = {0, TS_OP_GET_CHILDREN, TS_OP_GET_DATA, 0};
    candidate_elected(it.leader);
    for (int i = 0; i < 2; i++) {
        if (opcodes[_i] != 0) {
            ts_proxy_arm(it.b->proxy, opcodes[_i], i == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_BLACKHOLE);
        } else if (_i == 3) {
            ts_proxy_set_mode(it.b->proxy, TS_CUT);
            ck_assert(ts_wait_event(it.b, PDK_SESSION_SUSPENDED, i + 1, ts_patience(SOON_MS)));
        }
        record *r = observer_begin(it.seen);
        ck_assert(opcodes[_i] == 0 || ts_proxy_wait_fired(it.b->proxy, ts_patience(5000)));
        observer_stop(r);
        assert_told(r, FREED, 1);
        record_silence(r);
        const int told = record_count(r, LEADER);
        ts_proxy_heal(it.b->proxy);
        record *next = observer_begin(it.seen);
        assert_leader(next, "anna");
        observer_stop(next);
        assert_stopped(next, 1);
        assert_stopped(r, told);
    }
}
END_TEST

static void stop_within(record *r, void *user) {
    (void)user;
    observer_stop(r);
    if (record_count(r, FREED) > 0)
        g_error("freed while fn runs");
}

START_TEST(stopped_from_within) {
    record *r = observe(stop_within, NULL);
    leader_leaves();
    assert_told(r, FREED, 1);
    leader_comes();
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

/* A message is due, and nobody dispatches before the stop. It is not told. */
START_TEST(stopped_while_a_message_is_due) {
    make_it_with(manual_client(SLOW_MS));
    candidate_elected(it.leader);
    record *r = observer_begin(it.seen);
    ck_assert(ts_fd_readable(pdk_session_fd(it.b->session), ts_patience(SOON_MS)));
    ts_sleep_ms(200);
    observer_stop(r);
    assert_told(r, FREED, 1);
    record_silence(r);
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    assert_stopped(r, 0);
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    ck_assert_int_eq(record_late(r), 0);
}
END_TEST

/* The reader is slow. Every leader is told in order, and none after the stop. */
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
    observer_stop(r);
    assert_told(r, FREED, 1);
}
END_TEST

static void close_within(record *r, void *session) {
    (void)r;
    pdk_session_close(session, 5000);
}

START_TEST(the_session_is_closed) {
    record *r = observe(_i == 0 ? NULL : close_within, it.b->session);
    if (_i == 0) {
        ck_assert_int_eq(pdk_session_close(it.b->session, 5000), PDK_OK);
    } else { /* from within */
        leader_leaves();
        assert_told(r, LEADER, 2);
        leader_comes();
    }
    change_leader();
    ck_assert_int_eq(record_count(r, FREED), 0);
    observer_stop(r);
    assert_stopped(r, _i + 1);
}
END_TEST

/* The observer goes on without its election, and keeps the session. */
START_TEST(the_election_goes_before_it) {
    candidate_elected(it.leader);
    ck_assert_int_eq(pdk_election_new(it.b->session, it.path, NULL, &it.seen), PDK_OK);
    record *r = observer_begin(it.seen);
    pdk_election_unref(it.seen);
    assert_leader(r, "anna");
    change_leader();
    assert_told(r, LEADER, 2); /* the time without a leader may have been too short to be told */
    assert_leader(r, "anna");
    observer_stop(r);
    assert_told(r, FREED, 1);
    assert_stopped(r, record_count(r, LEADER));
}
END_TEST

/* Without user_free. The observer has the session's last reference. */
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
    assert_leader(r, "anna"); /* it lives as long as the observer */
    pdk_observer_close(observer);
    record_silence(r);
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
    tcase_add_loop_test(tcase, the_first_leader_of_a_directory_is_told_at_once, 0, 2);
    tcase_add_test(tcase, an_identity_that_is_written_over);
    tcase_add_test(tcase, a_leader_that_may_not_be_read);
    tcase_add_loop_test(tcase, changes_during_a_cut, 0, 2);
    tcase_add_loop_test(tcase, changes_while_the_session_is_lost, 0, 2);
    tcase_add_loop_test(tcase, a_leader_that_is_lost, 0, 2);
    tcase_add_test(tcase, a_candidate_is_told_of_leaders);
    tcase_add_test(tcase, many_observers);
    tcase_add_test(tcase, only_the_leader_is_watched);
    tcase_add_test(tcase, stopped_by_another_thread);
    tcase_add_loop_test(tcase, stopped_before_it_is_told, 0, 4);
    tcase_add_test(tcase, stopped_from_within);
    tcase_add_test(tcase, stopped_while_it_runs);
    tcase_add_test(tcase, stopped_while_a_message_is_due);
    tcase_add_test(tcase, dispatched_late);
    tcase_add_loop_test(tcase, the_session_is_closed, 0, 2);
    tcase_add_test(tcase, the_election_goes_before_it);
    tcase_add_test(tcase, the_last_user_of_its_session);
    tcase_add_test(tcase, begun_and_stopped_again_and_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
