/* The promises, checked over a history. Nothing in here knows the driver: the checker sees events, never pointers.
 *
 *     checks_grants.c      checks of every grant               checks_rwlock.c       readers, writers, downgrades
 *     checks_holds.c       from there to its end, LOST, writes checks_semaphore.c    permits
 *     checks_nodes.c       owners of nodes, and none left      checks_candidates.c   elected, deposed
 *     checks_claims.c      answers, sessions, silence          checks_observers.c    news of leaders
 *     checks_guarded.c     guarded znodes                      checks_delay.c        lock-delays
 *     checks_set.c         sets of rights                      checks_asks.c         asks to let go, broken nodes
 *     checks_striped.c     striped locks                       checks_records.c      jobs and lease locks
 *     checks_group.c       members of groups, and views of them
 */
#ifndef CHECKER_H
#define CHECKER_H

#include "history.h"

/* ---- the promises. X(CONSTANT, "how it is broken") */
#define CHECKS(X)                                                                                                      \
    X(EXCLUSION, "two holds of a path are valid at the same moment")                                                   \
    X(LEASE, "the node of a valid hold is gone")                                                                       \
    X(PROMISED, "a lease outlives what the leader's clock has for its session")                                        \
    X(GONE, "a hold does not end though its node is gone")                                                             \
    X(OUTLIVED, "a hold is valid after its client has given up the session")                                           \
    X(REVIVED, "a hold that was invalid is valid again")                                                               \
    X(NODE, "a grant without a node")                                                                                  \
    X(ORDER, "a grant while a smaller number is in the queue")                                                         \
    X(TOKENS, "tokens do not increase in the order of grants")                                                         \
    X(LOCAL_ORDER, "threads of a process are not served in their order")                                               \
    X(DELIVERY, "a grant is delivered that is not valid, or too late")                                                 \
    X(HANDOVERS, "more hand-overs in a row than allowed, or for longer")                                               \
    X(LINGERS, "a node that nobody holds stays though somebody is behind it")                                          \
    X(STALE, "a stale write is accepted, or a fresh one refused")                                                      \
    X(HOLDERS_WRITE, "a write of the valid holder is refused")                                                         \
    X(LOST_TWICE, "a second LOST for one hold")                                                                        \
    X(LOST_VALID, "LOST for a hold that is valid, or without a reason")                                                \
    X(LOST_RELEASED, "LOST after the release")                                                                         \
    X(LOST_LATE, "LOST is late")                                                                                       \
    X(RELEASE, "a release answers what is not so")                                                                     \
    X(OWN_NODES, "a client deletes or changes what is not its own")                                                    \
    X(ONE_NODE, "an entry has two nodes")                                                                              \
    X(ONE_WAKE_UP, "one deletion wakes two entries")                                                                   \
    X(ANSWER_ONCE, "a claim is answered twice, or by nobody's call")                                                   \
    X(DEADLINE, "a claim is answered late")                                                                            \
    X(STATUS, "a claim is answered with the wrong status")                                                             \
    X(SILENCE, "a callback after the close")                                                                           \
    X(SESSION_ORDER, "session events in an order that makes no sense")                                                 \
    X(WAITER_STUCK, "a claim is never answered")                                                                       \
    X(ORPHAN, "a node is left behind")                                                                                 \
    X(SESSION_DEAD, "a session does not come back after the faults")                                                   \
    X(AT_REST, "it does not come to rest")                                                                             \
    X(ENDLESS, "the run does not end")                                                                                 \
    X(REASON, "LOST for a reason that is not so")                                                                      \
    X(WRITER_ALONE, "a writer's hold is valid beside another one")                                                     \
    X(READER_ORDER, "a reader is granted while a writer is ahead in the queue, or a writer while anybody is")          \
    X(WRITER_TOKENS, "a writer's token is not larger than all before, or a reader's than the writers'")                \
    X(DOWNGRADE, "a downgrade answers what is not so")                                                                 \
    X(EXCHANGE, "a downgraded writer's new node does not take the position of the old one")                            \
    X(EXCHANGE_LATE, "a downgraded writer goes on keeping readers out")                                                \
    X(PERMITS, "more permits are valid than there are")                                                                \
    X(PERMIT_NODES, "a permit without a node of its own")                                                              \
    X(PERMIT_ORDER, "a permit, or any stripe, is granted while a smaller number is in the queue")                      \
    X(STRIPE_IDLE, "a stripe stands empty, and somebody waits for any")                                                \
    X(MISMATCH, "MISMATCH where all agree, or a grant with another number")                                            \
    X(DELAY, "a grant within the lock-delay after an end without a release")                                           \
    X(PLEDGE, "a grant without a pledge, or a pledge that a release leaves behind")                                    \
    X(SET_PARTS, "a set is delivered without one of its rights, or with another")                                      \
    X(SET_VALID, "a set is valid, and not each of its parts, or the other way round")                                  \
    X(SET_LOST, "a set is told of a loss that is none, or twice, late or never")                                       \
    X(MAJORITY, "two majorities of the same rights are valid at the same moment")                                      \
    X(SET_RELEASE, "the release of a set answers what is not so")                                                      \
    X(ASK_FIRST, "a wish is written to a node that is not the first, or instead of its identity")                      \
    X(ASK_TOLD, "a holder is told of a wish that is none of its node, or not told of one")                             \
    X(ASK_HANDED, "a node that was asked for is handed over")                                                          \
    X(ASK_ANSWER, "an ask, or a break, answers what is not so, or late")                                               \
    X(ELECTED, "elected without a valid hold")                                                                         \
    X(TERMS, "elected and deposed do not alternate")                                                                   \
    X(DEPOSED, "deposed for a reason that is not so")                                                                  \
    X(DEPOSED_LATE, "deposed late, or never")                                                                          \
    X(RESIGNED, "a resignation answers what is not so")                                                                \
    X(REQUEUED, "a candidate queues again before it was deposed")                                                      \
    X(AFTER_LEFT, "a callback after the candidate has left, or the observer was stopped")                              \
    X(LEADERLESS, "candidates, and not one of them leads")                                                             \
    X(OBSERVED, "an observer is told of somebody who never was first")                                                 \
    X(OBSERVER_ORDER, "an observer is told of an older leader, or twice of the same")                                  \
    X(OBSERVER_BEHIND, "an observer does not know who leads")                                                          \
    X(OBSERVER_FREED, "an observer's user is not freed, or twice")                                                     \
    X(MEMBER_NODES, "a member has two nodes, or none at rest")                                                         \
    X(MEMBER_DATA, "a member's data are not those that it has set, or it is told what is not so")                      \
    X(MEMBER_FREED, "a member's user is freed twice, or never, or ahead of a callback")                                \
    X(VIEW_MEMBER, "a view shows a member that never was so")                                                          \
    X(VIEW_ORDER, "a view and its differences do not follow from the one before")                                      \
    X(VIEW_EXACT, "an exact view that never stood, or not since the one before")                                       \
    X(GUARDED_LATE, "a write of an older holder lands after a newer one has opened")                                   \
    X(GUARDED_FOREIGN, "a guarded content changes by somebody who has not opened")                                     \
    X(GUARDED_LOST, "a confirmed guarded write never lands, or one lands twice, or over a later one")                  \
    X(GUARDED_READ, "a guarded read shows what does not stand")                                                        \
    X(GUARDED_STATUS, "a guarded call answers what is not so")                                                         \
    X(RECORD_FOREIGN, "a record is written by somebody who does not have its lock, or was overtaken")                  \
    X(RECORD_CHANGED, "a record forgets or changes what stood there")                                                  \
    X(RECORD_LOST, "a confirmed start, outcome or release is not in the record")                                       \
    X(RECORD_STATUS, "a call about a record answers what is not so")                                                   \
    X(RUN_SOON, "a second run in one period, or too soon after the one before")                                        \
    X(RUN_SKIPPED, "a run is skipped that is due")                                                                     \
    X(RUN_TOLD, "a run is told that is not in the record, or not so")                                                  \
    X(STANDS, "a lease lock that stands for somebody is taken by another")                                             \
    X(OVERDUE, "a hold outlasts its run, or its record")

