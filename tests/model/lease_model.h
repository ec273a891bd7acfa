/* The model of the lease: the real src/core/lease.c, and a client, its server and the leader in every order of events.
 *
 *     client ── requests ─► server ── link, FIFO: requests, reports ─► leader: heard, and gives the session away T after it
 *        ◄──── answers ───── touched ◄── link, FIFO: commits, pings ─────┘
 *
 *     lease_steps.c     what can happen next, and doing it      lease_client.c   the client's side: the real lease
 *     lease_servers.c   the servers' side of a step             lease_checks.c   what must be true
 *     lease_explore.c   the search, as search.h wants it        lease_transcript.c a counter-example as a timeline
 *     lease.c, test_lease_model.c                               run it
 *
 * Time goes in units, a few to half a tick, and within a unit events happen in any order. So the instant before and
 * the instant after a moment are both explored. Every message may take any time, but those of one link arrive in order.
 * A client that pauses between reading its clock and handing a request over is a slow message. So is a client that
 * pauses before it looks at the answer. A state knows no date: all times are relative to now. So the states are few.
 *
 * The servers are as unkind as they may be. The leader counts T from the moment of the touch at the client's server, not from
 * the moment it heard of it. When T is over it may give the session away at any time, or never. A message may stay
 * on a link for ever. That is a link that is cut, in one direction or both: the server beyond it goes on answering reads. A
 * deposed leader does so too.
 */
#ifndef LEASE_MODEL_H
#define LEASE_MODEL_H

#include "core/lease.h"
#include "search.h"

/* Usually a unit is so long that the 50 ms of the margin hardly count. That is where the lease is tightest. */
#define LEASE_LONG (INT64_C(1600000) * PDK__MS)
#define LEASE_SLACK (50 * PDK__MS)
#define LEASE_CONFIRM (LEASE_SLACK + LEASE_SLACK / 16)
#define LEASE_RATE 16 /* of a good clock: it shows this many sixteenths of a unit per unit */

#define LEASE_REQUESTS 3
#define LEASE_HOPS 2
#define LEASE_TIMEOUT 16               /* units, the longest */
#define LEASE_TOLD (LEASE_TIMEOUT + 1) /* one a unit, and none older than the timeout matters */
#define LEASE_NEVER (-100)             /* a time: none, or too long ago to matter */

enum lease_budget {
    LEASE_DEPOSALS, /* of the leader: the others elect a new one */
    LEASE_LOSSES,   /* of the client's connection */
    LEASE_SHORTS,   /* reconnections at which a shorter timeout is negotiated */
    LEASE_STALLS,   /* of the leader: it sends no pings and commits nothing for a while */
    LEASE_BUDGETS,
};

struct lease_config {
    int64_t unit;      /* in ns of a good clock, divisible by 1024; 0: LEASE_LONG */
    int8_t half;       /* units in half a tick */
    int8_t timeout;    /* T in units */
    int8_t shorter;    /* that of another server; 0: all want the same */
    int8_t hops;       /* between the client's server and the leader, at most; what the lease is told */
    int8_t rate;       /* of the client's clock; LEASE_RATE: as the servers' */
    int8_t requests;   /* in flight at a time */
    int8_t late;       /* units by which a ping may be sent late */
    bool tick_known;   /* the lease is told the tick; otherwise it takes T/2 */
    bool never_leader; /* the client connects to the farthest server only */
    bool syncs;        /* the client sends syncs as well */
    bool late_news;    /* the client may be late to hear, or never hear, that its timeout is shorter now */
    bool prompt;       /* a ping arrives in the unit in which it is sent */
    bool slow_link;    /* the link between an observer and its server takes time as well */
    int8_t budgets[LEASE_BUDGETS];
    int32_t horizon;     /* units; 0: until there is nothing new */
    uint64_t max_states; /* 0: all */
};

enum lease_kind { LEASE_READ, LEASE_SYNC, LEASE_BARRIER };
/* On its way to the server; from there to the leader; committed, and on its way back to an observer's server; and on
 * the last way back, to the client. */
enum lease_stage { LEASE_SENT, LEASE_FORWARDED, LEASE_RETURNING, LEASE_DONE };
enum lease_connection { LEASE_NO_SESSION, LEASE_UP, LEASE_DOWN };

struct lease_request {
    int8_t kind, stage;
    int8_t sent;
    bool pinged; /* on its link back there is a ping ahead of it */
};

