/* The model: every interleaving of a few clients, one real contender each, over the fake ZooKeeper.
 *
 *     explore.c   breadth first over all states, each seen once         visited.c   the states that were seen
 *     actions.c   what can happen next, and doing it                    codec.c     a state as bytes, and back
 *     client.c    binds a contender to the fake, as the driver does     checks.c    what must be true, always and at rest
 *     transcript.c  a counter-example in words                          normalise.c  only order counts
 *     model.c, test_model.c  run it;  mutants  proves that the checks can fail
 *
 * Faults come out of budgets, so that the space is finite. The lease is one bit per client: set when a committed request is
 * acknowledged while the server still has the session, cleared by the action that lets it lapse, and a session expires
 * only after that. That is what core/lease.h promises and test_lease.c checks; the arithmetic is not in here.
 */
#ifndef MODEL_H
#define MODEL_H

#include "core/contender.h"
#include "fake_zk.h"

#include <stdio.h>

#define MODEL_CLIENTS 3
#define MODEL_DIRECTORY "/lock"
#define MODEL_MARKS 12
#define MODEL_PACKED 1024

/* What may happen how often in one run. */
enum model_budget {
    LOSSES,   /* connections cut */
    LAPSES,   /* leases that end */
    EXPIRIES, /* sessions that end at the server, their lease gone */
    CANCELS,  /* claims given up while they wait */
    REMOVALS, /* a client's node deleted by an admin */
    TOUCHES,  /* a client's node written to */
    REFUSALS, /* a request answered NOT_NOW, or UNKNOWN, executed or not */
    RENEWALS, /* a barrier on the own node out of turn */
    RESTARTS, /* another contender of a client whose last one has ended */
    ABANDONS, /* a session given up by its client while the server keeps it */
    VANISHES, /* the empty directory removed */
    BUDGETS,
};

struct model_config {
    int32_t clients;
    int32_t budgets[BUDGETS];
    int32_t tries;          /* how many of them, the last ones, do not want to wait behind somebody */
    bool no_directory;      /* at first */
    bool same_mark;         /* a client's contenders all bear the same mark */
    bool exact;             /* keep sequence numbers as they are; otherwise only their order counts */
    int32_t first_sequence; /* of the directory's counter */
    uint64_t max_states;    /* 0: all of them */
};

enum model_pending { MODEL_NONE, MODEL_SENT, MODEL_ARMED };

struct model_client {
    struct pdk__contender c;
    int32_t session;     /* −1: none */
    int32_t incarnation; /* how many contenders it had before this one */
    bool lease;
    bool pausing;
    bool robbed;                  /* an admin deleted its node */
    enum model_pending renewing;  /* a barrier on the own node is in flight */
    enum model_pending own_watch; /* of a hold */
};

struct model_state {
    struct ts_fake fake;
    struct model_client clients[MODEL_CLIENTS];
    int32_t budgets[BUDGETS];
    int64_t last_token; /* the highest ever granted */
};

/* A run in which these did not happen proves nothing. */
struct model_seen {
    uint64_t grants, contended, losses, recovered_found, recovered_absent, expiries, lost_holds;
};

struct model {
    struct model_config config;
    struct ts_fake_names names;
    struct model_seen seen;
    struct model_state *now; /* that is being stepped */
    const char *broken;      /* the check that failed, and more about it */
    char detail[256];
    FILE *transcript; /* what happens is told here, when not NULL */
};

enum model_action_kind {
    /* the ordinary course: when none of these is left, all is at rest */
    CONNECT,  /* the client connects; its watches are set again */
    EXECUTE,  /* the server executes the client's next request */
    DELIVER,  /* the next reply or event arrives */
    DROP,     /* the server hangs up on an expired session */
    PAUSED,   /* the moment asked for is over */
    RELEASE,  /* the hold ends */
    RESTART,  /* another contender */
    TIME_OUT, /* an abandoned session expires */
    ORDINARY, /* not an action: those before are */
    /* faults and chances */
    CONNECT_BARE, /* the client connects; its watches are lost */
    ZOMBIE,       /* a request of a broken connection is executed after all */
    CUT,
    LAPSE,
    EXPIRE,
    CANCEL,
    REMOVE,
    TOUCH,
    SAY_NOT_NOW,
    SAY_UNKNOWN, /* not executed, or late */
    DO_UNKNOWN,  /* executed */
    RENEW,
    ABANDON,
    VANISH,
    ACTION_KINDS,
};

