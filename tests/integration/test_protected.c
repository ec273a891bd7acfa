/* A session that keeps its nodes to itself looks at the access control list of what it relies on: strangers may have made it. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "recipes.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_support.h"

#define OURS "app:canary-3f9c"
/* As ZooKeeper's scheme "digest" names them: the user, and base64 of SHA-1 of "user:password". */
#define OUR_ID "app:kiShYNOVER7OlJ+6UEB/As5025k="
#define THEIR_ID "other:EPlXfpxA6rBxSMWHk1uuGPZn5Gc="

enum { SESSION_MS = 6000, ALL = TS_PERM_ALL, READ = TS_PERM_READ };

static const char *path;
static ts_observer *admin; /* knows our password: it may do what we may */

static void set_up(void) {
    path = ts_fresh_path();
    admin = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_observer_auth(admin, "digest", OURS), 0);
    int code = ts_observer_create(admin, "/t", "", TS_PERSISTENT, NULL);
    ck_assert(code == 0 || code == -110);
}

static void tear_down(void) { ts_observer_close(admin); }

static ts_client *client_with(pdk_access access, const pdk_access_entry *list, int32_t count, bool accept) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.digest = OURS;
    options.session_timeout_ms = SESSION_MS;
    options.access = access;
    options.access_list = list;
    options.access_count = count;
    options.accept_unprotected = accept;
    ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    return client;
}

static ts_client *ours(void) { return client_with(PDK_ACCESS_DEFAULT, NULL, 0, false); }

static unsigned lists_asked(const ts_client *c) { return (unsigned)ts_proxy_count(c->proxy, TS_OP_GET_ACL); }

static void make_open(const char *where) {
    ck_assert_int_eq(ts_observer_create(admin, where, "", TS_PERSISTENT, NULL), 0);
}

static void make_with(const char *where, const ts_acl_entry *list, int count) {
    make_open(where);
    ck_assert_int_eq(ts_observer_set_list(admin, where, list, count), 0);
}

static void once(const ts_client *c, const char *where, int64_t timeout_ms) {
    ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(ts_lock(c, where), timeout_ms)), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(c->session, 5000), PDK_OK);
}

/* The words name the directory, who may do what, and the fix; and no node of ours is left there. */
static void refuses(const ts_client *c, const char *where, int64_t timeout_ms, const char *who) {
    pdk_hold *none = NULL;
    pdk_status status = pdk_lock_acquire(ts_lock(c, where), timeout_ms, &none);
    char *text = g_strdup(pdk_last_error());
    refused(status, PDK_UNPROTECTED, where);
    ck_assert_msg(strstr(text, who) && strstr(text, "accept_unprotected"), "%s", text);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(pdk_session_flush(c->session, 5000), PDK_OK);
    char **names = ts_observer_children(admin, where, NULL);
    ck_assert_ptr_nonnull(names);
    ck_assert_ptr_null(names[0]);
    g_strfreev(names);
    g_free(text);
}

/* ---- once, and no more */

START_TEST(it_costs_one_request_while_the_directory_stands) {
    ts_client *c = ours(), *open = client_with(PDK_ACCESS_OPEN, NULL, 0, false);
    pdk_hold *hold = ts_bench_acquire(ts_lock(ours(), path), 5000);
    ts_answer *waiter = ts_acquire_async(ts_lock(c, path), PDK_FOREVER); /* the directory stands from here on */
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(5000)));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_answer_wait(waiter, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
    for (int i = 0; i < 20; i++)
        once(c, path, i % 2 ? 5000 : 0);
    ck_assert_uint_eq(lists_asked(c), 1);
    /* Ahead of the list that is asked for anyway: no round trip more. */
    ck_assert_uint_eq(ts_proxy_count(c->proxy, TS_OP_GET_CHILDREN), 0);
    const char *elsewhere = ts_fresh_path();
    for (int i = 0; i < 20; i++)
        once(open, elsewhere, 5000);
    ck_assert_uint_eq(lists_asked(open), 0);
    ck_assert_uint_eq(ts_proxy_count(open->proxy, TS_OP_GET_CHILDREN2), 0);
}
END_TEST

/* ---- who may have made it */

