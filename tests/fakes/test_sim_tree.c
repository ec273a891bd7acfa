/* The fake server's tree: the effect of each transaction on nodes and sessions, and the counters that ZooKeeper
 * shows. */
#include "sim_ensemble.h"
#include "ts_check.h"

#include <stdio.h>
#include <string.h>

static struct sim_agenda agenda;
static struct sim_tree tree;
static int64_t zxid;

static void setup(void) {
    sim_agenda_init(&agenda);
    sim_agenda_begin(&agenda, 1);
    sim_tree_begin(&tree, &agenda);
    zxid = 0;
}

static void teardown(void) { sim_agenda_free(&agenda); }

/* The nodes that were touched, a word each. */
static char touched[256];

static void on_touched(void *user, const struct sim_node *node, bool deleted) {
    size_t n = strlen(touched);
    (void)user;
    snprintf(touched + n, sizeof touched - n, "%s%s%s", n == 0 ? "" : " ", deleted ? "-" : "", node->path);
}

static void apply(struct sim_txn txn) {
    touched[0] = '\0';
    txn.zxid = ++zxid;
    sim_tree_apply(&tree, &txn, on_touched, NULL);
}

/* number: of the parent, before it. */
static void create(const char *path, int32_t mode, int64_t session, int32_t number) {
    apply((struct sim_txn){.kind = SIM_TXN_CREATE,
                           .path = path,
                           .mode = mode,
                           .session = session,
                           .at = 1234 * SIM_MS + 1,
                           .value = (int32_t)((uint32_t)number + 1)});
}

static void delete_node(const char *path) { apply((struct sim_txn){.kind = SIM_TXN_DELETE, .path = path}); }

static const struct sim_stat *stat_of(const char *path) {
    ck_assert_ptr_nonnull(sim_tree_find(&tree, path));
    return &sim_tree_find(&tree, path)->stat;
}

