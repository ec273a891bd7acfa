/* The inside of the fake ensemble: the parts of a server, and the files that work on them.
 *
 *                packets                  requests                    proposals, commits
 *     client ═══════════► sim_connection ─────────► sim_requests ════════════════════► sim_leader ─► sim_prepare
 *            ◄═══════════                ◄─────────    ▲  ▲                                │   └──► sim_sessions
 *              replies, events    sim_watches ─────────┘  └─ sim_log ◄── sim_follower ◄════╯
 *                                                              ▲
 *                                            sim_election ─────┘ the leader, and the log that counts
 *
 * A server has a role. Each change of the role begins a new incarnation. Timers and answers carry the number of the
 * incarnation they were meant for. So they notice that it is over.
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "sim_ensemble.h"

struct sim_server;

/* ---- clients */

struct sim_watch {
    const char *path;
    size_t length; /* of "/" as if it were empty, as that of nodes */
    bool children; /* not data */
};

struct sim_held {
    struct sim_held *next;
    const struct sim_packet *packet;
};

/* The server's end of a client's connection. */
struct sim_connection {
    struct sim_server *server;
    struct sim_connection *next;
    struct sim_pipe *up, *down;
    int64_t session, timeout;
    bool accepted; /* in the server's list */
    bool open;     /* the session is confirmed; packets before that are held */
    bool closed;   /* for good */
    struct sim_held *held, *held_last;
    struct sim_watch *watches;
    size_t watches_count, watches_room;
};

/* A packet of a client, until it is answered. */
struct sim_request {
    struct sim_request *next; /* in the session's queue */
    struct sim_request *next_sync;
    struct sim_server *server;
    uint32_t incarnation;
    struct sim_connection *connection;
    const struct sim_packet *packet;
    int64_t session;
    bool waits;   /* for its transaction, or for its sync; the session's requests after it wait with it */
    bool refused; /* it is not carried out */
    int32_t code; /* not ZOK: the answer in any case */
    size_t after; /* a sync that came back: answered when so much of the log is applied */
};

/* The requests of one session at a server, in order. The first waits for something, or there is none. */
struct sim_queue {
    struct sim_queue *next;
    int64_t session;
    struct sim_request *first, *last;
};

struct sim_touch {
    int64_t session, timeout;
};

/* ---- between servers */

enum sim_message_kind {
    /* follower to leader */
    SIM_FORWARD,    /* request */
    SIM_ACK,        /* zxid: the log is complete up to it */
    SIM_TOUCHES,    /* the answer to a ping */
    SIM_REVALIDATE, /* connection: is this session still alive? It is here now */
    /* leader to follower */
    SIM_PROPOSE, /* txn */
    SIM_COMMIT,
    SIM_SYNCED, /* request */
    SIM_BEAT,
    SIM_VALIDATED, /* connection, valid */
};

struct sim_message {
    enum sim_message_kind kind;
    bool valid;
    int64_t zxid;
    const struct sim_txn *txn;
    struct sim_request *request;
    struct sim_connection *connection;
    const struct sim_touch *touches;
    size_t count;
};

/* A leader and one follower. Either end forgets the other when it hears nothing for too long. */
struct sim_link {
    struct sim_server *leader, *follower;
    struct sim_pipe *down, *up;
    int64_t acked;    /* zxid */
    int32_t deadline; /* it must say something until this tick of the leader's */
};

/* ---- the leader's own */

/* A session as the leader's clock knows it. */
struct sim_tracked {
    int64_t id, timeout;
    int64_t touched, expires_at;
    bool closing;
    bool expired;      /* closing, by this clock */
    const void *owner; /* the way by which its requests come: a link, or the leader itself; NULL: it has to reconnect */
};

struct sim_sync {
    struct sim_sync *next;
    struct sim_link *link;
    struct sim_request *request;
    int64_t zxid; /* when this is committed */
};

struct sim_lead {
    struct sim_tree
        ahead;    /* all that is proposed: writes are checked in it, so that failures and numbers are in order */
    int64_t zxid; /* the newest proposed */
    struct sim_link *links[SIM_SERVERS]; /* by follower; NULL: none */
    int32_t ticks;
    bool half; /* a half tick has passed */
    struct sim_tracked *sessions;
    size_t sessions_count, sessions_room;
    int64_t expiry_at; /* the timer that is set */
    struct sim_sync *syncs, *syncs_last;
};

/* ---- a server */

struct sim_put_off {
    struct sim_put_off *next;
    sim_event_fn fn;
    void *subject, *what;
};

struct sim_server {
    struct sim_ensemble *ensemble;
    int32_t number;
    enum sim_role role;
    uint32_t incarnation;
    bool paused;
    struct sim_put_off *put_off, *put_off_last;

    /* log[0..logged): its disk. The first `committed` are known to be committed, the first `applied` are in the tree. */
    const struct sim_txn **log;
    size_t logged, committed, applied, log_room;
    struct sim_tree tree;
    int64_t lag;
    int32_t keeps;      /* so many deletions it will not apply */
    int64_t applies_at; /* no later entry is applied before this */

    struct sim_connection *connections;
    struct sim_queue *queues;
    struct sim_request *syncs, *syncs_last; /* come back, but the log is not yet applied so far */
    int64_t sessions_made;
    int64_t phase; /* of its clock, against the ticks */

    int64_t looking_since;
    struct sim_link *link; /* FOLLOWING */
    int64_t heard;         /* of the leader */
    struct sim_touch *touches;
    size_t touches_count, touches_room;
    struct sim_lead lead; /* LEADING */
};

