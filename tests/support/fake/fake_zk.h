/* A small fake ZooKeeper, as plain data: no pointers and no padding that matters, so a state is copied with memcpy.
 *
 *     client ── submit ─► [requests] ── execute ─► tree: one log order, one directory
 *     client ◄─ deliver ─ [replies and watch events] ◄──┘
 *
 * Nothing happens by itself. The owner of the state decides which session's next request is executed, which reply is
 * delivered, when a connection is cut and when a session expires. Like the real one:
 *  - one order of transactions, counted by zxid; a directory with a counter that names its sequential children;
 *  - requests of a connection are executed and answered in order; a watch event never overtakes the reply of the read that
 *    set it, nor does a read show a change before the event (one FIFO of replies and events);
 *  - data watches of nodes and the children watch of the directory fire once; they belong to the connection, and the
 *    client library sets them again after a reconnect;
 *  - a cut loses the requests that were not executed and the replies that were not delivered, and the client cannot tell
 *    which: each is answered UNKNOWN. Lost writes may still be executed (the zombies), in their order, until a later write
 *    of their session is;
 *  - a session's end deletes its nodes in one transaction.
 * Not like the real one: no followers that lag, sequence exhaustion, access control, data (a write to a node has no effect but
 * the event), nor names without a sequence. There is one directory only.
 */
#ifndef TS_FAKE_ZK_H
#define TS_FAKE_ZK_H

#include "zk/calls.h"

#include <stdbool.h>
#include <stdint.h>

#define TS_FAKE_SESSIONS 8
#define TS_FAKE_NODES 12
#define TS_FAKE_QUEUE 10
#define TS_FAKE_WATCHES 8
#define TS_FAKE_ZOMBIES 7
#define TS_FAKE_MARKS 256
#define TS_FAKE_TEXT 128

/* A node's name. The mark is the number of the text before the sequence, from 1 on. Mark 0 names the directory
 * itself. */
struct ts_fake_name {
    int32_t mark;
    int32_t sequence;
};

/* The texts behind the numbers. The list only grows, so it is no part of the state. */
struct ts_fake_names {
    char directory[TS_FAKE_TEXT];
    int32_t levels; /* of the directory: 2 for "/a/b" */
    int32_t count;
    char mark[TS_FAKE_MARKS][TS_FAKE_TEXT];
};

struct ts_fake_node {
    struct ts_fake_name name;
    int32_t session;   /* that owns it */
    uint32_t watchers; /* a bit for each session */
    uint32_t missed;   /* likewise, of sessions that watch it and were away when it was written to */
    int64_t czxid;
};

struct ts_fake_tree {
    int64_t zxid;
    int32_t levels; /* of the directory that exist */
    int32_t next_sequence;
    uint16_t children_watchers; /* sessions that watch the directory's children: a bit each */
    uint16_t overlooked;        /* likewise, of those that were away when a child came or went */
    uint16_t watchers, missed;  /* of the directory itself: as of a node */
    int32_t count;
    struct ts_fake_node nodes[TS_FAKE_NODES]; /* in order of creation */
};

struct ts_fake_request {
    uint64_t tag;
    struct ts_fake_name name; /* of a CREATE that is not named: its mark only */
    enum pdk__op_kind kind;
    int16_t level; /* of the directory, where it is about that */
    bool named;    /* CREATE */
    bool watch;    /* LIST */
};

enum ts_fake_packet { TS_FAKE_REPLY, TS_FAKE_DELETED, TS_FAKE_CHANGED, TS_FAKE_CHILDREN };

struct ts_fake_reply {
    enum ts_fake_packet packet;
    enum pdk__op_kind kind;
    enum pdk__result result;
    int32_t owner;
    uint64_t tag;
    int64_t token;
    struct ts_fake_name name; /* created, read, or watched */
    int16_t count;
    int16_t watch; /* LIST: it has left one */
    struct ts_fake_name children[TS_FAKE_NODES];
};

struct ts_fake_session {
    bool open;  /* in use by a client */
    bool alive; /* at the server */
    bool link;
    bool children_watch; /* the client library knows a watch on the directory's children to be set */
    int32_t requests_count, replies_count, watches_count;
    int32_t zombies; /* writes that may still be executed, in this order */
    struct ts_fake_request late[TS_FAKE_ZOMBIES];
    struct ts_fake_name watches[TS_FAKE_WATCHES]; /* data watches that it knows to be set */
    struct ts_fake_request requests[TS_FAKE_QUEUE];
    struct ts_fake_reply replies[TS_FAKE_QUEUE];
};

