/* The fake ZooKeeper behaves as the real one where the model relies on it, through the driver's own table of calls. */
#include "fake_world.h"
#include "ts_check.h"

#include <stdio.h>
#include <string.h>

#define MARK_A "_c_a-lock-"
#define MARK_B "_c_b-lock-"

static struct ts_fake_world world;

/* What one client heard, a word each. */
struct client {
    pdk__zk *zk;
    char heard[2048];
    int64_t session, token, owner;
};
static struct client a, b;

static void hear(struct client *c, const char *text) {
    size_t n = strlen(c->heard);
    snprintf(c->heard + n, sizeof c->heard - n, "%s%s", n == 0 ? "" : " ", text);
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct client *c = driver;
    char text[512];
    ck_assert_ptr_eq(zk, c->zk);
    int n = snprintf(text, sizeof text, "%d=%d", (int)reply->tag, (int)reply->result);
    if (reply->name) {
        snprintf(text + n, sizeof text - (size_t)n, ":%s", reply->name);
        c->token = reply->token;
    }
    for (size_t i = 0; i < reply->children_count; i++) {
        n = (int)strlen(text);
        snprintf(text + n, sizeof text - (size_t)n, ",%s", reply->children[i]);
    }
    if (reply->owner != 0)
        c->owner = reply->owner;
    hear(c, text);
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, bool gone) {
    char text[256];
    (void)zk;
    snprintf(text, sizeof text, "%s%s", gone ? "gone:" : "changed:", path);
    hear(driver, text);
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session_id, int32_t timeout_ms) {
    static const char *const words[] = {"connected", "connecting", "expired", "auth"};
    struct client *c = driver;
    (void)zk;
    ck_assert_int_eq(timeout_ms, 4000);
    c->session = session_id;
    hear(c, words[state]);
}

static const struct pdk__zk_sink sink = {.reply = on_reply, .watch = on_watch, .state = on_state};

static void open_client(struct client *c) {
    memset(c, 0, sizeof *c);
    ck_assert_int_eq(
        ts_fake_calls.open(&(struct pdk__zk_config){.timeout_ms = 4000, .sink = &sink, .driver = c}, &c->zk), PDK_OK);
}

static void begin(int32_t levels) {
    ts_fake_world_init(&world, "/locks/a", levels, 0);
    ts_fake_world_use(&world);
    open_client(&a);
    open_client(&b);
    while (ts_fake_world_step(&world))
        ;
    ck_assert_str_eq(a.heard, "connected");
    ck_assert_int_ne(a.session, b.session);
    a.heard[0] = b.heard[0] = '\0';
}

static void end(void) {
    ts_fake_calls.close(a.zk);
    ts_fake_calls.close(b.zk);
}

static void submit(struct client *c, uint64_t tag, enum pdk__op_kind kind, const char *path) {
    ck_assert(ts_fake_calls.submit(c->zk, &(struct pdk__request){.kind = kind, .tag = tag, .path = path}));
}

static void settle(void) {
    while (ts_fake_world_step(&world))
        ;
}

static void check_heard(struct client *c, const char *text) {
    ck_assert_str_eq(c->heard, text);
    c->heard[0] = '\0';
}

START_TEST(a_pipelined_list_shows_the_new_node) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    submit(&a, 2, PDK__OP_LIST, "/locks/a");
    settle();
    check_heard(&a, "1=0:" MARK_A "0000000000 2=0," MARK_A "0000000000");
    submit(&b, 1, PDK__OP_CREATE, "/locks/a/" MARK_B);
    settle();
    check_heard(&b, "1=0:" MARK_B "0000000001");
    ck_assert_int_gt(b.token, a.token);
    end();
}
END_TEST

START_TEST(levels_of_the_directory_are_made_in_order) {
    begin(0);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    submit(&a, 2, PDK__OP_LIST, "/locks/a");
    submit(&a, 3, PDK__OP_MKDIR, "/locks/a");
    submit(&a, 4, PDK__OP_MKDIR, "/locks");
    submit(&a, 5, PDK__OP_MKDIR, "/locks");
    submit(&a, 6, PDK__OP_MKDIR, "/locks/a");
    submit(&a, 7, PDK__OP_BARRIER, "/locks");
    settle();
    check_heard(&a, "1=1 2=1 3=1 4=0 5=2 6=0 7=0");
    end();
}
END_TEST

