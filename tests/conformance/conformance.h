/* Conformance: sessions must receive the same from a real ZooKeeper and from the fakes, when both play one script.
 *
 *     *.script, generate.c ──► script.c ──► play.c ──► backend: real, fake, sim, or a wrong one
 *                                              │ everything its sessions receive
 *                                              ▼
 *                                           trace.c ──► compare.c: equal text, or both side by side
 *
 * All requests go through the driver's own table of calls (zk/calls.h), which production uses as well. The steps of a
 * script are played one after the other. After each step the player waits for the replies, and then for a barrier's
 * round trip on every connected session. After that nothing of the step can come any more.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "zk/calls.h"

#include <glib.h>
#include <stdio.h>

#define SLOTS 4 /* sessions of a script, A to D */
#define BATCH 8 /* requests pipelined in one step */

/* Features that a script may need, and that a backend may lack. */
enum capability {
    CAN_TREE = 1,       /* nodes of any name anywhere; directories can be read, watched and deleted */
    CAN_ACL = 2,        /* permissions */
    CAN_CONTAINERS = 4, /* directories that the server removes */
    CAN_COUNTER = 8,    /* the child counter of a directory can be set */
    CAN_OFFLINE = 16,   /* requests while there is no connection */
    CAN_LINGER = 32,    /* a session that is closed without a connection lives on at the server */
    CAN_VERSIONS = 64,  /* a set can name the version of the node */
    CAPABILITIES = 7,
};
extern const char *const capability_names[CAPABILITIES];

/* Parts that a backend may leave out of its answers. It is not compared then. */
enum field { SHOWS_CODE = 1, SHOWS_DATA = 2, SHOWS_VERSION = 4 };

enum step_kind {
    OPEN,
    CLOSE,
    EXPIRE,
    CUT,
    RESTORE,
    REQUESTS,
    LOSE_REQUEST, /* it does not arrive, and the connection breaks */
    LOSE_REPLY,   /* it is executed, and the connection breaks before the answer */
    LOSE_ALL,     /* as LOSE_REPLY, and the events before the answer are lost as well */
    ADMIN,
};

enum admin_kind { ADMIN_MKDIR, ADMIN_CREATE, ADMIN_SET, ADMIN_DELETE, ADMIN_ACL, ADMIN_COUNTER, ADMIN_AWAIT_GONE };

/* The rights that a node refuses to every client. */
enum refusal { NO_READ = 1, NO_WRITE = 2, NO_CREATE = 4, NO_DELETE = 8 };

struct ask {
    enum pdk__op_kind kind;
    char *path; /* as in the script: below the script's own root */
    char *data; /* CREATE, MKDIR, SET; or NULL */
    bool container, named, watch;
    int version; /* SET: -1, or the one that it names */
};

struct admin {
    enum admin_kind kind;
    char *path, *data;
    int64_t value; /* ACL: refusals; COUNTER */
};

struct step {
    enum step_kind kind;
    char *text;     /* the line */
    unsigned slots; /* OPEN to RESTORE: one bit for each */
    int slot;       /* the slot that sends the requests */
    int count;
    struct ask asks[BATCH];
    struct admin admin;
};

struct script {
    char *name, *title, *directory; /* directory: the one that the script is about, for a backend that has only one */
    unsigned needs;                 /* capabilities */
    bool generated;
    GPtrArray *steps; /* struct step */
};

/* --- script.c */
/* Adds the scripts in text to scripts. False when it is not understood; the reason goes to standard error. */
bool script_read(const char *text, const char *where, GPtrArray *scripts);
void script_free(struct script *script);
const char *op_name(enum pdk__op_kind kind);

/* --- generate.c */
/* The text of a script generated from a seed. wide: with all that the small fake does not have. */
char *generate_script(guint32 seed, bool wide);

/* --- backends */
struct backend {
    const char *name, *about;
    unsigned can;      /* capabilities */
    unsigned shows;    /* fields */
    unsigned replayed; /* scripts played again because a connection broke by itself */
    const struct pdk__zk_calls *calls;
    /* Makes an empty root for a script, and returns its path. NULL: this failed. */
    const char *(*begin)(struct backend *b, const struct script *script);
    /* As calls->open, for a slot. */
    pdk_status (*open)(struct backend *b, int slot, const struct pdk__zk_sink *sink, void *driver, pdk__zk **zk);
    /* One thing happens. False: nothing will ever happen. NULL: things happen by themselves, on other threads. */
    bool (*step)(struct backend *b);
    /* The session of a slot. cut: it loses its connection and gets no other. restore: it can connect again. expire: the
     * server ends it. */
    bool (*cut)(struct backend *b, int slot);
    bool (*restore)(struct backend *b, int slot);
    bool (*expire)(struct backend *b, int slot);
    /* The next request or its reply is lost with the connection. prepare is called before the request is submitted,
     * lose after. */
    bool (*prepare)(struct backend *b, int slot, enum step_kind loss);
    bool (*lose)(struct backend *b, int slot, enum step_kind loss);
    /* The session of a slot was closed while it was cut. */
    void (*forget)(struct backend *b, int slot);
    /* A change from outside the sessions. The path is below the root of the script. */
    bool (*admin)(struct backend *b, const struct admin *admin, const char *path);
    void (*end)(struct backend *b); /* the script ends; all its sessions are closed */
    void (*free)(struct backend *b);
};

/* servers: 1, or an ensemble of 3 with every slot on another server. NULL: it does not start. */
struct backend *backend_real(int servers);
struct backend *backend_fake(void);
struct backend *backend_sim(int servers);

/* A fake that is wrong on purpose, in one of so many ways. `about` says which. */
#define WRONG_WAYS 19
struct backend *backend_wrong(int way);

/* --- trace.c */
struct trace;
struct trace *trace_new(const struct script *script);
void trace_free(struct trace *trace);
/* The events that a session, given by its name, received while a step was played. */
void trace_reply(struct trace *t, size_t step, const char *session, const struct ask *ask,
                 const struct pdk__reply *reply, const char *owner);
void trace_not_sent(struct trace *t, size_t step, const char *session, const struct ask *ask);
void trace_event(struct trace *t, size_t step, const char *session, const char *path, enum pdk__zk_event event);
void trace_state(struct trace *t, size_t step, const char *session, enum pdk__zk_state state);
/* All of it as lines, step by step, with only the fields in shows. */
GPtrArray *trace_lines(const struct trace *t, unsigned shows);

/* --- play.c, receive.c */
/* NULL: the script could not be played. The reason goes to standard error. */
struct trace *play(const struct script *script, struct backend *backend);

/* --- compare.c */
/* True when both received the same in all that both backends show. Otherwise the difference goes to out, which may be
 * NULL. */
bool traces_alike(const struct script *script, const struct trace *left, const struct backend *left_backend,
                  const struct trace *right, const struct backend *right_backend, FILE *out);

#endif
