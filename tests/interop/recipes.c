#include "recipes.h"

#include <string.h>

/* One wait for an election lasts this long. Between two waits the player asks whether to stop. */
enum { AWAIT_MS = 200 };

static pdk_status make_lock(pdk_session *session, const struct options *options, void **out) {
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    lock.naming = options->naming;
    lock.max_handovers = options->max_handovers;
    return pdk_lock_new(session, options->path, &lock, (pdk_lock **)out);
}

static void drop_lock(void *object) { pdk_lock_unref(object); }

static pdk_status take_lock(void *object, pdk_hold **out) { return pdk_lock_acquire(object, PDK_FOREVER, out); }

static pdk_status give_lock(void *object, pdk_hold *hold) {
    (void)object;
    return pdk_hold_release(hold);
}

static pdk_status list_lock(void *object, int64_t timeout_ms, pdk_contenders **out) {
    return pdk_lock_list(object, timeout_ms, out);
}

static pdk_status make_rwlock(pdk_session *session, const struct options *options, void **out) {
    pdk_rwlock_options rwlock = PDK_RWLOCK_OPTIONS_INIT;
    rwlock.naming = options->naming;
    rwlock.max_handovers = options->max_handovers;
    return pdk_rwlock_new(session, options->path, &rwlock, (pdk_rwlock **)out);
}

static void drop_rwlock(void *object) { pdk_rwlock_unref(object); }

static pdk_status take_read(void *object, pdk_hold **out) { return pdk_rwlock_acquire_read(object, PDK_FOREVER, out); }

static pdk_status take_write(void *object, pdk_hold **out) {
    return pdk_rwlock_acquire_write(object, PDK_FOREVER, out);
}

static pdk_status list_rwlock(void *object, int64_t timeout_ms, pdk_contenders **out) {
    return pdk_rwlock_list(object, timeout_ms, out);
}

static pdk_status make_election(pdk_session *session, const struct options *options, void **out) {
    pdk_election_options election = PDK_ELECTION_OPTIONS_INIT;
    election.naming = options->naming;
    election.identity = options->identity;
    return pdk_election_new(session, options->path, &election, (pdk_election **)out);
}

static void drop_election(void *object) { pdk_election_unref(object); } /* which leaves */

static pdk_status begin_election(void *object) { return pdk_election_join(object, NULL); }

static pdk_status take_election(void *object, pdk_hold **out) { return pdk_election_wait(object, AWAIT_MS, out); }

static pdk_status give_election(void *object, pdk_hold *hold) {
    pdk_status status = pdk_election_resign(object);
    pdk_hold_unref(hold);
    return status;
}

static pdk_status list_election(void *object, int64_t timeout_ms, pdk_contenders **out) {
    return pdk_election_list(object, timeout_ms, out);
}

static const struct recipe recipes[] = {
    {"lock", make_lock, drop_lock, NULL, take_lock, give_lock, list_lock, NULL, false},
    {"read", make_rwlock, drop_rwlock, NULL, take_read, give_lock, list_rwlock, NULL, true},
    {"write", make_rwlock, drop_rwlock, NULL, take_write, give_lock, list_rwlock, pdk_hold_downgrade, false},
    {"election", make_election, drop_election, begin_election, take_election, give_election, list_election, NULL,
     false},
};

const struct recipe *recipe_find(const char *name) {
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    return NULL;
}
