/* The data of a member's or a leader's node, which change while the node stands. A part of a call.
 *
 *     turn ──► SET, if the version is the one that we wrote last ──► written
 *                   ▲          │ no answer, or another version
 *                   └── GET ◄──┘ ours after all: written; unchanged, or only a wish in front: SET again; else REPLACED
 *
 * The node is the one that a hold stands on, and its name does not come back. No write begins once the hold is over. A
 * write that was under way may be carried out later, and be seen until the node is gone. No later node has it.
 */
#ifndef PDK_OWN_DATA_H
#define PDK_OWN_DATA_H

#include "grant/hold.h"
#include "session/query.h"

/* The knowledge about the data. Under the monitor, but for new, ref and unref. */
struct pdk__own_data {
    atomic_uint refs;          /* of the owner, and of writes */
    GQueue writes;             /* in the order of the calls; it is the first one's turn */
    struct pdk__waiters turns; /* the others */
    uint64_t over;             /* so many writes have had their turn, or given it up */
    int64_t token;             /* the node's that the rest is about */
    int32_t version;           /* the one that we have written last */
    bool settled;              /* a write to it has ended, and the data that stood there then are known */
    char *known;               /* a digest of the data that we have written last; or NULL */
    GPtrArray *unsure;         /* digests of data that may have been written on top of that; or NULL */
};
struct pdk__own_data *pdk__own_data_new(void);
struct pdk__own_data *pdk__own_data_ref(struct pdk__own_data *own);
void pdk__own_data_unref(struct pdk__own_data *own);

struct pdk__own_write {
    struct pdk__call *call;
    struct pdk__own_data *own; /* a reference */
    GBytes *data;              /* a reference; the whole node's */
    char *digest;              /* of data */
    pdk_hold *hold;
    GList link;               /* in own->writes */
    struct pdk__query *query; /* under way; or NULL */
    bool looking;             /* the query is a GET */
    bool added;               /* the write under way added its digest to `unsure` */
};

/* data: taken over. */
void pdk__own_write_init(struct pdk__own_write *w, struct pdk__call *call, struct pdk__own_data *own, GBytes *data);
/* The call begins: it stands in line. Under the monitor. */
void pdk__own_write_begin(struct pdk__own_write *w);
/* In a step of the call. OK: it is our turn. UNAVAILABLE, PDK__WAITS. */
pdk_status pdk__own_write_turn(struct pdk__own_write *w);
/* Afterwards, with a hold. created: the data that we have made its node with, or NULL.
 *   OK                the data stand in it, and the hold is valid
 *   LOST, NOT_HELD    the hold is over
 *   REPLACED, NO_PERMISSION, UNSUPPORTED, UNAVAILABLE, the session's end; PDK__WAITS */
pdk_status pdk__own_write_step(struct pdk__own_write *w, GBytes *created);
/* Leave a request that is under way alone: it may be carried out. Under the monitor. */
void pdk__own_write_forget(struct pdk__own_write *w);
/* The same, and write other data then. data: taken over. */
void pdk__own_write_anew(struct pdk__own_write *w, GBytes *data);
/* The call is over. Under the monitor; and then not under it. */
void pdk__own_write_leave(struct pdk__own_write *w);
void pdk__own_write_free(struct pdk__own_write *w);

#endif
