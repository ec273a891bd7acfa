/* The proxy's public functions: start, stop, modes, counters. */
#include "ts_proxy.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ts_clock.h"
#include "ts_ports.h"
#include "ts_proxy_internal.h"

bool ts_mode_silent(ts_proxy_mode mode) {
    return mode == TS_BLACKHOLE || mode == TS_BLACKHOLE_UP || mode == TS_BLACKHOLE_DOWN;
}

static ts_proxy *start(const char *target, bool opaque, int patience_ms, ts_greeting_fn rewrite) {
    ts_proxy *p;
    char ip[64];
    int port = 0;

    if (!ts_address_split(target, ip, &port)) {
        fprintf(stderr, "test support: not an address: %s\n", target);
        return NULL;
    }
    p = g_new0(ts_proxy, 1);
    p->reservation = ts_port_reserve(ip, &p->port);
    p->ip = g_strdup(ip);
    p->address = g_strdup_printf("%s:%d", ip, p->port);
    p->target = g_strdup(target);
    p->opaque = opaque;
    p->patience_ns = (int64_t)patience_ms * 1000000;
    p->rewrite = rewrite;
    p->sessions = g_array_new(FALSE, FALSE, sizeof(ts_session_key));
    p->listener = (ts_source){.kind = SOURCE_LISTENER, .owner = p, .fd = ts_port_listen(ip, p->port)};
    if (p->reservation < 0 || p->listener.fd < 0 || !ts_loop_join(p)) {
        perror("test support: proxy");
        return NULL; /* out of descriptors: the test fails anyway, leaks do not matter */
    }
    return p;
}

ts_proxy *ts_proxy_start(const char *target) { return start(target, false, 0, NULL); }

ts_proxy *ts_proxy_start_link(const char *target, int patience_ms, ts_greeting_fn rewrite) {
    return start(target, true, patience_ms, rewrite);
}

void ts_proxy_set_rewrite_argument(ts_proxy *p, const char *argument) {
    ts_loop_lock();
    g_free(p->rewrite_argument);
    p->rewrite_argument = g_strdup(argument);
    ts_loop_unlock();
}

void ts_proxy_stop(ts_proxy *p) {
    if (p != NULL) {
        ts_loop_leave(p);
    }
}

const char *ts_proxy_address(const ts_proxy *p) { return p->address; }

/* Calls `each` for every connection; it may end the one it is given. */
static void for_all(ts_proxy *p, void (*each)(ts_conn *c, void *user), void *user) {
    GList *link = p->conns;

    while (link != NULL) {
        GList *following = link->next;

        each(link->data, user);
        link = following;
    }
}

static void reset_one(ts_conn *c, void *unused) {
    (void)unused;
    ts_conn_reset(c, true);
}

static void reset_if_lossy(ts_conn *c, void *unused) {
    (void)unused;
    if (c->lossy) {
        ts_conn_reset(c, true);
    }
}

static void reset_if_half(ts_conn *c, void *unused) {
    (void)unused;
    if (c->half) {
        ts_conn_reset(c, true);
    }
}

static void reset_if_held(ts_conn *c, void *unused) {
    (void)unused;
    if (c->link != LINK_OPEN || !g_queue_is_empty(&c->flow[UP].chunks) || !g_queue_is_empty(&c->flow[DOWN].chunks)) {
        ts_conn_reset(c, true);
    }
}

static void run_one(ts_conn *c, void *now) { ts_conn_run(c, *(int64_t *)now); }

/* A cut proxy does not listen, nor one that has hung up on its clients. Connecting is refused while the reservation
 * keeps the port. */
static void listen_again(ts_proxy *p) {
    if (p->listener.fd < 0) {
        p->listener.fd = ts_port_listen(p->ip, p->port);
        if (p->listener.fd < 0) {
            perror("test support: proxy listens again");
            return;
        }
        ts_loop_watch(&p->listener, EPOLLIN);
    }
}

void ts_proxy_enter(ts_proxy *p, ts_proxy_mode mode) {
    int64_t now = ts_now_ns();

    p->mode = mode;
    if (mode == TS_CUT) {
        ts_loop_close(&p->listener);
        for_all(p, reset_one, NULL);
        return;
    }
    if (mode != TS_DROP_REPLIES) {
        for_all(p, reset_if_lossy, NULL);
    }
    if (mode != TS_BLACKHOLE) {
        for_all(p, reset_if_half, NULL);
    }
    listen_again(p);
    for_all(p, run_one, &now);
}

void ts_proxy_set_mode(ts_proxy *p, ts_proxy_mode mode) {
    ts_loop_lock();
    ts_proxy_enter(p, mode);
    ts_loop_unlock();
}

