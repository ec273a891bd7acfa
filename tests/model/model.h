/* The model: every interleaving of a few clients and their threads over the fake ZooKeeper. src/core is the real one.
 *
 *     explore.c   the search, as search.h wants it                       codec.c    a state as bits, and back
 *     actions.c   what can happen next                                   names.c    names, and which are in use
 *     apply.c     doing it                                               checks.c   what must be true, always and at rest
 *     client.c    sessions and answers     as src/session has them       rest.c     ... and how a run ends
 *     entry.c     drives a contender       as src/session/entry.c does   transcript.c  a counter-example in words
 *     queue.c     claims and hand-overs    as src/grant/queue.c does     model.c, test_*.c  run it;  mutants
 *     grant.c     grants and downgrades    as src/grant/grant.c does
 *     mirror.c    what a client knows      as src/session/mirrors.c does
 *
 *     client ─► session          one at a time; the lease is one bit: "not yet over"
 *        ├────► claims           a thread each, first come first served
 *        └────► entries          one contender each: the queue's, a grant's, one on its way to take over, and the reaper's
 *                 └─► grant      granted ─ the thread wakes ─► taken; valid until the lease it was granted on is over
 *
 * A client locks, writes, reads or takes a permit of a semaphore, always the same. Of the semaphore the model has the leases
 * alone, without the queue in front of them: everybody comes at any time. A writer that holds may downgrade.
 *
 * Faults come out of budgets, so that the space is finite. The lease is set when a committed request is acknowledged while
 * the server still has the session. The action that lets it lapse clears it. A session expires only after that. core/lease.h
 * promises so, and its own tests check it; the arithmetic is not in here. A paused process is one that has not noticed that
 * its lease has lapsed. Meanwhile it does all that it would do otherwise.
 */
#ifndef MODEL_H
#define MODEL_H

#include "core/contender.h"
#include "core/handovers.h"
#include "core/mirror.h"
#include "fake_zk.h"
#include "search.h"

#define MODEL_CLIENTS 3
#define MODEL_ENTRIES 7 /* of a client at a time */
#define MODEL_CLAIMS 5  /* likewise */
#define MODEL_MARKS 16  /* likewise, of its entries and of what they left behind */
#define MODEL_DOWN 10   /* from here on they are of readers' nodes that take over from a writer's */
#define MODEL_DIRECTORY "/lock"

/* How often each kind of fault may happen in one run. */
enum model_budget {
    FAULTS,   /* all those below together, but for claims and downgrades */
    LOSSES,   /* connections cut */
    LAPSES,   /* leases that end */
    EXPIRIES, /* sessions that end at the server, their lease gone */
    CANCELS,  /* claims given up while they wait, or whose deadline passes before their thread wakes */
    REMOVALS, /* a client's node deleted by an admin */
    TOUCHES,  /* a client's node written to */
    REFUSALS, /* a request answered NOT_NOW, or UNKNOWN, executed or not */
    RENEWALS, /* an extra barrier on the own node */
    ABANDONS, /* a session given up by its client while the server keeps it */
    VANISHES, /* the empty directory removed */
    SQUATS,   /* a node made by a stranger, with the name that a downgrade is about to use */
    GHOSTS, /* a server overlooks that a predecessor goes: it shows the node to its client until that connects elsewhere */
    CLAIMS, /* another thread wants the lock, at any time */
    DOWNGRADES,
    BUDGETS,
};

/* The kind of grant that a client asks for. Locks are for all of them or none, and so are leases. */
enum model_role { MODEL_LOCKS, MODEL_WRITES, MODEL_READS, MODEL_LEASES };

struct model_config {
    int32_t clients;
    enum model_role roles[MODEL_CLIENTS];
    int32_t permits;                /* that there are leases of */
    int32_t threads[MODEL_CLIENTS]; /* that want the lock from the beginning; 0: one */
    int32_t handovers;              /* allowed in a row */
    bool lingers;                   /* a node that nobody holds may wait for the next thread */
    int32_t budgets[BUDGETS];       /* FAULTS 0: what the others allow */
    int32_t tries;                  /* how many clients, the last ones, do not want to wait behind somebody */
    bool no_directory;              /* at first */
    bool same_mark;                 /* a client's contenders all bear the same mark */
    bool exact;                     /* keep sequence numbers as they are; otherwise only their order counts */
    bool mirrors;                   /* clients that lock keep a mirror of the directory, in which gaps count: exact */
    int32_t first_sequence;         /* of the directory's counter */
    uint64_t max_states;            /* 0: all of them */
    FILE *progress;                 /* told now and then, when not NULL */
};