START_TEST(a_stranger_makes_it_anew) {
    ts_client *c = ours();
    once(c, path, 5000);
    ck_assert_int_eq(ts_observer_delete(admin, path), 0); /* as the server does with a container that nobody uses */
    make_open(path);
    refuses(c, path, 5000, "world:anyone write, create, delete, change the list there");
    refuses(c, path, 5000, "world:anyone");
    refuses(c, path, 0, "world:anyone");
    ts_client *accepts = client_with(PDK_ACCESS_DEFAULT, NULL, 0, true);
    once(accepts, path, 5000);
    ck_assert_uint_eq(lists_asked(accepts), 0);
    ck_assert_int_eq(ts_observer_delete(admin, path), 0);
    once(c, path, 5000);
}
END_TEST

START_TEST(a_stranger_makes_it_anew_while_it_queues) {
    ts_client *c = ours();
    pdk_hold *hold = ts_bench_acquire(ts_lock(ours(), path), 5000);
    ts_answer *waiter = ts_acquire_async(ts_lock(c, path), PDK_FOREVER);
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(5000)));
    ts_proxy_set_mode(c->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_delete_tree(ts_bench_server(), path), -102); /* it is protected */
    char **names = ts_observer_children(admin, path, NULL);
    for (char **name = names; *name; name++) {
        char *node = g_strconcat(path, "/", *name, NULL);
        ck_assert_int_eq(ts_observer_delete(admin, node), 0);
        g_free(node);
    }
    g_strfreev(names);
    ck_assert_int_eq(ts_observer_delete(admin, path), 0);
    make_open(path);
    ts_proxy_heal(c->proxy);
    ck_assert(ts_answer_wait(waiter, ts_patience(10000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_UNPROTECTED);
    pdk_hold_unref(hold);
}
END_TEST

START_TEST(its_list_is_changed_while_it_stands) {
    ts_client *c = ours();
    once(c, path, 5000);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, ALL, "world", "anyone"), 0);
    refuses(c, path, 5000, "world:anyone");
    ck_assert_int_eq(ts_observer_set_acl(admin, path, ALL, "auth", ""), 0);
    once(c, path, 5000);
}
END_TEST

/* ---- what protects */

static const struct {
    const char *what;
    ts_acl_entry list[3];
    int count;
    const char *offender; /* or NULL: it protects */
} lists[] = {
    {"ours alone", {{ALL, "auth", ""}}, 1, NULL},
    {"ours, and others read", {{ALL, "auth", ""}, {READ, "world", "anyone"}}, 2, NULL},
    {"ours, and others read and administer",
     {{ALL, "auth", ""}, {READ | TS_PERM_ADMIN, "world", "anyone"}},
     2,
     "world:anyone change the list there"},
    {"ours, and others create",
     {{ALL, "auth", ""}, {TS_PERM_CREATE, "ip", "127.0.0.1"}},
     2,
     "ip:127.0.0.1 create there"},
    {"ours, and others delete",
     {{ALL, "auth", ""}, {TS_PERM_DELETE, "digest", THEIR_ID}},
     2,
     "digest:" THEIR_ID " delete there"},
    {"ours, and others write", {{ALL, "auth", ""}, {TS_PERM_WRITE, "world", "anyone"}}, 2, "world:anyone write there"},
    {"another user of our name",
     {{ALL, "auth", ""}, {ALL, "digest", "app:EPlXfpxA6rBxSMWHk1uuGPZn5Gc="}},
     2,
     "digest:app:EPlXfpxA6rBxSMWHk1uuGPZn5Gc="},
    {"ours, who may not administer it, and an operator whose name is hidden from us",
     {{ALL & ~TS_PERM_ADMIN, "digest", OUR_ID}, {ALL, "digest", THEIR_ID}},
     2,
     "hidden"},
};

START_TEST(lists_that_protect_and_others) {
    make_with(path, lists[_i].list, lists[_i].count);
    ts_client *c = ours();
    if (lists[_i].offender)
        refuses(c, path, 5000, lists[_i].offender);
    else
        once(c, path, 5000);
}
END_TEST

