/* Each recipe, used in every way. What the calls answer is for the caller to judge: with an honest server all of them succeed. */
#include "lies.h"

#include <pthread.h>
#include <string.h>

enum { HELD_MS = 30, LEASE_MS = 1000 };
int scenes_ms = 400;

/* The first status that is not OK. */
static void note(pdk_status *first, pdk_status status) {
    if (*first == PDK_OK)
        *first = status;
}

/* Takes the hold, or NULL. */
static void hold_for_a_while(pdk_status *first, pdk_hold *hold) {
    if (!hold)
        return;
    note(first, pdk_hold_ensure(hold, 100));
    g_usleep(HELD_MS * 1000);
    note(first, pdk_hold_is_valid(hold) ? PDK_OK : PDK_LOST);
    note(first, pdk_hold_release(hold));
}

static void hold_set_for_a_while(pdk_status *first, pdk_set *set) {
    if (!set)
        return;
    note(first, pdk_set_ensure(set, 100));
    g_usleep(HELD_MS * 1000);
    note(first, pdk_set_is_valid(set) ? PDK_OK : PDK_LOST);
    note(first, pdk_set_release(set));
}

static pdk_lock *lock_at(pdk_status *first, pdk_session *session, const char *path, const char *name, int delay_ms) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    g_autofree char *whole = g_strconcat(path, name, NULL);
    pdk_lock *lock = NULL;
    options.lock_delay_ms = delay_ms;
    note(first, pdk_lock_new(session, whole, &options, &lock));
    return lock;
}

/* ---- a claim that waits */

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool here;
    pdk_status status;
    pdk_hold *hold;
};

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct answer *answer = user;
    pthread_mutex_lock(&answer->lock);
    answer->status = status;
    answer->hold = hold;
    answer->here = true;
    pthread_cond_signal(&answer->come);
    pthread_mutex_unlock(&answer->lock);
}

/* It ends by itself: its claim has a timeout. */
static void await(pdk_status *first, struct answer *answer) {
    pthread_mutex_lock(&answer->lock);
    while (!answer->here)
        pthread_cond_wait(&answer->come, &answer->lock);
    pthread_mutex_unlock(&answer->lock);
    note(first, answer->status);
    hold_for_a_while(first, answer->hold);
}

static pdk_status play_lock(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    static struct answer next = {.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER};
    pdk_lock *one = lock_at(&first, session, path, "", 0), *other = lock_at(&first, session, path, "", 0);
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    pdk_claim *claim = NULL;
    note(&first, pdk_lock_acquire(one, scenes_ms, &hold));
    pdk_status asked = pdk_lock_acquire_async(other, 2 * scenes_ms, on_acquired, &next, &claim);
    note(&first, asked);
    g_usleep(50000);
    note(&first, pdk_lock_list(one, scenes_ms, &list));
    pdk_contenders_free(list);
    list = NULL;
    note(&first, pdk_lock_holder(one, scenes_ms, &list));
    pdk_contenders_free(list);
    hold_for_a_while(&first, hold);
    if (asked == PDK_OK)
        await(&first, &next);
    pdk_claim_unref(claim);
    pdk_lock_unref(one);
    pdk_lock_unref(other);
    return first;
}

static pdk_status play_try(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    for (int i = 0; i < 3; i++) {
        pdk_lock *lock = lock_at(&first, session, path, "", 0);
        pdk_hold *hold = NULL;
        note(&first, pdk_lock_acquire(lock, 0, &hold));
        hold_for_a_while(&first, hold);
        pdk_lock_unref(lock);
    }
    return first;
}

static pdk_status play_delay(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_lock *lock = lock_at(&first, session, path, "", LEASE_MS);
    pdk_hold *hold = NULL;
    note(&first, pdk_lock_acquire(lock, scenes_ms, &hold));
    hold_for_a_while(&first, hold);
    pdk_lock_unref(lock);
    return first;
}

static pdk_status play_rwlock(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_rwlock *lock = NULL;
    pdk_hold *hold = NULL, *reader = NULL;
    pdk_contenders *list = NULL;
    note(&first, pdk_rwlock_new(session, path, NULL, &lock));
    note(&first, pdk_rwlock_acquire_write(lock, scenes_ms, &hold));
    if (hold)
        note(&first, pdk_hold_downgrade(hold));
    hold_for_a_while(&first, hold);
    note(&first, pdk_rwlock_acquire_read(lock, scenes_ms, &reader));
    note(&first, pdk_rwlock_list(lock, scenes_ms, &list));
    pdk_contenders_free(list);
    hold_for_a_while(&first, reader);
    pdk_rwlock_unref(lock);
    return first;
}

