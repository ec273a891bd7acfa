/* The network thread of a client handle: connections, their silences, and their packets.
 *
 *               dial                    CONNECTED
 *     NONE ────────────► CONNECTING ─────────────────► UP ── session 0 ──► EXPIRED
 *       ▲                    │ ended, or silent for      │ likewise
 *       └── answers UNKNOWN ◄┴────── 2/3 of the timeout ─┘ (CONNECTING goes ahead)
 */
#include "sim_client_internal.h"

#include <glib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

static int64_t clock_of(const struct sim_handle *h) { return sim_process_clock(h->process); }

static struct sim_packet *packet_new(struct sim_handle *h, enum sim_packet_kind kind) {
    struct sim_packet *packet = sim_alloc(h->process->agenda, sizeof *packet);
    packet->kind = kind;
    return packet;
}

static void send_packet(struct sim_handle *h, struct sim_packet *packet) {
    sim_send(h->wire.up, packet);
    h->sent = clock_of(h);
}

/* ---- the list of servers: the client library moves on twice when a connection fails, once when it begins one */

static int32_t next_server(struct sim_handle *h) {
    if (h->next_server == h->servers_count)
        h->next_server = 0;
    return h->servers[h->next_server++];
}

/* One after the other at first, until one has answered. */
static int32_t server_to_try(struct sim_handle *h) {
    return h->first_pass < h->servers_count ? h->servers[h->first_pass++] : next_server(h);
}

/* ---- a connection ends */

void sim_io_hang_up(struct sim_handle *h) {
    if (h->server >= 0) {
        sim_hang_up(h->wire.up);
        sim_ignore(h->wire.down);
    }
    h->server = -1;
    h->inbox = NULL;
}

static void lose(struct sim_handle *h, int32_t code) {
    sim_io_hang_up(h);
    if (h->link == SIM_LINK_EXPIRED)
        sim_tell_state(h, PDK__ZK_EXPIRED);
    else if (h->link == SIM_LINK_UP)
        sim_tell_state(h, PDK__ZK_CONNECTING);
    for (struct sim_call *call; (call = sim_calls_pop(&h->calls));) {
        call->code = code;
        call->reply = NULL;
        sim_tell(h, call);
    }
    h->unsent = NULL;
    if (h->link != SIM_LINK_EXPIRED)
        h->link = SIM_LINK_NONE;
    h->delay = h->next_server == h->servers_count;
    next_server(h);
    h->busy = true;
}

/* ---- packets that arrive */

static const char *const *copy_paths(struct sim_handle *h, const struct sim_watched *watched) {
    size_t size = watched->count * sizeof watched->paths[0];
    return size == 0 ? NULL : memcpy(sim_alloc(h->process->agenda, size), watched->paths, size);
}

static void send_watches(struct sim_handle *h) {
    if (h->data.count + h->children.count == 0)
        return;
    struct sim_packet *packet = packet_new(h, SIM_SET_WATCHES);
    packet->paths = copy_paths(h, &h->data);
    packet->count = h->data.count;
    packet->parents = copy_paths(h, &h->children);
    packet->parents_count = h->children.count;
    packet->zxid = h->zxid;
    send_packet(h, packet);
}

static void on_connected(struct sim_handle *h, const struct sim_packet *packet) {
    if (packet->session == 0) {
        h->link = SIM_LINK_EXPIRED;
        lose(h, ZSESSIONEXPIRED);
        return;
    }
    h->link = SIM_LINK_UP;
    h->session = packet->session;
    h->timeout = packet->timeout;
    h->first_pass = h->servers_count;
    send_watches(h);
    sim_tell_state(h, PDK__ZK_CONNECTED);
}

static void add_watch(struct sim_handle *h, struct sim_watched *watched, const char *path) {
    for (size_t i = 0; i < watched->count; i++)
        if (strcmp(watched->paths[i], path) == 0)
            return;
    if (watched->count == watched->room) {
        watched->room = watched->room * 2 + 4;
        const char **more = sim_alloc(h->process->agenda, watched->room * sizeof more[0]);
        if (watched->count > 0)
            memcpy(more, watched->paths, watched->count * sizeof more[0]);
        watched->paths = more;
    }
    watched->paths[watched->count++] = path;
}

