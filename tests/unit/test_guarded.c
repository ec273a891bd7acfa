/* The header of a guarded znode, and the answers that the model does not give. */
#include "core/guarded.h"
#include "ts_check.h"

#include <string.h>

static struct pdk__guarded g;
static const struct pdk__stamp nobody = {.absent = true, .digest = UINT64_C(0xcbf29ce484222325)};

static void setup(void) {
    pdk__guarded_init(&g, 10, 2);
    pdk__guarded_open(&g);
}

static void read_node(struct pdk__guarded_node node) {
    ck_assert_int_eq(g.step, PDK__GUARDED_READ);
    pdk__guarded_read(&g, &node);
}

static struct pdk__guarded_node node_of(struct pdk__stamp stamp) {
    return (struct pdk__guarded_node){.exists = true, .guarded = true, .version = 4, .czxid = 7, .stamp = stamp};
}

static void open_it(void) {
    setup();
    read_node(node_of(nobody));
    pdk__guarded_answered(&g, PDK__OK);
    ck_assert_int_eq(g.step, PDK__GUARDED_CHECK);
    pdk__guarded_answered(&g, PDK__OK);
    ck_assert(g.confirmed && g.step == PDK__GUARDED_IDLE);
    ck_assert_int_eq(g.version, 5);
}

START_TEST(a_header_is_read_as_it_was_written) {
    char data[PDK__GUARDED_HEADER + 3];
    static const char payload[] = {'a', '\0', 'b'};
    struct pdk__stamp in = {.token = INT64_MAX, .handover = UINT32_MAX, .number = 5, .absent = true}, out;
    pdk__stamp_write(&in, data);
    memcpy(data + PDK__GUARDED_HEADER, payload, sizeof payload);
    ck_assert(pdk__stamp_read(data, sizeof data, &out));
    ck_assert(out.token == in.token && out.handover == in.handover && out.number == in.number && out.absent);
    ck_assert(out.digest == pdk__stamp_digest("a\0b", 3) && out.digest != pdk__stamp_digest("a\0c", 3));
    in.absent = false;
    pdk__stamp_write(&in, data);
    ck_assert(pdk__stamp_read(data, PDK__GUARDED_HEADER, &out) && !out.absent);
    ck_assert_mem_eq(data, "paddock-guarded 1 09223372036854775807 4294967295 0000000000000000005 P\n",
                     PDK__GUARDED_HEADER);
}
END_TEST

START_TEST(no_other_bytes_are_a_header) {
    char data[PDK__GUARDED_HEADER];
    struct pdk__stamp out;
    pdk__stamp_write(&nobody, data);
    ck_assert(!pdk__stamp_read(data, sizeof data - 1, &out));
    for (size_t i = 0; i < sizeof data; i++) {
        char good = data[i];
        data[i] = 'x';
        ck_assert_msg(!pdk__stamp_read(data, sizeof data, &out), "byte %zu", i);
        data[i] = good;
    }
    memset(data + 39, '9', 10); /* the hand-over: more than 32 bits */
    ck_assert(!pdk__stamp_read(data, sizeof data, &out));
}
END_TEST

START_TEST(what_is_not_ours_is_not_opened) {
    struct pdk__stamp later = {.token = 11}, handed = {.token = 10, .handover = 3};
    struct pdk__guarded_node node = node_of(nobody);
    setup();
    node.guarded = false;
    read_node(node);
    ck_assert_int_eq(g.end, PDK__GUARDED_REPLACED);
    pdk__guarded_open(&g); /* for good */
    pdk__guarded_write(&g, false, 0);
    ck_assert_int_eq(g.step, PDK__GUARDED_IDLE);
    setup();
    read_node(node_of(later));
    ck_assert_int_eq(g.end, PDK__GUARDED_LOST);
    setup();
    read_node(node_of(handed));
    ck_assert_int_eq(g.end, PDK__GUARDED_LOST);
}
END_TEST

/* Below zero a version would mean: any. */
START_TEST(versions_are_used_up) {
    struct pdk__guarded_node node = node_of(nobody);
    setup();
    node.version = INT32_MAX;
    read_node(node);
    ck_assert_int_eq(g.end, PDK__GUARDED_WORN_OUT);
    setup();
    node.version = -2;
    read_node(node);
    ck_assert_int_eq(g.end, PDK__GUARDED_WORN_OUT);
}
END_TEST

