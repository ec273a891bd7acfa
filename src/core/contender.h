/* The contender: one ephemeral sequential node in the queue, from before its creation until after its deletion.
 *
 *              ENTER (create + list)             LIST: nobody ahead, lease fresh
 *       ┌─────┐ ──────────────► ┌────┐ ───────────────────────────────► ┌──────┐
 *       │ OUT │                 │ IN │ ◄─ LIST ─ WATCH the predecessor  │ HELD │
 *       └─────┘ ◄────────────── └────┘                                  └──────┘
 *          │ ▲   not in a list    ▲ │ DELETE (leaving)                     │
 *    reply │ │ proven absent      │ └───────────────► ┌──────┐ ◄───────────┘
 *     lost ▼ │                    │ STAT: our own     │ GONE │   DELETE, or deleted by somebody
 *       ┌────────┐  PROVE  ┌───────────┐              └──────┘
 *       │ UNSURE │ ──────► │ CANDIDATE │
 *       └────────┘ barrier └───────────┘
 *                  + list, found by mark
 *
 * Pure: an event goes in, at most one command comes out, and one command is in flight at a time. The next command
 * follows from the known facts (the fields), never from the way they became known. The rules:
 *  - a connection loss means "unknown": read again, behind a quorum barrier, before deciding;
 *  - a watch event is a reason to read again, never a fact, but for one: the deletion of the node that alone was ahead,
 *    told by the watch on it, while our own node is watched as well (ADR 44);
 *  - a contender is granted only while its own node is listed, nothing blocking is ahead, and the lease is fresh;
 *  - a blocker that no session owns is no contender: a contender that reads so when it sets its watch reads the list
 *    again, without that node;
 *  - a contender for tries alone looks first, and writes only when it would not have to wait for anybody;
 *  - once it is leaving it ends GONE, with no node of its own on the server, whatever happens on the way.
 * A ZooKeeper session that ends takes its contenders with it (EXPIRED). A claim that still waits makes a new contender
 * on the next session.
 *
 * A row per event, a column per phase. A cell has the phases that may follow, by their first letters:
 *
 *  event      OUT  UNSURE  CANDIDATE  IN    HELD  STUCK  GONE
 *  ENTER      .    -       -          -     -     -      :
 *  LEAVE      OG   .       .          .     I     :      .
 *  LINK_UP    .    .       .          .     .     :      :
 *  LINK_DOWN  .    .       .          .     .     :      :
 *  EXPIRED    G    G       G          G     g     g      :
 *  POKE       -    -       -          IH    -     :      :
 *  UNGUARDED  -    -       -          .     -     -      :
 *  FRESH      .    .       .          .     :     :      :
 *  NODE_LOST  .    -       -          OG    G     :      :
 *  CREATED    OUI  -       -          -     -     -      :
 *  LISTED     OG   OUCsG   -          OIHG  -     -      :
 *  MADE_DIR   OG   -       -          -     -     -      :
 *  WATCHED    OG   -       -          .     -     -      :
 *  PROVED     -    .       -          -     -     -      :
 *  STATTED    -    -       OCIsG      -     -     -      :
 *  DELETED    -    -       -          IsG   -     -      :
 *  PAUSED     OG   .       .          .     -     :      :
 *
 *  .      it stays in its phase
 *  -      impossible
 *  s g :  like S G . but only a walk of one contender comes there, and the model of the queue does not. The model's
 *         servers refuse nothing for good and have no limits. Its leases are fresh or over. It ends a hold before it
 *         tells EXPIRED. It tells a contender that is GONE nothing but LEAVE.
 *
 * Why a cell is impossible:
 *  - ENTER comes once, at first or after LINK_UP.
 *  - POKE needs a predecessor, and only a node in the queue has one. UNGUARDED needs a guard, likewise.
 *  - NODE_LOST is about a node whose name was known. It comes before the answer to the next create.
 *  - An answer needs its command. In OUT these are ENTER, MKDIR and LOOK, or a LIST or WATCH that NODE_LOST has
 *    overtaken. In UNSURE it is PROVE, or ENTER's list; in CANDIDATE STAT; in IN LIST, WATCH and DELETE, or ENTER's
 *    list. HELD and STUCK send none. A server that asks for a pause grants nothing, so there is no PAUSED in HELD.
 * STUCK is short, unless the session is closing: the driver gives up the session, and EXPIRED follows. GONE ignores
 * every event. tests/model/test_transitions.c compares this table with what contenders do.
 */
#ifndef PDK_CORE_CONTENDER_H
#define PDK_CORE_CONTENDER_H

#include "core/names.h"
#include "core/result.h"
#include "core/view.h"

#include <paddock/status.h>

enum pdk__phase {
    PDK__OUT,       /* no node of ours exists */
    PDK__UNSURE,    /* a create may have been executed */
    PDK__CANDIDATE, /* a node bears our mark: is it of our session? */
    PDK__IN,        /* own is our node in the queue */
    PDK__HELD,      /* it is granted */
    PDK__STUCK,     /* our node cannot be deleted: only the end of the session removes it */
    PDK__GONE,      /* the end */
};