/* false: it was not watched. */
static bool remove_watch(struct sim_watched *watched, const char *path) {
    for (size_t i = 0; i < watched->count; i++) {
        if (strcmp(watched->paths[i], path) != 0)
            continue;
        watched->paths[i] = watched->paths[--watched->count];
        return true;
    }
    return false;
}

/* A deletion is for both kinds of watches, and reported once. */
static void on_event(struct sim_handle *h, const struct sim_packet *packet) {
    static const enum pdk__zk_event events[] = {
        [SIM_CHANGED] = PDK__ZK_CHANGED, [SIM_DELETED] = PDK__ZK_DELETED, [SIM_CHILDREN] = PDK__ZK_CHILDREN};
    bool data = packet->event != SIM_CHILDREN && remove_watch(&h->data, packet->path);
    bool children = packet->event != SIM_CHANGED && remove_watch(&h->children, packet->path);
    if (!data && !children)
        return; /* nobody waits for it any more */
    struct sim_call *call = sim_alloc(h->process->agenda, sizeof *call);
    call->word = SIM_WORD_WATCH;
    call->path = packet->path;
    call->event = events[packet->event];
    sim_tell(h, call);
}

static void on_reply(struct sim_handle *h, const struct sim_packet *packet) {
    if (h->calls.first && h->calls.first != h->unsent && h->calls.first->tag != packet->tag) {
        lose(h, ZRUNTIMEINCONSISTENCY); /* out of order: one was not answered */
        return;
    }
    struct sim_call *call = sim_calls_pop(&h->calls);
    g_assert(call && call != h->unsent);
    if (packet->zxid > 0)
        h->zxid = packet->zxid;
    if (call->kind == PDK__OP_WATCH && packet->code == ZOK)
        add_watch(h, &h->data, call->path);
    if (call->kind == PDK__OP_LIST && call->watch && packet->code == ZOK)
        add_watch(h, &h->children, call->path);
    call->code = packet->code;
    call->reply = packet;
    sim_tell(h, call);
}

static void read_packet(struct sim_handle *h, const struct sim_packet *packet) {
    h->received = clock_of(h);
    h->busy = h->busy || packet->kind != SIM_PONG;
    if (packet->kind == SIM_CONNECTED)
        on_connected(h, packet);
    else if (packet->kind == SIM_REPLY)
        on_reply(h, packet);
    else if (packet->kind == SIM_EVENT)
        on_event(h, packet);
}

static void read_all(struct sim_handle *h) {
    for (struct sim_arrived *arrived; (arrived = h->inbox);) {
        h->inbox = arrived->next;
        if (arrived->packet)
            read_packet(h, arrived->packet);
        else
            lose(h, ZCONNECTIONLOSS);
    }
}

static void arrive(void *receiver, void *packet) {
    struct sim_handle *h = receiver;
    struct sim_arrived *arrived = sim_alloc(h->process->agenda, sizeof *arrived);
    arrived->packet = packet;
    if (h->inbox)
        h->inbox_last->next = arrived;
    else
        h->inbox = arrived;
    h->inbox_last = arrived;
    if (arrived->packet && arrived->packet->kind == SIM_PONG)
        sim_idle(h->process->agenda);
    sim_io_wake(h);
}

void sim_io_shut(struct sim_handle *h) { arrive(h, NULL); }

/* ---- packets that are sent */

static void send_call(struct sim_handle *h, const struct sim_call *call) {
    static const enum sim_op ops[] = {
        [PDK__OP_CREATE] = SIM_OP_CREATE,       [PDK__OP_MKDIR] = SIM_OP_CREATE,  [PDK__OP_LIST] = SIM_OP_LIST,
        [PDK__OP_WATCH] = SIM_OP_GET,           [PDK__OP_GET] = SIM_OP_GET,       [PDK__OP_STAT] = SIM_OP_EXISTS,
        [PDK__OP_BARRIER] = SIM_OP_MULTI_CHECK, [PDK__OP_DELETE] = SIM_OP_DELETE, [PDK__OP_SET] = SIM_OP_SET,
        [PDK__OP_SYNC] = SIM_OP_SYNC,           [PDK__OP_ACL] = SIM_OP_ACL,
    };
    struct sim_packet *packet = packet_new(h, SIM_REQUEST);
    packet->op = ops[call->kind];
    packet->tag = call->tag;
    packet->path = call->path;
    packet->data = call->data;
    packet->versioned = call->versioned;
    packet->stat.version = call->version;
    packet->watch = call->kind == PDK__OP_WATCH || (call->kind == PDK__OP_LIST && call->watch);
    if (call->kind == PDK__OP_CREATE)
        packet->mode = call->named ? SIM_EPHEMERAL : SIM_EPHEMERAL_SEQUENTIAL;
    else if (call->kind == PDK__OP_MKDIR)
        packet->mode = call->container ? SIM_CONTAINER : SIM_PERSISTENT;
    send_packet(h, packet);
    h->busy = true;
}