ts_proxy_mode ts_proxy_get_mode(ts_proxy *p) {
    ts_proxy_mode mode;

    ts_loop_lock();
    mode = p->mode;
    ts_loop_unlock();
    return mode;
}

void ts_proxy_heal(ts_proxy *p) { ts_proxy_set_mode(p, TS_PASS); }

void ts_proxy_heal_discard(ts_proxy *p) {
    ts_loop_lock();
    for_all(p, reset_if_held, NULL);
    ts_proxy_enter(p, TS_PASS);
    ts_loop_unlock();
}

void ts_proxy_reset(ts_proxy *p) {
    ts_loop_lock();
    for_all(p, reset_one, NULL);
    ts_loop_unlock();
}

static void hang_up_one(ts_conn *c, void *which) { ts_conn_hang_up(c, *(int *)which); }

void ts_proxy_hang_up(ts_proxy *p, ts_proxy_side side) {
    int which = side == TS_CLIENT_SIDE ? CLIENT : SERVER;

    ts_loop_lock();
    ts_proxy_enter(p, TS_BLACKHOLE);
    for_all(p, hang_up_one, &which);
    if (which == CLIENT) {
        ts_loop_close(&p->listener);
    }
    ts_loop_unlock();
}

void ts_proxy_set_delay(ts_proxy *p, unsigned up_us, unsigned down_us) {
    ts_loop_lock();
    p->delay_ns[UP] = (int64_t)up_us * 1000;
    p->delay_ns[DOWN] = (int64_t)down_us * 1000;
    ts_loop_unlock();
}

typedef struct {
    const void *bytes;
    size_t size;
    int said;
} speech;

static void say_one(ts_conn *c, void *user) {
    speech *it = user;
    const int64_t now = ts_now_ns();

    if (c->link == LINK_OPEN && ts_sniff_between(&c->flow[DOWN].sniff)) {
        ts_flow_push(c, DOWN, CHUNK_DATA, it->bytes, it->size, now);
        it->said++;
        ts_conn_run(c, now);
    }
}

int ts_proxy_say(ts_proxy *p, const void *bytes, size_t size) {
    speech it = {bytes, size, 0};

    ts_loop_lock();
    for_all(p, say_one, &it);
    ts_loop_unlock();
    return it.said;
}

static void stop_losing(ts_conn *c, void *unused) {
    (void)unused;
    c->losing = false;
}

void ts_proxy_arm(ts_proxy *p, int opcode, ts_proxy_loss loss, ts_proxy_mode then) {
    g_assert(then == TS_PASS || then == TS_CUT || then == TS_BLACKHOLE);
    ts_loop_lock();
    for_all(p, stop_losing, NULL);
    p->order = (ts_order){.set = true, .opcode = opcode, .loss = loss, .then = then};
    ts_loop_unlock();
}

void ts_proxy_disarm(ts_proxy *p) {
    ts_loop_lock();
    for_all(p, stop_losing, NULL);
    p->order.set = false;
    ts_loop_unlock();
}

bool ts_proxy_wait_fired(ts_proxy *p, int64_t timeout_ms) {
    const int64_t end = ts_now_ns() + timeout_ms * 1000000;
    bool fired;

    ts_loop_lock();
    while (!p->order.fired && ts_loop_await(end)) {
    }
    fired = p->order.fired;
    ts_loop_unlock();
    return fired;
}

uint64_t ts_proxy_count(ts_proxy *p, int opcode) {
    const int slot = opcode + OPCODE_BASE;
    uint64_t count;

    g_assert(slot >= 0 && slot < OPCODES);
    ts_loop_lock();
    count = p->by_opcode[slot];
    ts_loop_unlock();
    return count;
}

void ts_proxy_read(ts_proxy *p, ts_proxy_counters *out) {
    ts_loop_lock();
    *out = p->counters;
    ts_loop_unlock();
}

void ts_proxy_zero(ts_proxy *p) {
    ts_loop_lock();
    p->counters = (ts_proxy_counters){.open = p->counters.open};
    memset(p->by_opcode, 0, sizeof p->by_opcode);
    ts_loop_unlock();
}

bool ts_proxy_last_session(ts_proxy *p, ts_session_key *out) {
    bool found;

    ts_loop_lock();
    found = p->sessions->len > 0;
    if (found) {
        *out = g_array_index(p->sessions, ts_session_key, p->sessions->len - 1);
    }
    ts_loop_unlock();
    return found;
}

bool ts_proxy_find_session(ts_proxy *p, int64_t id, ts_session_key *out) {
    bool found = false;

    ts_loop_lock();
    for (guint i = 0; i < p->sessions->len && !found; i++) {
        const ts_session_key *key = &g_array_index(p->sessions, ts_session_key, i);

        if (key->id == id) {
            *out = *key;
            found = true;
        }
    }
    ts_loop_unlock();
    return found;
}