START_TEST(it_begins_with_the_root) {
    size_t count = 1;
    ck_assert_int_eq(stat_of("/")->czxid, 0);
    ck_assert_ptr_null(sim_tree_find(&tree, "/a"));
    ck_assert_ptr_null(sim_tree_find(&tree, ""));
    ck_assert_ptr_null(sim_tree_find(&tree, "a"));
    sim_tree_children(&tree, "/", &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(stats_of_a_node) {
    create("/a", SIM_PERSISTENT, 0, 0);
    ck_assert_str_eq(touched, "/a");
    create("/a/b", SIM_EPHEMERAL, 7, 0);
    apply((struct sim_txn){.kind = SIM_TXN_SET, .path = "/a", .mode = SIM_SET_DATA, .data = "x"});
    ck_assert_str_eq(touched, "/a");
    const struct sim_stat *a = stat_of("/a"), *b = stat_of("/a/b");
    ck_assert(a->czxid == 1 && a->pzxid == 2 && a->mzxid == 3 && a->version == 1 && a->children == 1);
    ck_assert(b->czxid == 2 && b->mzxid == 2 && b->pzxid == 2 && b->version == 0 && b->children == 0);
    ck_assert(a->owner == 0 && b->owner == 7 && a->ctime_ms == 1234);
    ck_assert_str_eq(sim_tree_find(&tree, "/a")->data, "x");
    ck_assert_int_eq(tree.zxid, 3);
}
END_TEST

/* Creations count, deletions show only in cversion; children of children do not. */
START_TEST(counters_of_children) {
    create("/a", SIM_PERSISTENT, 0, 0);
    create("/a/x", SIM_PERSISTENT, 0, 0);
    create("/a/x/deep", SIM_PERSISTENT, 0, 0);
    create("/a/y", SIM_PERSISTENT, 0, 1);
    ck_assert(stat_of("/a")->cversion == 2 && sim_tree_find(&tree, "/a")->counter == 2);
    delete_node("/a/y");
    ck_assert_str_eq(touched, "-/a/y");
    ck_assert(stat_of("/a")->cversion == 3 && stat_of("/a")->children == 1 && stat_of("/a")->pzxid == 5);
    ck_assert_int_eq(sim_tree_find(&tree, "/a")->counter, 2);
    ck_assert_int_eq(stat_of("/")->cversion, 1);
    delete_node("/a/y");
    ck_assert_str_eq(touched, "");
    ck_assert_int_eq(stat_of("/a")->cversion, 3);
}
END_TEST

/* In the committed tree the counter never decreases. In the proposed tree it wraps. */
START_TEST(a_counter_sticks) {
    create("/a", SIM_PERSISTENT, 0, 0);
    apply((struct sim_txn){.kind = SIM_TXN_SET, .path = "/a", .mode = SIM_SET_COUNTER, .value = INT32_MAX});
    struct sim_tree ahead = {0};
    sim_tree_copy(&ahead, &tree);
    ahead.ahead = true;
    struct sim_txn txn = {.kind = SIM_TXN_CREATE, .path = "/a/x-2147483647", .value = INT32_MIN, .zxid = ++zxid};
    sim_tree_apply(&tree, &txn, NULL, NULL);
    sim_tree_apply(&ahead, &txn, NULL, NULL);
    ck_assert_int_eq(sim_tree_find(&tree, "/a")->counter, INT32_MAX);
    ck_assert_int_eq(sim_tree_find(&ahead, "/a")->counter, INT32_MIN);
    ck_assert_int_eq(stat_of("/a")->pzxid, 1); /* of the creation that counted last */
    ck_assert_int_eq(stat_of("/a")->children, 1);
    ck_assert_int_eq(sim_tree_find(&ahead, "/a")->counted, zxid);
}
END_TEST

START_TEST(children_by_name) {
    create("/a", SIM_PERSISTENT, 0, 0);
    create("/ab", SIM_PERSISTENT, 0, 1);
    create("/a/x", SIM_PERSISTENT, 0, 0);
    create("/a/x/y", SIM_PERSISTENT, 0, 0);
    create("/a/z", SIM_CONTAINER, 0, 1);
    create("/ab/w", SIM_PERSISTENT, 0, 0);
    size_t count;
    const char *const *names = sim_tree_children(&tree, "/a", &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_ne(strcmp(names[0], "x") == 0, strcmp(names[1], "x") == 0);
    ck_assert_int_ne(strcmp(names[0], "z") == 0, strcmp(names[1], "z") == 0);
    sim_tree_children(&tree, "/", &count);
    ck_assert_uint_eq(count, 2);
    sim_tree_children(&tree, "/none", &count);
    ck_assert_uint_eq(count, 0);
    ck_assert(sim_tree_find(&tree, "/a/z")->container && !sim_tree_find(&tree, "/a/x")->container);
    ck_assert_ptr_eq(sim_tree_parent(&tree, "/a/x"), sim_tree_find(&tree, "/a"));
    ck_assert_ptr_eq(sim_tree_parent(&tree, "/a"), sim_tree_find(&tree, "/"));
}
END_TEST

START_TEST(a_session_takes_its_nodes_with_it) {
    apply((struct sim_txn){.kind = SIM_TXN_OPEN, .session = 7, .value = 4 * SIM_MS});
    apply((struct sim_txn){.kind = SIM_TXN_OPEN, .session = 8, .value = 5 * SIM_MS});
    ck_assert_int_eq(sim_tree_session(&tree, 7)->timeout, 4 * SIM_MS);
    create("/a", SIM_PERSISTENT, 7, 0);
    create("/a/1", SIM_EPHEMERAL, 7, 0);
    create("/a/2", SIM_EPHEMERAL, 8, 1);
    create("/a/3", SIM_EPHEMERAL_SEQUENTIAL, 7, 2);
    apply((struct sim_txn){.kind = SIM_TXN_CLOSE, .session = 7});
    ck_assert_str_eq(touched, "-/a/1 -/a/3");
    ck_assert_ptr_null(sim_tree_session(&tree, 7));
    ck_assert_ptr_nonnull(sim_tree_session(&tree, 8));
    ck_assert_int_eq(stat_of("/a")->children, 1);
    ck_assert_int_eq(stat_of("/a/2")->owner, 8);
    apply((struct sim_txn){.kind = SIM_TXN_CLOSE, .session = 7}); /* once more: nothing */
    ck_assert_str_eq(touched, "");
    ck_assert_uint_eq(tree.sessions_count, 1);
}
END_TEST

START_TEST(a_transaction_that_failed_changes_nothing) {
    create("/a", SIM_PERSISTENT, 0, 0);
    size_t count = tree.count;
    apply((struct sim_txn){.kind = SIM_TXN_ERROR, .path = "/a"});
    apply((struct sim_txn){.kind = SIM_TXN_CHECK, .path = "/a"});
    apply((struct sim_txn){.kind = SIM_TXN_EPOCH});
    apply((struct sim_txn){.kind = SIM_TXN_SET, .path = "/none", .mode = SIM_SET_DATA});
    ck_assert_str_eq(touched, "");
    ck_assert_uint_eq(tree.count, count);
    ck_assert_int_eq(tree.zxid, 5);
    ck_assert_int_eq(stat_of("/a")->mzxid, 1);
}
END_TEST

START_TEST(a_copy_is_its_own) {
    struct sim_tree copy = {0};
    apply((struct sim_txn){.kind = SIM_TXN_OPEN, .session = 7});
    create("/a", SIM_EPHEMERAL, 7, 0);
    sim_tree_copy(&copy, &tree);
    apply((struct sim_txn){.kind = SIM_TXN_CLOSE, .session = 7});
    ck_assert_ptr_null(sim_tree_find(&tree, "/a"));
    ck_assert_ptr_nonnull(sim_tree_find(&copy, "/a"));
    ck_assert_ptr_nonnull(sim_tree_session(&copy, 7));
    ck_assert(copy.zxid == 2 && tree.zxid == 3);
}
END_TEST

START_TEST(many_nodes) {
    char path[32];
    for (int32_t i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "/x-%010d", (int)i);
        create(sim_text(&agenda, path), SIM_PERSISTENT, 0, i);
    }
    for (int32_t i = 0; i < 300; i += 2) {
        snprintf(path, sizeof path, "/x-%010d", (int)i);
        delete_node(path);
    }
    size_t count;
    sim_tree_children(&tree, "/", &count);
    ck_assert_uint_eq(count, 150);
    ck_assert_ptr_null(sim_tree_find(&tree, "/x-0000000298"));
    ck_assert_int_eq(stat_of("/x-0000000299")->czxid, 300);
    ck_assert_int_eq(stat_of("/")->cversion, 450);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sim_tree");
    TCase *cases = tcase_create("sim_tree");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, it_begins_with_the_root);
    tcase_add_test(cases, stats_of_a_node);
    tcase_add_test(cases, counters_of_children);
    tcase_add_test(cases, a_counter_sticks);
    tcase_add_test(cases, children_by_name);
    tcase_add_test(cases, a_session_takes_its_nodes_with_it);
    tcase_add_test(cases, a_transaction_that_failed_changes_nothing);
    tcase_add_test(cases, a_copy_is_its_own);
    tcase_add_test(cases, many_nodes);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