/* A session that the clock has ended, and that is committed. */
struct sim_ended {
    struct sim_ended *next;
    int64_t session, at;
};

/* The next request of a session gets this answer. */
struct sim_answer {
    struct sim_answer *next;
    int64_t session;
    const char *path; /* NULL: whatever it is about */
    int32_t code;
    bool executed;
};

struct sim_ensemble {
    struct sim_agenda *agenda;
    struct sim_net *net;
    struct sim_ensemble_config config;
    struct sim_server servers[SIM_SERVERS];
    /* All commits of the ensemble. Every server's committed log is a beginning of it. */
    const struct sim_txn **history;
    size_t committed, history_room;
    struct sim_tree truth;
    struct sim_answer *answers;
    struct sim_ended *ended;
    bool catching_up; /* delayed events happen now: no event of the agenda is to be called idle for it */
    sim_committed_fn on_committed;
    sim_fired_fn on_fired;
    void *user;
};

/* --- sim_role.c: roles, pauses, timers */
bool sim_serves(const struct sim_server *s);
/* Do both run, and can each reach the other? */
bool sim_reaches(const struct sim_server *a, const struct sim_server *b);
/* A paused server does it later: then true, and the caller returns. */
bool sim_put_off(struct sim_server *s, sim_event_fn fn, void *subject, void *what);
/* Call fn at that moment, unless this incarnation has ended by then. late: it was paused when it was due. */
typedef void (*sim_timer_fn)(struct sim_server *s, bool late);
void sim_timer(struct sim_server *s, int64_t at, sim_timer_fn fn);
/* This event only kept time. */
void sim_kept_time(struct sim_ensemble *e);
/* End the role's links, connections and requests. killed: by the kernel, without order. */
void sim_end_role(struct sim_server *s, enum sim_role next, bool killed);
/* An array that grows: room for one more. */
void *sim_room(struct sim_agenda *agenda, void *items, size_t count, size_t *room, size_t size);

/* --- sim_log.c */
int64_t sim_log_zxid(const struct sim_server *s);
void sim_log_append(struct sim_server *s, const struct sim_txn *txn);
/* The next entry of the log is committed: it will be applied, after the server's lag. */
void sim_log_commit(struct sim_server *s);
/* Become equal to the first `count` entries of a log, another's or its own. They are committed, and applied at once. */
void sim_log_adopt(struct sim_server *s, const struct sim_server *from, size_t count);

/* --- sim_connection.c */
/* Hang up. */
void sim_connection_close(struct sim_connection *c);
void sim_connection_send(struct sim_connection *c, const struct sim_packet *packet);
/* The answer to a client's CONNECT. */
void sim_connection_opened(struct sim_connection *c, bool valid);
/* Close all connections of a session but one. */
void sim_connections_of(struct sim_server *s, int64_t session, const struct sim_connection *but);

/* --- sim_requests.c */
void sim_request_take(struct sim_connection *c, const struct sim_packet *packet);
/* What it waits for is here: its transaction; or NULL: its sync. */
void sim_request_done(struct sim_request *r, const struct sim_txn *txn);

/* --- sim_watches.c */
void sim_watch_add(struct sim_connection *c, const char *path, bool children);
/* Fire all watches of the server that a change of a node concerns. created: it is new. */
void sim_watches_fire(struct sim_server *s, const struct sim_node *node, bool created, bool deleted);
/* Set them again. Those that missed something fire. */
void sim_watches_set(struct sim_connection *c, const struct sim_packet *packet);

/* --- sim_prepare.c: checks a write. by_admin: no permission is needed */
void sim_prepare(const struct sim_tree *ahead, const struct sim_packet *packet, bool containers, bool by_admin,
                 struct sim_txn *txn);

/* --- sim_sessions.c: the leader's clock */
struct sim_tracked *sim_session_find(struct sim_server *leader, int64_t id);
void sim_session_track(struct sim_server *leader, int64_t id, int64_t timeout, const void *owner);
void sim_session_forget(struct sim_server *leader, int64_t id);
/* false: there is none, or it is closing. */
bool sim_session_touch(struct sim_server *leader, int64_t id);
/* 0, or the code by which a request that came this way is refused. */
int32_t sim_session_check(struct sim_server *leader, int64_t id, const void *owner);
void sim_session_expire(struct sim_server *leader, struct sim_tracked *session, bool by_admin);
/* The end of a session is committed. */
void sim_session_ended(struct sim_ensemble *e, const struct sim_txn *txn);
/* End all that are due; false: none. */
bool sim_sessions_end_due(struct sim_server *leader);

/* --- sim_leader.c */
void sim_lead(struct sim_server *s);
void sim_lead_admit(struct sim_server *s, struct sim_server *follower);
void sim_lead_hear(void *link, void *message);
/* A write, by a link or by the leader itself. */
void sim_lead_write(struct sim_server *s, struct sim_request *r, const void *owner);
struct sim_txn *sim_lead_txn(struct sim_server *s, enum sim_txn_kind kind, int64_t session);
void sim_lead_propose(struct sim_server *s, struct sim_txn *txn);
/* It has applied a transaction. */
void sim_lead_applied(struct sim_server *s, const struct sim_txn *txn);

/* --- sim_follower.c */
void sim_follow(struct sim_server *s, struct sim_link *link);
void sim_follow_hear(void *link, void *message);
void sim_follow_send(struct sim_server *s, const struct sim_message *message);
void sim_follow_touch(struct sim_server *s, int64_t session, int64_t timeout);

/* --- sim_election.c */
/* Look for a leader, from now on. */
void sim_look(struct sim_server *s);

#endif
