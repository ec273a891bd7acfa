/*
 * A TCP proxy inside the test process whose link can be cut, silenced and delayed, and which reads ZooKeeper's frames as
 * they pass. All proxies share one thread, which runs while there is a proxy. Every function may be called from any
 * thread. "Up" is from client to server, "down" from server to client.
 */
#ifndef TS_PROXY_H
#define TS_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ts_proxy ts_proxy;

typedef enum {
    TS_PASS,           /* a good link */
    TS_BLACKHOLE,      /* silence both ways: bytes and FINs are held, nobody sees an end or a reset; new connections are
                          accepted and left silent */
    TS_BLACKHOLE_UP,   /* only client -> server is held */
    TS_BLACKHOLE_DOWN, /* only server -> client is held */
    TS_DROP_REPLIES, /* requests arrive, replies are thrown away; a connection that lost bytes is reset when this mode ends */
    TS_CUT,          /* connections are reset, new ones refused */
} ts_proxy_mode;

/* ZooKeeper's request types, as ts_proxy_count and ts_proxy_arm take them. */
enum {
    TS_OP_ANY = -1000, /* only for ts_proxy_arm: any request except ping and handshake */
    TS_OP_CLOSE_SESSION = -11,
    TS_OP_CONNECT = -10, /* the handshake of a connection */
    TS_OP_CREATE = 1,
    TS_OP_DELETE = 2,
    TS_OP_EXISTS = 3,
    TS_OP_GET_DATA = 4,
    TS_OP_SET_DATA = 5,
    TS_OP_GET_ACL = 6,
    TS_OP_SET_ACL = 7,
    TS_OP_GET_CHILDREN = 8,
    TS_OP_SYNC = 9,
    TS_OP_PING = 11,
    TS_OP_GET_CHILDREN2 = 12,
    TS_OP_CHECK = 13,
    TS_OP_MULTI = 14,
    TS_OP_CREATE2 = 15,
    TS_OP_REMOVE_WATCHES = 18,
    TS_OP_CREATE_CONTAINER = 19,
    TS_OP_CREATE_TTL = 21,
    TS_OP_AUTH = 100,
    TS_OP_SET_WATCHES = 101,
    TS_OP_SET_WATCHES2 = 105,
};

/* Starts a proxy for the server at `target` ("ip:port"), listening on a free port of the same ip. NULL on failure. */
ts_proxy *ts_proxy_start(const char *target);

/* Resets its connections and frees it. NULL is allowed. */
void ts_proxy_stop(ts_proxy *p);

/* "ip:port" where it listens; valid until ts_proxy_stop. */
const char *ts_proxy_address(const ts_proxy *p);

/* Sets the mode, at once for all connections. Going back to TS_PASS delivers all that a blackhole held, in order, as
 * retransmission would. Connections made and given up during the silence are forgotten. */
void ts_proxy_set_mode(ts_proxy *p, ts_proxy_mode mode);
ts_proxy_mode ts_proxy_get_mode(ts_proxy *p);

/* ts_proxy_set_mode(p, TS_PASS). */
void ts_proxy_heal(ts_proxy *p);

/* To TS_PASS, but held bytes are thrown away. Connections that held something, or were made meanwhile, are reset. */
void ts_proxy_heal_discard(ts_proxy *p);

/* Resets the connections there are; the mode stays. */
void ts_proxy_reset(ts_proxy *p);

/*
 * Silence for one side, an end for the other: TS_BLACKHOLE, but existing connections are reset at once towards the
 * side given, which so learns that they are gone. The other side keeps its ends, open and silent. With TS_CLIENT_SIDE new
 * connections are refused, with TS_SERVER_SIDE accepted and left silent. Any mode but TS_BLACKHOLE resets the kept ends.
 */
typedef enum { TS_CLIENT_SIDE, TS_SERVER_SIDE } ts_proxy_side;
void ts_proxy_hang_up(ts_proxy *p, ts_proxy_side side);

/* Delays every byte by so many microseconds per direction (10 ms round trip: 5000, 5000). Bytes are delayed, not
 * serialised: pipelined requests arrive together. Bytes already under way keep their delay. 0, 0 ends it. */
void ts_proxy_set_delay(ts_proxy *p, unsigned up_us, unsigned down_us);

/*
 * A cut at an exact moment, once: when the next request of type `opcode` (or TS_OP_ANY) arrives,
 *   TS_LOSE_REQUEST  it and all after it on that connection do not reach the server;
 *   TS_LOSE_REPLY    it reaches the server and is executed, its reply and all after it do not reach the client.
 * Then the proxy goes to the mode `then`: with TS_PASS or TS_CUT the connection is reset (TS_LOSE_REPLY: once the reply
 * has come in); with TS_BLACKHOLE nothing is reset and the lost part is held: it is delivered on heal, late.
 * Other values of `then` are not allowed. Arming again replaces the earlier order. Delayed bytes of an earlier
 * request are lost with the connection. When a connection ends before its reply came, the order stands.
 */
typedef enum { TS_LOSE_REQUEST, TS_LOSE_REPLY } ts_proxy_loss;
void ts_proxy_arm(ts_proxy *p, int opcode, ts_proxy_loss loss, ts_proxy_mode then);

/* Takes back an order that has not fired. */
void ts_proxy_disarm(ts_proxy *p);

/* Waits until the armed cut has happened (for TS_LOSE_REPLY: the reply has been lost). False after `timeout_ms`. */
bool ts_proxy_wait_fired(ts_proxy *p, int64_t timeout_ms);

/* Sends bytes as if the server had sent them, between two of its frames. Each open connection's client gets them after
 * all bytes that the server has sent so far. A connection in the middle of a frame is left out. Returns how many got
 * them. */
int ts_proxy_say(ts_proxy *p, const void *bytes, size_t size);

typedef struct {
    uint64_t accepted;      /* connections ever */
    uint64_t open;          /* connections now (never reset to 0) */
    uint64_t bytes_up;      /* bytes that came from clients */
    uint64_t bytes_down;    /* bytes that came from the server */
    uint64_t requests;      /* requests, without handshakes and pings */
    uint64_t writes;        /* those that a quorum must commit: create, delete, set, setACL, multi, … */
    uint64_t replies;       /* replies, without handshakes, pings and notifications */
    uint64_t notifications; /* watch events */
    uint64_t rounds;        /* round trips begun: requests sent while none of that connection was unanswered */
} ts_proxy_counters;

/* Requests of this type that arrived from clients since the start or ts_proxy_zero, delivered or not. */
uint64_t ts_proxy_count(ts_proxy *p, int opcode);
void ts_proxy_read(ts_proxy *p, ts_proxy_counters *out);
/* Sets all counters but `open` to 0. */
void ts_proxy_zero(ts_proxy *p);

/* A session seen passing: the data by which another connection can take it over. */
typedef struct {
    int64_t id;
    int32_t timeout_ms; /* as negotiated */
    uint8_t password[16];
} ts_session_key;

/* The session that most recently shook hands through this proxy. False when none has. */
bool ts_proxy_last_session(ts_proxy *p, ts_session_key *out);
/* The session with this id, when it shook hands through this proxy. */
bool ts_proxy_find_session(ts_proxy *p, int64_t id, ts_session_key *out);

#endif
