/* A fake ZooKeeper ensemble in simulated time, as far as a client of locks can tell it from the real one.
 *
 *     client ══ connection ══ server 0 (follower) ══╗           each server: a log, how much of it is committed and
 *     client ══ connection ══ server 1 (LEADER)   ══╬══ pipes   applied, the tree as it has applied it, its connections
 *     client ══ connection ══ server 2 (follower) ══╝           with their watches, a table of touches
 *
 * Like the real one, as far as it matters to a lock:
 *  - writes: forwarded to the leader, prepared in its order (zxid), logged and acknowledged by a majority, committed and
 *    applied in order. Failed writes consume a zxid as well. A server may apply late: its reads are stale until then;
 *  - reads are answered by the server the client is connected to, in the session's order, behind its own writes;
 *  - a watch, of a node's data or of its children, fires once, when its server applies the change, ahead of any answer that
 *    shows it. It belongs to the connection; SET_WATCHES sets it again, and fires at once for changes missed since the
 *    client's last zxid;
 *  - the leader expires sessions: at the tick after touch + timeout. It is touched directly by its own clients; a follower
 *    notes touches, pings included, and reports them with its answer to the leader's ping, every half tick. A forwarded
 *    write touches nothing. A new leader gives every session a full timeout;
 *  - a follower cut off from its leader goes on serving reads and pings until syncLimit ticks have passed without a word of
 *    it, a leader without a majority likewise. Its proposals meanwhile may be lost, or committed by its successor;
 *  - a session moves with its client: a write of it that arrives by the old way is refused;
 *  - requests sent on a connection that the client has given up may still arrive and be executed;
 *  - a sequential child's number is its parent's count of children ever created; it sticks at 2147483647;
 *  - containers disappear when they are empty and had a child; nodes may refuse reading, writing, creating, deleting.
 * Not like the real one: no observers, quotas, versions in requests, several operations in one transaction, /zookeeper, slow disks,
 * nor the end of a connection that is idle for too long. The rounds of an election and the synchronisation of a follower are
 * one moment: the server with the longest log leads, and a server that joins has its log.
 */
#ifndef SIM_ENSEMBLE_H
#define SIM_ENSEMBLE_H

#include "sim_net.h"
#include "sim_tree.h"

#define SIM_SERVERS 5

/* Hosts of the network: servers from 0 on, clients from SIM_SERVERS on. */

struct sim_ensemble_config {
    int32_t servers;                       /* 1, 3 or 5 */
    int64_t tick;                          /* ns */
    int32_t sync_limit;                    /* ticks */
    int64_t election_least, election_most; /* ns, from "a majority looks for a leader" to "it has one" */
    int64_t session_least, session_most;   /* timeouts are clamped to these */
    int64_t container_interval;            /* ns; 0: containers are never removed */
    bool containers;                       /* the server knows containers; else creating one is ZUNIMPLEMENTED */
    int32_t number;                        /* of several: no two have a transaction or a session of the same number */
};

enum sim_role { SIM_DOWN, SIM_LOOKING, SIM_FOLLOWING, SIM_LEADING };

enum sim_txn_kind {
    SIM_TXN_ERROR, /* a write that failed: code */
    SIM_TXN_CREATE,
    SIM_TXN_DELETE,
    SIM_TXN_SET, /* of data, ACL or child counter */
    SIM_TXN_CHECK,
    SIM_TXN_OPEN,  /* a session began */
    SIM_TXN_CLOSE, /* a session ended: closed or expired; its nodes go with it */
    SIM_TXN_EPOCH, /* a leader began */
};

/* One entry of the log. */
struct sim_txn {
    enum sim_txn_kind kind;
    int64_t zxid;     /* epoch << 32 | counter */
    int64_t session;  /* 0: the server's own, or an admin's */
    int32_t code;     /* ZooKeeper's */
    const char *path; /* of the node; CREATE: with its sequence number */
    const char *data;
    int32_t mode;  /* CREATE: a sim_mode; SET: which, as enum sim_set */
    int64_t value; /* OPEN: timeout in ns; SET: the ACL, the counter; CREATE: the parent's counter after it */
    int64_t at;    /* true time at which it was proposed */
    bool expired;  /* CLOSE: by the leader's clock, */
    bool by_admin; /* or in the same way by an admin */
    struct sim_request *request; /* the request that waits for the answer; NULL: none */
};

/* ---- packets of a connection */

enum sim_packet_kind {
    /* client to server */
    SIM_CONNECT, /* session (0: a new one), timeout, zxid: the last one seen */
    SIM_REQUEST, /* op, path, data, mode */
    SIM_PING,
    SIM_SET_WATCHES, /* paths, parents, zxid: the last one seen */
    SIM_CLOSE,
    /* server to client */
    SIM_CONNECTED, /* session (0: it has expired, and the server hangs up), timeout */
    SIM_REPLY,     /* to a REQUEST: tag, code, zxid, and what was asked for */
    SIM_EVENT,     /* path, event */
    SIM_PONG,
    SIM_WATCHES_SET, /* after the events that were missed; zxid */
    SIM_CLOSED,      /* the session has ended, as asked; then the server hangs up */
};

