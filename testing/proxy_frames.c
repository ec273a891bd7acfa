/* The proxy's use of ZooKeeper's frames: counts, session keys, and the cut at an exact moment. */
#include <string.h>

#include "proxy_internal.h"

enum { XID_NOTIFICATION = -1, XID_PING = -2 };

static bool is_write(int opcode) {
    switch (opcode) {
    case PDK__TEST_OP_CREATE:
    case PDK__TEST_OP_DELETE:
    case PDK__TEST_OP_SET_DATA:
    case PDK__TEST_OP_SET_ACL:
    case PDK__TEST_OP_CHECK:
    case PDK__TEST_OP_MULTI:
    case PDK__TEST_OP_CREATE2:
    case PDK__TEST_OP_CREATE_CONTAINER:
    case PDK__TEST_OP_CREATE_TTL:
    case PDK__TEST_OP_CLOSE_SESSION:
        return true;
    default:
        return false;
    }
}

static void count_opcode(pdk_test_proxy *p, int opcode) {
    const int slot = opcode + OPCODE_BASE;

    if (slot >= 0 && slot < OPCODES) {
        p->by_opcode[slot]++;
    }
}

static bool order_matches(const pdk__test_order *order, int opcode) {
    return order->set && !order->fired && (order->opcode == opcode || order->opcode == PDK__TEST_OP_ANY);
}

/* True when the link is to be lost at the beginning of this request. */
static bool request_seen(pdk__test_conn *c, const pdk__test_frame *frame) {
    pdk_test_proxy *p = c->proxy;
    const int32_t xid = pdk__test_get32(frame->body);
    const int32_t opcode = frame->handshake ? PDK__TEST_OP_CONNECT : pdk__test_get32(frame->body + 4);

    count_opcode(p, opcode);
    if (opcode == PDK__TEST_OP_PING || (opcode == PDK__TEST_OP_CONNECT && p->order.opcode != PDK__TEST_OP_CONNECT)) {
        return false;
    }
    if (opcode != PDK__TEST_OP_CONNECT) {
        p->counters.requests++;
        p->counters.writes += is_write(opcode) ? 1 : 0;
        p->counters.rounds += c->unanswered == 0 ? 1 : 0;
        c->unanswered++;
    }
    if (!order_matches(&p->order, opcode)) {
        return false;
    }
    if (p->order.loss == PDK__TEST_LOSE_REQUEST) {
        return true;
    }
    c->losing = true;
    c->lose_xid = opcode == PDK__TEST_OP_CONNECT ? 0 : xid; /* a handshake's answer begins with 0 */
    p->order.set = false;
    return false;
}

static void remember_session(pdk_test_proxy *p, const pdk__test_frame *frame) {
    pdk__test_session_key key = {.id = pdk__test_get64(frame->body + 8),
                                 .timeout_ms = pdk__test_get32(frame->body + 4)};

    if (frame->size < 36 || key.id == 0 || pdk__test_get32(frame->body + 16) != (int32_t)sizeof key.password) {
        return; /* id 0: the server has refused a session that is over */
    }
    memcpy(key.password, frame->body + 20, sizeof key.password);
    for (guint i = 0; i < p->sessions->len; i++) {
        if (g_array_index(p->sessions, pdk__test_session_key, i).id == key.id) {
            g_array_remove_index(p->sessions, i);
            break;
        }
    }
    g_array_append_val(p->sessions, key);
}

/* True when the link is to be lost at the beginning of this reply. */
static bool reply_seen(pdk__test_conn *c, const pdk__test_frame *frame) {
    pdk_test_proxy *p = c->proxy;
    const int32_t xid = pdk__test_get32(frame->body);

    if (frame->handshake) {
        remember_session(p, frame);
    } else if (xid == XID_NOTIFICATION) {
        p->counters.notifications++;
    } else if (xid != XID_PING) {
        p->counters.replies++;
        c->unanswered -= c->unanswered > 0 ? 1 : 0;
    }
    return c->losing && xid == c->lose_xid;
}

/* Carries out the armed cut; everything before it has been passed on. */
static void lose(pdk__test_conn *c) {
    pdk_test_proxy *p = c->proxy;

    c->losing = false;
    p->order.set = false;
    p->order.fired = true;
    if (p->order.then != PDK_TEST_SILENT) {
        pdk__test_conn_reset(c, false);
    }
    pdk__test_proxy_enter(p, p->order.then);
    pdk__test_loop_announce();
}

void pdk__test_frames_received(pdk__test_conn *c, int direction, const uint8_t *data, size_t size, int64_t now_ns) {
    pdk__test_sniff *sniff = &c->flow[direction].sniff;
    size_t start = 0;
    size_t at = 0;

    while (at < size) {
        pdk__test_frame frame;
        bool cut;

        if (pdk__test_sniff_between(sniff)) {
            start = at;
        }
        at += pdk__test_sniff_step(sniff, data + at, size - at, &frame);
        if (!frame.ready) {
            continue;
        }
        cut = direction == UP ? request_seen(c, &frame) : reply_seen(c, &frame);
        if (!cut) {
            continue;
        }
        pdk__test_flow_push(c, direction, CHUNK_DATA, data, start, now_ns);
        pdk__test_flow_pump(c, direction, now_ns);
        if (!c->dead) {
            lose(c);
        }
        if (c->dead) {
            return;
        }
        data += start;
        size -= start;
        at -= start;
        start = 0;
    }
    pdk__test_flow_push(c, direction, CHUNK_DATA, data, size, now_ns);
}
