/*
 * Functions of a proxy beyond the public ones, for Paddock's own tests. It reads ZooKeeper's frames as they pass. All
 * proxies share one thread, which runs while there is a proxy. Every function may be called from any thread. "Up" is
 * from client to server, "down" from server to client.
 */
#ifndef TESTING_PROXY_H
#define TESTING_PROXY_H

#include <paddock/testing.h>

/* ZooKeeper's request types, as pdk__test_proxy_count and pdk__test_proxy_arm take them. */
enum {
    PDK__TEST_OP_ANY = -1000, /* only for pdk__test_proxy_arm: any request except ping and handshake */
    PDK__TEST_OP_CLOSE_SESSION = -11,
    PDK__TEST_OP_CONNECT = -10, /* the handshake of a connection */
    PDK__TEST_OP_CREATE = 1,
    PDK__TEST_OP_DELETE = 2,
    PDK__TEST_OP_EXISTS = 3,
    PDK__TEST_OP_GET_DATA = 4,
    PDK__TEST_OP_SET_DATA = 5,
    PDK__TEST_OP_GET_ACL = 6,
    PDK__TEST_OP_SET_ACL = 7,
    PDK__TEST_OP_GET_CHILDREN = 8,
    PDK__TEST_OP_SYNC = 9,
    PDK__TEST_OP_PING = 11,
    PDK__TEST_OP_GET_CHILDREN2 = 12,
    PDK__TEST_OP_CHECK = 13,
    PDK__TEST_OP_MULTI = 14,
    PDK__TEST_OP_CREATE2 = 15,
    PDK__TEST_OP_REMOVE_WATCHES = 18,
    PDK__TEST_OP_CREATE_CONTAINER = 19,
    PDK__TEST_OP_CREATE_TTL = 21,
    PDK__TEST_OP_AUTH = 100,
    PDK__TEST_OP_SET_WATCHES = 101,
    PDK__TEST_OP_SET_WATCHES2 = 105,
};

/* To PDK_TEST_PASS, but held bytes are thrown away. Connections that held something, or were made meanwhile, are
 * reset. */
void pdk__test_proxy_heal_discard(pdk_test_proxy *p);

/*
 * Silence for one side, an end for the other: PDK_TEST_SILENT, but existing connections are reset at once towards the
 * side given, which so learns that they are gone. The other side keeps its ends, open and silent. With
 * PDK__TEST_CLIENT_SIDE new connections are refused, with PDK__TEST_SERVER_SIDE accepted and left silent. Any mode but
 * PDK_TEST_SILENT resets the kept ends.
 */
typedef enum { PDK__TEST_CLIENT_SIDE, PDK__TEST_SERVER_SIDE } pdk__test_proxy_side;
void pdk__test_proxy_hang_up(pdk_test_proxy *p, pdk__test_proxy_side side);

/*
 * A cut at an exact moment, once: when the next request of type `opcode` (or PDK__TEST_OP_ANY) arrives,
 *   PDK__TEST_LOSE_REQUEST  it and all after it on that connection do not reach the server;
 *   PDK__TEST_LOSE_REPLY    it reaches the server and is executed, its reply and all after it do not reach the client.
 * Then the proxy goes to the mode `then`: with PDK_TEST_PASS or PDK_TEST_CUT the connection is reset
 * (PDK__TEST_LOSE_REPLY: once the reply has come in); with PDK_TEST_SILENT nothing is reset and the lost part is held:
 * it is delivered on heal, late. Other values of `then` are not allowed. Arming again replaces the earlier order.
 * Delayed bytes of an earlier request are lost with the connection. When a connection ends before its reply came, the
 * order stands.
 */
typedef enum { PDK__TEST_LOSE_REQUEST, PDK__TEST_LOSE_REPLY } pdk__test_proxy_loss;
void pdk__test_proxy_arm(pdk_test_proxy *p, int opcode, pdk__test_proxy_loss loss, pdk_test_proxy_mode then);

/* Takes back an order that has not fired. */
void pdk__test_proxy_disarm(pdk_test_proxy *p);

/* Waits until the armed cut has happened (for PDK__TEST_LOSE_REPLY: the reply has been lost). False after
 * `timeout_ms`. */
bool pdk__test_proxy_wait_fired(pdk_test_proxy *p, int64_t timeout_ms);

/* Sends bytes as if the server had sent them, between two of its frames. Each open connection's client gets them after
 * all bytes that the server has sent so far. A connection in the middle of a frame is left out. Returns how many got
 * them. */
int pdk__test_proxy_say(pdk_test_proxy *p, const void *bytes, size_t size);

typedef struct {
    uint64_t accepted;      /* connections ever */
    uint64_t open;          /* connections now (never reset to 0) */
    uint64_t bytes_up;      /* bytes that came from clients */
    uint64_t bytes_down;    /* bytes that came from the server */
    uint64_t requests;      /* requests, without handshakes and pings */
    uint64_t writes;        /* requests that a quorum must commit: create, delete, set, setACL, multi, … */
    uint64_t replies;       /* replies, without handshakes, pings and notifications */
    uint64_t notifications; /* watch events */
    uint64_t rounds;        /* round trips begun: requests sent while none of that connection was unanswered */
} pdk__test_proxy_counters;

/* Requests of this type that arrived from clients since the start or pdk__test_proxy_zero, delivered or not. */
uint64_t pdk__test_proxy_count(pdk_test_proxy *p, int opcode);
void pdk__test_proxy_read(pdk_test_proxy *p, pdk__test_proxy_counters *out);
/* Sets all counters but `open` to 0. */
void pdk__test_proxy_zero(pdk_test_proxy *p);

/* A session that was seen passing: the data by which another connection can take it over. */
typedef struct {
    int64_t id;
    int32_t timeout_ms; /* as negotiated */
    uint8_t password[16];
} pdk__test_session_key;

/* The session that most recently shook hands through this proxy. False when none has. */
bool pdk__test_proxy_last_session(pdk_test_proxy *p, pdk__test_session_key *out);
/* The session with this id, when it shook hands through this proxy. */
bool pdk__test_proxy_find_session(pdk_test_proxy *p, int64_t id, pdk__test_session_key *out);

#endif
