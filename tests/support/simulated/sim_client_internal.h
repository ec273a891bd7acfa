/* The inside of a client handle, as its two threads see it.
 *
 *     driver ── submit ─► [unsent │ sent] ── network thread ─► wire.up        sim_client_io.c
 *     driver ◄── sink ─── [ due ] ◄───────── network thread ◄─ [inbox] ◄─ wire.down
 *                 └ completion thread: sim_client.c
 *
 * The threads' events point at the agenda's memory, which outlives the handle. Close frees the driver's part, so that a
 * late use of it shows.
 */
#ifndef SIM_CLIENT_INTERNAL_H
#define SIM_CLIENT_INTERNAL_H

#include "sim_client.h"
#include "sim_process.h"

#define SIM_CLIENT_SERVERS 16

enum sim_word { SIM_WORD_REPLY, SIM_WORD_WATCH, SIM_WORD_STATE };

/* A request until it is answered. Then it is a message on its way to the driver. An event is a message from the
 * beginning. */
struct sim_call {
    struct sim_call *next;
    enum sim_word word;
    enum pdk__op_kind kind;
    bool container, named, watch, stat, versioned;
    int32_t version;
    enum pdk__zk_state state;
    enum pdk__zk_event event;
    int32_t code;
    uint64_t driver_tag, tag; /* the driver's; ours, which counts up */
    const char *path, *data;
    const struct sim_packet *reply;
};

struct sim_calls {
    struct sim_call *first, *last;
};

/* Paths that are watched at the server. */
struct sim_watched {
    const char **paths;
    size_t count, room;
};

struct sim_arrived {
    struct sim_arrived *next;
    const struct sim_packet *packet; /* NULL: the end */
};

enum sim_client_link { SIM_LINK_NONE, SIM_LINK_CONNECTING, SIM_LINK_UP, SIM_LINK_EXPIRED };

struct sim_handle {
    struct sim_handle *next; /* the process's older one */
    struct sim_process *process;
    struct pdk__zk *zk; /* NULL: closed */
    const struct pdk__zk_sink *sink;
    void *driver;

    /* the list of servers of that ensemble, and the next one to try */
    struct sim_ensemble *ensemble;
    int32_t servers[SIM_CLIENT_SERVERS];
    int32_t servers_count, next_server, first_pass;
    bool delay; /* all have been tried: wait before the next attempt */

    enum sim_client_link link;
    int32_t server; /* of the connection or the attempt; -1: none */
    struct sim_wire wire;
    int64_t session;
    int64_t timeout;         /* ns; as asked for, then as negotiated */
    int64_t zxid;            /* the last one seen */
    int64_t received, sent;  /* by the process's clock */
    int64_t deadline, timer; /* true times: when to look again at the latest; of the timer that is set, 0: none */
    bool woken, telling;     /* the threads have an event of their own in the agenda */
    bool busy;               /* the network thread did more than keep time */
    struct sim_arrived *inbox, *inbox_last;

    struct sim_calls calls;  /* submitted, not answered */
    struct sim_call *unsent; /* the first of them that has not left; NULL: all have */
    struct sim_calls due;    /* for the driver */
    uint64_t tags;
    size_t outstanding; /* calls that the driver has not been answered */

    struct sim_watched data, children;
};

struct pdk__zk {
    struct sim_handle *handle;
};

void sim_calls_push(struct sim_calls *calls, struct sim_call *call);
struct sim_call *sim_calls_pop(struct sim_calls *calls);

/* Queue a message for the driver; the completion thread brings it. */
void sim_tell(struct sim_handle *h, struct sim_call *call);
void sim_tell_state(struct sim_handle *h, enum pdk__zk_state state);

/* ---- sim_client_io.c */
/* Something arrived, or is to be sent: the network thread handles it, as late as threads are. */
void sim_io_wake(struct sim_handle *h);
/* Send all that is queued and the end of the session, if there is a connection; then hang up. */
void sim_io_close(struct sim_handle *h);
/* Somebody shuts the socket down: the thread finds that the connection has ended. */
void sim_io_shut(struct sim_handle *h);
/* The kernel closes the socket: packets that were sent still arrive. */
void sim_io_hang_up(struct sim_handle *h);

#endif