enum check {
#define CHECK_CONSTANT(constant, words) CHECK_##constant,
    CHECKS(CHECK_CONSTANT)
#undef CHECK_CONSTANT
        CHECK_COUNT
};

const char *check_name(enum check check);
const char *check_words(enum check check);

/* Situations that a run must have met to prove anything. X(CONSTANT, "name") */
#define MEETINGS(X)                                                                                                    \
    X(TAKEN_UP, "lingering nodes taken")                                                                               \
    X(CAME, "lingering nodes that somebody came to")                                                                   \
    X(READERS, "readers together")                                                                                     \
    X(DOWNGRADED, "downgraded")                                                                                        \
    X(EXCHANGED, "exchanged on the wire")                                                                              \
    X(LET_IN, "readers let in by a downgrade")                                                                         \
    X(PERMITS, "permits granted")                                                                                      \
    X(SEVERAL, "several at once")                                                                                      \
    X(FULL, "all permits taken")                                                                                       \
    X(AWAITED, "permits waited for")                                                                                   \
    X(SAME_ADMISSION, "admissions handed over")                                                                        \
    X(MISMATCHED, "refused by another number")                                                                         \
    X(ANY_STRIPE, "grants of any stripe")                                                                              \
    X(DELAYED, "grants after a lock-delay")                                                                            \
    X(UNDELAYED, "grants without one")                                                                                 \
    X(SETS, "sets of several")                                                                                         \
    X(SETS_LOST, "sets lost")                                                                                          \
    X(MAJORITIES, "majorities")                                                                                        \
    X(WENT_ON, "valid without all of their parts")                                                                     \
    X(TAKEN_AGAIN, "parts taken again")                                                                                \
    X(MAJORITIES_LOST, "majorities lost")                                                                              \
    X(SETS_OVER_SESSIONS, "sets over two sessions")                                                                    \
    X(WISHES, "wishes written")                                                                                        \
    X(ASKED, "holders told of a wish")                                                                                 \
    X(BROKEN, "nodes broken")                                                                                          \
    X(OTHER_TOKEN, "breaks of another token")                                                                          \
    X(TERMS, "terms of office")                                                                                        \
    X(RESIGNED, "resigned")                                                                                            \
    X(LEFT, "left in office")                                                                                          \
    X(OUSTED, "deposed by a loss")                                                                                     \
    X(OBSERVED, "observers told of a leader")                                                                          \
    X(VACANT, "observers told of nobody")                                                                              \
    X(REGISTERED, "members registered")                                                                                \
    X(PARTED, "members that left")                                                                                     \
    X(UNLISTED, "registrations lost")                                                                                  \
    X(AMENDED, "data set")                                                                                             \
    X(UNSURE, "data not confirmed")                                                                                    \
    X(VIEWS, "exact views")                                                                                            \
    X(INEXACT, "other views")                                                                                          \
    X(CHANGED, "changes of data told")                                                                                 \
    X(GUARDED_OPENED, "guarded znodes opened")                                                                         \
    X(GUARDED_WRITTEN, "guarded writes confirmed")                                                                     \
    X(GUARDED_REFUSED, "guarded writes refused")                                                                       \
    X(GUARDED_OPEN_FATE, "guarded writes not confirmed")                                                               \
    X(GUARDED_LANDED, "of which landed")                                                                               \
    X(GUARDED_REWRITTEN, "contents rewritten")                                                                         \
    X(GUARDED_READ, "guarded reads")                                                                                   \
    X(RUNS, "runs")                                                                                                    \
    X(RUNS_FINISHED, "finished")                                                                                       \
    X(RUNS_DIED, "after one that died")                                                                                \
    X(RUNS_RETRIED, "retried at once")                                                                                 \
    X(RUNS_SKIPPED, "skipped")                                                                                         \
    X(RUNS_READ, "histories read")                                                                                     \
    X(TAKEN, "lease locks taken")                                                                                      \
    X(TAKEN_BACK, "taken back")                                                                                        \
    X(TAKEN_ENDED, "taken after their end")                                                                            \
    X(RENEWED, "renewed")                                                                                              \
    X(GIVEN_UP, "given up")                                                                                            \
    X(OVERDUE, "holds lost as overdue")

