/* Conformance: one script, played on a real ZooKeeper and on the fakes, must be heard alike.
 *
 *     *.script, generate.c ──► script.c ──► play.c ──► backend: real, fake, sim, or a wrong one
 *                                              │ everything its sessions hear
 *                                              ▼
 *                                           trace.c ──► compare.c: equal text, or both side by side
 *
 * All talk goes through the driver's own table of calls (zk/calls.h), which production has as well. A script's steps are
 * played one after the other; after each, all is waited for: the replies, and then a barrier's round trip on every
 * session that is connected, behind which nothing of the step can come any more.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "zk/calls.h"

#include <glib.h>
#include <stdio.h>

#define SLOTS 4 /* sessions of a script, A to D */
#define BATCH 8 /* requests pipelined in one step */

/* What a script may need and a backend may lack. */
enum capability {
    CAN_TREE = 1,       /* nodes of any name anywhere, and reading, watching and deleting of directories */
    CAN_ACL = 2,        /* permissions */
    CAN_CONTAINERS = 4, /* directories that the server removes */
    CAN_COUNTER = 8,    /* a directory's child counter, set */
    CAN_OFFLINE = 16,   /* requests while there is no connection */
    CAN_LINGER = 32,    /* a session that is closed without a connection lives on at the server */
    CAPABILITIES = 6,
};
extern const char *const capability_names[CAPABILITIES];

/* What a backend may leave out of its answers; it is not compared then. */
enum field { SHOWS_CODE = 1, SHOWS_DATA = 2 };

enum step_kind {
    OPEN,
    CLOSE,
    EXPIRE,
    CUT,
    RESTORE,
    REQUESTS,
    LOSE_REQUEST, /* it does not arrive, and the connection breaks */
    LOSE_REPLY,   /* it is executed, the connection breaks before the answer */
    LOSE_ALL,     /* likewise, and the events before the answer are lost as well */
    ADMIN,
};

enum admin_kind { ADMIN_MKDIR, ADMIN_CREATE, ADMIN_SET, ADMIN_DELETE, ADMIN_ACL, ADMIN_COUNTER, ADMIN_AWAIT_GONE };

/* What a node refuses to everybody. */
enum refusal { NO_READ = 1, NO_WRITE = 2, NO_CREATE = 4, NO_DELETE = 8 };

struct ask {
    enum pdk__op_kind kind;
    char *path; /* as the script has it: below the script's own root */
    char *data; /* CREATE, MKDIR, SET; or NULL */
    bool container, named, watch;
};

struct admin {
    enum admin_kind kind;
    char *path, *data;
    int64_t value; /* ACL: refusals; COUNTER */
};

struct step {
    enum step_kind kind;
    char *text;     /* the line */
    unsigned slots; /* OPEN to RESTORE: a bit each */
    int slot;       /* of the requests */
    int count;
    struct ask asks[BATCH];
    struct admin admin;
};

struct script {
    char *name, *title, *directory; /* directory: the one that matters, for a backend that has one only */
    unsigned needs;                 /* capabilities */
    bool generated;
    GPtrArray *steps; /* struct step */
};

/* --- script.c */
/* Adds the scripts in text to scripts; false, and the reason on standard error, when it is not understood. */
bool script_read(const char *text, const char *where, GPtrArray *scripts);
char *script_text(const struct script *script);
void script_free(struct script *script);
const char *op_name(enum pdk__op_kind kind);

/* --- generate.c */
/* The text of a script drawn from a seed; wide: with all that the small fake lacks. */
char *generate_script(guint32 seed, bool wide);

/* --- backends */
struct backend {
    const char *name, *about;
    unsigned can;      /* capabilities */
    unsigned shows;    /* fields */
    unsigned replayed; /* scripts played again because a connection broke by itself */
    const struct pdk__zk_calls *calls;
    /* An empty root for a script; its path. NULL: it cannot be had. */
    const char *(*begin)(struct backend *b, const struct script *script);
    /* As calls->open, for a slot. */
    pdk_status (*open)(struct backend *b, int slot, const struct pdk__zk_sink *sink, void *driver, pdk__zk **zk);
    /* One thing happens; false: nothing ever will. NULL: things happen by themselves, on other threads. */
    bool (*step)(struct backend *b);
    /* The session of a slot: its connection is gone and stays so; is possible again; the session ends at the server. */
    bool (*cut)(struct backend *b, int slot);
    bool (*restore)(struct backend *b, int slot);
    bool (*expire)(struct backend *b, int slot);
    /* The next request or its reply is lost with the connection: prepare before it is submitted, lose after. */
    bool (*prepare)(struct backend *b, int slot, enum step_kind loss);
    bool (*lose)(struct backend *b, int slot, enum step_kind loss);
    /* The session of a slot was closed while it was cut. */
    void (*forget)(struct backend *b, int slot);
    /* By a hand outside the sessions; path below the root of the script. */
    bool (*admin)(struct backend *b, const struct admin *admin, const char *path);
    void (*end)(struct backend *b); /* of a script; all its sessions are closed */
    void (*free)(struct backend *b);
};

/* servers: 1, or an ensemble of 3 with every slot on another one. NULL: it does not start. */
struct backend *backend_real(int servers);
struct backend *backend_fake(void);
struct backend *backend_sim(int servers);

/* A fake that is wrong on purpose, in one of so many ways; `about` says which. */
#define WRONG_WAYS 19
struct backend *backend_wrong(int way);

/* --- trace.c */
struct trace;
struct trace *trace_new(const struct script *script);
void trace_free(struct trace *trace);
/* Heard by a session, by its name, while a step was played. */
void trace_reply(struct trace *t, size_t step, const char *session, const struct ask *ask,
                 const struct pdk__reply *reply, const char *owner);
void trace_not_sent(struct trace *t, size_t step, const char *session, const struct ask *ask);
void trace_event(struct trace *t, size_t step, const char *session, const char *path, enum pdk__zk_event event);
void trace_state(struct trace *t, size_t step, const char *session, enum pdk__zk_state state);
/* All of it as lines, step by step; only the fields in shows. */
GPtrArray *trace_lines(const struct trace *t, unsigned shows);

/* What was seen in all of some traces: a lane that did not see it all proves nothing. */
struct seen {
    unsigned ok[PDK__OP_SET + 1], failed[PDK__OP_SET + 1]; /* by kind of request */
    unsigned named[2], watching[2];                        /* of creates and of lists: failed, ok */
    unsigned results[PDK__LIMITED + 1];
    unsigned events[PDK__ZK_CHILDREN + 1];
    unsigned connected, connecting, expired; /* states */
    unsigned not_sent, reconnected;          /* reconnected: connected after connecting */
};
void trace_count(const struct trace *t, struct seen *seen);

/* --- play.c, hear.c */
/* NULL, and the reason on standard error: the script could not be played. */
struct trace *play(const struct script *script, struct backend *backend);

/* --- compare.c */
/* Whether both were heard alike in all that both backends show; if not, it is printed to out, which may be NULL. */
bool traces_alike(const struct script *script, const struct trace *left, const struct backend *left_backend,
                  const struct trace *right, const struct backend *right_backend, FILE *out);

#endif