enum model_pending { MODEL_NONE, MODEL_SENT, MODEL_ARMED };
/* The owner of an entry: nobody who wants it, the queue, a grant that left the queue, or a contender on its way to take
 * over from the queue's entry. There is one of the queue, and one on its way, at most. */
enum model_owner { MODEL_REAPER, MODEL_QUEUE, MODEL_GRANT, MODEL_EXCHANGE };
enum model_hold { MODEL_NO_HOLD, MODEL_GRANTED, MODEL_TAKEN };
/* The lookout of a node: there is none; its list is under way, or showed nobody; somebody came, or may have. */
enum model_lookout { MODEL_BLIND, MODEL_CLEAR, MODEL_MET };

/* A grant stands on the queue's entry, or on one of its own. A thread is known by its ticket. */
struct model_grant {
    enum model_hold hold;
    bool valid;       /* the hold's word: once false, false for good */
    bool downgraded;  /* its thread only reads by now */
    int32_t holder;   /* ticket */
    int32_t handover; /* the hold's number */
};

struct model_entry {
    enum model_owner owner;
    struct model_grant grant;
    struct ts_fake_name exchanged; /* its name is given: the node whose position it takes over */
    bool pausing;
    bool removed;        /* an admin deleted its node */
    bool removed_behind; /* likewise, and somebody was ahead of it then */
    bool registered;     /* an event of the predecessor's node goes to it */
    bool blocked;        /* as of the last list: somebody is ahead, other than a node of ours that is being deleted */
    enum model_pending own_watch; /* of a hold */
    bool mirrored;                /* its create went without a list */
    bool own_stands;              /* a watch on its node was answered on this connection, and has not fired */
    int32_t mark;                 /* the number of its mark among the client's */
    struct pdk__contender c;
};

/* A thread draws its ticket when it claims. */
struct model_client {
    int32_t session; /* −1: none */
    bool lease;
    bool renewing;             /* a barrier is in flight */
    struct ts_fake_name ghost; /* its server goes on showing this node; mark 0: none */
    bool asked, told;          /* the leader was asked after it; has said that it is gone */
    struct pdk__handovers handovers;
    bool lingers;                       /* the queue's entry is held, and nobody holds it */
    enum model_lookout lookout;         /* of the queue's node */
    int32_t tickets;                    /* drawn so far */
    int32_t queued, sleepers;           /* how many of these */
    int32_t queue[MODEL_CLAIMS];        /* tickets, in their order */
    int32_t sleeper[MODEL_CLAIMS];      /* granted, but the grant is lost, and they still have to wake */
    int32_t entries_count;              /* in order of creation; those gone are removed when the step is over */
    enum model_pending directory_watch; /* of the mirror: MODEL_SENT, or none */
    struct pdk__mirror mirror;
    struct model_entry entries[MODEL_ENTRIES];
    struct pdk__mirrored mirrored[TS_FAKE_NODES]; /* of the mirror */
};

struct model_state {
    struct ts_fake fake;
    int32_t budgets[BUDGETS];
    int64_t last_token;     /* the highest ever granted */
    int64_t last_exclusive; /* likewise, not by a reader; kept where there are any */
    struct model_client clients[MODEL_CLIENTS];
};

/* A run in which these did not happen proves nothing. */
struct model_seen {
    uint64_t grants, contended, handovers, rejoins, losses, recovered_found, recovered_absent, expiries, abandons;
    uint64_t lost_holds, late_notices, late_receipts, removed_holds, touched;
    uint64_t shared, full, downgrades, taken_over, let_in, exchanged_gone, given_back, squatted, ghosts, turned_away;
    uint64_t alone, gaps, mirrored; /* creates without a list: proven, or not; lists that the mirror stood for */
    uint64_t lingered, taken_up, met, outstayed;
};

struct model {
    struct model_config config;
    struct ts_fake_names names;
    bool readers; /* there are clients that read */
    struct model_seen seen;
    uint64_t at_rest;        /* states that were expanded */
    struct model_state *now; /* the state that is being stepped */
    const char *broken;      /* the check that failed, and more about it */
    char detail[256];
    FILE *transcript;               /* events are printed here, when not NULL */
    int32_t told[MODEL_CLIENTS][2]; /* there: how many marks, so that each contender has a name of its own */
};