enum meeting {
#define MEETING_CONSTANT(constant, name) MET_##constant,
    MEETINGS(MEETING_CONSTANT)
#undef MEETING_CONSTANT
        MET_COUNT
};

const char *meeting_name(enum meeting meeting);

#define CHECKER_STATUSES 30

struct checker_hold {
    int64_t token, granted_at, received_at, until, ended_at, downgraded_at, removed_at;
    int64_t nodes[PLAN_COUNT_MOST]; /* czxids of the nodes it stands on */
    uint32_t handover;
    int32_t session, count, nodes_count;
    int8_t process, path, mode;
    bool known, ended, received, wants_lost, released, dropped, lost, removed;
    bool returned; /* released while it was valid */
    bool let_go;   /* by giving the last reference back: a callback that is due has one, too */
    bool downgraded, exchanged;
    bool guards; /* it has opened the guarded node */
    bool ends;   /* of a record: it tells that outcome */
    int32_t outcome, ends_ms;
    int64_t ends_at;
};

/* What stood in a guarded node, or a record, in the order of the transactions. */
struct checker_content {
    int64_t token, number, at;
    uint32_t handover;
    int32_t payload; /* 0: of a tombstone */
    /* Of a record, whose number is an outcome, or says whose secret: what stands in its first line; how many lines; the servers' moments, ms. */
    int32_t state, lines;
    int64_t written, started;
};