/* What the server calls the creator is read from a node of ours, once, before anything is refused. */
START_TEST(the_creator_is_asked_for) {
    static const pdk_access_entry creator = {PDK_PERMISSION_ALL, "auth", ""};
    ts_client *c = client_with(PDK_ACCESS_LIST, &creator, 1, false);
    once(c, path, 5000);
    unsigned before = lists_asked(c);
    const char *open = ts_fresh_path();
    make_open(open);
    refuses(c, open, 5000, "world:anyone");
    ck_assert_uint_eq(lists_asked(c), before + 2); /* the directory's, and our node's */
    refuses(c, open, 5000, "world:anyone");
    ck_assert_uint_eq(lists_asked(c), before + 2);
    once(c, path, 5000);
}
END_TEST

/* Whom the session's own list names is no stranger; but for no more than it says. */
START_TEST(the_sessions_own_list) {
    const pdk_access_entry list[] = {{PDK_PERMISSION_ALL, "digest", OUR_ID},
                                     {PDK_PERMISSION_ALL & ~PDK_PERMISSION_ADMIN, "digest", THEIR_ID}};
    const ts_acl_entry less[] = {{ALL, "auth", ""}, {TS_PERM_CREATE | TS_PERM_DELETE, "digest", THEIR_ID}},
                       more[] = {{ALL, "auth", ""}, {ALL, "digest", THEIR_ID}};
    ts_client *c = client_with(PDK_ACCESS_LIST, list, 2, false);
    once(c, path, 5000); /* its own */
    const char *elsewhere = ts_fresh_path();
    make_with(elsewhere, less, 2);
    once(c, elsewhere, 5000);
    const char *third = ts_fresh_path();
    make_with(third, more, 2);
    refuses(c, third, 5000, "digest:" THEIR_ID " change the list there");
}
END_TEST

/* ---- each recipe */

static pdk_status by_row(int row, ts_client *c) {
    return ts_answer_status(recipe_now(&recipes[row], recipe_at(&recipes[row], c, path), 5000));
}
static pdk_status by_rwlock(ts_client *c) { return by_row(RECIPE_READ, c); }
static pdk_status by_semaphore(ts_client *c) { return by_row(RECIPE_PERMIT, c); }
static pdk_status by_striped(ts_client *c) { return by_row(RECIPE_KEY, c); }

/* Its record is the parent's child: who may delete there can put another in its place. */
static pdk_status by_job(ts_client *c) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_job *job = NULL;
    pdk_hold *hold = NULL;
    options.every_ms = 3600000;
    ck_assert_int_eq(pdk_job_new(c->session, path, &options, &job), PDK_OK);
    pdk_status status = pdk_job_acquire(job, 5000, &hold, NULL);
    pdk_job_unref(job);
    return status;
}

static pdk_status by_lease_lock(ts_client *c) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    pdk_hold *hold = NULL;
    options.secret = "a secret of the test";
    ck_assert_int_eq(pdk_lease_lock_new(c->session, path, &options, &lock), PDK_OK);
    pdk_status status = pdk_lease_lock_acquire(lock, 5000, &hold);
    pdk_lease_lock_unref(lock);
    return status;
}

static pdk_status by_guarded(ts_client *c) {
    pdk_guarded *guarded = NULL;
    char *node = g_strconcat(path, "/data", NULL);
    pdk_hold *hold = ts_bench_acquire(ts_lock(c, ts_fresh_path()), 5000);
    pdk_status status = pdk_guarded_open(hold, node, 5000, &guarded);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    g_free(node);
    return status;
}

static const struct {
    pdk_status (*take)(ts_client *c);
    const char *open[2]; /* what stands below the path, and is open to all */
    bool kept;           /* what it stands on is protected before: the path alone is open */
} opened[] = {
    {by_rwlock, {""}, false},
    {by_semaphore, {"", "/leases"}, false},
    {by_semaphore, {"", "/locks"}, false},
    {by_job, {""}, true},
    {by_job, {"", "/lock"}, false},
    {by_job, {"", "/record"}, true},
    {by_lease_lock, {""}, true},
    {by_lease_lock, {"", "/lock"}, false},
    {by_lease_lock, {"", "/record"}, true},
    {by_striped, {"", "/0000"}, false},
    {by_guarded, {""}, true},
    {by_guarded, {"", "/data"}, true},
};

