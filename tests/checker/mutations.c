/* Spoils histories: nodes, claims, sessions, and the end. mutations_holds.c does so with holds. */
#include "mutations.h"

#include <paddock/session.h>
#include <string.h>

bool mutation_insert(struct history *h, int32_t at, struct history_event event) {
    if (h->count == HISTORY_EVENTS)
        return false;
    memmove(&h->events[at + 1], &h->events[at], (size_t)(h->count - at) * sizeof h->events[0]);
    h->events[at] = event;
    h->count++;
    return true;
}

void mutation_remove(struct history *h, int32_t at) {
    h->count--;
    memmove(&h->events[at], &h->events[at + 1], (size_t)(h->count - at) * sizeof h->events[0]);
}

int32_t mutation_pick(const struct history *h, struct sim_random *chance, mutation_wanted_fn wanted) {
    int32_t found = -1;
    uint32_t count = 0;
    for (int32_t i = 0; i < h->count; i++)
        if (wanted(h, i) && sim_random_one_in(chance, ++count))
            found = i;
    return found;
}

int32_t mutation_next(const struct history *h, int32_t at, enum history_kind kind, int32_t id) {
    for (int32_t i = at + 1; i < h->count; i++)
        if (h->events[i].kind == (int16_t)kind && h->events[i].id == id)
            return i;
    return -1;
}

const struct history_event *mutation_grant(const struct history *h, int32_t hold) {
    int32_t at = mutation_next(h, -1, HISTORY_GRANT, hold);
    return at < 0 ? NULL : &h->events[at];
}

static bool is_kind(const struct history *h, int32_t at, enum history_kind kind) {
    return h->events[at].kind == (int16_t)kind;
}

/* ---- nodes */

static bool is_deleted_by_owner(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_DELETED) && h->events[at].b != 0 && !mutation_is_broken(h, h->events[at].a);
}

static bool foreign_delete(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_deleted_by_owner);
    if (at >= 0)
        h->events[at].b ^= 1;
    return at >= 0;
}

static bool is_deleted(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_DELETED); }

static bool dropped_delete(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_deleted);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

static bool is_created(const struct history *h, int32_t at) {
    for (int32_t i = 0; i < at; i++)
        if (is_kind(h, i, HISTORY_MISLED))
            return false;
    return is_kind(h, at, HISTORY_CREATED);
}

static bool second_node(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_created);
    if (at < 0)
        return false;
    struct history_event twin = h->events[at];
    twin.id -= twin.id == INT32_MAX ? 1 : -1; /* sequences go that far */
    twin.a++;
    return mutation_insert(h, at + 1, twin);
}

/* Somebody with a smaller number is in the queue when a grant comes. */
static bool is_first_grant(const struct history *h, int32_t at) {
    if (!is_kind(h, at, HISTORY_GRANT) || h->events[at].extra != 0 || h->events[at].mode == MODE_PERMIT)
        return false;
    for (int32_t i = 0; i < at; i++) /* of one whose node is there */
        if (is_kind(h, i, HISTORY_DELETED) && h->events[i].a == h->events[at].a)
            return false;
    return true;
}

static bool smaller_number(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_first_grant);
    if (at < 0)
        return false;
    const struct history_event *grant = &h->events[at];
    struct history_event ahead = {.at = grant->at, .kind = HISTORY_CREATED, .path = grant->path, .process = -1};
    for (int32_t i = 0; i < at; i++)
        if (is_kind(h, i, HISTORY_CREATED) && h->events[i].a == grant->a)
            ahead.id = (int32_t)((uint32_t)h->events[i].id - 1);
    ahead.a = grant->a - 1;
    ahead.b = ahead.extra = 4711;
    return mutation_insert(h, at, ahead);
}

static bool is_woken(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_WOKEN); }

static bool second_wake_up(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_woken);
    if (at < 0)
        return false;
    struct history_event other = h->events[at];
    other.b ^= 2;
    other.mode = MODE_EXCLUSIVE;
    return mutation_insert(h, at + 1, other);
}

static bool changed_foreign(struct history *h, struct sim_random *chance) {
    int32_t at = (int32_t)sim_random_between(chance, 0, h->count - 1);
    return mutation_insert(h, at,
                           (struct history_event){.at = h->events[at].at, .kind = HISTORY_CHANGED_FOREIGN, .a = 1});
}

/* ---- claims */

static bool is_answer(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_ANSWER); }

/* Nobody ends the session or the process of the claim. */
static bool is_answer_of_open(const struct history *h, int32_t at) {
    if (!is_answer(h, at))
        return false;
    for (int32_t i = 0; i < h->count; i++)
        if (is_kind(h, i, HISTORY_KILLED) || (is_kind(h, i, HISTORY_CLOSED) && h->events[i].id == h->events[at].number))
            return false;
    return true;
}

static bool dropped_answer(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_answer_of_open);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

static bool double_answer(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_answer);
    return at >= 0 && mutation_insert(h, at + 1, h->events[at]);
}

