/* The pure state machine of a guarded znode: one holder's half. An answer goes in, the next request comes out.
 *
 *     open    READ ──► REWRITE the same data, naming the version read ──► CHECK the own lock node ──► confirmed
 *     write   confirmed ──► WRITE, naming the version that the last confirmed request left
 *
 *     request   answer                     next
 *     READ      no node, never seen        CREATE, a tombstone; whatever its answer, READ
 *     READ      ours to open               REWRITE
 *     READ      of a later holder          LOST
 *     READ      content changed, or gone   REPLACED
 *     REWRITE   OK                         CHECK
 *     CHECK     OK                         confirmed: WRITE the rest, or done
 *     CHECK     no node                    LOST
 *     WRITE     OK                         done
 *     any       another version, unknown   READ; of a CHECK: CHECK
 *
 * The node is never deleted, so its version only grows, and a rewrite that succeeds proves that the data that were read
 * still stand. It also turns away every older request of ours that is still on its way. So one round settles an answer
 * that was lost. A later holder's rewrite turns away an older holder's writes. An older holder that rewrites after that
 * changes no content, and its CHECK finds its lock node gone.
 */
#ifndef PDK_CORE_GUARDED_H
#define PDK_CORE_GUARDED_H

#include "core/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The writer of a content, and the number of the write. Nobody wrote the first tombstone. */
struct pdk__stamp {
    int64_t token;
    uint64_t number; /* counts the writer's writes from 1 */
    uint64_t digest; /* of the payload */
    uint32_t handover;
    bool absent; /* a tombstone */
};

/* The header of a guarded node's data: "paddock-guarded 1 <token> <handover> <number> <P|D>\n". The payload follows
 * P. */
enum { PDK__GUARDED_HEADER = 72 };
/* Writes the header, and no NUL after it. The digest is not in it. */
void pdk__stamp_write(const struct pdk__stamp *stamp, char header[PDK__GUARDED_HEADER]);
/* Takes any bytes. false: not the data of a guarded node. */
bool pdk__stamp_read(const char *data, size_t size, struct pdk__stamp *stamp);
uint64_t pdk__stamp_digest(const char *payload, size_t size);

/* The node, as a read shows it. */
struct pdk__guarded_node {
    bool exists, guarded; /* guarded: the data has our header */
    int32_t version;
    int64_t czxid;
    struct pdk__stamp stamp;
};

enum pdk__guarded_step {
    PDK__GUARDED_IDLE,
    PDK__GUARDED_READ,
    PDK__GUARDED_CREATE,
    PDK__GUARDED_REWRITE, /* the data that were read, naming `version` */
    PDK__GUARDED_CHECK,
    PDK__GUARDED_WRITE, /* `wanted`, naming `version` */
};

enum pdk__guarded_end {
    PDK__GUARDED_FINE,
    PDK__GUARDED_LOST,     /* the lock node is gone, or a later holder was here */
    PDK__GUARDED_REPLACED, /* somebody else wrote or deleted the node: for good */
    PDK__GUARDED_DENIED,   /* the server refuses it: the end of this call alone */
    PDK__GUARDED_WORN_OUT, /* the node's versions are used up */
};

struct pdk__guarded {
    enum pdk__guarded_step step;
    enum pdk__guarded_end end; /* of the last call, once step is IDLE. LOST, REPLACED and WORN_OUT stay */
    int64_t token, czxid;      /* czxid: 0 until the node was seen */
    uint64_t number;           /* of the last write */
    struct pdk__stamp known;   /* the content, once opened */
    struct pdk__stamp seen;    /* by the READ before the REWRITE */
    struct pdk__stamp pending; /* a write whose fate is open */
    struct pdk__stamp wanted;  /* the content that this call writes */
    uint32_t handover;
    int32_t version;
    bool opened;     /* it was confirmed once: from then on only we change the content */
    bool confirmed;  /* `version` may be named in a write */
    bool is_pending; /* `pending` is set */
    bool writing;    /* this call writes */
};

void pdk__guarded_init(struct pdk__guarded *g, int64_t token, uint32_t handover);
/* Begin a call. Idle before it. The step says what to send. A machine that has ended for good stays idle. */
void pdk__guarded_open(struct pdk__guarded *g);
void pdk__guarded_write(struct pdk__guarded *g, bool absent, uint64_t digest);
/* The answer to a READ that was executed: node->exists says whether it is there. */
void pdk__guarded_read(struct pdk__guarded *g, const struct pdk__guarded_node *node);
/* The answer to any other request, and to a READ that was not executed. */
void pdk__guarded_answered(struct pdk__guarded *g, enum pdk__result result);
/* The caller waits no longer. Answers to requests on their way are not wanted any more. */
void pdk__guarded_abandon(struct pdk__guarded *g);
/* The hold is not held any more: a CHECK that succeeded would prove nothing. */
void pdk__guarded_lose(struct pdk__guarded *g);
/* Judge a read for its content's sake, while confirmed. It never changes the version that is named. */
enum pdk__guarded_end pdk__guarded_got(struct pdk__guarded *g, const struct pdk__guarded_node *node);

#endif