enum model_action_kind {
    /* the ordinary course: when none of these is left, all is at rest */
    CONNECT, /* the client connects; its watches are set again */
    EXECUTE, /* the server executes the client's next request */
    DELIVER, /* the next reply or event arrives */
    DROP,    /* the server hangs up on an expired session */
    PAUSED,  /* the moment that an entry asked for is over */
    SETTLE,  /* the grant was kept for a while: watch the own node */
    NOTICE,  /* the timer finds that the lease is over */
    ASK,     /* a waiter has waited for long: it asks the leader after its predecessor */
    NETWORK, /* not an action: when none of those before is left, the network is quiet */
    RECEIVE, /* a thread wakes, and takes the grant, or finds it lapsed */
    RELEASE,
    OUTSTAY,   /* a node has lingered for long enough */
    CLAIM,     /* another thread wants the lock */
    DOWNGRADE, /* a thread that writes only reads from now on */
    TIME_OUT,  /* an abandoned session expires */
    ORDINARY,  /* not an action: those before are */
    /* faults and chances */
    CONNECT_BARE, /* the client connects; its watches are lost */
    ZOMBIE,       /* a request of a broken connection is executed after all */
    CUT,
    LAPSE,
    EXPIRE,
    CANCEL,
    OVERDUE, /* the deadline of a granted claim passes before its thread wakes */
    REMOVE,
    TOUCH,
    SAY_NOT_NOW,
    SAY_UNKNOWN, /* not executed, or late */
    DO_UNKNOWN,  /* executed */
    RENEW,
    ABANDON,
    VANISH,
    SQUAT,
    GHOST,
    ACTION_KINDS,
};

/* The kind; whose: a client's, of TIME_OUT and ZOMBIE a session's; and which of its entries, threads or nodes. */
typedef search_action model_action;
static inline enum model_action_kind model_kind(model_action a) { return (enum model_action_kind)search_kind(a); }

/* --- actions.c */
/* The budget that it is paid from; FAULTS: none of its own. */
enum model_budget model_budget_of(enum model_action_kind kind);
/* All that can happen, the ordinary course first. */
size_t model_enabled(const struct model *m, const struct model_state *s, model_action enabled[SEARCH_ACTIONS]);
bool model_is_quiet(const struct model *m, const struct model_state *s);

/* --- apply.c */
/* Do it. m->broken is set when a check failed. */
void model_apply(struct model *m, struct model_state *s, model_action a);

/* --- client.c */
void model_init(struct model *m, const struct model_config *config);
void model_begin(struct model *m, struct model_state *s);
struct pdk__handovers model_handovers(const struct model *m, int32_t client);
void model_copy(struct model_state *to, const struct model_state *from);
/* It has something to do. */
bool model_is_live(const struct model_client *k);
bool model_is_connected(const struct model *m, const struct model_client *k);
void model_receive(struct model *m, int32_t client);
void model_connected(struct model *m, int32_t client);
void model_link_down(struct model *m, int32_t client);
/* The session is no more, as far as this client is concerned. */
void model_session_over(struct model *m, int32_t client);
/* Forget the entries that are gone. */
void model_tidy(struct model *m, int32_t client);

/* --- entry.c */
/* The tag of a request says to whom its reply goes: the entry, 1 for the first, and the purpose. The first group are a
 * contender's commands: one of them is in flight at a time. */