START_TEST(a_watch_fires_once_and_before_a_read_shows_it) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    submit(&b, 2, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    submit(&b, 3, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000001");
    settle();
    check_heard(&b, "1=0 2=0 3=1");
    submit(&a, 2, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    submit(&b, 4, PDK__OP_LIST, "/locks/a");
    world.turn = (int32_t)a.session - 1; /* the delete first */
    settle();
    check_heard(&b, "gone:/locks/a/" MARK_A "0000000000 4=0");
    end();
}
END_TEST

START_TEST(a_write_fires_it_too) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    settle();
    ts_fake_touch(&world.fake, world.fake.tree.nodes[0].name);
    ts_fake_touch(&world.fake, world.fake.tree.nodes[0].name);
    settle();
    check_heard(&b, "1=0 changed:/locks/a/" MARK_A "0000000000");
    end();
}
END_TEST

START_TEST(a_cut_loses_requests_and_replies_alike) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    submit(&a, 2, PDK__OP_CREATE, "/locks/a/" MARK_A);
    ts_fake_execute(&world.fake, &world.names, (int32_t)a.session - 1, NULL);
    ts_fake_world_cut(&world, (int32_t)a.session - 1);
    settle();
    check_heard(&a, "connecting 1=3 2=3 connected");
    submit(&a, 3, PDK__OP_LIST, "/locks/a");
    settle();
    check_heard(&a, "3=0," MARK_A "0000000000");
    ts_fake_execute_zombie(&world.fake, &world.names, (int32_t)a.session - 1, NULL); /* the second one, after all */
    submit(&a, 4, PDK__OP_LIST, "/locks/a");
    settle();
    check_heard(&a, "4=0," MARK_A "0000000001," MARK_A "0000000000");
    end();
}
END_TEST

START_TEST(a_barrier_ends_what_was_on_its_way) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    ts_fake_world_cut(&world, (int32_t)a.session - 1);
    settle();
    ck_assert_int_eq(world.fake.sessions[a.session - 1].zombies, 1);
    submit(&a, 2, PDK__OP_LIST, "/locks/a");
    settle();
    ck_assert_int_eq(world.fake.sessions[a.session - 1].zombies, 1);
    submit(&a, 3, PDK__OP_BARRIER, "/locks/a");
    settle();
    ck_assert_int_eq(world.fake.sessions[a.session - 1].zombies, 0);
    check_heard(&a, "connecting 1=3 connected 2=0 3=0");
    end();
}
END_TEST

START_TEST(lost_writes_come_late_in_their_order) {
    begin(2);
    int32_t session = (int32_t)a.session - 1;
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&a, 2, PDK__OP_CREATE, "/locks/a/" MARK_B);
    submit(&a, 3, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    ts_fake_world_cut(&world, session);
    settle();
    ck_assert_int_eq(world.fake.sessions[session].zombies, 2);
    ts_fake_execute_zombie(&world.fake, &world.names, session, NULL);
    ck_assert_int_eq(world.fake.tree.count, 2);
    ts_fake_execute_zombie(&world.fake, &world.names, session, NULL);
    submit(&a, 4, PDK__OP_LIST, "/locks/a");
    settle();
    check_heard(&a, "1=0:" MARK_A "0000000000 connecting 2=3 3=3 connected 4=0," MARK_B "0000000001");
    end();
}
END_TEST