struct ts_fake {
    struct ts_fake_tree tree;
    struct ts_fake_session sessions[TS_FAKE_SESSIONS];
};

/* The effect of a transaction, for checks. */
struct ts_fake_effect {
    bool created;
    int32_t deleted;
    struct ts_fake_node nodes[TS_FAKE_NODES]; /* as they were, watchers included */
};

/* --- fake_names.c */
void ts_fake_names_init(struct ts_fake_names *names, const char *directory);
/* The number of a mark, new when it is. */
int32_t ts_fake_mark(struct ts_fake_names *names, const char *text);
/* Of a child's name; false when it does not end in a sequence. */
bool ts_fake_name_of(struct ts_fake_names *names, const char *text, struct ts_fake_name *name);
/* Its text; text needs TS_FAKE_TEXT bytes. */
void ts_fake_name_text(const struct ts_fake_names *names, struct ts_fake_name name, char *text);
/* Of an absolute path: the directory (mark 0), or a child. *level: how many levels of the directory it names. */
bool ts_fake_name_of_path(struct ts_fake_names *names, const char *path, struct ts_fake_name *name, int32_t *level);
bool ts_fake_name_equal(struct ts_fake_name a, struct ts_fake_name b);

/* --- fake_tree.c: transactions and reads. Events go to the sessions that watch. */
void ts_fake_init(struct ts_fake *fake, int32_t levels, int32_t first_sequence);
/* Copies the parts that are in use, which are few. */
void ts_fake_copy(struct ts_fake *to, const struct ts_fake *from);
const struct ts_fake_node *ts_fake_find(const struct ts_fake *fake, struct ts_fake_name name);
/* Execute a request of a session, and say what the answer is. effect may be NULL. */
void ts_fake_transact(struct ts_fake *fake, int32_t session, const struct ts_fake_request *request,
                      const struct ts_fake_names *names, struct ts_fake_reply *reply, struct ts_fake_effect *effect);
/* Done by an admin. */
void ts_fake_remove(struct ts_fake *fake, struct ts_fake_name name, struct ts_fake_effect *effect);
void ts_fake_touch(struct ts_fake *fake, struct ts_fake_name name);
/* The empty directory goes. Its counter goes on: the caller resets it, if need be. */
void ts_fake_vanish(struct ts_fake *fake);
/* The session ended at the server: its nodes go. The client hears of it when it connects again. */
void ts_fake_expire(struct ts_fake *fake, int32_t session, struct ts_fake_effect *effect);

/* --- fake_session.c: connections */
/* A session that has not connected yet; −1 when all are taken. */
int32_t ts_fake_open(struct ts_fake *fake);
/* The client forgets the session. At the server it lives on until it expires. Requests on their way may still
 * arrive. */
void ts_fake_forget(struct ts_fake *fake, int32_t session);
bool ts_fake_submit(struct ts_fake *fake, struct ts_fake_names *names, int32_t session,
                    const struct pdk__request *request);
/* The same, in numbers. */
bool ts_fake_enqueue(struct ts_fake *fake, int32_t session, const struct ts_fake_request *request);
/* The client library believes this data watch to be set. */
bool ts_fake_watches(const struct ts_fake_session *s, struct ts_fake_name name);
bool ts_fake_can_execute(const struct ts_fake *fake, int32_t session);
void ts_fake_execute(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session,
                     struct ts_fake_effect *effect);
/* Answer the next request with NOT_NOW or UNKNOWN instead. An UNKNOWN write may be executed later. */
void ts_fake_refuse(struct ts_fake *fake, int32_t session, enum pdk__result result);
/* Execute the next request, but answer UNKNOWN. */
void ts_fake_execute_unknown(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session,
                             struct ts_fake_effect *effect);
/* The oldest of them. */
void ts_fake_execute_zombie(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session,
                            struct ts_fake_effect *effect);
/* The next reply or event arrives at the client. */
void ts_fake_take(struct ts_fake *fake, int32_t session, struct ts_fake_reply *packet);
/* The connection breaks. The UNKNOWN answers are queued for delivery; deliver them before connecting again. */
void ts_fake_cut(struct ts_fake *fake, int32_t session);
/* false: the session has expired. restore: the client library sets its watches again, and misses nothing. */
bool ts_fake_connect(struct ts_fake *fake, const struct ts_fake_names *names, int32_t session, bool restore);

/* --- fake_deliver.c: a packet as the driver's sink gets it */
void ts_fake_deliver(const struct ts_fake_names *names, const struct ts_fake_reply *packet,
                     const struct pdk__zk_sink *sink, void *driver, pdk__zk *zk);

#endif
