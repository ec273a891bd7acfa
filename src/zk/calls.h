/* The table of calls: everything that the driver asks of ZooKeeper, and everything that it hears from it.
 *
 *     driver ── open, submit, close ──► client.c (libzookeeper), or a fake
 *     driver ◄── sink: reply, watch, state ──
 *
 * A handle is one ZooKeeper session. Every submitted request gets exactly one reply, in the order of submission, at the
 * latest while close runs. Replies, watches and states of one handle come one at a time, never from inside submit.
 * A tag is the driver's own number for a request; the table does not look into it.
 */
#ifndef PDK_ZK_CALLS_H
#define PDK_ZK_CALLS_H

#include "core/result.h"

#include <paddock/access.h>
#include <paddock/status.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pdk__zk pdk__zk;

enum pdk__op_kind {
    PDK__OP_CREATE, /* an ephemeral node, named path + sequence unless `named`; reply: name, token */
    PDK__OP_MKDIR,  /* one level of a directory; reply: NODE_EXISTS when it is there */
    PDK__OP_LIST,  /* reply: children. With `watch` it leaves a watch on them if the directory exists and may be read */
    PDK__OP_WATCH, /* read a node, and leave a watch if it exists and may be read */
    PDK__OP_GET,   /* reply: stat and data */
    PDK__OP_STAT,  /* reply: stat */
    PDK__OP_BARRIER, /* a quorum commits an empty transaction that checks path. OK, NO_NODE and NOT_ALLOWED prove it */
    PDK__OP_DELETE,
    PDK__OP_SET,  /* the node's data, whatever its version unless `versioned` */
    PDK__OP_ACL,  /* a node's access control list; reply: token, acl_version, acl. It takes a right to read, or ADMIN */
    PDK__OP_SYNC, /* later reads of the session are as of now or later; but a deposed leader's own view may be old */
};

struct pdk__request {
    enum pdk__op_kind kind;
    uint64_t tag;
    const char *path; /* absolute, chroot included; copied */
    const char *data; /* CREATE, MKDIR (or NULL), SET: the node's data, copied */
    bool container;   /* MKDIR: the server removes it when it is empty again; persistent where it may not do that */
    bool named;       /* CREATE: path is the whole name; NODE_EXISTS when it is taken */
    bool watch;       /* LIST */
    bool stat;        /* LIST: the reply has the directory's token and acl_version */
    bool versioned;   /* SET: BAD_VERSION unless `version` is the node's */
    int32_t version;
    size_t data_size; /* the size of data that is not text; 0: it is text */
};

struct pdk__reply {
    uint64_t tag;
    enum pdk__result result;
    int code;            /* ZooKeeper's, for words */
    const char *name;    /* CREATE: the node's name without its directory */
    int64_t token;       /* CREATE, GET, STAT, ACL: czxid; LIST with `stat`: the directory's */
    int64_t zxid;        /* the newest transaction that the answer's stat tells, or 0 */
    int64_t owner;       /* GET, STAT: ephemeralOwner */
    int32_t version;     /* GET, WATCH, STAT: of the data */
    int32_t acl_version; /* GET, WATCH, STAT, ACL; LIST with `stat`: how often its access control list was changed */
    int64_t ctime_ms;    /* GET, WATCH, STAT */
    int64_t mtime_ms;    /* the same: when its data were written */
    const char *data;    /* GET, WATCH: bytes, not text */
    size_t data_size;
    const char *const *children; /* LIST */
    size_t children_count;
    const pdk_access_entry *acl; /* ACL */
    size_t acl_count;
};

enum pdk__zk_state {
    PDK__ZK_CONNECTED,   /* or connected again; may come twice */
    PDK__ZK_CONNECTING,  /* the connection is lost; replies of UNKNOWN follow */
    PDK__ZK_EXPIRED,     /* the last state of a handle */
    PDK__ZK_AUTH_FAILED, /* likewise */
    PDK__ZK_SPOILT,      /* likewise: the server's handshake gives no session, or no time */
    PDK__ZK_FOREIGN,     /* likewise: the server is no ZooKeeper, and cannot do what is needed */
    PDK__ZK_HUNG_UP,     /* likewise: it is none, and gave no answer when it was asked whether it can */
};

