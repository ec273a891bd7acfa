/* One proxied connection: it is accepted, connected on, read from both ends, and ended. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "ports.h"
#include "proxy_internal.h"

enum { READ_SIZE = 64 * 1024, HELD_LIMIT = 32 << 20, RETRY_NS = 10 * 1000 * 1000 };

/* Waits for the next thing that each end can do. */
static void watch_ends(pdk__test_conn *c) {
    for (int which = 0; which < 2 && !c->dead; which++) {
        const pdk__test_flow *in = &c->flow[which];
        const pdk__test_flow *out = &c->flow[1 - which];
        uint32_t events = !in->ended && in->held < HELD_LIMIT ? EPOLLIN : 0;

        if (which == SERVER && c->link != LINK_OPEN) {
            events = EPOLLOUT; /* the end of connecting */
        } else if (out->blocked) {
            events |= EPOLLOUT;
        }
        if (c->end[which].fd < 0) {
            continue;
        }
        if (events == 0) {
            pdk__test_loop_forget(&c->end[which]); /* or an end's hang-up would be reported for ever */
        } else {
            pdk__test_loop_watch(&c->end[which], events);
        }
    }
}

static void connect_failed(pdk__test_conn *c, int64_t now_ns) {
    pdk__test_loop_close(&c->end[SERVER]);
    if (now_ns >= c->patience_ns) {
        pdk__test_conn_reset(c, false);
        return;
    }
    c->link = LINK_WAITING;
    c->retry_ns = now_ns + RETRY_NS;
}

static void connect_on(pdk__test_conn *c, int64_t now_ns) {
    c->retry_ns = 0;
    c->link = LINK_CONNECTING;
    c->end[SERVER].fd = pdk__test_port_connect(c->proxy->target);
    if (c->end[SERVER].fd < 0) {
        connect_failed(c, now_ns);
    }
}

static void finish_connect(pdk__test_conn *c, int64_t now_ns) {
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(c->end[SERVER].fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
        connect_failed(c, now_ns);
        return;
    }
    c->link = LINK_OPEN;
}

void pdk__test_conn_run(pdk__test_conn *c, int64_t now_ns) {
    if (c->link == LINK_WAITING && !pdk__test_mode_silent(c->proxy->mode)) {
        if (c->retry_ns == 0 && c->flow[UP].ended) {
            pdk__test_conn_reset(c, false); /* made and given up in the silence: its first packet never arrived */
            return;
        }
        if (c->retry_ns <= now_ns) {
            connect_on(c, now_ns);
        }
    }
    for (int direction = UP; direction <= DOWN && !c->dead; direction++) {
        pdk__test_flow_pump(c, direction, now_ns);
    }
    watch_ends(c);
}

int64_t pdk__test_conn_due(const pdk__test_conn *c) {
    int64_t due = INT64_MAX;

    if (c->link != LINK_OPEN) {
        return c->retry_ns > 0 && !pdk__test_mode_silent(c->proxy->mode) ? c->retry_ns : INT64_MAX;
    }
    for (int direction = UP; direction <= DOWN; direction++) {
        const pdk__test_chunk *head = g_queue_peek_head((GQueue *)(uintptr_t)&c->flow[direction].chunks);

        if (head != NULL && !c->flow[direction].blocked && !pdk__test_flow_held(c, direction)) {
            due = MIN(due, head->due_ns);
        }
    }
    return due;
}

static void count_bytes(pdk__test_conn *c, int direction, size_t size) {
    if (direction == UP) {
        c->proxy->counters.bytes_up += size;
    } else {
        c->proxy->counters.bytes_down += size;
    }
}

/* Holds the first bytes back until they can be rewritten. True when there is something to pass on as it is. */
static bool greet(pdk__test_conn *c, const uint8_t *data, size_t size, int64_t now_ns) {
    if (c->greeted || c->proxy->rewrite == NULL) {
        return true;
    }
    if (c->greeting == NULL) {
        c->greeting = g_byte_array_new();
    }
    g_byte_array_append(c->greeting, data, (guint)size);
    c->greeted = c->proxy->rewrite(c->greeting, c->proxy->rewrite_argument);
    if (c->greeted) {
        pdk__test_flow_push(c, UP, CHUNK_DATA, c->greeting->data, c->greeting->len, now_ns);
    }
    return false;
}

