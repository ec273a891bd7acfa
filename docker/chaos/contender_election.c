/* The election: each thread is a candidate of its own from its first turn to the rest. Callbacks bring the terms. */
#include "contender.h"

/* All but the first two under the contender's mutex. */
typedef struct candidate {
    contender *c;
    pdk_election *election;
    bool leaving;
    bid *asking, *held; /* in line; in office */
    pdk_hold *hold;     /* of the office, once it is noted */
} candidate;

static void on_elected(pdk_hold *hold, void *user) {
    candidate *one = user;
    contender *c = one->c;
    pthread_mutex_lock(&c->mutex);
    bid *b = g_steal_pointer(&one->asking);
    if (!b) /* withdrawn at the very moment: it is deposed at once */
        b = bid_new(c, "leader", 0, PDK_FOREVER);
    one->held = b;
    pthread_mutex_unlock(&c->mutex);
    bid_granted(b, hold);
    pthread_mutex_lock(&c->mutex);
    one->hold = pdk_hold_ref(hold);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static void on_deposed(pdk_reason reason, void *user) {
    candidate *one = user;
    contender *c = one->c;
    bid_over(one->held, reason != PDK_REASON_NONE);
    pthread_mutex_lock(&c->mutex);
    one->held = NULL;
    /* It queues again when this has returned. */
    one->asking = one->leaving ? NULL : bid_new(c, "leader", 0, PDK_FOREVER);
    pdk_hold *hold = g_steal_pointer(&one->hold);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    pdk_hold_unref(hold);
}

static void on_failed(pdk_status status, void *user) {
    const candidate *one = user;
    contender_expect(one->c, "candidate", status, PDK_OK);
}

static void join(candidate *one) {
    contender *c = one->c;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    options.identity = c->player.identity;
    callbacks.elected = on_elected;
    callbacks.deposed = on_deposed;
    callbacks.failed = on_failed;
    callbacks.user = one;
    pthread_mutex_lock(&c->mutex);
    one->asking = bid_new(c, "leader", 0, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    contender_expect(c, "election", pdk_election_new(c->player.session, c->player.path, &options, &one->election),
                     PDK_OK);
    contender_expect(c, "join", pdk_election_join(one->election, &callbacks), PDK_OK);
}

/* One term of office, under the mutex, which is given up meanwhile. */
static void serve(candidate *one) {
    contender *c = one->c;
    pdk_hold *hold = pdk_hold_ref(one->hold);
    int number = bid_number(one->held);
    pthread_mutex_unlock(&c->mutex);
    if (c->keeps)
        contender_keep(c, number, hold, true);
    else
        contender_use(c, number, hold);
    contender_expect(c, "resign", pdk_election_resign(one->election), PDK_NOT_HELD);
    pthread_mutex_lock(&c->mutex);
    while (one->hold == hold)
        contender_wait(c, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    pdk_hold_unref(hold);
    pthread_mutex_lock(&c->mutex);
}

static void leave(candidate *one) {
    contender *c = one->c;
    contender_expect(c, "leave", pdk_election_leave(one->election), PDK_OK);
    pthread_mutex_lock(&c->mutex);
    bid *withdrawn = g_steal_pointer(&one->asking);
    while (one->held)
        contender_wait(c, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    if (withdrawn)
        bid_failed(withdrawn, PDK_CANCELED);
    pdk_election_unref(one->election);
}

bool election_turn(player *p, int thread, void *user) {
    contender *c = user;
    candidate *one = &c->candidates[thread];
    (void)p;
    join(one);
    pthread_mutex_lock(&c->mutex);
    while (!c->resting) {
        if (one->hold)
            serve(one);
        else
            contender_wait(c, PDK_FOREVER);
    }
    one->leaving = true;
    pthread_mutex_unlock(&c->mutex);
    leave(one);
    return true;
}

void election_open(contender *c) {
    c->candidates = g_new0(candidate, (gsize)c->options.threads);
    for (int i = 0; i < c->options.threads; i++)
        c->candidates[i].c = c;
}

void election_close(contender *c) { g_free(c->candidates); }
