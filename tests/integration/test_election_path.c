/* What an election looks like on the server: names, identities, the directory. Which other nodes may be there, and what
 * makes it impossible to be a candidate. */
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* The name and the data of the only child. */
static void assert_node(const char *path, const char *pattern, const char *identity) {
    g_auto(GStrv) children = ts_children(server(), path, NULL);
    g_autofree char *data = NULL;

    ck_assert_uint_eq(g_strv_length(children), 1);
    ck_assert_msg(g_regex_match_simple(pattern, children[0], 0, 0), "%s", children[0]);
    g_autofree char *node = g_strdup_printf("%s/%s", path, children[0]);
    ck_assert_int_eq(ts_get(server(), node, &data, NULL, NULL), 0);
    ck_assert_str_eq(data, identity);
}

/* ---- names and identities */

START_TEST(nodes_have_the_names_of_other_libraries) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    const char *curator = ts_fresh_path(), *kazoo = ts_fresh_path();
    options.naming = PDK_NAMING_KAZOO;
    candidate_elected(election_with(a, curator, NULL));
    candidate_elected(election_with(a, kazoo, &options));
    assert_node(curator, "^_c_[0-9a-f-]{36}-latch-[0-9]{10}$", pdk_session_identity(a->session));
    assert_node(kazoo, "^[0-9a-f]{32}__lock__[0-9]{10}$", pdk_session_identity(a->session));
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE_CONTAINER), 2); /* kazoo's levels are persistent */
}
END_TEST