/* The kind, and whose: a client's, of TIME_OUT a session's. */
typedef uint8_t model_action;
#define MODEL_ACTIONS (ACTION_KINDS * 8)
static inline enum model_action_kind model_kind(model_action a) { return (enum model_action_kind)(a / 8); }
static inline int32_t model_whose(model_action a) { return a % 8; }
static inline model_action model_act(enum model_action_kind kind, int32_t whose) {
    return (model_action)((int32_t)kind * 8 + whose);
}

/* --- actions.c */
void model_init(struct model *m, const struct model_config *config);
void model_begin(struct model *m, struct model_state *s);
bool model_enabled(const struct model *m, const struct model_state *s, model_action a);
/* Do it. m->broken is set when a check failed. */
void model_apply(struct model *m, struct model_state *s, model_action a);

/* --- client.c */
extern const struct pdk__zk_sink model_sink;
/* The driver argument of the sink. */
struct model_binding {
    struct model *m;
    int32_t client;
};
void model_client_start(struct model *m, int32_t client);
void model_tell(struct model *m, int32_t client, enum pdk__event_type type);
/* Submit what the binding owes without an event: barriers and the watch on a hold's node. */
void model_renew(struct model *m, int32_t client);
bool model_own_name(struct model *m, const struct model_client *k, struct ts_fake_name *name);

/* --- checks.c */
void model_break(struct model *m, const char *check, const char *format, ...) __attribute__((format(printf, 3, 4)));
void model_check_effect(struct model *m, int32_t session, const struct ts_fake_effect *effect, bool by_request);
void model_check_grant(struct model *m, int32_t client);
void model_check_state(struct model *m);
/* No ordinary action is left: everybody was granted, or gave up, and is gone. */
void model_check_rest(struct model *m, const struct model_state *s);
/* Ordinary actions alone must bring it to rest: it does not go round in circles. What else breaks on the way is left to be
 * found by the search. */
void model_check_converges(struct model *m, const struct model_state *s);
/* NULL, or what did not happen that should have. */
const char *model_vacuous(const struct model *m);

/* --- normalise.c */
void model_normalise(struct model *m, struct model_state *s);

/* --- codec.c */
size_t model_pack(struct model *m, struct model_state *s, uint8_t bytes[MODEL_PACKED]);
void model_unpack(struct model *m, struct model_state *s, const uint8_t *bytes, size_t size);
uint64_t model_hash(const uint8_t *bytes, size_t size);

/* --- visited.c: a set of hashes */
struct model_visited {
    uint64_t *slots;
    uint64_t mask, count;
};
void model_visited_init(struct model_visited *v);
void model_visited_free(struct model_visited *v);
/* true when it was not in there yet. */
bool model_visited_add(struct model_visited *v, uint64_t hash);

/* --- transcript.c */
void model_print_action(struct model *m, const struct model_state *s, int step, model_action a);
void model_print_request(struct model *m, int32_t client, const struct pdk__request *request);
void model_print_packet(struct model *m, int32_t client, const struct ts_fake_reply *packet);
void model_print_moved(struct model *m, int32_t client, const struct pdk__contender *before);
void model_print_directory(struct model *m, const struct model_state *s);
void model_print_state(struct model *m, const struct model_state *s);

/* --- explore.c */
struct model_result {
    uint64_t states, transitions, at_rest;
    uint32_t depth; /* of the farthest state */
    double seconds;
    bool complete;      /* no state was left out */
    const char *broken; /* NULL when all is well; the counter-example was printed */
    char detail[256];
    struct model_seen seen;
};
/* Prints a counter-example to out. Runs single-threaded, without limits but those of the configuration. */
struct model_result model_explore(const struct model_config *config, FILE *out);

#endif
