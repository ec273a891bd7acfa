/* The small fake ZooKeeper, where no real server can be asked: writes that come late, a client that forgets its watches, and
 * numbers that wrap. Conformance compares all else with a real server. */
#include "fake_zk.h"
#include "ts_check.h"

#define NODE "/l/_c_a-lock-"

static struct ts_fake fake;
static struct ts_fake_names names;
static int32_t writer, watcher;

static void begin(int32_t first_sequence) {
    ts_fake_names_init(&names, "/l");
    ts_fake_init(&fake, 1, first_sequence);
    writer = ts_fake_open(&fake);
    watcher = ts_fake_open(&fake);
    ck_assert(ts_fake_connect(&fake, &names, writer, true) && ts_fake_connect(&fake, &names, watcher, true));
}

static void setup(void) { begin(0); }

static void submit(int32_t session, enum pdk__op_kind kind, const char *path) {
    ck_assert(ts_fake_submit(&fake, &names, session,
                             &(struct pdk__request){.kind = kind, .path = path, .watch = session == watcher}));
}

/* The answers and events that have come since: how many, and the last of them. */
static int32_t take_all(int32_t session, struct ts_fake_reply *last) {
    int32_t count = fake.sessions[session].replies_count;
    for (int32_t i = 0; i < count; i++)
        ts_fake_take(&fake, session, last);
    return count;
}

static enum pdk__result ask(int32_t session, enum pdk__op_kind kind, const char *path) {
    struct ts_fake_reply reply;
    submit(session, kind, path);
    ts_fake_execute(&fake, &names, session, NULL);
    ck_assert_int_eq(take_all(session, &reply), 1);
    return reply.result;
}

/* Whatever was on its way is answered UNKNOWN, and the session is back. */
static void cut(int32_t session, int32_t lost, bool restore) {
    struct ts_fake_reply reply = {.result = PDK__UNKNOWN};
    ts_fake_cut(&fake, session);
    ck_assert_int_eq(take_all(session, &reply), lost);
    ck_assert_int_eq(reply.result, PDK__UNKNOWN);
    ck_assert(ts_fake_connect(&fake, &names, session, restore));
}

static void come_late(void) { ts_fake_execute_zombie(&fake, &names, writer, NULL); }

START_TEST(lost_writes_come_late_in_their_order) {
    ck_assert_int_eq(ask(writer, PDK__OP_CREATE, NODE), PDK__OK);
    submit(writer, PDK__OP_CREATE, "/l/_c_b-lock-");
    submit(writer, PDK__OP_LIST, "/l");
    submit(writer, PDK__OP_DELETE, NODE "0000000000");
    cut(writer, 3, true);
    ck_assert_int_eq(fake.sessions[writer].zombies, 2);
    come_late();
    ck_assert_int_eq(fake.tree.count, 2);
    come_late();
    ck_assert_int_eq(fake.tree.count, 1);
    ck_assert_int_eq(fake.tree.nodes[0].name.sequence, 1);
}
END_TEST

START_TEST(a_late_write_fires_watches) {
    struct ts_fake_reply event;
    ask(writer, PDK__OP_CREATE, NODE);
    submit(writer, PDK__OP_SET, NODE "0000000000");
    cut(writer, 1, true);
    ck_assert_int_eq(ask(watcher, PDK__OP_WATCH, NODE "0000000000"), PDK__OK);
    come_late();
    ck_assert_int_eq(take_all(watcher, &event), 1);
    ck_assert_int_eq(event.packet, TS_FAKE_CHANGED);
}
END_TEST

/* Of its session: a barrier is one, a read is none. */
START_TEST(a_later_write_ends_what_was_on_its_way) {
    static const enum pdk__op_kind writes[] = {PDK__OP_BARRIER, PDK__OP_MKDIR, PDK__OP_SET, PDK__OP_DELETE,
                                               PDK__OP_CREATE};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        submit(writer, PDK__OP_CREATE, NODE);
        cut(writer, 1, true);
        ask(writer, PDK__OP_LIST, "/l");
        ask(watcher, PDK__OP_BARRIER, "/l");
        ck_assert_int_eq(fake.sessions[writer].zombies, 1);
        ask(writer, writes[i], writes[i] == PDK__OP_CREATE ? NODE : "/l");
        ck_assert_int_eq(fake.sessions[writer].zombies, 0);
    }
}
END_TEST

/* The two answers that the model gives instead of the server's. */
START_TEST(an_answer_may_be_wrong) {
    struct ts_fake_reply reply;
    submit(writer, PDK__OP_CREATE, NODE);
    ts_fake_execute_unknown(&fake, &names, writer, NULL);
    ck_assert(take_all(writer, &reply) == 1 && reply.result == PDK__UNKNOWN && fake.tree.count == 1);
    submit(writer, PDK__OP_CREATE, NODE);
    ts_fake_refuse(&fake, writer, PDK__NOT_NOW);
    ck_assert(take_all(writer, &reply) == 1 && reply.result == PDK__NOT_NOW && fake.sessions[writer].zombies == 0);
    submit(writer, PDK__OP_CREATE, NODE);
    ts_fake_refuse(&fake, writer, PDK__UNKNOWN);
    ck_assert(take_all(writer, &reply) == 1 && reply.result == PDK__UNKNOWN && fake.tree.count == 1);
    come_late();
    ck_assert_int_eq(fake.tree.count, 2);
}
END_TEST

START_TEST(without_its_watches_a_client_hears_of_nothing) {
    struct ts_fake_reply event;
    ask(writer, PDK__OP_CREATE, NODE);
    ask(watcher, PDK__OP_WATCH, NODE "0000000000");
    ask(watcher, PDK__OP_LIST, "/l");
    cut(watcher, 0, false);
    ask(writer, PDK__OP_DELETE, NODE "0000000000");
    ck_assert_int_eq(take_all(watcher, &event), 0);
}
END_TEST

/* Behind the last number, as a counter of 32 bits and "%010d" have it. */
START_TEST(the_sequence_wraps) {
    static const struct {
        int32_t first;
        const char *path;
    } rows[] = {{INT32_MAX, NODE "2147483647"}, {INT32_MIN, NODE "-2147483648"}, {-5, NODE "-000000005"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(rows[i].first);
        ck_assert_int_eq(ask(writer, PDK__OP_CREATE, NODE), PDK__OK);
        ck_assert_int_eq(ask(writer, PDK__OP_STAT, rows[i].path), PDK__OK);
    }
    begin(INT32_MAX);
    ask(writer, PDK__OP_CREATE, NODE);
    ask(writer, PDK__OP_CREATE, NODE);
    ck_assert_int_eq(ask(writer, PDK__OP_STAT, NODE "-2147483648"), PDK__OK);
}
END_TEST

int main(void) {
    return ts_run("fake_zk", setup, NULL, lost_writes_come_late_in_their_order, a_late_write_fires_watches,
                  a_later_write_ends_what_was_on_its_way, an_answer_may_be_wrong,
                  without_its_watches_a_client_hears_of_nothing, the_sequence_wraps, NULL);
}