enum pdk__zk_event {
    PDK__ZK_CHANGED,  /* its data, or something else that does not mean it is deleted */
    PDK__ZK_DELETED,  /* the node; told to watchers of its children as well */
    PDK__ZK_CHILDREN, /* a child came or went: told to watchers of the children alone */
};

enum pdk__zk_dial {
    PDK__ZK_IDLE,    /* no connection, and none is tried now */
    PDK__ZK_DIALS,   /* it waits for a server to accept one; no handshake is sent */
    PDK__ZK_DIALLED, /* a handshake is under way, or done */
};

enum pdk__zk_parting {
    PDK__ZK_STAYS,
    PDK__ZK_LEAVES,
    PDK__ZK_HAS_LEFT, /* for certain: requests from now on go over a connection that is dialled after the call began */
};

enum { PDK__ZK_PASSWORD = 16 };

/* The driver's side. All strings and arrays are valid during the call only. */
struct pdk__zk_sink {
    void (*reply)(void *driver, pdk__zk *zk, const struct pdk__reply *reply);
    /* A watch on path fired. */
    void (*watch)(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event);
    /* With CONNECTED, session_id and timeout_ms are the negotiated ones. */
    void (*state)(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session_id, int32_t timeout_ms);
    /* Any thread, under any lock of the client library: must not call back. level as pdk_log_level. */
    void (*log)(void *driver, int level, const char *text);
    /* NULL, or: a server has sent something that is not well-formed, and nothing came of it; in words. An answer's
     * reply is told next, as UNKNOWN. */
    void (*malformed)(void *driver, pdk__zk *zk, const char *what);
};

struct pdk__zk_config {
    const char *servers; /* numeric "address:port,…", an odd number of them */
    int32_t timeout_ms;
    const char *digest;                  /* or NULL */
    const char *tls;                     /* or NULL */
    pdk_access access;                   /* of the nodes that are made; not DEFAULT */
    const pdk_access_entry *access_list; /* with LIST; valid as long as the handle */
    int32_t access_count;
    const struct pdk__zk_sink *sink;
    void *driver;
};

struct pdk__zk_calls {
    /* Begin a session. *out is set before the first call of the sink. SYSTEM, UNSUPPORTED. */
    pdk_status (*open)(const struct pdk__zk_config *config, pdk__zk **out);
    /* Never blocks. false: not sent, and no reply follows; the handle is dead or its queue full. */
    bool (*submit)(pdk__zk *zk, const struct pdk__request *request);
    /* End the session and free the handle; replies to all requests in flight come before it returns. Blocks, up to
     * 5 s. */
    void (*close)(pdk__zk *zk);
    /* Never blocks. */
    enum pdk__zk_dial (*dial)(pdk__zk *zk);
    /* Give up the connection, and go to the next server; CONNECTING follows. It stays where there is no other server.
     * May take as long as looking at every descriptor of the process. */
    enum pdk__zk_parting (*leave)(pdk__zk *zk);
    /* Give up an attempt that has been under way for so long, and go to the next server. DIALLED: a handshake that has
     * had no answer. DIALS: a connection that no server accepts; a first call takes note of it, and a call after the
     * patience gives it up. Takes as long as `leave`. */
    enum pdk__zk_parting (*hurry)(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms);
    /* Give the handle another list of servers, as in its configuration; session and watches are kept. false: not now,
     * since it is connected or dials a server; a server that is not in the new list is not dialled for long. Blocks for
     * a few milliseconds. */
    bool (*servers)(pdk__zk *zk, const char *servers);
    /* The client library's own handle, once it has reported a connection. */
    void *(*native)(pdk__zk *zk);
    /* The secret with which a stranger can end the session: its password, and "address:port,…" of its servers, the
     * server of the last connection first. Addresses that do not fit are left out. Once it has reported a
     * connection. */
    void (*secret)(pdk__zk *zk, unsigned char password[PDK__ZK_PASSWORD], char *servers, size_t size);
};

extern const struct pdk__zk_calls pdk__zk_client;

/* Was the client library built with TLS? */
bool pdk__zk_has_tls(void);

#endif