/* The driver's job. The events on the right answer a command; the last of them ends it. */
enum pdk__command {
    PDK__DO_NOTHING,
    PDK__DO_ENTER,  /* create our node and list, pipelined      CREATED, LISTED */
    PDK__DO_MKDIR,  /* create the directory and its parents     MADE_DIR */
    PDK__DO_LIST,   /* list the directory                       LISTED */
    PDK__DO_WATCH,  /* read `watched`, leaving a watch; if it is
                     * `sole`, ours is to be watched as well    WATCHED */
    PDK__DO_PROVE,  /* quorum barrier and list, pipelined       PROVED, LISTED */
    PDK__DO_STAT,   /* stat `own`                               STATTED */
    PDK__DO_DELETE, /* delete `own`                             DELETED */
    PDK__DO_PAUSE,  /* wait a moment                            PAUSED */
    PDK__DO_LOOK,   /* list, as of now or later                 LISTED (view made from behind) */
};

enum pdk__event_type {
    PDK__ENTER,     /* queue up */
    PDK__LEAVE,     /* released, cancelled or lost: leave no node behind */
    PDK__LINK_UP,   /* connected, for the first time or again */
    PDK__LINK_DOWN, /* disconnected; answers to requests in flight follow */
    PDK__EXPIRED,   /* the session ended */
    PDK__POKE,      /* the watch on the predecessor fired */
    PDK__UNGUARDED, /* our own node was written to: it is not watched any more */
    PDK__FRESH,     /* the lease became fresh */
    PDK__NODE_LOST, /* our own node is known to be deleted */
    /* answers to commands */
    PDK__CREATED,  /* result, name, token */
    PDK__LISTED,   /* result, view (made with our mark and own), fresh */
    PDK__MADE_DIR, /* result */
    PDK__WATCHED,  /* result */
    PDK__PROVED,   /* result */
    PDK__STATTED,  /* result, token, ours */
    PDK__DELETED,  /* result */
    PDK__PAUSED,
};

struct pdk__event {
    enum pdk__event_type type;
    enum pdk__result result;
    const char *name;             /* CREATED: of the new node, without its directory */
    int64_t token;                /* CREATED, STATTED: of our node */
    int64_t least_token;          /* CREATED, STATTED: a smaller one means that the servers went back */
    bool unowned;                 /* WATCHED: no session owns the node: no later list has it as a contender */
    bool ours;                    /* STATTED: ephemeralOwner is our session */
    bool guarded;                 /* WATCHED: our own node is watched, too */
    bool gone;                    /* POKE: the watch itself has told that the predecessor is deleted */
    bool fresh;                   /* LISTED, POKE: the lease, as it stands now, allows a grant */
    bool unprotected;             /* LISTED with OK: strangers may change the directory */
    bool never_waits;             /* LISTED: no claim wants to wait behind another contender */
    const struct pdk__view *view; /* LISTED with OK */
};

struct pdk__contender {
    enum pdk__phase phase;
    enum pdk__command doing; /* in flight */
    pdk_status failure;      /* why it cannot be granted, for good */
    bool wanted;             /* ENTER came */
    bool leaving;            /* for good */
    bool link;
    bool delays;   /* it keeps the lock-delay of its directory */
    bool named;    /* the driver gives its node's name, without a drawn sequence: at most one create of it succeeds */
    bool dirless;  /* the directory is missing */
    bool proven;   /* the barrier before this list was answered */
    bool list_due; /* something happened: list again */
    bool listed;   /* a list has shown our node: its position in the queue is confirmed */
    bool watching; /* the watch on `watched` is armed */
    bool sole;     /* `watched` alone was ahead, as of the last list: see view.h */
    bool guarded;  /* the watch on `own` is armed, too */
    bool pause;    /* wait a moment before the next command */
    bool looks_first;    /* it has yet to look whether somebody is there, before it creates its node */
    bool found_somebody; /* it looked, and somebody was there: it is GONE without a node */
    int32_t ahead;       /* as of the last list */
    int64_t token;       /* of own */
    char mark[PDK__MARK_SIZE];
    char own[PDK__NAME_SIZE];
    char watched[PDK__NAME_SIZE]; /* the predecessor that blocks us */
};

/* mark: see names.h, unique to this contender. All else is zero: OUT, not wanted, no link. */
void pdk__contender_init(struct pdk__contender *c, const char *mark);

enum pdk__command pdk__contender_step(struct pdk__contender *c, const struct pdk__event *event);

/* Is it in the queue without a blocker ahead? Then it waits only for a fresh lease. */
bool pdk__contender_is_next(const struct pdk__contender *c);

/* Phases and events in words, for log lines: the constant's name in lower case, "link up" for PDK__LINK_UP. */
const char *pdk__phase_name(enum pdk__phase phase);
const char *pdk__event_name(enum pdk__event_type type);

#endif
