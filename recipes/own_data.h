/* The data of a node of ours that change while it stands: of a member, of a leader. A part of a call.
 *
 *     turn ──► SET, if the version is the one that we wrote last ──► written
 *                   ▲          │ no answer, or another version
 *                   └── GET ◄──┘ ours after all? written; unchanged, or only a wish in front of it: SET again; else REPLACED
 *
 * The node is the one that a hold stands on: its name does not come back. No write is begun once the hold is over. One that was
 * under way may be carried out later, and seen until the node is gone. No later node has it.
 */
#ifndef PDK_OWN_DATA_H
#define PDK_OWN_DATA_H

#include "grant/hold.h"
#include "session/query.h"

/* What is known of the data. Under the monitor, but for new, ref and unref. */
struct pdk__own_data {
    atomic_uint refs;          /* of the owner, and of writes */
    GQueue writes;             /* in the order of the calls; it is the first one's turn */
    struct pdk__waiters turns; /* the others */
    uint64_t over;             /* so many writes have had their turn, or given it up */
    int64_t token;             /* of the node that the rest is about */
    int32_t version;           /* that we have written last */
    bool settled;              /* a write to it has ended, and it is known what stood there then */
    char *known;               /* a digest of what we have written last; or NULL */
    GPtrArray *unsure;         /* digests of what may have been written on top of that; or NULL */
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
    bool added;               /* the write under way added its digest to those that are unsure */
};

/* data: taken over. */
void pdk__own_write_init(struct pdk__own_write *w, struct pdk__call *call, struct pdk__own_data *own, GBytes *data);
/* The call begins: it stands in line. Under the monitor. */
void pdk__own_write_begin(struct pdk__own_write *w);
/* In a step of the call. OK: it is our turn. UNAVAILABLE, PDK__WAITS. */
pdk_status pdk__own_write_turn(struct pdk__own_write *w);
/* Afterwards, with a hold. created: what we have made its node with, or NULL.
 *   OK                the data stand in it, and the hold is valid
 *   LOST, NOT_HELD    the hold is over
 *   REPLACED, NO_PERMISSION, UNSUPPORTED, UNAVAILABLE, the session's end; PDK__WAITS */
pdk_status pdk__own_write_step(struct pdk__own_write *w, GBytes *created);
/* What is under way is left alone: it may be carried out. Under the monitor. */
void pdk__own_write_forget(struct pdk__own_write *w);
/* The same, and other data are to be written. data: taken over. */
void pdk__own_write_anew(struct pdk__own_write *w, GBytes *data);
/* The call is over. Under the monitor; and then not under it. */
void pdk__own_write_leave(struct pdk__own_write *w);
void pdk__own_write_free(struct pdk__own_write *w);

#endif