static bool is_claim_with_deadline(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_CLAIM) && h->events[at].a != INT64_MAX &&
           mutation_next(h, at, HISTORY_ANSWER, h->events[at].id) >= 0;
}

static bool late_answer(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_claim_with_deadline);
    if (at < 0)
        return false;
    int32_t answer = mutation_next(h, at, HISTORY_ANSWER, h->events[at].id);
    h->events[answer].at += 3600 * INT64_C(1000000000);
    return true;
}

static bool wrong_status(struct history *h, struct sim_random *chance) {
    static const pdk_status wrong[] = {PDK_LOST,    PDK_NOT_HELD, PDK_DEADLOCK, PDK_AUTH,
                                       PDK_INVALID, PDK_LIMIT,    PDK_SYSTEM};
    int32_t at = mutation_pick(h, chance, is_answer);
    int32_t claim = at >= 0 ? mutation_next(h, -1, HISTORY_CLAIM, h->events[at].id) : -1;
    if (claim < 0)
        return false;
    /* beside a record a claim may lose the hold that it was granted */
    bool may_lose = plan_records(mutations_plan, h->events[claim].path);
    h->events[at].a = wrong[sim_random_between(chance, may_lose, 6)];
    return true;
}

/* Beside a record an answer may come late, and a try of a lease lock may run too late when it has taken a request's time. */
static bool is_busy_or_granted(const struct history *h, int32_t at) {
    int32_t claim = mutation_next(h, -1, HISTORY_CLAIM, h->events[at].id);
    bool may_be_late = claim >= 0 && plan_records(mutations_plan, h->events[claim].path) &&
                       (h->events[claim].b || h->events[at].clock >= h->events[claim].extra);
    return is_answer(h, at) && !may_be_late && (h->events[at].a == PDK_BUSY || h->events[at].a == PDK_OK);
}

/* TIMEOUT while there is time. */
static bool early_timeout(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_busy_or_granted);
    if (at >= 0)
        h->events[at].a = PDK_TIMEOUT;
    return at >= 0;
}

static bool is_granted_answer(const struct history *h, int32_t at) {
    return is_answer(h, at) && h->events[at].a == PDK_OK;
}

/* The receiver slept until it was over. */
static bool late_delivery(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_granted_answer);
    if (at < 0)
        return false;
    struct history_event ended = {.at = h->events[at].at, .kind = HISTORY_ENDED, .id = (int32_t)h->events[at].b};
    return mutation_insert(h, at, ended);
}

/* ---- sessions, and the end */

static bool is_session_event(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_SESSION) &&
           (h->events[at].a == PDK_SESSION_CONNECTED || h->events[at].a == PDK_SESSION_EXPIRED);
}

static bool is_grant(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_GRANT); }

/* Its client gives up the session, and the hold goes on. */
static bool outlived(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_grant);
    if (at < 0)
        return false;
    struct history_event retired = h->events[at];
    retired.kind = HISTORY_RETIRED;
    retired.id = retired.number;
    return mutation_insert(h, at + 1, retired);
}

static bool double_session_event(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_session_event);
    return at >= 0 && mutation_insert(h, at + 1, h->events[at]);
}

static bool is_closed(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_CLOSED); }

static bool callback_after_close(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_closed);
    if (at < 0)
        return false;
    struct history_event event = h->events[at];
    event.kind = HISTORY_SESSION;
    event.a = PDK_SESSION_CLOSED;
    return mutation_insert(h, at + 1, event);
}

static bool is_alive(const struct history *h, int32_t at) {
    if (!is_kind(h, at, HISTORY_ALIVE))
        return false;
    for (int32_t i = 0; i < at; i++)
        if ((is_kind(h, i, HISTORY_CLOSED) || is_kind(h, i, HISTORY_CLOSING)) && h->events[i].id == h->events[at].id)
            return false;
    return true;
}

static bool dead_session(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_alive);
    if (at >= 0)
        h->events[at].a = 0;
    return at >= 0;
}

static bool is_steps(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_STEPS); }

static bool busy_loop(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_steps);
    if (at >= 0)
        h->events[at].b = h->events[at].a + 1;
    return at >= 0;
}

static bool is_end(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_END); }

static bool endless(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_end);
    if (at >= 0)
        h->events[at].a = 0;
    return at >= 0;
}