START_TEST(a_refusal_ends_the_call_alone) {
    static const enum pdk__result refusals[] = {PDK__NOT_ALLOWED, PDK__REFUSED, PDK__LIMITED};
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        open_it();
        pdk__guarded_write(&g, false, 1);
        ck_assert_int_eq(g.step, PDK__GUARDED_WRITE);
        pdk__guarded_answered(&g, refusals[i]);
        ck_assert_int_eq(g.end, PDK__GUARDED_DENIED);
        pdk__guarded_write(&g, false, 1);
        ck_assert_int_eq(g.step, PDK__GUARDED_WRITE);
    }
}
END_TEST

START_TEST(a_node_that_is_replaced_is_noticed) {
    struct pdk__guarded_node node = node_of(nobody);
    open_it();
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_FINE);
    node.czxid = 8;
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_REPLACED);
    open_it();
    node.exists = false;
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_REPLACED);
    node = node_of((struct pdk__stamp){.token = 12});
    open_it();
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_LOST);
}
END_TEST

/* It says how the write ended, whoever asks first: here, that the node has it. */
START_TEST(what_may_have_landed_is_read_as_ours) {
    open_it();
    pdk__guarded_write(&g, false, 1);
    pdk__guarded_answered(&g, PDK__UNKNOWN);
    struct pdk__guarded_node node = node_of(g.pending);
    pdk__guarded_abandon(&g);
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_FINE);
    node.stamp.absent = true;
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_REPLACED);
    node.stamp.absent = false;
    node.stamp.handover--;
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_REPLACED);
    node.stamp.handover++;
    node.stamp.number++;
    ck_assert_int_eq(pdk__guarded_got(&g, &node), PDK__GUARDED_REPLACED);
}
END_TEST

static void settle(struct pdk__stamp shown) {
    read_node(node_of(shown));
    pdk__guarded_answered(&g, PDK__OK);
    pdk__guarded_answered(&g, PDK__OK);
}

START_TEST(a_node_that_never_was_is_made) {
    setup();
    pdk__guarded_answered(&g, PDK__UNKNOWN); /* the read is asked again */
    read_node((struct pdk__guarded_node){0});
    ck_assert_int_eq(g.step, PDK__GUARDED_CREATE);
    pdk__guarded_answered(&g, PDK__NODE_EXISTS);
    read_node(node_of(nobody));
    pdk__guarded_answered(&g, PDK__BAD_VERSION);
    read_node(node_of(nobody));
    pdk__guarded_answered(&g, PDK__OK);
    pdk__guarded_answered(&g, PDK__UNKNOWN); /* and the check */
    ck_assert_int_eq(g.step, PDK__GUARDED_CHECK);
    pdk__guarded_answered(&g, PDK__NO_NODE);
    ck_assert_int_eq(g.end, PDK__GUARDED_LOST);
}
END_TEST

START_TEST(a_lost_answer_is_settled) {
    open_it();
    pdk__guarded_write(&g, true, nobody.digest);
    pdk__guarded_answered(&g, PDK__UNKNOWN);
    settle(g.pending);
    ck_assert_int_eq(g.step, PDK__GUARDED_IDLE);
    ck_assert_int_eq(g.end, PDK__GUARDED_FINE);
    pdk__guarded_write(&g, false, 3);
    pdk__guarded_answered(&g, PDK__UNKNOWN);
    settle(g.known); /* it did not land, and never will */
    ck_assert_int_eq(g.step, PDK__GUARDED_WRITE);
    pdk__guarded_answered(&g, PDK__BAD_VERSION);
    settle(g.known);
    pdk__guarded_answered(&g, PDK__OK);
    ck_assert_int_eq(g.end, PDK__GUARDED_FINE);
    pdk__guarded_write(&g, false, 4);
    pdk__guarded_answered(&g, PDK__UNKNOWN);
    pdk__guarded_abandon(&g);
    pdk__guarded_write(&g, false, 4);
    settle(g.pending); /* the one before has landed, this one not yet */
    ck_assert_int_eq(g.step, PDK__GUARDED_WRITE);
    pdk__guarded_lose(&g);
    ck_assert_int_eq(g.end, PDK__GUARDED_LOST);
}
END_TEST

int main(void) {
    return ts_run("guarded", NULL, NULL, a_header_is_read_as_it_was_written, no_other_bytes_are_a_header,
                  what_is_not_ours_is_not_opened, versions_are_used_up, a_refusal_ends_the_call_alone,
                  a_node_that_is_replaced_is_noticed, what_may_have_landed_is_read_as_ours,
                  a_node_that_never_was_is_made, a_lost_answer_is_settled, NULL);
}
