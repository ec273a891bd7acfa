/* Ways to spoil a good history. The checker must notice each. */
#ifndef MUTATIONS_H
#define MUTATIONS_H

#include "history.h"
#include "sim_agenda.h"

struct mutation {
    const char *name;
    /* Spoil it somewhere, by chance. false: this history has no event for it. */
    bool (*spoil)(struct history *h, struct sim_random *chance);
};

extern const struct mutation mutations[];
extern const size_t mutations_count;

/* Of the history that is spoiled. */
extern const struct plan *mutations_plan;

/* --- mutations.c, for the others */
bool mutation_insert(struct history *h, int32_t at, struct history_event event);
void mutation_remove(struct history *h, int32_t at);
/* A random event among those that `wanted` accepts; -1: there is none. */
typedef bool (*mutation_wanted_fn)(const struct history *h, int32_t at);
int32_t mutation_pick(const struct history *h, struct sim_random *chance, mutation_wanted_fn wanted);
/* The first event of that kind and id behind at; -1: none. */
int32_t mutation_next(const struct history *h, int32_t at, enum history_kind kind, int32_t id);
/* The grant of the hold. */
const struct history_event *mutation_grant(const struct history *h, int32_t hold);

/* --- mutations_holds.c */
/* Did somebody ask for that node to be broken? */
bool mutation_is_broken(const struct history *h, int64_t token);
/* Did an admin delete the node? Then little is promised. */
bool mutation_has_removed_node(const struct history *h, int64_t token);
bool spoil_swapped_grants(struct history *h, struct sim_random *chance);
bool spoil_duplicate_token(struct history *h, struct sim_random *chance);
bool spoil_dropped_release(struct history *h, struct sim_random *chance);
bool spoil_longer_validity(struct history *h, struct sim_random *chance);
bool spoil_revived(struct history *h, struct sim_random *chance);
bool spoil_dropped_lost(struct history *h, struct sim_random *chance);
bool spoil_double_lost(struct history *h, struct sim_random *chance);
bool spoil_lost_after_release(struct history *h, struct sim_random *chance);
bool spoil_lost_while_valid(struct history *h, struct sim_random *chance);
bool spoil_late_lost(struct history *h, struct sim_random *chance);
bool spoil_release_status(struct history *h, struct sim_random *chance);
bool spoil_stale_accepted(struct history *h, struct sim_random *chance);
bool spoil_fresh_refused(struct history *h, struct sim_random *chance);
bool spoil_holder_refused(struct history *h, struct sim_random *chance);
bool spoil_hand_overs(struct history *h, struct sim_random *chance);
bool spoil_same_hand_over(struct history *h, struct sim_random *chance);
bool spoil_gone(struct history *h, struct sim_random *chance);
bool spoil_promise(struct history *h, struct sim_random *chance);
bool spoil_local_order(struct history *h, struct sim_random *chance);
bool spoil_loss_reason(struct history *h, struct sim_random *chance);
bool spoil_lingering(struct history *h, struct sim_random *chance);

/* --- mutations_rwlock.c */
bool spoil_reader_writes(struct history *h, struct sim_random *chance);
bool spoil_downgrade(struct history *h, struct sim_random *chance);
bool spoil_dropped_downgrade(struct history *h, struct sim_random *chance);
bool spoil_exchange(struct history *h, struct sim_random *chance);
bool spoil_never_exchanged(struct history *h, struct sim_random *chance);

/* --- mutations_semaphore.c */
bool spoil_permits(struct history *h, struct sim_random *chance);
bool spoil_permit_node(struct history *h, struct sim_random *chance);
bool spoil_queue(struct history *h, struct sim_random *chance);
bool spoil_mismatch(struct history *h, struct sim_random *chance);

/* --- mutations_striped.c */
bool spoil_idle_stripe(struct history *h, struct sim_random *chance);
bool spoil_admitted(struct history *h, struct sim_random *chance);
bool spoil_number_of_stripes(struct history *h, struct sim_random *chance);

