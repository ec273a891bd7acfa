/* The election. Each thread is a candidate from its first turn to the order to rest. Callbacks tell it of its terms. */
#include "plays.h"

/* All fields but the first two are under the player's mutex. */
typedef struct candidate {
    actor *c;
    pdk_election *election;
    bool leaving;
    claim_record *asking, *held; /* in the queue; in office */
    pdk_hold *hold;              /* of the term, once it is noted */
} candidate;

static void on_elected(pdk_hold *hold, void *user) {
    candidate *one = user;
    actor *c = one->c;
    pthread_mutex_lock(&c->mutex);
    claim_record *record = one->held = record_answered(c, &one->asking, "leader");
    pthread_mutex_unlock(&c->mutex);
    record_granted(record, hold);
    pthread_mutex_lock(&c->mutex);
    one->hold = pdk_hold_ref(hold);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static void on_deposed(pdk_reason reason, void *user) {
    candidate *one = user;
    actor *c = one->c;
    record_over(one->held, reason != PDK_REASON_NONE);
    pthread_mutex_lock(&c->mutex);
    one->held = NULL;
    /* The candidate queues again when this has returned. */
    one->asking = one->leaving ? NULL : record_new(c, "leader", 0, PDK_FOREVER);
    pdk_hold *hold = g_steal_pointer(&one->hold);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    pdk_hold_unref(hold);
}

static void on_failed(pdk_status status, void *user) {
    const candidate *one = user;
    actor_expect(one->c, "candidate", status, PDK_OK);
}

/* The identity as a value in the log: others wrote it. */
static void on_leader(const char *identity, int64_t token, void *user) {
    actor *c = ((candidate *)user)->c;
    g_autofree char *name = g_strdup(identity && *identity ? identity : "-");
    for (char *at = name; *at; at++)
        *at = g_ascii_isgraph(*at) && *at != ',' ? *at : '?';
    event_log_note(c->player.log, "leader token=%" G_GINT64_FORMAT " identity=%s", (gint64)token, name);
}

static void observe(actor *c) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    actor_expect(c, "election", pdk_election_new(c->player.session, c->player.path, &options, &c->observed), PDK_OK);
    actor_expect(c, "observe", pdk_election_observe(c->observed, on_leader, c->candidates, NULL, &c->observer), PDK_OK);
    event_log_note(c->player.log, "listening");
}

static void join(candidate *one) {
    actor *c = one->c;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    options.identity = c->player.identity;
    options.naming = c->naming;
    callbacks.elected = on_elected;
    callbacks.deposed = on_deposed;
    callbacks.failed = on_failed;
    if (c->options.listen)
        callbacks.leader = on_leader;
    callbacks.user = one;
    pthread_mutex_lock(&c->mutex);
    one->asking = record_new(c, "leader", 0, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    actor_expect(c, "election", pdk_election_new(c->player.session, c->player.path, &options, &one->election), PDK_OK);
    actor_expect(c, "join", pdk_election_join(one->election, &callbacks), PDK_OK);
    if (c->options.listen)
        event_log_note(c->player.log, "listening");
}

/* One term of office. Called under the mutex, and releases it meanwhile. */
static void serve(candidate *one) {
    actor *c = one->c;
    pdk_hold *hold = pdk_hold_ref(one->hold);
    claim_record *record = one->held;
    int number = record_number(record);
    pthread_mutex_unlock(&c->mutex);
    if (c->keeps)
        actor_keep(c, number, hold, true);
    else
        actor_use(c, number, hold);
    record_releasing(record);
    actor_expect(c, "resign", pdk_election_resign(one->election), PDK_NOT_HELD);
    pthread_mutex_lock(&c->mutex);
    while (one->hold == hold)
        actor_wait(c, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    pdk_hold_unref(hold);
    pthread_mutex_lock(&c->mutex);
}

static void leave(candidate *one) {
    actor *c = one->c;
    actor_expect(c, "leave", pdk_election_leave(one->election), PDK_OK);
    pthread_mutex_lock(&c->mutex);
    claim_record *withdrawn = g_steal_pointer(&one->asking);
    while (one->held)
        actor_wait(c, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    if (withdrawn)
        record_failed(withdrawn, PDK_CANCELED);
    pdk_election_unref(one->election);
}

bool election_turn(player *p, int thread, void *user) {
    actor *c = user;
    candidate *one = &c->candidates[thread];
    (void)p;
    if (!c->observes)
        join(one);
    pthread_mutex_lock(&c->mutex);
    while (!c->resting) {
        if (one->hold)
            serve(one);
        else
            actor_wait(c, PDK_FOREVER);
    }
    one->leaving = true;
    pthread_mutex_unlock(&c->mutex);
    if (!c->observes)
        leave(one);
    return true;
}

void election_open(actor *c) {
    c->candidates = g_new0(candidate, (gsize)c->options.threads);
    for (int i = 0; i < c->options.threads; i++)
        c->candidates[i].c = c;
    if (c->observes)
        observe(c);
}

void election_close(actor *c) {
    pdk_observer_close(c->observer);
    pdk_election_unref(c->observed);
}

void election_free(actor *c) { g_free(c->candidates); }