/* Messages on their way from a server to the next: requests, and reports. A report is the time of a touch. It arrives with
 * the request behind it; an earlier arrival only makes the leader wait longer. link[0] holds what the leader itself has
 * yet to commit. */
struct lease_link {
    int8_t requests;
    int8_t reports[LEASE_REQUESTS + 1]; /* the newest ahead of each request, and behind the last one */
};

/* Times are units. 0 is now, the past is negative. Unused elements are 0, since states are compared as bytes. */
struct lease_state {
    int64_t end; /* of the lease, on the client's clock, from what it shows now; 0: none, or over */
    /* the client */
    int8_t born, timeout; /* the smallest it has heard of; 0 before the first */
    int8_t requests, told;
    struct lease_request request[LEASE_REQUESTS]; /* oldest first */
    int8_t sent[LEASE_TOLD], answered[LEASE_TOLD];
    bool committed[LEASE_TOLD];
    /* its connection */
    int8_t connection, at; /* at: the server, as many links away from the leader; 0: the leader, or a deposed one */
    int8_t news;           /* the timeout it has not heard of yet; 0: none */
    bool deposed;          /* it is the deposed leader it talks to, or a follower of it */
    bool usurped;          /* there is a deposed leader somewhere */
    bool stalled;
    /* the servers */
    int8_t touched[LEASE_HOPS + 1]; /* what it has not reported yet */
    int8_t ping[LEASE_HOPS + 1];    /* when the next is to be sent to it */
    bool pinging[LEASE_HOPS + 1];   /* one is on its way to it, behind all that was committed */
    struct lease_link link[LEASE_HOPS + 1];
    int8_t heard;   /* the leader that has the quorum: of the newest touch */
    int8_t granted; /* the timeout it goes by */
    int8_t budgets[LEASE_BUDGETS];
    int8_t looked; /* when the client last saw that it had no connection, and had dialled none */
};

/* A run in which these did not happen proves nothing. */
struct lease_seen {
    uint64_t renewals; /* leases moved by more than the birth */
    uint64_t lapses;   /* leases that ended by the clock */
    uint64_t expiries; /* states in which the leader may give the session away */
    uint64_t deposals, reconnects, shortened, stalls;
    uint64_t handshakes; /* leases moved by a handshake, to beyond all touches that were reported */
    int64_t
        closest; /* the least time from the end of a lease to where the leader may expire, in ns of the client's clock */
};

struct lease_model {
    struct lease_config config;
    int64_t margin[LEASE_TIMEOUT + 1]; /* of the real lease, by timeout in units */
    int64_t delay[LEASE_TIMEOUT + 1];  /* its delay from an answer to a request that may count it */
    struct lease_seen seen;
    const char *broken; /* the check that failed, and more about it */
    char detail[256];
};

enum lease_action_kind {
    LEASE_TICK,              /* the next unit */
    LEASE_CREATE,            /* the leader begins the session */
    LEASE_LEARN,             /* the client hears that it is connected, and of its timeout */
    LEASE_SEND,              /* the client reads its clock and hands a request over */
    LEASE_ARRIVE,            /* the oldest request comes to the server */
    LEASE_PING,              /* the next ping is sent to a server */
    LEASE_REPORT,            /* it arrives, and is answered with what was touched */
    LEASE_PASS,              /* the oldest request of a link, and what was reported before it, come to its end */
    LEASE_RETURN,            /* an answer passes an observer's server */
    LEASE_ANSWER,            /* the oldest answer comes to the client */
    LEASE_DEPOSE,            /* the others have elected somebody else */
    LEASE_STALL,             /* the leader falls silent, and goes on later */
    LEASE_RESUME,            /* all that is overdue happens now, in any order */
    LEASE_LOSE,              /* the client loses its connection, and what is under way on it */
    LEASE_LOOK,              /* the client sees that it has none, and has dialled none */
    LEASE_RECONNECT,         /* the leader itself confirms the session, and that is a touch */
    LEASE_RECONNECT_DEPOSED, /* the deposed leader confirms it */
    LEASE_ACTION_KINDS,
};