struct checker_claim {
    int64_t deadline, due; /* by the process's clock; in true time */
    int64_t asked_at;
    int32_t session, count;
    int8_t process, path, mode;
    int64_t since, patient; /* of a job: when it asked by its clock, and until when others may be in its way */
    bool known, is_try, cancel_may, cancel_must, answered, skipped;
};

/* Of the claim with that number, where it is about several rights. */
struct checker_set {
    int32_t count, parts, part[PLAN_RIGHTS]; /* part: holds; -1: not delivered */
    int8_t path[PLAN_RIGHTS], mode[PLAN_RIGHTS];
    int16_t permits[PLAN_RIGHTS];
    int32_t need;        /* so many of them suffice; 0: all are needed */
    int64_t begun, seen; /* of a majority: when it was delivered, and seen to be valid last */
    int64_t over_at;     /* when it was seen to be over first */
    bool delivered, wants_lost, lost, released, dropped; /* dropped: when it was over; its loss may be on its way */
    bool over;
};

struct checker_node {
    int64_t czxid, session, mark, woken, created_at, gone_at;
    int32_t sequence, identity;
    int8_t path, mode, woken_mode;
    bool gone, removed, behind; /* behind: somebody was in the queue when it came */
    bool exchanged_gone;        /* takes over from a node that was removed before */
    bool was_first, held;       /* held: some hold stands on it, or did */
    bool pledged;               /* its pledge is there */
    int64_t identity_hash, wished_at;
    int64_t gone_zxid; /* of a member's, which has its number as identity */
    int32_t wish;      /* the newest ask that stands in it */
    bool told, heard;  /* of that one; of any */
};