START_TEST(watches_are_set_again_and_miss_nothing) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    submit(&a, 2, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    submit(&b, 2, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000001");
    settle();
    ts_fake_world_cut(&world, (int32_t)b.session - 1);
    ts_fake_remove(&world.fake, world.fake.tree.nodes[0].name, NULL);
    settle();
    check_heard(&b, "1=0 2=0 connecting connected gone:/locks/a/" MARK_A "0000000000");
    submit(&a, 3, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000001");
    settle();
    check_heard(&b, "gone:/locks/a/" MARK_A "0000000001");
    end();
}
END_TEST

/* The event is missed because it came while there was no connection, or was lost with it. */
START_TEST(a_write_that_was_missed_is_told) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    settle();
    ts_fake_world_cut(&world, (int32_t)b.session - 1);
    ts_fake_touch(&world.fake, world.fake.tree.nodes[0].name);
    settle();
    check_heard(&b, "1=0 connecting connected changed:/locks/a/" MARK_A "0000000000");
    submit(&b, 2, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    settle();
    ts_fake_touch(&world.fake, world.fake.tree.nodes[0].name);
    ts_fake_world_cut(&world, (int32_t)b.session - 1);
    settle();
    check_heard(&b, "2=0 connecting connected changed:/locks/a/" MARK_A "0000000000");
    submit(&a, 2, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    settle();
    check_heard(&b, "");
    end();
}
END_TEST

START_TEST(expiry_takes_the_nodes_and_is_heard_of_later) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    settle();
    ts_fake_world_expire(&world, (int32_t)a.session - 1);
    submit(&a, 2, PDK__OP_LIST, "/locks/a");
    settle();
    check_heard(&b, "1=0 gone:/locks/a/" MARK_A "0000000000");
    check_heard(&a, "1=0:" MARK_A "0000000000 connecting 2=3 expired");
    ck_assert(!ts_fake_calls.submit(a.zk, &(struct pdk__request){.kind = PDK__OP_LIST, .path = "/locks/a"}));
    end();
}
END_TEST

START_TEST(close_answers_everything_and_ends_the_session) {
    begin(2);
    submit(&a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    settle();
    submit(&a, 2, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    a.heard[0] = '\0';
    ts_fake_calls.close(a.zk);
    check_heard(&a, "2=3");
    submit(&b, 1, PDK__OP_LIST, "/locks/a");
    settle();
    check_heard(&b, "1=0");
    open_client(&a);
    settle();
    end();
}
END_TEST

START_TEST(the_sequence_wraps) {
    ts_fake_world_init(&world, "/l", 1, INT32_MAX);
    ts_fake_world_use(&world);
    open_client(&a);
    settle();
    submit(&a, 1, PDK__OP_CREATE, "/l/" MARK_A);
    submit(&a, 2, PDK__OP_CREATE, "/l/" MARK_A);
    submit(&a, 3, PDK__OP_STAT, "/l/" MARK_A "-2147483648");
    submit(&a, 4, PDK__OP_DELETE, "/l/" MARK_A "-2147483648");
    settle();
    check_heard(&a, "connected 1=0:" MARK_A "2147483647 2=0:" MARK_A "-2147483648 3=0 4=0");
    ck_assert_int_eq(a.owner, a.session);
    ts_fake_calls.close(a.zk);
}
END_TEST

/* As "%010d" writes it. */
START_TEST(a_negative_sequence_takes_ten_characters) {
    ts_fake_world_init(&world, "/l", 1, -5);
    ts_fake_world_use(&world);
    open_client(&a);
    settle();
    submit(&a, 1, PDK__OP_CREATE, "/l/" MARK_A);
    submit(&a, 2, PDK__OP_DELETE, "/l/" MARK_A "-000000005");
    settle();
    check_heard(&a, "connected 1=0:" MARK_A "-000000005 2=0");
    ts_fake_calls.close(a.zk);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("fake_zk");
    TCase *cases = tcase_create("fake_zk");
    tcase_add_test(cases, a_pipelined_list_shows_the_new_node);
    tcase_add_test(cases, levels_of_the_directory_are_made_in_order);
    tcase_add_test(cases, a_watch_fires_once_and_before_a_read_shows_it);
    tcase_add_test(cases, a_write_fires_it_too);
    tcase_add_test(cases, a_cut_loses_requests_and_replies_alike);
    tcase_add_test(cases, a_barrier_ends_what_was_on_its_way);
    tcase_add_test(cases, lost_writes_come_late_in_their_order);
    tcase_add_test(cases, watches_are_set_again_and_miss_nothing);
    tcase_add_test(cases, a_write_that_was_missed_is_told);
    tcase_add_test(cases, expiry_takes_the_nodes_and_is_heard_of_later);
    tcase_add_test(cases, close_answers_everything_and_ends_the_session);
    tcase_add_test(cases, the_sequence_wraps);
    tcase_add_test(cases, a_negative_sequence_takes_ten_characters);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
