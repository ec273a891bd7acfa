/* What an election looks like on the server: names, identities, directories; and what makes it impossible to be a candidate. */
#include <string.h>

#include "elections.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static ts_client *a;

static void begin(void) { a = ts_bench_client(SESSION_MS); }

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

static void assert_led(pdk_election *election, const char *identity, int64_t token) {
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_election_leader(election, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), identity != NULL);
    if (identity) {
        ck_assert_str_eq(pdk_contenders_identity(list, 0), identity);
        ck_assert_int_eq(pdk_contenders_token(list, 0), token);
        ck_assert_int_eq(pdk_contenders_session(list, 0), pdk_session_id(a->session));
        ck_assert(!pdk_contenders_is_shared(list, 0));
    }
    pdk_contenders_free(list);
}

#define CURATORS "^_c_[0-9a-f-]{36}-latch-[0-9]{10}$"
#define KAZOOS "^[0-9a-f]{32}__lock__[0-9]{10}$"

/* The directories of kazoo are persistent. Others look from below a chroot. */
static const struct {
    pdk_naming naming;
    const char *pattern, *identity; /* "": the longest; NULL: the session's */
} nodes[] = {{PDK_NAMING_CURATOR, CURATORS, "Zoë\nČapek 東京 "},
             {PDK_NAMING_CURATOR, CURATORS, ""},
             {PDK_NAMING_KAZOO, KAZOOS, NULL}};

START_TEST(nodes_are_those_of_other_libraries) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    const char *root = ts_fresh_path(), *identity = nodes[_i].identity;
    g_autofree char *path = g_strconcat(root, "/election", NULL);
    g_autofree char *longest = g_strnfill(1024, 'x'), *mine = g_strdup(identity && !*identity ? longest : identity);
    g_autofree char *wanted = g_strdup(mine ? mine : pdk_session_identity(a->session));
    options.naming = nodes[_i].naming;
    ts_client *below = ts_client_open_with(server(), root, NULL);
    ck_assert_ptr_nonnull(below);
    pdk_election *others = election_with(below, "/election", &options);
    options.identity = mine;
    pdk_election *election = election_with(a, path, &options);
    if (mine)
        memset(mine, '!', strlen(mine)); /* it was copied */
    assert_led(others, NULL, 0);         /* there is no directory */
    assert_led(others, wanted, record_token(candidate_elected(election)));
    assert_node(path, nodes[_i].pattern, wanted);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_CREATE_CONTAINER), options.naming == PDK_NAMING_KAZOO ? 0 : 3);
    ck_assert_int_eq(pdk_election_leave(election), PDK_OK);
    ck_assert(ts_wait_children(server(), path, 0, SOON_MS));
    assert_led(others, NULL, 0);
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
        g_assert_cmpint(pdk_election_join(election, &callbacks), ==, PDK_OK);
}

static const struct {
    bool ephemeral; /* the node is, which has no children then; or nobody may write there */
    const char *below, *why;
} refusals[] = {{false, "", "NO_PERMISSION"}, {false, "/x", "NO_PERMISSION"}, {true, "/x", "UNSUPPORTED"}};

/* It has left when it is told. It may join again from inside that callback. */
START_TEST(it_cannot_be_a_candidate) {
    const char *path = ts_fresh_path(), *why = refusals[_i].why;
    g_autofree char *there = g_strconcat(path, refusals[_i].below, NULL);
    g_autofree char *history = g_strdup_printf("failed:%s failed:%s", why, why);
    ts_observer *owner = ts_observer_open(server());
    pdk_election *election = election_on(a, there, NULL);
    pdk_election_callbacks callbacks;
    pdk_hold *hold = NULL;
    record *r = record_new();
    if (refusals[_i].ephemeral) {
        ck_assert_int_ge(ts_create(server(), "/t", "", TS_PERSISTENT, NULL), -110); /* it may be there */
        ck_assert_int_eq(ts_observer_create(owner, path, "", TS_EPHEMERAL, NULL), 0);
    } else {
        make_readonly(path);
    }
    record_callbacks(r, &callbacks);
    callbacks.leader = record_leader;
    record_act(r, FAILED, join_again, election);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    refused(pdk_election_wait(election, PDK_FOREVER, &hold), PDK_NOT_HELD, "candidate");
    assert_told(r, FAILED, 2);
    ts_sleep_ms(100);
    assert_history(r, history);
    ck_assert_int_eq(pdk_election_leave(election), PDK_NOT_HELD);
    ts_observer_close(owner);
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

    tcase_add_checked_fixture(tcase, begin, NULL);
    tcase_add_loop_test(tcase, nodes_are_those_of_other_libraries, 0, G_N_ELEMENTS(nodes));
    tcase_add_loop_test(tcase, it_cannot_be_a_candidate, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, a_directory_that_turns_readonly);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