static void read_end(pdk__test_conn *c, int which, int64_t now_ns) {
    static uint8_t buffer[READ_SIZE]; /* the loop's thread alone reads */

    while (!c->dead && !c->flow[which].ended && c->flow[which].held < HELD_LIMIT) {
        const ssize_t got = recv(c->end[which].fd, buffer, sizeof buffer, 0);

        if (got > 0) {
            count_bytes(c, which, (size_t)got);
            if (which != UP || greet(c, buffer, (size_t)got, now_ns)) {
                pdk__test_frames_received(c, which, buffer, (size_t)got, now_ns);
            }
        } else if (got == 0) {
            pdk__test_flow_push(c, which, CHUNK_END, NULL, 0, now_ns);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            pdk__test_flow_push(c, which, CHUNK_RESET, NULL, 0, now_ns);
        }
    }
}

void pdk__test_conn_event(pdk__test_conn *c, int which, uint32_t events) {
    const int64_t now = pdk__test_now_ns();

    if (c->dead) {
        return; /* ended by another thread, or earlier in this round */
    }
    if (which == SERVER && c->link == LINK_CONNECTING) {
        finish_connect(c, now);
    } else if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && c->end[which].fd >= 0) {
        read_end(c, which, now);
    }
    if (!c->dead) {
        pdk__test_conn_run(c, now);
    }
}

/* Closing becomes a reset. */
static void set_hard(const pdk__test_source *end) {
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};

    setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

void pdk__test_conn_accept(pdk_test_proxy *p) {
    const int yes = 1;
    int fd;

    while (!p->dead && p->listener.fd >= 0 &&
           (fd = accept4(p->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        const int64_t now = pdk__test_now_ns();
        pdk__test_conn *c = g_new0(pdk__test_conn, 1);

        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        c->proxy = p;
        c->end[CLIENT] = (pdk__test_source){.kind = SOURCE_END, .owner = c, .which = CLIENT, .fd = fd};
        c->end[SERVER] = (pdk__test_source){.kind = SOURCE_END, .owner = c, .which = SERVER, .fd = -1};
        c->patience_ns = now + p->patience_ns;
        c->flow[UP].sniff.unreadable = p->opaque;
        c->flow[DOWN].sniff.unreadable = p->opaque;
        p->conns = g_list_prepend(p->conns, c);
        p->counters.accepted++;
        p->counters.open++;
        pdk__test_conn_run(c, now);
    }
}

void pdk__test_conn_reset(pdk__test_conn *c, bool server_too) {
    if (c->dead) {
        return;
    }
    c->dead = true;
    if (c->losing) {
        c->proxy->order.set = true; /* it ended before the reply came: the order stands */
    }
    for (int which = 0; which < 2; which++) {
        /* If the end has been delivered already, a plain close completes the orderly end. */
        if (c->end[which].fd >= 0 && (which == CLIENT || server_too) && !c->flow[1 - which].shut) {
            set_hard(&c->end[which]);
        }
        pdk__test_loop_close(&c->end[which]);
    }
    c->proxy->conns = g_list_remove(c->proxy->conns, c);
    c->proxy->counters.open--;
    pdk__test_loop_dispose(c);
}

void pdk__test_conn_hang_up(pdk__test_conn *c, int which) {
    if (c->half || c->dead) {
        return;
    }
    if (which == CLIENT && c->link != LINK_OPEN) {
        pdk__test_conn_reset(c, true); /* the server does not know of it */
        return;
    }
    if (c->end[which].fd >= 0) {
        set_hard(&c->end[which]);
        pdk__test_loop_close(&c->end[which]);
    }
    if (c->link == LINK_OPEN) {
        c->half = true;
    } else {
        c->link = LINK_WAITING; /* like one that was made in the silence */
        c->retry_ns = 0;
    }
}

void pdk__test_conn_free(pdk__test_conn *c) {
    for (int direction = UP; direction <= DOWN; direction++) {
        g_queue_clear_full(&c->flow[direction].chunks, g_free);
    }
    if (c->greeting != NULL) {
        g_byte_array_free(c->greeting, TRUE);
    }
    g_free(c);
}