static void flush(struct sim_handle *h) {
    for (; h->unsent; h->unsent = h->unsent->next)
        send_call(h, h->unsent);
}

void sim_io_close(struct sim_handle *h) {
    if (h->link == SIM_LINK_UP && !h->process->dead) {
        flush(h);
        send_packet(h, packet_new(h, SIM_CLOSE));
    }
    sim_io_hang_up(h);
}

static void dial(struct sim_handle *h) {
    struct sim_process *p = h->process;
    h->link = SIM_LINK_CONNECTING;
    h->server = server_to_try(h);
    h->received = clock_of(h);
    h->busy = true;
    sim_dial(h->ensemble, p->host, h->server, arrive, h, &h->wire);
    struct sim_packet *packet = packet_new(h, SIM_CONNECT);
    packet->session = h->session;
    packet->timeout = h->timeout;
    packet->zxid = h->zxid;
    send_packet(h, packet);
}

/* ---- the thread */

static void on_timer(void *subject, void *what);

/* A timer that rings too early is set again. That is cheaper than a timer for each deadline: nearly all deadlines move
 * on in time. */
static void arm_timer(struct sim_handle *h) {
    if (h->timer != 0 && h->timer <= h->deadline)
        return;
    h->timer = h->deadline;
    sim_run_in(h->process, h->timer, true, on_timer, h, (void *)(uintptr_t)h->timer);
}

static void set_timer(struct sim_handle *h, int64_t clock) {
    h->deadline = sim_process_when(h->process, clock);
    arm_timer(h);
}

/* Without a connection: begin one, or wait a little when all servers have been tried. */
static void reconnect(struct sim_handle *h, int64_t now) {
    if (h->delay)
        set_timer(h, now + h->timeout / 60);
    else
        dial(h);
    h->delay = false;
}

static void keep_time(struct sim_handle *h) {
    int64_t now = clock_of(h), speak = now + h->timeout / 3;
    if (h->link != SIM_LINK_NONE && now - h->received >= h->timeout * 2 / 3)
        lose(h, ZOPERATIONTIMEOUT);
    if (h->link == SIM_LINK_NONE)
        reconnect(h, now);
    if (h->link == SIM_LINK_NONE)
        return;
    if (h->link == SIM_LINK_UP && now - h->sent < h->timeout / 3)
        speak = h->sent + h->timeout / 3;
    else if (h->link == SIM_LINK_UP && !h->calls.first)
        send_packet(h, packet_new(h, SIM_PING));
    set_timer(h, MIN(h->received + h->timeout * 2 / 3, speak));
}

static void act(struct sim_handle *h) {
    h->busy = false;
    read_all(h);
    if (h->link == SIM_LINK_UP)
        flush(h);
    if (h->link != SIM_LINK_EXPIRED)
        keep_time(h);
    if (!h->busy)
        sim_idle(h->process->agenda);
}

static void on_wake(void *subject, void *what) {
    struct sim_handle *h = subject;
    (void)what;
    h->woken = false;
    if (h->zk)
        act(h);
}

static void on_timer(void *subject, void *what) {
    struct sim_handle *h = subject;
    bool current = h->timer == (int64_t)(uintptr_t)what;
    if (current)
        h->timer = 0;
    bool due = current && h->zk && h->link != SIM_LINK_EXPIRED;
    if (due && h->deadline <= h->process->agenda->now) {
        act(h);
        return;
    }
    sim_idle(h->process->agenda);
    if (due)
        arm_timer(h);
}

void sim_io_wake(struct sim_handle *h) {
    if (h->woken || h->link == SIM_LINK_EXPIRED)
        return;
    h->woken = true;
    sim_run_in(h->process, h->process->agenda->now, true, on_wake, h, NULL);
}