struct checker_candidacy {
    int32_t session, identity, hold;
    int8_t process, path;
    bool known, told, left;
    int64_t data, due, deadline; /* of a member: set last; when that is to be answered */
    bool amends, stands, freed;  /* stands: it was told that they do */
};

struct checker_observer {
    int64_t token, live_token; /* as reported last; the largest that was in the queue at that time */
    int32_t session, identity;
    int8_t process, path;
    bool known, told, frees, stopped, freed; /* frees: there is a user_free */
    /* Of a group: told: the last view was exact, and stood when live_token was the newest zxid. */
    int64_t views, shown_last;
    int32_t shown; /* in the view that is being told */
    bool blind;    /* it was told of one that it may not read */
};

/* The data of a member's node, from that zxid on. */
struct checker_data {
    int64_t zxid, data;
    int32_t node;
};

/* What a watcher was told last of a member's node. */
struct checker_report {
    int64_t token, changed;
    int32_t observer;
    bool left;
};

/* The nodes in which an ask has been written, how often, and how often their holders were told. */
struct checker_ask {
    int64_t token, due, deadline, asked_at;
    struct {
        int64_t czxid;
        int32_t written, told;
    } nodes[4];
    int32_t session, count;
    int8_t process, path;
    bool known, answered, other, is_over; /* other: the node that it names never had that token; */
                                          /* is_over: nothing of it is on its way any more */
};

struct checker_session {
    int8_t process;
    bool known, closed, closing, ended, ever, connected, restored;
    int64_t retired_at; /* it gave its last ZooKeeper session up */
    bool tainted[CHECKER_STATUSES];
};

struct checker_process {
    int64_t late, resumed_at;
    bool misled; /* a server gave it a false answer */
};

struct checker_path {
    int64_t token, largest_token, granted_token, granted_clock;
    uint32_t handover, largest_handover;
    int64_t reader_token; /* the largest granted */
    int64_t freed_at;     /* of a semaphore: when permits were given back last, */
    int32_t freed;        /* and how many */
    int64_t admitted;     /* of a semaphore: czxid of the node in the queue that was granted last */
    int32_t handovers;    /* and how often in a row, */
    int8_t admitted_by; /* in that process: in another one it is a node of an earlier directory, with the same number */
    enum plan_recipe recipe; /* of the plan */
    int32_t permits;         /* the most that any process thinks there are */
    int64_t delay;           /* of the lock, ns; 0: none */
    int64_t recorded;        /* its number there, or that of the stripes; 0: not yet */
    int32_t stripes;         /* of a striped lock, and of each stripe, its number according to p0; 0: it is none */
    int64_t stirred_at;      /* when something of it changed last */
    int64_t granted_at;      /* where it has one: the newest grant */
    int64_t opened;          /* of the guarded node: the newest grant that has opened it, */
    uint32_t opened_handover;
    int32_t contents_count; /* and what stood there */
};

struct checker {
    int32_t max_handovers, max_handover_ms;                           /* of the plan */
    int32_t every, edge, least, most, duration, request, keep, rates; /* of the plan */
    bool retry;
    bool disagree, calm, listens;
    bool servers_well;            /* and the links, and no answer is false */
    int64_t timeout, round_trips; /* where nothing goes wrong, some of them take no longer */
    bool broken;
    enum check check;
    char detail[200];
    int64_t at; /* when */
    uint64_t evaluated[CHECK_COUNT], met[MET_COUNT];
    /* the state */
    int64_t healed_at;
    int32_t holds_count, claims_count, nodes_count, live_count, valid_count, misled_count;
    int32_t candidacies_count, observers_count, asks_count, data_count, reports_count;
    int64_t group_zxid; /* of the newest change of a group */
    struct checker_process processes[PLAN_PROCESSES];
    struct checker_path paths[PLAN_QUEUES];
    struct checker_session sessions[HISTORY_SESSIONS];
    struct checker_hold holds[HISTORY_HOLDS];
    struct checker_claim claims[HISTORY_CLAIMS];
    struct checker_set sets[HISTORY_CLAIMS];
    struct checker_ask asks[HISTORY_ASKINGS];
    struct checker_node nodes[HISTORY_NODES];
    struct checker_candidacy candidacies[HISTORY_CANDIDACIES];
    struct checker_observer observers[HISTORY_OBSERVERS];
    struct checker_data data[HISTORY_DATA];
    struct checker_report reports[HISTORY_REPORTS];
    struct checker_content contents[PLAN_PATHS][HISTORY_CONTENTS];
    int32_t live[HISTORY_NODES];  /* indices of nodes that exist */
    int32_t valid[HISTORY_HOLDS]; /* indices of holds that are not over by their word */
    int64_t misled[64];           /* ZooKeeper sessions that got a false answer */
};

