/* One direction of a proxied connection: a queue of chunks on their way, with the time each is due. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "proxy_internal.h"

bool pdk__test_flow_held(const pdk__test_conn *c, int direction) {
    const pdk_test_proxy_mode mode = c->proxy->mode;

    return mode == PDK_TEST_SILENT || (direction == UP && mode == PDK_TEST_SILENT_UP) ||
           (direction == DOWN && mode == PDK_TEST_SILENT_DOWN);
}

void pdk__test_flow_push(pdk__test_conn *c, int direction, chunk_kind kind, const uint8_t *data, size_t size,
                         int64_t now_ns) {
    pdk__test_flow *flow = &c->flow[direction];
    pdk__test_chunk *chunk;

    if (flow->ended || (kind == CHUNK_DATA && size == 0)) {
        return;
    }
    chunk = g_malloc(sizeof *chunk + size);
    chunk->kind = kind;
    chunk->due_ns = MAX(flow->last_due, now_ns + c->proxy->delay_ns[direction]);
    chunk->size = size;
    chunk->sent = 0;
    if (size > 0) {
        memcpy(chunk->data, data, size);
    }
    flow->last_due = chunk->due_ns;
    flow->held += size;
    flow->ended = kind != CHUNK_DATA;
    g_queue_push_tail(&flow->chunks, chunk);
}

static void drop_head(pdk__test_flow *flow) {
    pdk__test_chunk *chunk = g_queue_pop_head(&flow->chunks);

    flow->held -= chunk->size;
    g_free(chunk);
}

/* True when the whole chunk has left. */
static bool send_chunk(pdk__test_conn *c, int direction, pdk__test_chunk *chunk, int64_t now_ns) {
    pdk__test_flow *flow = &c->flow[direction];
    const int fd = c->end[1 - direction].fd;

    while (!flow->broken && chunk->sent < chunk->size) {
        const ssize_t sent = send(fd, chunk->data + chunk->sent, chunk->size - chunk->sent, MSG_NOSIGNAL);

        if (sent > 0) {
            chunk->sent += (size_t)sent;
        } else if (errno == EAGAIN) {
            flow->blocked = true;
            return false;
        } else if (errno != EINTR) {
            /* The receiver is gone. The sender learns it through the other direction's queue, like everything. */
            flow->broken = true;
            pdk__test_flow_push(c, 1 - direction, CHUNK_RESET, NULL, 0, now_ns);
            if (c->flow[1 - direction].shut) {
                pdk__test_conn_reset(c, true);
            }
        }
    }
    return true;
}

static void deliver_end(pdk__test_conn *c, int direction) {
    c->flow[direction].shut = true;
    shutdown(c->end[1 - direction].fd, SHUT_WR);
    if (c->flow[1 - direction].shut) {
        pdk__test_conn_reset(c, true);
    }
}

void pdk__test_flow_pump(pdk__test_conn *c, int direction, int64_t now_ns) {
    pdk__test_flow *flow = &c->flow[direction];
    pdk__test_chunk *chunk;

    flow->blocked = false;
    while (!c->dead && c->link == LINK_OPEN && !pdk__test_flow_held(c, direction) &&
           (chunk = g_queue_peek_head(&flow->chunks)) != NULL && chunk->due_ns <= now_ns) {
        const chunk_kind kind = chunk->kind;

        if (direction == DOWN && c->proxy->mode == PDK_TEST_DROP_REPLIES) {
            c->lossy = true;
        } else if (kind == CHUNK_DATA && !send_chunk(c, direction, chunk, now_ns)) {
            return;
        }
        drop_head(flow);
        if (kind == CHUNK_RESET || (kind == CHUNK_END && c->lossy)) {
            pdk__test_conn_reset(c, true);
        } else if (kind == CHUNK_END) {
            deliver_end(c, direction);
        }
    }
}