/* --- mutations_group.c */
bool spoil_second_member(struct history *h, struct sim_random *chance);
bool spoil_dropped_data(struct history *h, struct sim_random *chance);
bool spoil_amend_answer(struct history *h, struct sim_random *chance);
bool spoil_parted_twice(struct history *h, struct sim_random *chance);
bool spoil_shown_member(struct history *h, struct sim_random *chance);
bool spoil_dropped_difference(struct history *h, struct sim_random *chance);
bool spoil_member_back(struct history *h, struct sim_random *chance);
bool spoil_exact_view(struct history *h, struct sim_random *chance);

/* --- mutations_delay.c */
bool spoil_delay(struct history *h, struct sim_random *chance);
bool spoil_dropped_pledge(struct history *h, struct sim_random *chance);
bool spoil_kept_pledge(struct history *h, struct sim_random *chance);
bool spoil_another_delay(struct history *h, struct sim_random *chance);
bool spoil_foreign_pledge(struct history *h, struct sim_random *chance);

/* --- mutations_set.c */
bool spoil_dropped_part(struct history *h, struct sim_random *chance);
bool spoil_part(struct history *h, struct sim_random *chance);
bool spoil_set_valid(struct history *h, struct sim_random *chance);
bool spoil_set_lost(struct history *h, struct sim_random *chance);
bool spoil_set_lost_twice(struct history *h, struct sim_random *chance);
bool spoil_majority(struct history *h, struct sim_random *chance);
bool spoil_set_release(struct history *h, struct sim_random *chance);

/* --- mutations_asks.c */
bool spoil_wish_identity(struct history *h, struct sim_random *chance);
bool spoil_wish_to_another(struct history *h, struct sim_random *chance);
bool spoil_told_again(struct history *h, struct sim_random *chance);
bool spoil_asked_handed_over(struct history *h, struct sim_random *chance);
bool spoil_ask_answer(struct history *h, struct sim_random *chance);
bool spoil_dropped_wish(struct history *h, struct sim_random *chance);

/* --- mutations_guarded.c */
bool spoil_guarded_late(struct history *h, struct sim_random *chance);
bool spoil_guarded_foreign(struct history *h, struct sim_random *chance);
bool spoil_guarded_lost(struct history *h, struct sim_random *chance);
bool spoil_guarded_twice(struct history *h, struct sim_random *chance);
bool spoil_guarded_read(struct history *h, struct sim_random *chance);
bool spoil_guarded_status(struct history *h, struct sim_random *chance);

/* --- mutations_records.c */
bool spoil_record_foreign(struct history *h, struct sim_random *chance);
bool spoil_record_untold(struct history *h, struct sim_random *chance);
bool spoil_record_lines(struct history *h, struct sim_random *chance);
bool spoil_record_lost(struct history *h, struct sim_random *chance);
bool spoil_record_status(struct history *h, struct sim_random *chance);
bool spoil_run_soon(struct history *h, struct sim_random *chance);
bool spoil_run_skipped(struct history *h, struct sim_random *chance);
bool spoil_run_told(struct history *h, struct sim_random *chance);
bool spoil_stands(struct history *h, struct sim_random *chance);
bool spoil_overdue(struct history *h, struct sim_random *chance);

/* --- mutations_election.c */
bool spoil_elected_over(struct history *h, struct sim_random *chance);
bool spoil_elected_twice(struct history *h, struct sim_random *chance);
bool spoil_dropped_deposed(struct history *h, struct sim_random *chance);
bool spoil_deposed_twice(struct history *h, struct sim_random *chance);
bool spoil_deposed_reason(struct history *h, struct sim_random *chance);
bool spoil_deposed_late(struct history *h, struct sim_random *chance);
bool spoil_resigned(struct history *h, struct sim_random *chance);
bool spoil_requeued(struct history *h, struct sim_random *chance);
bool spoil_told_after_stop(struct history *h, struct sim_random *chance);
bool spoil_leaderless(struct history *h, struct sim_random *chance);
bool spoil_unknown_leader(struct history *h, struct sim_random *chance);
bool spoil_told_twice(struct history *h, struct sim_random *chance);
bool spoil_missed_leader(struct history *h, struct sim_random *chance);
bool spoil_freed_twice(struct history *h, struct sim_random *chance);

#endif