enum model_purpose {
    FOR_CREATE,
    FOR_ENTER_LIST,
    FOR_MKDIR,
    FOR_LIST,
    FOR_WATCH,
    FOR_PROOF,
    FOR_PROVE_LIST,
    FOR_STAT,
    FOR_DELETE,
    FOR_LOOK,
    MODEL_COMMANDS,
    FOR_RENEWAL = MODEL_COMMANDS,
    FOR_OWN_WATCH,
    FOR_ASK,
    FOR_DIRECTORY,
    FOR_LOOKOUT,
    MODEL_PURPOSES,
};
static inline enum model_purpose model_purpose(uint64_t tag) { return (enum model_purpose)(tag & 15); }
static inline int32_t model_entry_of(uint64_t tag) { return (int32_t)(tag >> 4) - 1; }
static inline uint64_t model_tag(int32_t entry, enum model_purpose purpose) {
    return (uint64_t)(entry + 1) << 4 | (uint64_t)purpose;
}
/* A new one for the queue; or one with the number of the entry that is held. */
void model_entry_new(struct model *m, int32_t client);
void model_entry_exchange(struct model *m, int32_t client, int32_t held);
/* The name of its node, where the server does not give the sequence. */
struct ts_fake_name model_name_given(int32_t client, const struct model_entry *p);
/* To the reaper. */
void model_entry_leave(struct model *m, int32_t client, int32_t entry);
void model_entry_tell(struct model *m, int32_t client, int32_t entry, enum pdk__event_type type);
void model_entries_tell(struct model *m, int32_t client, enum pdk__event_type type);
void model_entry_answer(struct model *m, int32_t client, struct ts_fake_reply *reply);
/* told: by the leader, not by the watch. */
void model_entry_watch_fired(struct model *m, int32_t client, struct ts_fake_name name, bool gone, bool told);
/* A grant that is kept hears of its node's deletion. */
void model_entry_settle(struct model *m, int32_t client, int32_t entry);
/* List the directory, leaving a watch. */
void model_entry_look_out(struct model *m, int32_t client, int32_t entry);
/* Ask the leader after the predecessor. */
void model_entry_ask(struct model *m, int32_t client, int32_t entry);
/* A barrier, now. */
void model_renew(struct model *m, int32_t client);
/* Of this client's, the first that is granted, or will be soon; −1: none. */
int32_t model_wants_renewal(const struct model_client *k);
/* The entry with that owner, or −1. */
int32_t model_entry_with(const struct model_client *k, enum model_owner owner);

/* --- mirror.c: see src/session/mirrors.h */
void model_mirror_void(struct model_client *k);
bool model_mirror_wants_watch(struct model *m, int32_t client, const struct model_entry *p);
void model_mirror_watched(struct model *m, int32_t client, enum pdk__result result);
void model_mirror_fired(struct model *m, int32_t client);
bool model_mirror_expects(struct model *m, int32_t client, const struct model_entry *p);
/* name: "" where the create has failed. */
bool model_mirror_created(struct model *m, int32_t client, const struct model_entry *p, const char *name,
                          struct pdk__view *view);
bool model_mirror_shows(struct model *m, int32_t client, const struct model_entry *p, struct pdk__view *view);
void model_mirror_listed(struct model *m, int32_t client, const char *const *names, size_t count);
void model_mirror_deleted(struct model *m, int32_t client, struct ts_fake_name name);
void model_mirror_held(struct model *m, int32_t client, const struct model_entry *p);
void model_mirror_stands(struct model *m, int32_t client, struct ts_fake_name name, bool stands);

/* --- queue.c */
void model_queue_push(struct model *m, int32_t client, int32_t ticket);
void model_queue_moved(struct model *m, int32_t client, int32_t entry);
void model_queue_advance(struct model *m, int32_t client);
/* The grant on its entry ended, as hand-over number `before`. kept: given up while valid, so that the next thread may
 * have it. */
void model_queue_ended(struct model *m, int32_t client, int32_t entry, bool kept, int32_t before);
/* The thread of the granted hold (which 0) or a sleeper (from 1 on) wakes. */
void model_queue_receive(struct model *m, int32_t client, int32_t which, bool in_time);
void model_queue_cancel(struct model *m, int32_t client);
/* Its node goes now, if it lingers. */
void model_queue_stop_lingering(struct model *m, int32_t client);
/* Somebody has come to the directory, or may have. */
void model_queue_meet(struct model *m, int32_t client);
/* Granted, but the grant is lost, and the thread still has to wake. */
void model_queue_sleep(struct model *m, int32_t client, int32_t ticket);
/* All its claims are tries. */
static inline bool model_never_waits(const struct model *m, int32_t client) {
    return client >= m->config.clients - m->config.tries || m->config.roles[client] == MODEL_LEASES;
}
void model_say(struct model *m, int32_t client, int32_t ticket, const char *what);

/* --- grant.c */
/* An entry took a step: tell those concerned. */
void model_moved(struct model *m, int32_t client, int32_t entry);
void model_grant_end(struct model *m, int32_t client, int32_t entry, bool kept);
void model_grant_lose(struct model *m, int32_t client, int32_t entry);
void model_grant_release(struct model *m, int32_t client, int32_t entry);
void model_grant_downgrade(struct model *m, int32_t client);
/* Lose those that are not valid any more, or all of them. */
void model_grants_lose(struct model *m, int32_t client, bool all);
/* There is a lost grant that was not reported. */
bool model_grants_lapsed(const struct model_client *k);
/* The queue's entry with a grant on it, or −1. */
int32_t model_grant_of_queue(const struct model_client *k);