static pdk_status play_semaphore(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_semaphore *semaphore = NULL;
    pdk_hold *hold = NULL, *more = NULL;
    pdk_contenders *list = NULL;
    note(&first, pdk_semaphore_new(session, path, 3, NULL, &semaphore));
    note(&first, pdk_semaphore_acquire(semaphore, 1, scenes_ms, &hold));
    note(&first, pdk_semaphore_acquire(semaphore, 2, scenes_ms, &more));
    note(&first, pdk_semaphore_holders(semaphore, scenes_ms, &list));
    pdk_contenders_free(list);
    hold_for_a_while(&first, more);
    hold_for_a_while(&first, hold);
    pdk_semaphore_unref(semaphore);
    return first;
}

static pdk_status play_striped(pdk_session *session, const char *path) {
    static const char *const keys[] = {"a", "b", "c"};
    pdk_status first = PDK_OK;
    pdk_striped *striped = NULL;
    pdk_hold *hold = NULL;
    pdk_set *set = NULL;
    int32_t parts[3];
    note(&first, pdk_striped_new(session, path, 4, NULL, &striped));
    note(&first, pdk_striped_acquire(striped, "a", scenes_ms, &hold));
    hold_for_a_while(&first, hold);
    hold = NULL;
    note(&first, pdk_striped_acquire_keys(striped, keys, 3, scenes_ms, parts, &set));
    hold_set_for_a_while(&first, set);
    hold = NULL;
    note(&first, pdk_striped_acquire_any(striped, scenes_ms, &hold));
    hold_for_a_while(&first, hold);
    pdk_striped_unref(striped);
    return first;
}

/* need: of the three; 0: all. */
static pdk_status take_three(pdk_session *const sessions[3], const char *path, int need) {
    pdk_status first = PDK_OK;
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    pdk_set *set = NULL;
    pdk_lock *locks[] = {lock_at(&first, sessions[0], path, "/1", 0), lock_at(&first, sessions[1], path, "/2", 0),
                         lock_at(&first, sessions[2], path, "/3", 0)};
    const pdk_right rights[] = {pdk_right_lock(locks[0]), pdk_right_lock(locks[1]), pdk_right_lock(locks[2])};
    options.need = need;
    note(&first, pdk_set_acquire(rights, 3, 2 * scenes_ms, &options, &set));
    hold_set_for_a_while(&first, set);
    for (int i = 0; i < 3; i++)
        pdk_lock_unref(locks[i]);
    return first;
}

static pdk_status play_all(pdk_session *session, const char *path) {
    return take_three((pdk_session *const[]){session, session, session}, path, 0);
}

static pdk_status play_majority(pdk_session *const sessions[3], const char *path) {
    return take_three(sessions, path, 2);
}

static void on_leader(const pdk_contenders *leader, void *user) {
    size_t size = 0;
    (void)user;
    (void)pdk_contenders_data(leader, 0, &size);
}

static pdk_status play_election(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_election_callbacks callbacks = {.size = sizeof callbacks};
    pdk_election *election = NULL;
    pdk_observer *observer = NULL;
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    note(&first, pdk_election_new(session, path, NULL, &election));
    note(&first, pdk_election_observe_data(election, on_leader, NULL, NULL, &observer));
    note(&first, pdk_election_join(election, &callbacks));
    note(&first, pdk_election_wait(election, scenes_ms, &hold));
    if (hold)
        note(&first, pdk_election_publish(election, hold, "data", 4, scenes_ms));
    note(&first, pdk_election_leader(election, scenes_ms, &list));
    pdk_contenders_free(list);
    g_usleep(HELD_MS * 1000);
    (void)pdk_election_resign(election); /* it may lead no more */
    pdk_hold_unref(hold);
    hold = NULL;
    note(&first, pdk_election_wait(election, scenes_ms, &hold));
    pdk_hold_unref(hold);
    note(&first, pdk_election_leave(election));
    pdk_observer_close(observer);
    pdk_election_unref(election);
    return first;
}

static pdk_status play_job(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_job *job = NULL;
    pdk_hold *hold = NULL;
    pdk_job_runs *runs = NULL;
    options.every_ms = 86400000;
    note(&first, pdk_job_new(session, path, &options, &job));
    note(&first, pdk_job_acquire(job, 2 * scenes_ms, &hold, &runs));
    pdk_job_runs_free(runs);
    runs = NULL;
    if (hold)
        note(&first, pdk_job_finish(job, hold, 0, scenes_ms));
    note(&first, pdk_job_history(session, path, scenes_ms, &runs));
    pdk_job_runs_free(runs);
    pdk_job_unref(job);
    return first;
}

static pdk_status play_lease_lock(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    pdk_hold *hold = NULL;
    options.duration_ms = LEASE_MS;
    options.secret = "sixteen and more bytes";
    note(&first, pdk_lease_lock_new(session, path, &options, &lock));
    note(&first, pdk_lease_lock_acquire(lock, 2 * scenes_ms, &hold));
    g_usleep(HELD_MS * 1000);
    if (hold)
        note(&first, pdk_lease_lock_release(lock, hold, scenes_ms));
    pdk_lease_lock_unref(lock);
    return first;
}