START_TEST(each_recipe_looks) {
    const char *offending = NULL;
    for (int i = 0; i < 2 && opened[_i].open[i]; i++) {
        char *node = g_strconcat(path, opened[_i].open[i], NULL);
        bool is_last = i == 1 || !opened[_i].open[1];
        make_open(node);
        if (!is_last)
            ck_assert_int_eq(ts_observer_set_acl(admin, node, ALL, "auth", ""), 0);
        offending = node;
        ts_paddock_keep(node, g_free);
    }
    refused(opened[_i].take(ours()), PDK_UNPROTECTED, offending);
}
END_TEST

/* Nobody else made what is not there. The parents are made, and judged like any others. */
START_TEST(a_guarded_znode_whose_parents_are_missing) {
    ts_client *c = ours();
    pdk_guarded *guarded = NULL;
    char *node = g_strconcat(path, "/a/b/data", NULL);
    pdk_hold *hold = ts_bench_acquire(ts_lock(c, ts_fresh_path()), 5000);
    unsigned before = lists_asked(c);
    pdk_status status = pdk_guarded_open(hold, node, ts_patience(2000), &guarded);
    ck_assert_msg(lists_asked(c) - before <= 20, "%u lists were asked for", lists_asked(c) - before);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    pdk_guarded_close(guarded);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    g_free(node);
}
END_TEST

/* A parent whose list may not be read is not trusted, whatever its children have. */
START_TEST(a_list_that_may_not_be_read) {
    const ts_acl_entry list = {TS_PERM_CREATE | TS_PERM_DELETE, "digest", OUR_ID};
    make_with(path, &list, 1);
    refused(by_guarded(ours()), PDK_UNPROTECTED, "cannot be read (ZNOAUTH(-102))");
}
END_TEST

/* ---- who only looks */

static atomic_int times; /* so often a leader was told */

static void on_leader(const char *identity, int64_t token, void *user) {
    (void)identity;
    (void)token;
    (void)user;
    atomic_fetch_add(&times, 1);
}

static bool was_told(void *unused) {
    (void)unused;
    return atomic_load(&times) > 0;
}

/* A stranger who fakes a leader is not believed, and a real one is. */
START_TEST(an_observer_is_told_no_fakes) {
    pdk_observer *observer = NULL;
    char *node = g_strconcat(path, "/00000000-0000-0000-0000-000000000000-latch-", NULL);
    make_open(path);
    ck_assert_int_eq(ts_observer_create(admin, node, "fake", TS_EPHEMERAL | TS_SEQUENTIAL, NULL), 0);
    ts_client *c = ours();
    pdk_election *election = NULL;
    ck_assert_int_eq(pdk_election_new(c->session, path, NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_observe(election, on_leader, NULL, NULL, &observer), PDK_OK);
    ts_sleep_ms(1500);
    ck_assert(!was_told(NULL));
    ck_assert_int_eq(ts_observer_set_acl(admin, path, ALL, "auth", ""), 0);
    ck_assert(ts_observer_create(admin, node, "fake", TS_EPHEMERAL | TS_SEQUENTIAL, NULL) == 0);
    ck_assert(ts_wait_until(was_told, NULL, ts_patience(3 * SESSION_MS)));
    pdk_observer_close(observer);
    pdk_election_unref(election);
    g_free(node);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("protected");
    TCase *cases = ts_bench_case(suite, "protected");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, it_costs_one_request_while_the_directory_stands);
    tcase_add_test(cases, a_stranger_makes_it_anew);
    tcase_add_test(cases, a_stranger_makes_it_anew_while_it_queues);
    tcase_add_test(cases, its_list_is_changed_while_it_stands);
    tcase_add_loop_test(cases, lists_that_protect_and_others, 0, G_N_ELEMENTS(lists));
    tcase_add_test(cases, the_sessions_own_list);
    tcase_add_test(cases, the_creator_is_asked_for);
    tcase_add_loop_test(cases, each_recipe_looks, 0, G_N_ELEMENTS(opened));
    tcase_add_test(cases, a_guarded_znode_whose_parents_are_missing);
    tcase_add_test(cases, a_list_that_may_not_be_read);
    tcase_add_test(cases, an_observer_is_told_no_fakes);
    return ts_run_suite(suite);
}