/* What happens, and its argument: which link, which server and when it is pinged, ... */
typedef search_action lease_action;
#define LEASE_ARGUMENTS 256
static inline enum lease_action_kind lease_kind_of(lease_action a) {
    return (enum lease_action_kind)(a / LEASE_ARGUMENTS);
}
static inline int32_t lease_argument_of(lease_action a) { return a % LEASE_ARGUMENTS; }
static inline lease_action lease_act(enum lease_action_kind kind, int32_t argument) {
    return (lease_action)((int32_t)kind * LEASE_ARGUMENTS + argument);
}
/* The argument of CREATE and RECONNECT: the server; when the pings of the servers on the way are due; the timeout. */
#define LEASE_PHASES 5
static inline int32_t lease_target(int32_t at, int32_t first, int32_t second, bool shorter) {
    return ((at * LEASE_PHASES + first) * LEASE_PHASES + second) * 2 + shorter;
}
static inline int8_t lease_target_at(int32_t target) { return (int8_t)(target / 2 / LEASE_PHASES / LEASE_PHASES); }
static inline int8_t lease_target_ping(int32_t target, int32_t server) {
    return (int8_t)(server == 1 ? target / 2 / LEASE_PHASES % LEASE_PHASES : target / 2 % LEASE_PHASES);
}
static inline bool lease_target_shorter(int32_t target) { return target % 2 != 0; }

/* --- lease_steps.c */
void lease_init(struct lease_model *m, const struct lease_config *config);
void lease_begin(struct lease_state *s);
/* All that can happen next; returns how many. */
int32_t lease_possible(const struct lease_model *m, const struct lease_state *s, lease_action out[SEARCH_ACTIONS]);
/* Do it, and forget all that no longer matters. m->broken is set when a check failed. */
void lease_apply(struct lease_model *m, struct lease_state *s, lease_action a);

/* A unit passes. */
void lease_age(struct lease_model *m, struct lease_state *s);

/* --- lease_servers.c */
void lease_connect(struct lease_state *s, int32_t target, int8_t timeout);
void lease_arrive(const struct lease_config *config, struct lease_state *s);
void lease_ping(const struct lease_config *config, struct lease_state *s, int32_t server);
void lease_report(const struct lease_config *config, struct lease_state *s, int32_t server);
/* Is a ping on its way to it? */
bool lease_pinged(const struct lease_state *s, int32_t server);
void lease_pass(struct lease_state *s, int32_t link);
void lease_return(struct lease_state *s);
void lease_depose(struct lease_state *s);
void lease_disconnect(struct lease_state *s);
/* Does the server report to somebody? Otherwise its pings do not matter. */
bool lease_reports(const struct lease_state *s, int32_t server);
/* The oldest request that nobody will ever answer; nor will those after it be answered. s->requests when there is
 * none. */
int32_t lease_stuck(const struct lease_state *s);
void lease_tidy_servers(struct lease_state *s);

/* --- lease_client.c */
/* What the client's clock shows. */
int64_t lease_clock(const struct lease_model *m, int32_t time);
/* The client's timeout; before it hears of one, the longest. */
int32_t lease_timeout(const struct lease_model *m, const struct lease_state *s);
/* The real lease, from what the state knows of it. */
void lease_restore(const struct lease_model *m, const struct lease_state *s, struct pdk__lease *l);
void lease_learn(struct lease_model *m, struct lease_state *s);
void lease_look(struct lease_state *s);
void lease_send(struct lease_state *s, enum lease_kind kind);
void lease_answer(struct lease_model *m, struct lease_state *s);
void lease_tidy_client(const struct lease_model *m, struct lease_state *s);

/* --- lease_checks.c */
void lease_break(struct lease_model *m, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The lease says `end` after the answer to the request. */
void lease_check_renewal(struct lease_model *m, const struct lease_state *s, const struct lease_request *k,
                         int64_t before, int64_t end);
/* May the leader give the session away now, while the client trusts in its lease? */
void lease_check_expiry(struct lease_model *m, const struct lease_state *s);
/* From here on all goes well: the lease must become fresh, and stay so. */
void lease_check_recovers(struct lease_model *m, const struct lease_state *s);
/* NULL, or an event that should have happened and did not. */
const char *lease_vacuous(const struct lease_model *m);

/* --- lease_transcript.c */
void lease_tell(const struct lease_model *m, const struct lease_state *before, const struct lease_state *after,
                lease_action a, int32_t time, FILE *out);
void lease_tell_end(const struct lease_model *m, const struct lease_state *s, int32_t time, FILE *out);

/* --- lease_explore.c */
struct lease_result {
    struct search_result search; /* its depth: how many units it went */
    double closest;     /* a lease's end came to the earliest expiry of its session, in units of the client's clock */
    const char *broken; /* NULL when all is well */
    char detail[256];
    struct lease_seen seen;
};
/* Prints a counter-example to out. */
struct lease_result lease_explore(const struct lease_config *config, FILE *out);

#endif