static void on_view(pdk_group_view *view, void *user) {
    const pdk_member_info *before, *after;
    (void)user;
    for (size_t i = 0; pdk_group_view_change(view, i, &before, &after); i++)
        ;
}

static pdk_status play_group(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_group_watcher *watcher = NULL;
    pdk_member *members[2] = {NULL, NULL};
    note(&first, pdk_group_watch(session, path, on_view, NULL, NULL, &watcher));
    for (int i = 0; i < 2; i++)
        note(&first, pdk_group_join(session, path, "one", 3, NULL, &members[i]));
    for (int i = 0; i < 2; i++) {
        pdk_hold *hold = NULL;
        note(&first, pdk_member_wait(members[i], scenes_ms, &hold));
        pdk_hold_unref(hold);
        note(&first, pdk_member_set_data(members[i], "other", 5, scenes_ms));
    }
    g_usleep(50000);
    for (int i = 0; i < 2; i++) {
        note(&first, pdk_member_leave(members[i]));
        pdk_member_unref(members[i]);
    }
    g_usleep(30000);
    pdk_group_watcher_close(watcher);
    return first;
}

static pdk_status play_guarded(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    g_autofree char *node = g_strconcat(path, "-node", NULL);
    pdk_lock *lock = lock_at(&first, session, path, "", 0);
    pdk_hold *hold = NULL;
    pdk_guarded *guarded = NULL;
    char buffer[64];
    size_t size = 0;
    note(&first, pdk_lock_acquire(lock, scenes_ms, &hold));
    if (hold)
        note(&first, pdk_guarded_open(hold, node, scenes_ms, &guarded));
    if (guarded) {
        note(&first, pdk_guarded_create(guarded, "a", 1, scenes_ms));
        note(&first, pdk_guarded_read(guarded, buffer, sizeof buffer, &size, scenes_ms));
        note(&first, pdk_guarded_write(guarded, "bb", 2, scenes_ms));
        note(&first, pdk_guarded_delete(guarded, scenes_ms));
        pdk_guarded_close(guarded);
    }
    hold_for_a_while(&first, hold);
    pdk_lock_unref(lock);
    return first;
}

static pdk_status play_sequencer(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_lock *lock = lock_at(&first, session, path, "", 0);
    pdk_checker *checker = NULL;
    pdk_hold *hold = NULL;
    note(&first, pdk_lock_acquire(lock, scenes_ms, &hold));
    note(&first, pdk_checker_new(session, NULL, &checker));
    if (hold) {
        g_autofree char *text = g_strdup(pdk_hold_sequencer(hold));
        note(&first, pdk_session_check_sequencer(session, text, scenes_ms));
        note(&first, pdk_checker_check(checker, text, scenes_ms));
        note(&first, pdk_checker_check(checker, text, scenes_ms));
    }
    hold_for_a_while(&first, hold);
    pdk_checker_unref(checker);
    pdk_lock_unref(lock);
    return first;
}

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)who;
    (void)until_ms;
    (void)user;
}

static pdk_status play_revoke(pdk_session *session, const char *path) {
    pdk_status first = PDK_OK;
    pdk_lock *lock = lock_at(&first, session, path, "", 0);
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    note(&first, pdk_lock_acquire(lock, scenes_ms, &hold));
    if (hold) {
        const char *node = strrchr(pdk_hold_node(hold), '/') + 1;
        note(&first, pdk_hold_on_request(hold, on_asked, NULL, NULL));
        note(&first, pdk_session_request_release(session, path, node, "me", 100, scenes_ms));
        g_usleep(HELD_MS * 1000);
        note(&first, pdk_session_break(session, pdk_hold_node(hold), pdk_hold_token(hold), scenes_ms, &list));
        pdk_contenders_free(list);
        (void)pdk_hold_release(hold);
    }
    pdk_lock_unref(lock);
    return first;
}

const struct scene scenes[] = {
    {.name = "lock", .play = play_lock},
    {.name = "try", .play = play_try},
    {.name = "delay", .play = play_delay},
    {.name = "rwlock", .play = play_rwlock},
    {.name = "semaphore", .play = play_semaphore},
    {.name = "striped", .play = play_striped},
    {.name = "all", .play = play_all},
    {.name = "majority", .play_three = play_majority},
    {.name = "election", .play = play_election},
    {.name = "job", .play = play_job},
    {.name = "lease_lock", .play = play_lease_lock},
    {.name = "group", .play = play_group},
    {.name = "guarded", .play = play_guarded},
    {.name = "sequencer", .play = play_sequencer},
    {.name = "revoke", .play = play_revoke},
};
const unsigned scenes_count = G_N_ELEMENTS(scenes);
