/*
 * Shared by the proxy's files. One lock guards everything here. The loop's thread holds it while it handles events, the
 * others while they change something. Only the loop's thread frees memory that an event of epoll may still point to.
 */
#ifndef TESTING_PROXY_INTERNAL_H
#define TESTING_PROXY_INTERNAL_H

#include <glib.h>
#include <pthread.h>

#include "proxy.h"
#include "sniff.h"

/* Direction d reads from end d and writes to end 1 - d. */
enum { UP = 0, DOWN = 1, CLIENT = 0, SERVER = 1 };

typedef enum { SOURCE_WAKE, SOURCE_TIMER, SOURCE_LISTENER, SOURCE_END } source_kind;

/* The data that epoll hands back. */
typedef struct {
    source_kind kind;
    void *owner; /* pdk_test_proxy or pdk__test_conn */
    int which;   /* CLIENT or SERVER */
    int fd;
    uint32_t events; /* registered with epoll; fd is registered while it is not -1 */
    bool registered;
} pdk__test_source;

typedef enum { CHUNK_DATA, CHUNK_END, CHUNK_RESET } chunk_kind;

/* Something on its way: bytes, the end of the stream, or a reset. */
typedef struct {
    chunk_kind kind;
    int64_t due_ns;
    size_t size;
    size_t sent;
    uint8_t data[];
} pdk__test_chunk;

typedef struct {
    GQueue chunks;
    size_t held;      /* bytes in chunks */
    int64_t last_due; /* nothing may overtake */
    bool ended;       /* the sender has ended or reset: no more chunks */
    bool shut;        /* the end has been delivered */
    bool broken;      /* the receiver is gone: bytes are thrown away */
    bool blocked;     /* the receiver's buffer is full */
    pdk__test_sniff sniff;
} pdk__test_flow;

typedef enum { LINK_WAITING, LINK_CONNECTING, LINK_OPEN } link_state;

typedef struct {
    pdk_test_proxy *proxy;
    pdk__test_source end[2];
    pdk__test_flow flow[2];
    link_state link;     /* of the server's side */
    int64_t retry_ns;    /* when to try the server again, 0: not waiting for that */
    int64_t patience_ns; /* until when */
    GByteArray *greeting;
    bool greeted;
    bool lossy; /* bytes of it were thrown away: it can only be reset */
    bool half;  /* one side was hung up: it can only be reset */
    bool dead;
    int64_t unanswered;
    bool losing; /* the armed cut waits for the reply to lose_xid */
    int32_t lose_xid;
} pdk__test_conn;

/* Rewrites the first bytes of a connection, client to server. Returns false while it needs more of them. */
typedef bool (*pdk__test_greeting_fn)(GByteArray *bytes, const char *argument);

typedef struct {
    bool set;
    bool fired;
    int opcode;
    pdk__test_proxy_loss loss;
    pdk_test_proxy_mode then;
} pdk__test_order;

enum { OPCODE_BASE = 16, OPCODES = 160 };

struct pdk_test_proxy {
    pdk__test_source listener;
    int reservation;
    char *ip;
    int port;
    char *address;
    char *target;
    pdk_test_proxy_mode mode;
    int64_t delay_ns[2];
    int64_t patience_ns;
    bool opaque; /* not ZooKeeper's client protocol */
    pdk__test_greeting_fn rewrite;
    char *rewrite_argument;
    GList *conns;
    pdk__test_order order;
    pdk__test_proxy_counters counters;
    uint64_t by_opcode[OPCODES];
    GArray *sessions; /* of pdk__test_session_key, latest last */
    bool dead;
};

/* ---- pdk__test_proxy_loop.c ---- */

/* Takes the lock. */
void pdk__test_loop_lock(void);
/* Gives it back, after setting the timer for the next thing that is due. */
void pdk__test_loop_unlock(void);
/* Waits for pdk__test_loop_announce with the lock held. False after `deadline_ns`. */
bool pdk__test_loop_await(int64_t deadline_ns);
void pdk__test_loop_announce(void);
/* Frees a proxy that has not joined. */
void pdk__test_proxy_discard(pdk_test_proxy *p);
/* Starts the thread with the first proxy; stops it with the last. Without the lock. */
bool pdk__test_loop_join(pdk_test_proxy *p);
void pdk__test_loop_leave(pdk_test_proxy *p);
/* Registers a source's descriptor, changes the events it waits for, or takes it out of epoll and closes it. */
void pdk__test_loop_watch(pdk__test_source *source, uint32_t events);
void pdk__test_loop_forget(pdk__test_source *source);
void pdk__test_loop_close(pdk__test_source *source);
/* Has a dead connection freed once no event can point to it any more. */
void pdk__test_loop_dispose(pdk__test_conn *conn);

/* ---- pdk__test_proxy_conn.c ---- */

void pdk__test_conn_accept(pdk_test_proxy *p);
/* Handles what epoll reported for one end. */
void pdk__test_conn_event(pdk__test_conn *c, int which, uint32_t events);
/* Delivers all that may be delivered, and goes on connecting. Call it after any change of mode, and when its time has
 * come. */
void pdk__test_conn_run(pdk__test_conn *c, int64_t now_ns);
/* The time at which the connection next needs pdk__test_conn_run, INT64_MAX for never. */
int64_t pdk__test_conn_due(const pdk__test_conn *c);
/* Ends it: a reset towards the client; towards the server a reset too, or a plain close. */
void pdk__test_conn_reset(pdk__test_conn *c, bool server_too);
/* Resets one side and keeps the other as it is. In a silent mode only: nothing may be delivered any more. */
void pdk__test_conn_hang_up(pdk__test_conn *c, int which);
void pdk__test_conn_free(pdk__test_conn *c);

/* ---- pdk__test_proxy_flow.c ---- */

/* True when nothing may be delivered in this direction at present. */
bool pdk__test_flow_held(const pdk__test_conn *c, int direction);
/* Puts something at the end of the queue, due after the proxy's delay. */
void pdk__test_flow_push(pdk__test_conn *c, int direction, chunk_kind kind, const uint8_t *data, size_t size,
                         int64_t now_ns);
/* Delivers all that is due. */
void pdk__test_flow_pump(pdk__test_conn *c, int direction, int64_t now_ns);

/* ---- pdk__test_proxy_frames.c ---- */

/* Counts the frames in bytes that came in, carries out an armed cut, and queues the bytes. May end the connection. */
void pdk__test_frames_received(pdk__test_conn *c, int direction, const uint8_t *data, size_t size, int64_t now_ns);

/* ---- pdk_test_proxy.c ---- */

/* pdk_test_proxy_set_mode with the lock held. */
void pdk__test_proxy_enter(pdk_test_proxy *p, pdk_test_proxy_mode mode);
bool pdk__test_mode_silent(pdk_test_proxy_mode mode);

/* For the links between servers. Bytes are not looked at. A refused connection is tried again for `patience_ms`, since
 * a peer that is about to listen must not look dead. `rewrite` (may be NULL) changes the first bytes of a
 * connection. */
pdk_test_proxy *pdk__test_proxy_start_link(const char *target, int patience_ms, pdk__test_greeting_fn rewrite);
/* The argument of `rewrite`. Set it before the first connection. */
void pdk__test_proxy_set_rewrite_argument(pdk_test_proxy *p, const char *argument);

#endif