const struct mutation mutations[] = {
    {"two grants swapped", spoil_swapped_grants},
    {"a token twice", spoil_duplicate_token},
    {"a release dropped", spoil_dropped_release},
    {"a hold valid for longer", spoil_longer_validity},
    {"a hold revived", spoil_revived},
    {"a LOST dropped", spoil_dropped_lost},
    {"a LOST doubled", spoil_double_lost},
    {"a LOST after the release", spoil_lost_after_release},
    {"a LOST while valid", spoil_lost_while_valid},
    {"a LOST late", spoil_late_lost},
    {"another status of a release", spoil_release_status},
    {"a stale write accepted", spoil_stale_accepted},
    {"a fresh write refused", spoil_fresh_refused},
    {"the holder's write refused", spoil_holder_refused},
    {"too many hand-overs", spoil_hand_overs},
    {"a hand-over number twice", spoil_same_hand_over},
    {"a hold without its node", spoil_gone},
    {"a lease for too long", spoil_promise},
    {"a thread overtaken", spoil_local_order},
    {"a node deleted by a stranger", foreign_delete},
    {"a delete dropped", dropped_delete},
    {"a second node", second_node},
    {"a smaller number ahead", smaller_number},
    {"a second wake-up", second_wake_up},
    {"a stranger's node changed", changed_foreign},
    {"an answer dropped", dropped_answer},
    {"an answer doubled", double_answer},
    {"an answer late", late_answer},
    {"a wrong status", wrong_status},
    {"a TIMEOUT early", early_timeout},
    {"a grant delivered when it is over", late_delivery},
    {"a session event doubled", double_session_event},
    {"a hold after its session", outlived},
    {"a callback after the close", callback_after_close},
    {"a dead session", dead_session},
    {"a busy loop", busy_loop},
    {"no end", endless},
    {"a loss for another reason", spoil_loss_reason},
    {"a reader is a writer", spoil_reader_writes},
    {"another answer to a downgrade", spoil_downgrade},
    {"a downgrade dropped", spoil_dropped_downgrade},
    {"exchanged for another number", spoil_exchange},
    {"never exchanged", spoil_never_exchanged},
    {"a permit too many", spoil_permits},
    {"two permits on one node", spoil_permit_node},
    {"a smaller number in the queue", spoil_queue},
    {"a MISMATCH", spoil_mismatch},
    {"an empty stripe", spoil_idle_stripe},
    {"a node that stays", spoil_lingering},
    {"any stripe by a number of nobody", spoil_admitted},
    {"a grant with another number of stripes", spoil_number_of_stripes},
    {"a second node of a member", spoil_second_member},
    {"a member's data that never landed", spoil_dropped_data},
    {"another answer about a member's data", spoil_amend_answer},
    {"a member freed twice", spoil_parted_twice},
    {"a member shown that is none", spoil_shown_member},
    {"a difference dropped", spoil_dropped_difference},
    {"a member that comes back", spoil_member_back},
    {"a view of what does not stand", spoil_exact_view},
    {"a grant within the lock-delay", spoil_delay},
    {"a grant without its pledge", spoil_dropped_pledge},
    {"a pledge outlives a release", spoil_kept_pledge},
    {"a grant with another delay", spoil_another_delay},
    {"a pledge deleted by a stranger", spoil_foreign_pledge},
    {"a set without one of its parts", spoil_dropped_part},
    {"a set with another's hold", spoil_part},
    {"another word about a set", spoil_set_valid},
    {"a valid set lost", spoil_set_lost},
    {"a set lost twice", spoil_set_lost_twice},
    {"two majorities at once", spoil_majority},
    {"another status of a set's release", spoil_set_release},
    {"a wish instead of an identity", spoil_wish_identity},
    {"a wish for one that waits", spoil_wish_to_another},
    {"a wish told twice", spoil_told_again},
    {"a node handed over that was asked for", spoil_asked_handed_over},
    {"another answer to an ask", spoil_ask_answer},
    {"a wish that stands nowhere", spoil_dropped_wish},
    {"an old holder's write", spoil_guarded_late},
    {"a write of nobody who opened", spoil_guarded_foreign},
    {"a confirmed write gone", spoil_guarded_lost},
    {"a write that lands twice", spoil_guarded_twice},
    {"a read of something else", spoil_guarded_read},
    {"another answer to a guarded call", spoil_guarded_status},
    {"a record written by a stranger", spoil_record_foreign},
    {"an end that nobody has told", spoil_record_untold},
    {"a run too many in a record", spoil_record_lines},
    {"a confirmed end gone", spoil_record_lost},
    {"another answer to an end", spoil_record_status},
    {"a run too soon", spoil_run_soon},
    {"a skip of a run that is due", spoil_run_skipped},
    {"another run told", spoil_run_told},
    {"a lease lock that stands taken", spoil_stands},
    {"a hold longer than its record", spoil_overdue},
    {"elected when it is over", spoil_elected_over},
    {"an election doubled", spoil_elected_twice},
    {"a term that does not end", spoil_dropped_deposed},
    {"a term ends twice", spoil_deposed_twice},
    {"a term ends for another reason", spoil_deposed_reason},
    {"a term ends late", spoil_deposed_late},
    {"another answer to a resignation", spoil_resigned},
    {"in the queue again while in office", spoil_requeued},
    {"told after the stop", spoil_told_after_stop},
    {"nobody leads", spoil_leaderless},
    {"a leader nobody knows", spoil_unknown_leader},
    {"told twice", spoil_told_twice},
    {"an observer misses the newest", spoil_missed_leader},
    {"freed twice", spoil_freed_twice},
};
const struct plan *mutations_plan;
const size_t mutations_count = sizeof mutations / sizeof mutations[0];