START_TEST(identities_are_visible_to_other_libraries) {
    g_autofree char *longest = g_strnfill(1024, 'x');
    const char *const identities[] = {"anna", "Zoë Čapek 東京", longest, " ", "line\nbreak"};
    for (size_t i = 0; i < G_N_ELEMENTS(identities); i++) {
        const char *path = ts_fresh_path();
        char *mine = g_strdup(identities[i]);
        pdk_election *election = election_on(a, path, mine), *others = election_on(b, path, NULL);
        pdk_contenders *list = NULL;

        memset(mine, '!', strlen(mine)); /* it was copied */
        g_free(mine);
        record *r = candidate_elected(election);
        record *watching = observer_begin(others);
        ck_assert(record_wait_leader(watching, identities[i], ts_patience(SOON_MS)));
        ck_assert_int_eq(record_leader_token(watching), record_token(r));
        ck_assert_int_eq(pdk_election_leader(others, 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
        ck_assert_str_eq(pdk_contenders_identity(list, 0), identities[i]);
        ck_assert_int_eq(pdk_contenders_token(list, 0), record_token(r));
        ck_assert_int_eq(pdk_contenders_session(list, 0), pdk_session_id(a->session));
        pdk_contenders_free(list);
    }
}
END_TEST

START_TEST(leader_and_candidates) {
    static const char *const names[] = {"anna", "bruno", "clara"};
    const char *path = ts_fresh_path();
    pdk_election *elections[3], *stranger = election_on(b, path, NULL);
    pdk_contenders *list = NULL;
    for (int round = 0; round < 2; round++) { /* without a directory, and then with an empty one */
        ck_assert_int_eq(pdk_election_leader(stranger, 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 0);
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_election_list(stranger, 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 0);
        pdk_contenders_free(list);
        if (round == 0)
            ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
    }
    for (int i = 0; i < 3; i++) {
        elections[i] = election_on(i == 1 ? b : a, path, names[i]);
        candidate_join(elections[i]);
        ck_assert(ts_wait_children(server(), path, i + 1, 5000));
    }
    for (int gone = 0; gone < 3; gone++) {
        ck_assert_int_eq(pdk_election_list(gone == 1 ? stranger : elections[2], 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), (size_t)(3 - gone));
        for (int i = gone; i < 3; i++) {
            ck_assert_str_eq(pdk_contenders_identity(list, (size_t)(i - gone)), names[i]);
            ck_assert(!pdk_contenders_is_shared(list, (size_t)(i - gone)));
        }
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_election_leader(stranger, 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
        ck_assert_str_eq(pdk_contenders_identity(list, 0), names[gone]);
        pdk_contenders_free(list);
        ck_assert_int_eq(pdk_election_leave(elections[gone]), PDK_OK);
        ck_assert(ts_wait_children(server(), path, 2 - gone, SOON_MS));
    }
}
END_TEST

/* ---- other nodes in the directory */

static const char *const foreign[] = {
    "0",
    "zzz",
    "_c_x-lock-0000000000", /* of a lock, of a semaphore, of kazoo: not of this queue */
    "x-lease-0000000000",
    "deadbeef__lock__0000000000",
    "_c_1-__READ__0000000000",
    "latch",
    "latch-",
    "latch-000000",
    "latch-0000000000 ",
    "latch-9999999999", /* beyond 32 bits */
    "-0000000001",
};

static void create_in(const char *path, const char *name, const char *data) {
    g_autofree char *child = g_strdup_printf("%s/%s", path, name);
    ck_assert_int_eq(ts_create(server(), child, data, TS_PERSISTENT, NULL), 0);
}

START_TEST(foreign_children_are_ignored) {
    const char *path = ts_fresh_path();
    pdk_election *first = election_on(a, path, "anna"), *second = election_on(b, path, "bruno");
    pdk_contenders *list = NULL;
    const int others = (int)G_N_ELEMENTS(foreign);
    for (int i = 0; i < others; i++)
        create_in(path, foreign[i], "nobody");
    record *watching = observer_begin(second);
    ck_assert(record_wait_leader(watching, "-", ts_patience(SOON_MS)));
    candidate_elected(first);
    ck_assert(record_wait_leader(watching, "anna", ts_patience(SOON_MS)));
    record *next = candidate_join(second);
    ck_assert(ts_wait_children(server(), path, others + 2, 5000));
    ck_assert_int_eq(pdk_election_list(second, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 2);
    pdk_contenders_free(list);
    ck_assert_int_eq(record_count(next, ELECTED), 0);
    ck_assert_int_eq(pdk_election_leave(first), PDK_OK);
    assert_told(next, ELECTED, 1);
    ck_assert_int_eq(pdk_election_leave(second), PDK_OK);
    ck_assert(ts_wait_children(server(), path, others, SOON_MS));
    ck_assert(record_wait_leader(watching, "-", ts_patience(SOON_MS)));
    g_autofree char *leaders = record_leaders(watching);
    ck_assert_str_eq(leaders, "- anna bruno -");
}
END_TEST

/* A lock and an election on one path have separate queues. */
START_TEST(a_lock_on_the_same_path) {
    const char *path = ts_fresh_path();
    pdk_hold *hold = ts_bench_acquire(ts_lock(a, path), 5000);
    candidate_elected(election_on(b, path, NULL));
    ck_assert_int_eq(ts_child_count(server(), path), 2);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* Candidates of other libraries count. */
START_TEST(candidates_of_others_lead) {
    static const char *const names[] = {"_c_0d9f-latch-0000000000", "9e-latch-0000000000", "x__lock__0000000000",
                                        "_c_0d9f-lock-0000000000"};
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    const char *path = ts_fresh_path();
    g_autofree char *child = g_strdup_printf("%s/%s", path, names[_i]);
    options.naming = _i < 2 ? PDK_NAMING_CURATOR : PDK_NAMING_KAZOO;
    ck_assert_int_eq(ts_bench_stranger(child, "somebody else", 0, NULL), 0);
    pdk_election *election = election_with(a, path, &options);
    record *r = candidate_join_with_leaders(election);
    ck_assert(record_wait_leader(r, "somebody else", ts_patience(SOON_MS)));
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    ts_sleep_ms(50);
    ck_assert_int_eq(record_count(r, ELECTED), 0);
    ck_assert_int_eq(ts_delete(server(), child), 0);
    assert_told(r, ELECTED, 1);
    ck_assert(record_wait_leader(r, pdk_session_identity(a->session), ts_patience(SOON_MS)));
}
END_TEST

/* ---- the directory */

START_TEST(a_missing_directory_is_made_with_its_parents) {
    g_autofree char *path = g_strconcat(ts_fresh_path(), "/x/y/z", NULL);
    candidate_elected(election_on(a, path, NULL));
    ck_assert_int_eq(ts_child_count(server(), path), 1);
}
END_TEST

static bool leads(record *r) { return record_count(r, ELECTED) > record_count(r, DEPOSED); }

/* The directory is deleted under leader and follower, as an administrator or ZooKeeper's container manager might do. */
START_TEST(a_directory_that_is_removed) {
    const char *path = ts_fresh_path();
    pdk_election *first = election_on(a, path, "anna");
    record *anna = candidate_elected(first), *bruno = candidate_join(election_on(b, path, "bruno"));
    record *watching = observer_begin(first);
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    for (int i = 0; i < 3; i++) {
        const int64_t end = ts_now_ms() + ts_patience(2 * SESSION_MS);

        while (ts_delete_tree(server(), path) != 0) /* they queue again as fast as we delete */
            ck_assert_int_lt(ts_now_ms(), end);
        ck_assert(ts_wait_children(server(), path, 2, ts_patience(2 * SESSION_MS)));
        while (leads(anna) == leads(bruno) || !record_wait_leader(watching, leads(anna) ? "anna" : "bruno", 100))
            ck_assert_int_lt(ts_now_ms(), end);
    }
    ck_assert_int_ge(record_count(anna, DEPOSED) + record_count(bruno, DEPOSED), 3);
}
END_TEST

START_TEST(below_a_chroot) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    const char *root = ts_fresh_path();
    g_autofree char *below = g_strconcat(root, "/election", NULL);
    options.session_timeout_ms = SESSION_MS;
    ts_client *c = ts_client_open_with(server(), root, &options);
    ck_assert_ptr_nonnull(c);
    pdk_election *inside = election_on(c, "/election", "anna"), *outside = election_on(a, below, "bruno");
    record *r = candidate_elected(inside), *waiting = candidate_join(outside), *watching = observer_begin(inside);
    ck_assert(record_wait_leader(watching, "anna", ts_patience(SOON_MS)));
    ck_assert(ts_wait_children(server(), below, 2, 5000)); /* the leader is heard of before the second stands in line */
    ck_assert_int_eq(record_count(waiting, ELECTED), 0);
    delete_node_of(record_hold(r)); /* its path is the full path */
    assert_told(waiting, ELECTED, 1);
    ck_assert(record_wait_leader(watching, "bruno", ts_patience(SOON_MS)));
}
END_TEST

/* ---- it cannot be a candidate */

static void make_readonly(const char *path) {
    ts_observer *admin = ts_observer_open(server());
    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, TS_PERM_READ, "world", "anyone"), 0);
    ts_observer_close(admin);
}

static void join_again(record *r, void *election) {
    pdk_election_callbacks callbacks;
    record_callbacks(r, &callbacks);
    if (record_count(r, FAILED) == 1)
        pdk_election_join(election, &callbacks);
}

/* It has left when it is told. It may join again from inside that callback. */
START_TEST(a_directory_that_may_not_be_written) {
    const char *path = ts_fresh_path();
    g_autofree char *below = g_strconcat(path, "/x", NULL);
    pdk_election *election = election_on(a, _i == 0 ? path : below, NULL);
    pdk_election_callbacks callbacks;
    record *r = record_new();
    make_readonly(path);
    record_callbacks(r, &callbacks);
    callbacks.leader = record_leader;
    record_act(r, FAILED, join_again, election);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    assert_told(r, FAILED, 2);
    ts_sleep_ms(100);
    assert_history(r, "failed:NO_PERMISSION failed:NO_PERMISSION");
    ck_assert_int_eq(pdk_election_leave(election), PDK_NOT_HELD);
}
END_TEST

START_TEST(below_an_ephemeral_node) {
    const char *path = ts_fresh_path();
    g_autofree char *below = g_strconcat(path, "/x", NULL);
    ts_observer *o = ts_observer_open(server());
    ck_assert_int_ge(ts_create(server(), "/t", "", TS_PERSISTENT, NULL), -110);
    ck_assert_int_eq(ts_observer_create(o, path, "", TS_EPHEMERAL, NULL), 0);
    record *r = candidate_join(election_on(a, below, NULL));
    assert_told(r, FAILED, 1);
    assert_history(r, "failed:UNSUPPORTED");
    ts_observer_close(o);
}
END_TEST

/* The leader is deposed, and is then refused as a candidate. */
START_TEST(a_directory_that_turns_readonly) {
    const char *path = ts_fresh_path();
    ts_observer *admin = ts_observer_open(server());
    pdk_election *election = election_on(a, path, NULL);
    record *r = candidate_elected(election);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, TS_PERM_READ | TS_PERM_DELETE, "world", "anyone"), 0);
    ck_assert_int_eq(pdk_election_resign(election), PDK_OK);
    assert_told(r, FAILED, 1);
    assert_history(r, "elected deposed:NONE failed:NO_PERMISSION");
    ts_observer_close(admin);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_path");
    TCase *tcase = ts_bench_case(suite, "election_path");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, nodes_have_the_names_of_other_libraries);
    tcase_add_test(tcase, identities_are_visible_to_other_libraries);
    tcase_add_test(tcase, leader_and_candidates);
    tcase_add_test(tcase, foreign_children_are_ignored);
    tcase_add_test(tcase, a_lock_on_the_same_path);
    tcase_add_loop_test(tcase, candidates_of_others_lead, 0, 4);
    tcase_add_test(tcase, a_missing_directory_is_made_with_its_parents);
    tcase_add_test(tcase, a_directory_that_is_removed);
    tcase_add_test(tcase, below_a_chroot);
    tcase_add_loop_test(tcase, a_directory_that_may_not_be_written, 0, 2);
    tcase_add_test(tcase, below_an_ephemeral_node);
    tcase_add_test(tcase, a_directory_that_turns_readonly);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
