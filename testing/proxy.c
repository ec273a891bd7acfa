/* The proxy's public functions: start, stop, modes, counters. */
#include "proxy.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "fail.h"
#include "ports.h"
#include "process.h"
#include "proxy_internal.h"

bool pdk__test_mode_silent(pdk_test_proxy_mode mode) {
    return mode == PDK_TEST_SILENT || mode == PDK_TEST_SILENT_UP || mode == PDK_TEST_SILENT_DOWN;
}

static pdk_test_proxy *start(const char *target, bool opaque, int patience_ms, pdk__test_greeting_fn rewrite) {
    pdk_test_proxy *p;
    char ip[64];
    int port = 0;

    if (!pdk__test_address_split(target, ip, &port)) {
        pdk__test_fail("%s is no address of a server; it has to be ip:port", target);
        return NULL;
    }
    p = g_new0(pdk_test_proxy, 1);
    p->reservation = pdk__test_port_reserve(ip, &p->port);
    p->ip = g_strdup(ip);
    p->address = g_strdup_printf("%s:%d", ip, p->port);
    p->target = g_strdup(target);
    p->opaque = opaque;
    p->patience_ns = (int64_t)patience_ms * 1000000;
    p->rewrite = rewrite;
    p->sessions = g_array_new(FALSE, FALSE, sizeof(pdk__test_session_key));
    p->listener = (pdk__test_source){.kind = SOURCE_LISTENER, .owner = p, .fd = pdk__test_port_listen(ip, p->port)};
    if (p->reservation < 0 || p->listener.fd < 0 || !pdk__test_loop_join(p)) {
        pdk__test_fail("no proxy for %s: %s; is %s an address of this machine, and are descriptors left (ulimit -n)?",
                       target, g_strerror(errno), ip);
        pdk__test_proxy_discard(p);
        return NULL;
    }
    return p;
}

pdk_test_proxy *pdk_test_proxy_start(const char *target) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    pdk__test_fill_standard();
    return start(target, false, 0, NULL);
}

pdk_test_proxy *pdk__test_proxy_start_link(const char *target, int patience_ms, pdk__test_greeting_fn rewrite) {
    return start(target, true, patience_ms, rewrite);
}

void pdk__test_proxy_set_rewrite_argument(pdk_test_proxy *p, const char *argument) {
    pdk__test_loop_lock();
    g_free(p->rewrite_argument);
    p->rewrite_argument = g_strdup(argument);
    pdk__test_loop_unlock();
}

void pdk_test_proxy_stop(pdk_test_proxy *p) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (p != NULL) {
        pdk__test_loop_leave(p);
    }
}

const char *pdk_test_proxy_address(const pdk_test_proxy *p) { return p->address; }

/* Calls `each` for every connection; it may end the one it is given. */
static void for_all(pdk_test_proxy *p, void (*each)(pdk__test_conn *c, void *user), void *user) {
    GList *link = p->conns;

    while (link != NULL) {
        GList *following = link->next;

        each(link->data, user);
        link = following;
    }
}

static void reset_one(pdk__test_conn *c, void *unused) {
    (void)unused;
    pdk__test_conn_reset(c, true);
}

static void reset_if_lossy(pdk__test_conn *c, void *unused) {
    (void)unused;
    if (c->lossy) {
        pdk__test_conn_reset(c, true);
    }
}

static void reset_if_half(pdk__test_conn *c, void *unused) {
    (void)unused;
    if (c->half) {
        pdk__test_conn_reset(c, true);
    }
}

static void reset_if_held(pdk__test_conn *c, void *unused) {
    (void)unused;
    if (c->link != LINK_OPEN || !g_queue_is_empty(&c->flow[UP].chunks) || !g_queue_is_empty(&c->flow[DOWN].chunks)) {
        pdk__test_conn_reset(c, true);
    }
}

static void run_one(pdk__test_conn *c, void *now) { pdk__test_conn_run(c, *(int64_t *)now); }

/* A cut proxy does not listen, nor one that has hung up on its clients. Connecting is refused while the reservation
 * keeps the port. */
static void listen_again(pdk_test_proxy *p) {
    if (p->listener.fd < 0) {
        p->listener.fd = pdk__test_port_listen(p->ip, p->port);
        if (p->listener.fd < 0) {
            g_warning("paddock-testing: nobody can connect to %s again: %s", p->address, g_strerror(errno));
            return;
        }
        pdk__test_loop_watch(&p->listener, EPOLLIN);
    }
}

void pdk__test_proxy_enter(pdk_test_proxy *p, pdk_test_proxy_mode mode) {
    int64_t now = pdk__test_now_ns();

    p->mode = mode;
    if (mode == PDK_TEST_CUT) {
        pdk__test_loop_close(&p->listener);
        for_all(p, reset_one, NULL);
        return;
    }
    if (mode != PDK_TEST_DROP_REPLIES) {
        for_all(p, reset_if_lossy, NULL);
    }
    if (mode != PDK_TEST_SILENT) {
        for_all(p, reset_if_half, NULL);
    }
    listen_again(p);
    for_all(p, run_one, &now);
}

void pdk_test_proxy_set_mode(pdk_test_proxy *p, pdk_test_proxy_mode mode) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    pdk__test_loop_lock();
    pdk__test_proxy_enter(p, mode);
    pdk__test_loop_unlock();
}