enum sim_op {
    SIM_OP_CREATE, /* mode */
    SIM_OP_DELETE,
    SIM_OP_EXISTS,
    SIM_OP_GET,         /* watch */
    SIM_OP_LIST,        /* watch */
    SIM_OP_MULTI_CHECK, /* a transaction of one check */
    SIM_OP_SET,         /* of data */
    SIM_OP_SYNC,
    SIM_OP_ACL, /* the reply's mode: what everybody may do */
};

enum sim_event {
    SIM_CHANGED,  /* its data */
    SIM_DELETED,  /* sent once to a client that watches both its data and its children */
    SIM_CHILDREN, /* one came or went */
};

/* All that it points to is the agenda's memory. Nobody touches it again once it is sent. */
struct sim_packet {
    enum sim_packet_kind kind;
    enum sim_op op;
    int64_t session, timeout, zxid;
    uint64_t tag;
    int32_t code, mode;
    bool watch, versioned; /* versioned: a SET names stat.version */
    enum sim_event event;
    const char *path, *data;
    const char *const *paths; /* SET_WATCHES: nodes with a data watch; REPLY to LIST: names of children */
    size_t count;
    const char *const *parents; /* SET_WATCHES: nodes with a watch on their children */
    size_t parents_count;
    struct sim_stat stat;
};

struct sim_connection; /* as the server sees it; opaque to the client */
struct sim_ensemble;

/* The client's end. */
struct sim_wire {
    struct sim_ensemble *ensemble;
    struct sim_pipe *up; /* sim_send(up, a struct sim_packet); sim_hang_up(up) */
    struct sim_pipe *down;
};

/* ---- beginning */

/* It is in the agenda's memory. All servers are down; sim_server_start them. */
struct sim_ensemble *sim_ensemble_new(struct sim_agenda *agenda, struct sim_net *net,
                                      const struct sim_ensemble_config *config);
/* Connect host to a server. receive gets struct sim_packet, and NULL at the end: at once when the server is down or serves
 * nobody; never when the way is blocked. */
void sim_dial(struct sim_ensemble *e, int32_t host, int32_t server, sim_receive_fn receive, void *receiver,
              struct sim_wire *wire);

/* ---- faults */

void sim_server_start(struct sim_ensemble *e, int32_t server);
/* The process is gone, its log is not. */
void sim_server_kill(struct sim_ensemble *e, int32_t server);
/* It does nothing for a while. Then it does all that came meanwhile. */
void sim_server_pause(struct sim_ensemble *e, int32_t server, bool paused);
/* It applies committed entries this much later. */
void sim_server_lag(struct sim_ensemble *e, int32_t server, int64_t ns);
/* It overlooks the next `deletions` of nodes, and shows them until it joins a leader anew. */
void sim_server_keep(struct sim_ensemble *e, int32_t server, int32_t deletions);
/* The next request of the session that reaches a server is answered with the code. executed: it is carried out first. A
 * MULTI_CHECK always is, as no server has an answer to it but through a quorum. */
void sim_answer_next(struct sim_ensemble *e, int64_t session, int32_t code, bool executed);
/* The same, of its next request about that path. */
void sim_answer_about(struct sim_ensemble *e, int64_t session, const char *path, int32_t code, bool executed);

/* ---- actions of an admin: through the leader; false when there is none at the moment */

bool sim_admin(struct sim_ensemble *e, const struct sim_packet *request);
bool sim_admin_set(struct sim_ensemble *e, const char *path, enum sim_set what, int64_t value);
/* As by the leader's clock, now. */
bool sim_admin_expire(struct sim_ensemble *e, int64_t session);

/* ---- the truth, which only the checks know */

enum sim_role sim_server_role(const struct sim_ensemble *e, int32_t server);
/* The leader with a majority behind it; -1: none. */
int32_t sim_leader(const struct sim_ensemble *e);
/* The state after the newest transaction that is committed anywhere. */
const struct sim_tree *sim_truth(const struct sim_ensemble *e);
/* Called once for each transaction, in order, when it is first committed, after sim_truth shows it. */
typedef void (*sim_committed_fn)(void *user, const struct sim_txn *txn);
/* Called when a server fires a watch: the session of the watch, and its node. A change that is missed on a lost
 * connection may be reported twice: by the server that had the watch, and by the server where it is set again. */
typedef void (*sim_fired_fn)(void *user, int64_t session, const char *path, enum sim_event event);
/* Neither may call into the ensemble, except to read the truth. */
void sim_observe(struct sim_ensemble *e, sim_committed_fn committed, sim_fired_fn fired, void *user);
/* The moment at which the clock of the leader that the majority follows ends the session, as things are now, or has
 * ended it. It moves only forward while that leader leads. The next leader gives a full timeout. INT64_MAX: nobody is
 * followed by a majority, or that clock does not end it. */
int64_t sim_expires_at(const struct sim_ensemble *e, int64_t session);
/* The same without the rounding to a tick, which is luck: the last touch that this leader knows of, and the timeout. */
int64_t sim_promised_until(const struct sim_ensemble *e, int64_t session);
/* Everything that runs is up to date: all running servers follow one leader and have applied its whole log. */
bool sim_settled(const struct sim_ensemble *e);

#endif