/* --- names.c */
/* Which of the state's numbers occur anywhere, a bit each. */
struct model_used {
    uint64_t sequences; /* counted from the first */
    uint64_t tokens;
    uint32_t marks[MODEL_CLIENTS];
    bool beyond; /* there are higher ones: only a long run that is printed in one go has them */
    struct ts_fake_name own[MODEL_CLIENTS][MODEL_ENTRIES], watched[MODEL_CLIENTS][MODEL_ENTRIES]; /* of the entries */
};
void model_names_init(struct model *m);
int32_t model_mark(int32_t client, int32_t mark);
/* The name in a contender's text; mark 0 for "". */
struct ts_fake_name model_name(const char *text);
void model_use(const struct model *m, const struct model_state *s, struct model_used *used);
/* A mark that no entry of the client has, nor anything that its entries left behind. down: of those for downgrades. */
int32_t model_new_mark(struct model *m, int32_t client, bool down);
/* The nodes of this mark: are they a reader's, and such as a writer leaves its own for? */
bool model_is_shared(const struct model *m, int32_t mark);
bool model_is_down(const struct model *m, int32_t mark);
/* The rule of all its contenders. */
struct pdk__rule model_rule(const struct model *m, int32_t client);
static inline bool model_reply_has_name(const struct ts_fake_reply *r) {
    return r->packet != TS_FAKE_REPLY ||
           (r->result == PDK__OK && (r->kind == PDK__OP_CREATE || r->kind == PDK__OP_WATCH));
}
static inline bool model_reply_has_token(const struct ts_fake_reply *r) {
    return r->packet == TS_FAKE_REPLY && r->result == PDK__OK && (r->kind == PDK__OP_CREATE || r->kind == PDK__OP_STAT);
}

/* --- checks.c */
void model_break(struct model *m, const char *check, const char *format, ...) __attribute__((format(printf, 3, 4)));
void model_check_effect(struct model *m, int32_t session, const struct ts_fake_effect *effect, bool by_request);
/* By this list it has to wait. */
void model_check_blocked(struct model *m, int32_t client, const struct model_entry *p,
                         const struct ts_fake_reply *list);
/* Is somebody ahead of its node, who blocks it? */
bool model_is_behind(const struct model *m, int32_t client, const struct model_entry *p, struct ts_fake_name me);
void model_check_grant(struct model *m, int32_t client, int32_t entry);
/* A grant stands on another node from now on. */
void model_check_taken_over(struct model *m, int32_t client, int32_t entry);
void model_check_handover(struct model *m, int32_t client, int32_t before);
/* Its node begins to linger. */
void model_check_lingering(struct model *m, int32_t client, int32_t entry);
void model_check_state(struct model *m);

/* --- rest.c */
/* No ordinary action is left: everybody was granted, or gave up, and is gone. */
void model_check_rest(struct model *m, const struct model_state *s);
/* Ordinary actions alone must bring it to rest: it does not go round in circles. The search finds all that breaks on
 * the way. */
void model_check_converges(struct model *m, const struct model_state *s);
/* NULL, or an event that should have happened and did not. */
const char *model_vacuous(const struct model *m);

/* --- codec.c: states are one when they differ only in parts without influence on the future */
size_t model_pack(const struct model *m, struct model_state *s, uint8_t bytes[SEARCH_PACKED]);
void model_unpack(const struct model *m, struct model_state *s, const uint8_t *bytes, size_t size);

/* --- transcript.c */
void model_print_action(struct model *m, const struct model_state *s, int step, model_action a);
void model_print_request(struct model *m, int32_t client, const struct ts_fake_request *request);
void model_print_packet(struct model *m, int32_t client, const struct ts_fake_reply *packet);
void model_print_moved(struct model *m, int32_t client, int32_t entry, const struct pdk__contender *before);
void model_print_lease(struct model *m, int32_t client);
void model_print_thread(struct model *m, int32_t client, int32_t ticket, const char *what);
void model_print_directory(struct model *m, const struct model_state *s);
void model_print_state(struct model *m, const struct model_state *s);

/* --- explore.c */
struct model_result {
    struct search_result search;
    uint64_t at_rest;   /* states */
    const char *broken; /* NULL when all is well */
    char detail[256];
    struct model_seen seen;
};
/* Prints a counter-example to out. Runs single-threaded, without limits but those of the configuration. */
struct model_result model_explore(const struct model_config *config, FILE *out);

#endif
