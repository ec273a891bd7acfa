/*
 * Shared by the proxy's files. One lock guards everything here. The loop's thread holds it while it handles events, the others
 * while they change something. Only the loop's thread frees memory that an event of epoll may still point to.
 */
#ifndef TS_PROXY_INTERNAL_H
#define TS_PROXY_INTERNAL_H

#include <glib.h>
#include <pthread.h>

#include "ts_proxy.h"
#include "ts_sniff.h"

/* Direction d reads from end d and writes to end 1 - d. */
enum { UP = 0, DOWN = 1, CLIENT = 0, SERVER = 1 };

typedef enum { SOURCE_WAKE, SOURCE_TIMER, SOURCE_LISTENER, SOURCE_END } source_kind;

/* The data that epoll hands back. */
typedef struct {
    source_kind kind;
    void *owner; /* ts_proxy or ts_conn */
    int which;   /* CLIENT or SERVER */
    int fd;
    uint32_t events; /* registered with epoll; fd is registered while it is not -1 */
    bool registered;
} ts_source;

typedef enum { CHUNK_DATA, CHUNK_END, CHUNK_RESET } chunk_kind;

/* Something on its way: bytes, the end of the stream, or a reset. */
typedef struct {
    chunk_kind kind;
    int64_t due_ns;
    size_t size;
    size_t sent;
    uint8_t data[];
} ts_chunk;

typedef struct {
    GQueue chunks;
    size_t held;      /* bytes in chunks */
    int64_t last_due; /* nothing may overtake */
    bool ended;       /* the sender has ended or reset: no more chunks */
    bool shut;        /* the end has been delivered */
    bool broken;      /* the receiver is gone: bytes are thrown away */
    bool blocked;     /* the receiver's buffer is full */
    ts_sniff sniff;
} ts_flow;

typedef enum { LINK_WAITING, LINK_CONNECTING, LINK_OPEN } link_state;

typedef struct {
    ts_proxy *proxy;
    ts_source end[2];
    ts_flow flow[2];
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
} ts_conn;

/* Rewrites the first bytes of a connection, client to server. Returns false while it needs more of them. */
typedef bool (*ts_greeting_fn)(GByteArray *bytes, const char *argument);

typedef struct {
    bool set;
    bool fired;
    int opcode;
    ts_proxy_loss loss;
    ts_proxy_mode then;
} ts_order;

enum { OPCODE_BASE = 16, OPCODES = 160 };

struct ts_proxy {
    ts_source listener;
    int reservation;
    char *ip;
    int port;
    char *address;
    char *target;
    ts_proxy_mode mode;
    int64_t delay_ns[2];
    int64_t patience_ns;
    bool opaque; /* not ZooKeeper's client protocol */
    ts_greeting_fn rewrite;
    char *rewrite_argument;
    GList *conns;
    ts_order order;
    ts_proxy_counters counters;
    uint64_t by_opcode[OPCODES];
    GArray *sessions; /* of ts_session_key, latest last */
    bool dead;
};

/* ---- ts_proxy_loop.c ---- */

/* Takes the lock. */
void ts_loop_lock(void);
/* Gives it back, after setting the timer for the next thing that is due. */
void ts_loop_unlock(void);
/* Waits for ts_loop_announce with the lock held. False after `deadline_ns`. */
bool ts_loop_await(int64_t deadline_ns);
void ts_loop_announce(void);
/* Starts the thread with the first proxy; stops it with the last. Without the lock. */
bool ts_loop_join(ts_proxy *p);
void ts_loop_leave(ts_proxy *p);
/* Registers a source's descriptor, changes the events it waits for, or takes it out of epoll and closes it. */
void ts_loop_watch(ts_source *source, uint32_t events);
void ts_loop_forget(ts_source *source);
void ts_loop_close(ts_source *source);
/* Has a dead connection freed once no event can point to it any more. */
void ts_loop_dispose(ts_conn *conn);

/* ---- ts_proxy_conn.c ---- */

void ts_conn_accept(ts_proxy *p);
/* Handles what epoll reported for one end. */
void ts_conn_event(ts_conn *c, int which, uint32_t events);
/* Delivers all that may be delivered, and goes on connecting. Call it after any change of mode, and when its time has
 * come. */
void ts_conn_run(ts_conn *c, int64_t now_ns);
/* The time at which the connection next needs ts_conn_run, INT64_MAX for never. */
int64_t ts_conn_due(const ts_conn *c);
/* Ends it: a reset towards the client; towards the server a reset too, or a plain close. */
void ts_conn_reset(ts_conn *c, bool server_too);
/* Resets one side and keeps the other as it is. In a silent mode only: nothing may be delivered any more. */
void ts_conn_hang_up(ts_conn *c, int which);
void ts_conn_free(ts_conn *c);

/* ---- ts_proxy_flow.c ---- */

/* True when nothing may be delivered in this direction at present. */
bool ts_flow_held(const ts_conn *c, int direction);
/* Puts something at the end of the queue, due after the proxy's delay. */
void ts_flow_push(ts_conn *c, int direction, chunk_kind kind, const uint8_t *data, size_t size, int64_t now_ns);
/* Delivers all that is due. */
void ts_flow_pump(ts_conn *c, int direction, int64_t now_ns);

/* ---- ts_proxy_frames.c ---- */

/* Counts the frames in bytes that came in, carries out an armed cut, and queues the bytes. May end the connection. */
void ts_frames_received(ts_conn *c, int direction, const uint8_t *data, size_t size, int64_t now_ns);

/* ---- ts_proxy.c ---- */

/* ts_proxy_set_mode with the lock held. */
void ts_proxy_enter(ts_proxy *p, ts_proxy_mode mode);
bool ts_mode_silent(ts_proxy_mode mode);

/* For the links between servers. Bytes are not looked at. A refused connection is tried again for `patience_ms`, since
 * a peer that is about to listen must not look dead. `rewrite` (may be NULL) changes the first bytes of a
 * connection. */
ts_proxy *ts_proxy_start_link(const char *target, int patience_ms, ts_greeting_fn rewrite);
/* The argument of `rewrite`. Set it before the first connection. */
void ts_proxy_set_rewrite_argument(ts_proxy *p, const char *argument);

#endif