void checker_begin(struct checker *c, const struct plan *plan);
/* One more event. false: a promise is broken, and the checker looks at nothing more. */
bool checker_look(struct checker *c, const struct history_event *event);
/* Each election has its leader, and every observer knows that leader. */
bool checker_is_settled(struct checker *c, int64_t at);
/* The whole history. */
bool checker_look_all(struct checker *c, const struct plan *plan, const struct history *h);

/* inside: checks_*.c */
void checker_break(struct checker *c, enum check check, const struct history_event *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void checker_hold_event(struct checker *c, const struct history_event *e);
void checker_holds_end(struct checker *c, const struct history_event *e);
void checker_node_event(struct checker *c, const struct history_event *e);
void checker_nodes_end(struct checker *c, const struct history_event *e);
void checker_claim_event(struct checker *c, const struct history_event *e);
void checker_claims_end(struct checker *c, const struct history_event *e);
void checker_candidate_event(struct checker *c, const struct history_event *e);
/* A candidate's node was created. */
void checker_candidate_created(struct checker *c, const struct history_event *e);
/* The candidates in office, and those that wait for it; and at the very end. */
void checker_candidates_settled(struct checker *c, const struct history_event *e);
void checker_candidates_end(struct checker *c, const struct history_event *e);
/* One candidate leads, where there are any; all are members. Also counts candidates and leaders. */
bool checker_is_led(const struct checker *c, int8_t path, int64_t at, int32_t *candidates, int32_t *leaders);
/* Its last report names the leader, or it need not. */
bool checker_knows(struct checker *c, const struct checker_observer *observer);
void checker_observer_event(struct checker *c, const struct history_event *e);
void checker_observers_look(struct checker *c, const struct history_event *e);
void checker_observers_end(struct checker *c, const struct history_event *e);
void checker_guarded_event(struct checker *c, const struct history_event *e);
/* Of records: what is written and told; what is wrong, or not, with the answer to a claim; a hold that is delivered, or lasts longer. */
void checker_record_event(struct checker *c, const struct history_event *e);
bool checker_records(const struct checker *c, int8_t path);
bool checker_was_granted(const struct checker *c, const struct checker_claim *claim, int32_t id);
/* false: it is judged as any other. */
bool checker_record_judges(struct checker *c, const struct checker_claim *claim, const struct history_event *e,
                           const char **wrong);
void checker_record_delivered(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
void checker_record_extended(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
/* Of groups: a node, setting data, all that is served, the very end; a view, and whether the last one is what stands. */
void checker_member_created(struct checker *c, const struct checker_node *node, const struct history_event *e);
void checker_member_deleted(struct checker *c, struct checker_node *node, const struct history_event *e);
void checker_member_changed(struct checker *c, const struct history_event *e);
void checker_member_event(struct checker *c, const struct history_event *e);
void checker_members_settled(struct checker *c, const struct history_event *e);
void checker_members_end(struct checker *c, const struct history_event *e);
void checker_view_event(struct checker *c, struct checker_observer *o, const struct history_event *e);
/* The member has one node. */
bool checker_has_one_node(const struct checker *c, int32_t member);
bool checker_sees(struct checker *c, const struct checker_observer *o);
/* The latest time at which something of the process may happen that was due at `due`. */
int64_t checker_latest(const struct checker *c, int8_t process, int64_t due);
struct checker_node *checker_node_of(struct checker *c, int64_t czxid);
/* In the same queue, with a smaller number, or with the same number and older. */
bool checker_is_ahead(const struct checker_node *other, const struct checker_node *node);
/* The first in the queue of a path, or NULL. */
const struct checker_node *checker_first(const struct checker *c, int8_t path);
/* Did a server give the ZooKeeper session a false answer? */
bool checker_was_misled(const struct checker *c, int64_t session);
bool checker_is_valid(const struct checker_hold *hold, int64_t at);
/* The moment at which it was over: the end that was noted, or the moment that the word named. */
int64_t checker_over_at(const struct checker_hold *hold);
/* Its owner gives it back. */
void checker_hold_returned(struct checker *c, struct checker_hold *hold, const struct history_event *e);
bool checker_stands_on(const struct checker_hold *hold, int64_t czxid);
/* An admin deleted one of its nodes: little is promised then. */
bool checker_has_removed_node(struct checker *c, struct checker_hold *hold);

/* A grant: the checks for every recipe, and for each. */
void checker_granted(struct checker *c, const struct history_event *e);
void checker_writer_meets(struct checker *c, const struct checker_hold *hold, const struct checker_hold *other,
                          const struct history_event *e);
void checker_rwlock_granted(struct checker *c, struct checker_hold *hold, const struct checker_node *node,
                            const struct history_event *e);
void checker_permits_granted(struct checker *c, struct checker_hold *hold, int32_t taken,
                             const struct history_event *e);
/* It was granted by the node with that number in the queue; NULL: that is gone. */
const struct checker_node *checker_admitted(struct checker *c, const struct checker_hold *hold, int8_t queue,
                                            int32_t sequence, const struct history_event *e);
/* Of striped locks: a grant, one of any stripe; a node or an answer changes the queue; does the process know the right number? */
void checker_striped_granted(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
void checker_striped_admitted(struct checker *c, const struct history_event *e);
void checker_striped_stirred(struct checker *c, int8_t queue, const struct history_event *e);
bool checker_agrees(const struct checker *c, int8_t process, int8_t queue);
/* Of asks; a grant, the end of a hold by its owner, and the very end. */
void checker_ask_event(struct checker *c, const struct history_event *e);
void checker_ask_granted(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
void checker_ask_released(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
void checker_asks_end(struct checker *c, const struct history_event *e);
/* Did somebody ask for that node to be broken? */
bool checker_is_broken(struct checker *c, const struct checker_node *node);
/* Of sets: their rights, parts, losses and ends; the answer; and the very end. */
void checker_set_event(struct checker *c, const struct history_event *e);
void checker_set_delivered(struct checker *c, const struct checker_claim *claim, const struct history_event *e);
void checker_sets_end(struct checker *c, const struct history_event *e);
/* All who use the path must agree about a number. */
bool checker_has_number(const struct checker *c, int8_t path);
/* Of a path with a lock-delay: a new node, a grant, a pledge, and the very end. */
void checker_delay_created(struct checker *c, struct checker_node *node);
void checker_delay_granted(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
void checker_delay_event(struct checker *c, const struct history_event *e);
void checker_delay_end(struct checker *c, const struct history_event *e);
/* DOWNGRADED, STANDS, and whether a downgrade takes too long. */
void checker_downgraded(struct checker *c, struct checker_hold *hold, const struct history_event *e);
void checker_exchanged(struct checker *c, struct checker_hold *hold, const struct history_event *e);
void checker_exchange_late(struct checker *c, const struct checker_hold *hold, const struct history_event *e);
/* The node of a permit. */
void checker_permit_stands(struct checker *c, const struct checker_hold *hold, int64_t czxid,
                           const struct history_event *e);

#endif
