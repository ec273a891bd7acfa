/* A candidate with callbacks: a candidacy (candidacy.h) for the lead, and an observer where the user wants to hear of
 * leaders. */
#include "election_candidate.h"

#include "base/text.h"
#include "candidacy.h"
#include "election_observer.h"

static const char join[] = "pdk_election_join";

struct candidate {
    struct pdk__candidacy candidacy;
    void (*leader)(const char *identity, int64_t token, void *user);
    pdk_observer *observer; /* or NULL */
};

/* Tell observers, so that even an observer with nothing to watch hears of us soon. */
static void candidate_begun(struct pdk__candidacy *c, pdk_hold *hold) {
    (void)hold;
    pdk__observers_elected(c->queue);
}

static void candidate_left(struct pdk__candidacy *c) {
    pdk_observer_close(g_steal_pointer(&((struct candidate *)c)->observer));
}

static void candidate_tell_leader(const char *identity, int64_t token, void *user) {
    const struct candidate *candidate = user;
    candidate->leader(identity, token, candidate->candidacy.calls.user);
}

/* Its observer begins when it becomes a candidate, so the first callback may leave already. The observer may outlive
 * the candidate while it tells a leader. Under the monitor. */
static void candidate_enrol(pdk_election *election, const pdk_election_callbacks *calls) {
    static const struct pdk__candidacy_kind kind = {join, candidate_begun, candidate_left};
    const struct pdk__candidacy_calls inner = {calls->elected, calls->deposed, calls->failed, calls->user,
                                               calls->user_free};
    struct candidate *candidate = g_new0(struct candidate, 1);
    struct pdk__candidacy *c = &candidate->candidacy;
    pdk__candidacy_init(c, &kind, election->queue, &inner);
    candidate->leader = calls->leader;
    if (candidate->leader)
        candidate->observer =
            pdk__observer_begin(election, candidate_tell_leader, NULL, pdk__candidacy_ref(c), pdk__candidacy_unref);
    pdk__candidacy_begin(c, &election->candidacy);
}

pdk_status pdk__candidate_begin(pdk_election *election, const pdk_election_callbacks *calls) {
    pdk_session *s = election->queue->s;
    pdk__lock(s);
    pdk_status status = pdk__election_may_join(election, join);
    if (status == PDK_OK)
        candidate_enrol(election, calls);
    pdk__unlock(s);
    return status;
}