pdk_test_proxy_mode pdk_test_proxy_get_mode(pdk_test_proxy *p) {
    pdk_test_proxy_mode mode;

    pdk__test_loop_lock();
    mode = p->mode;
    pdk__test_loop_unlock();
    return mode;
}

void pdk_test_proxy_heal(pdk_test_proxy *p) { pdk_test_proxy_set_mode(p, PDK_TEST_PASS); }

void pdk__test_proxy_heal_discard(pdk_test_proxy *p) {
    pdk__test_loop_lock();
    for_all(p, reset_if_held, NULL);
    pdk__test_proxy_enter(p, PDK_TEST_PASS);
    pdk__test_loop_unlock();
}

void pdk_test_proxy_reset(pdk_test_proxy *p) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    pdk__test_loop_lock();
    for_all(p, reset_one, NULL);
    pdk__test_loop_unlock();
}

static void hang_up_one(pdk__test_conn *c, void *which) { pdk__test_conn_hang_up(c, *(int *)which); }

void pdk__test_proxy_hang_up(pdk_test_proxy *p, pdk__test_proxy_side side) {
    int which = side == PDK__TEST_CLIENT_SIDE ? CLIENT : SERVER;

    pdk__test_loop_lock();
    pdk__test_proxy_enter(p, PDK_TEST_SILENT);
    for_all(p, hang_up_one, &which);
    if (which == CLIENT) {
        pdk__test_loop_close(&p->listener);
    }
    pdk__test_loop_unlock();
}

void pdk_test_proxy_set_delay(pdk_test_proxy *p, unsigned up_us, unsigned down_us) {
    pdk__test_loop_lock();
    p->delay_ns[UP] = (int64_t)up_us * 1000;
    p->delay_ns[DOWN] = (int64_t)down_us * 1000;
    pdk__test_loop_unlock();
}

typedef struct {
    const void *bytes;
    size_t size;
    int said;
} speech;

static void say_one(pdk__test_conn *c, void *user) {
    speech *it = user;
    const int64_t now = pdk__test_now_ns();

    if (c->link == LINK_OPEN && pdk__test_sniff_between(&c->flow[DOWN].sniff)) {
        pdk__test_flow_push(c, DOWN, CHUNK_DATA, it->bytes, it->size, now);
        it->said++;
        pdk__test_conn_run(c, now);
    }
}

int pdk__test_proxy_say(pdk_test_proxy *p, const void *bytes, size_t size) {
    speech it = {bytes, size, 0};

    pdk__test_loop_lock();
    for_all(p, say_one, &it);
    pdk__test_loop_unlock();
    return it.said;
}

static void stop_losing(pdk__test_conn *c, void *unused) {
    (void)unused;
    c->losing = false;
}

void pdk__test_proxy_arm(pdk_test_proxy *p, int opcode, pdk__test_proxy_loss loss, pdk_test_proxy_mode then) {
    g_assert(then == PDK_TEST_PASS || then == PDK_TEST_CUT || then == PDK_TEST_SILENT);
    pdk__test_loop_lock();
    for_all(p, stop_losing, NULL);
    p->order = (pdk__test_order){.set = true, .opcode = opcode, .loss = loss, .then = then};
    pdk__test_loop_unlock();
}

void pdk__test_proxy_disarm(pdk_test_proxy *p) {
    pdk__test_loop_lock();
    for_all(p, stop_losing, NULL);
    p->order.set = false;
    pdk__test_loop_unlock();
}

bool pdk__test_proxy_wait_fired(pdk_test_proxy *p, int64_t timeout_ms) {
    const int64_t end = pdk__test_now_ns() + timeout_ms * 1000000;
    bool fired;

    pdk__test_loop_lock();
    while (!p->order.fired && pdk__test_loop_await(end)) {
    }
    fired = p->order.fired;
    pdk__test_loop_unlock();
    return fired;
}

uint64_t pdk__test_proxy_count(pdk_test_proxy *p, int opcode) {
    const int slot = opcode + OPCODE_BASE;
    uint64_t count;

    g_assert(slot >= 0 && slot < OPCODES);
    pdk__test_loop_lock();
    count = p->by_opcode[slot];
    pdk__test_loop_unlock();
    return count;
}

void pdk__test_proxy_read(pdk_test_proxy *p, pdk__test_proxy_counters *out) {
    pdk__test_loop_lock();
    *out = p->counters;
    pdk__test_loop_unlock();
}

void pdk__test_proxy_zero(pdk_test_proxy *p) {
    pdk__test_loop_lock();
    p->counters = (pdk__test_proxy_counters){.open = p->counters.open};
    memset(p->by_opcode, 0, sizeof p->by_opcode);
    pdk__test_loop_unlock();
}

bool pdk__test_proxy_last_session(pdk_test_proxy *p, pdk__test_session_key *out) {
    bool found;

    pdk__test_loop_lock();
    found = p->sessions->len > 0;
    if (found) {
        *out = g_array_index(p->sessions, pdk__test_session_key, p->sessions->len - 1);
    }
    pdk__test_loop_unlock();
    return found;
}

bool pdk__test_proxy_find_session(pdk_test_proxy *p, int64_t id, pdk__test_session_key *out) {
    bool found = false;

    pdk__test_loop_lock();
    for (guint i = 0; i < p->sessions->len && !found; i++) {
        const pdk__test_session_key *key = &g_array_index(p->sessions, pdk__test_session_key, i);

        if (key->id == id) {
            *out = *key;
            found = true;
        }
    }
    pdk__test_loop_unlock();
    return found;
}
