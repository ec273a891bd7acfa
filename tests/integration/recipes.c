/* See recipes.h. */
#include "recipes.h"

#include <glib.h>
#include <paddock/striped.h>
#include <string.h>

#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { IN_TIME_MS = 5000, PERMITS = 3, SEVERAL = 2, STRIPES = 2, SHORT_DELAY_MS = 100 };

/* The constructors of the recipes fail in tests of failures alone. */
static void made(pdk_status status) { ck_assert_msg(status == PDK_OK, "%s", pdk_last_error()); }

static ts_answer *taken(ts_answer *answer) {
    ck_assert_msg(ts_answer_status(answer) == PDK_OK, "%s: %s", pdk_status_name(ts_answer_status(answer)),
                  pdk_last_error());
    ck_assert(ts_answer_is_valid(answer));
    ts_answer_detach(answer); /* the test's thread may claim what it keeps out */
    return answer;
}

/* ---- locks */

static void *make_lock_with(const ts_client *client, const char *path, bool reentrant, int32_t delay_ms) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock = NULL;
    options.reentrant = reentrant;
    options.lock_delay_ms = delay_ms;
    made(pdk_lock_new(client->session, path, &options, &lock));
    return lock;
}
static void *make_lock(const ts_client *client, const char *path) { return make_lock_with(client, path, false, 0); }
static void *make_reentrant(const ts_client *client, const char *path) { return make_lock_with(client, path, true, 0); }
static void *make_delayed(const ts_client *client, const char *path) {
    return make_lock_with(client, path, false, SHORT_DELAY_MS);
}
static void unref_lock(void *lock) { pdk_lock_unref(lock); }
static pdk_status start_lock(void *lock, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_lock_acquire_async(lock, ms, fn, user, out);
}
static pdk_status block_lock(void *lock, int64_t ms, pdk_hold **out) { return pdk_lock_acquire(lock, ms, out); }

static ts_answer *obstruct_with(void *lock, const char *path) {
    (void)path;
    ts_paddock_keep(lock, unref_lock);
    return taken(ts_answer_now(block_lock, lock, ts_patience(IN_TIME_MS)));
}
static ts_answer *obstruct_lock(const ts_client *client, const char *path) {
    return obstruct_with(make_lock(client, path), path);
}
static ts_answer *obstruct_delayed(const ts_client *client, const char *path) {
    return obstruct_with(make_delayed(client, path), path);
}

/* ---- read/write locks: a reader waits for a writer, a writer for a reader */

static void *make_rwlock(const ts_client *client, const char *path) {
    pdk_rwlock *lock = NULL;
    made(pdk_rwlock_new(client->session, path, NULL, &lock));
    return lock;
}
static void unref_rwlock(void *lock) { pdk_rwlock_unref(lock); }
static pdk_status start_read(void *lock, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_rwlock_acquire_read_async(lock, ms, fn, user, out);
}
static pdk_status start_write(void *lock, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_rwlock_acquire_write_async(lock, ms, fn, user, out);
}
static pdk_status block_read(void *lock, int64_t ms, pdk_hold **out) { return pdk_rwlock_acquire_read(lock, ms, out); }
static pdk_status block_write(void *lock, int64_t ms, pdk_hold **out) {
    return pdk_rwlock_acquire_write(lock, ms, out);
}
static ts_answer *obstruct_read(const ts_client *client, const char *path) {
    return taken(ts_answer_now(block_write, ts_rwlock(client, path), ts_patience(IN_TIME_MS)));
}
static ts_answer *obstruct_write(const ts_client *client, const char *path) {
    return taken(ts_answer_now(block_read, ts_rwlock(client, path), ts_patience(IN_TIME_MS)));
}

/* ---- semaphores of three permits: one, or two at once */

static void *make_permits(const ts_client *client, const char *path) {
    pdk_semaphore *semaphore = NULL;
    made(pdk_semaphore_new(client->session, path, PERMITS, NULL, &semaphore));
    return semaphore;
}
static void unref_permits(void *semaphore) { pdk_semaphore_unref(semaphore); }
static pdk_status start_permit(void *semaphore, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_semaphore_acquire_async(semaphore, 1, ms, fn, user, out);
}
static pdk_status block_permit(void *semaphore, int64_t ms, pdk_hold **out) {
    return pdk_semaphore_acquire(semaphore, 1, ms, out);
}
static pdk_status start_several(void *semaphore, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_semaphore_acquire_async(semaphore, SEVERAL, ms, fn, user, out);
}
static pdk_status block_several(void *semaphore, int64_t ms, pdk_hold **out) {
    return pdk_semaphore_acquire(semaphore, SEVERAL, ms, out);
}
static pdk_status block_all_permits(void *semaphore, int64_t ms, pdk_hold **out) {
    return pdk_semaphore_acquire(semaphore, PERMITS, ms, out);
}
/* All of them, and its node has left the queue. */
static ts_answer *obstruct_permits(const ts_client *client, const char *path) {
    void *semaphore = make_permits(client, path);
    ts_paddock_keep(semaphore, unref_permits);
    ts_answer *all = taken(ts_answer_now(block_all_permits, semaphore, ts_patience(IN_TIME_MS)));
    made(pdk_session_flush(client->session, ts_patience(IN_TIME_MS)));
    return all;
}

/* ---- striped locks of two stripes: one by its key, any, or both by their keys */

static const char *const keys[STRIPES] = {"one", "a"}; /* of the first stripe, and of the second one */

static void *make_striped(const ts_client *client, const char *path) {
    pdk_striped *striped = NULL;
    made(pdk_striped_new(client->session, path, STRIPES, NULL, &striped));
    return striped;
}
static void unref_striped(void *striped) { pdk_striped_unref(striped); }
/* Its lock belongs to the striped lock, so it is claimed in the queue of that. */
static pdk_status start_key(void *striped, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    pdk_lock *lock = NULL;
    pdk_status status = pdk_striped_lock(striped, 0, &lock);
    if (status == PDK_OK)
        status = pdk_lock_acquire_async(lock, ms, fn, user, out);
    pdk_lock_unref(lock);
    return status;
}
static pdk_status block_key(void *striped, int64_t ms, pdk_hold **out) {
    return pdk_striped_acquire(striped, keys[0], ms, out);
}
static pdk_status start_any(void *striped, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_striped_acquire_any_async(striped, ms, fn, user, out);
}
static pdk_status block_any(void *striped, int64_t ms, pdk_hold **out) {
    return pdk_striped_acquire_any(striped, ms, out);
}
static pdk_status block_keys(void *striped, int64_t ms, pdk_set **out) {
    return pdk_striped_acquire_keys(striped, keys, STRIPES, ms, NULL, out);
}
static ts_answer *obstruct_stripes(const ts_client *client, const char *path) {
    void *striped = make_striped(client, path);
    ts_paddock_keep(striped, unref_striped);
    return taken(ts_answer_now_set(block_keys, striped, ts_patience(IN_TIME_MS)));
}

/* ---- sets of a lock, a reader's side, and two permits, of which the permits come last */

struct rights {
    pdk_lock *lock;
    pdk_rwlock *rw;
    pdk_semaphore *permits;
};

static void *make_set(const ts_client *client, const char *path) {
    g_autofree char *a = g_strconcat(path, "/a", NULL), *b = g_strconcat(path, "/b", NULL),
                    *c = g_strconcat(path, "/c", NULL);
    struct rights *rights = g_new(struct rights, 1);
    rights->lock = make_lock(client, a);
    rights->rw = make_rwlock(client, b);
    rights->permits = make_permits(client, c);
    return rights;
}
static void unref_set(void *object) {
    struct rights *rights = object;
    pdk_lock_unref(rights->lock);
    pdk_rwlock_unref(rights->rw);
    pdk_semaphore_unref(rights->permits);
    g_free(rights);
}
static void name_them(const struct rights *rights, pdk_right named[3]) {
    named[0] = pdk_right_permits(rights->permits, SEVERAL);
    named[1] = pdk_right_read(rights->rw);
    named[2] = pdk_right_lock(rights->lock);
}
static pdk_status start_set(void *object, int64_t ms, pdk_set_acquired_fn fn, void *user, pdk_set_claim **out) {
    pdk_right named[3];
    name_them(object, named);
    return pdk_set_acquire_async(named, 3, ms, NULL, fn, user, out);
}
static pdk_status block_set(void *object, int64_t ms, pdk_set **out) {
    pdk_right named[3];
    name_them(object, named);
    return pdk_set_acquire(named, 3, ms, NULL, out);
}
static ts_answer *obstruct_set(const ts_client *client, const char *path) {
    g_autofree char *c = g_strconcat(path, "/c", NULL);
    return obstruct_permits(client, c);
}

/* ---- the table */

#define HOLD(what) .start = start_##what, .block = block_##what
#define LOCKS .unref = unref_lock, HOLD(lock), .shares = 1, .waiting = 1
#define SHARED 1000

const recipe recipes[RECIPES] = {
    {"lock", make_lock, LOCKS, .obstruct = obstruct_lock, .again = PDK_DEADLOCK, .held = 1},
    {"reentrant", make_reentrant, LOCKS, .obstruct = obstruct_lock, .again = PDK_OK, .held = 1},
    {"delayed", make_delayed, LOCKS, .obstruct = obstruct_delayed, .again = PDK_DEADLOCK, .held = 2},
    {"read", make_rwlock, unref_rwlock, HOLD(read), .obstruct = obstruct_read, .shares = SHARED, .again = PDK_DEADLOCK,
     .held = 1, .waiting = 1},
    {"write", make_rwlock, unref_rwlock, HOLD(write), .obstruct = obstruct_write, .shares = 1, .again = PDK_DEADLOCK,
     .held = 1, .waiting = 1},
    {"permit", make_permits, unref_permits, HOLD(permit), .obstruct = obstruct_permits, .shares = PERMITS,
     .again = PDK_OK, .held = 1, .waiting = 1, .tried = 1},
    {"permits", make_permits, unref_permits, HOLD(several), .obstruct = obstruct_permits, .shares = 1,
     .again = PDK_TIMEOUT, .held = SEVERAL, .waiting = 1, .tried = 1},
    {"key", make_striped, unref_striped, HOLD(key), .obstruct = obstruct_stripes, .shares = 1, .again = PDK_DEADLOCK,
     .held = 1, .waiting = 1},
    {"any", make_striped, unref_striped, HOLD(any), .obstruct = obstruct_stripes, .shares = STRIPES, .again = PDK_OK,
     .held = 1, .waiting = 1 + STRIPES, .tried = 1},
    {"keys", make_striped, unref_striped, .block_set = block_keys, .obstruct = obstruct_stripes, .shares = 1,
     .again = PDK_DEADLOCK, .held = STRIPES, .waiting = 1},
    {"set", make_set, unref_set, .start_set = start_set, .block_set = block_set, .obstruct = obstruct_set, .shares = 1,
     .again = PDK_DEADLOCK, .held = 2 + SEVERAL, .waiting = 3, .tried = 3},
};

const recipe *recipe_of(int i) { return &recipes[i % RECIPES]; }

/* ---- claims */

/* What ts_paddock_keep frees: an object, and how. */
struct kept {
    const recipe *r;
    void *object;
};

static void drop_kept(void *what) {
    struct kept *kept = what;
    kept->r->unref(kept->object);
    g_free(kept);
}

void *recipe_at(const recipe *r, const ts_client *client, const char *path) {
    struct kept *kept = g_new(struct kept, 1);
    *kept = (struct kept){r, r->make(client, path)};
    ts_paddock_keep(kept, drop_kept);
    return kept->object;
}

ts_answer *recipe_async(const recipe *r, void *object, int64_t timeout_ms) {
    return r->start       ? ts_answer_start(r->start, object, timeout_ms)
           : r->start_set ? ts_answer_start_set(r->start_set, object, timeout_ms)
                          : recipe_thread(r, object, timeout_ms);
}

ts_answer *recipe_thread(const recipe *r, void *object, int64_t timeout_ms) {
    return r->block ? ts_answer_block(r->block, object, timeout_ms)
                    : ts_answer_block_set(r->block_set, object, timeout_ms);
}

ts_answer *recipe_now(const recipe *r, void *object, int64_t timeout_ms) {
    return r->block ? ts_answer_now(r->block, object, timeout_ms) : ts_answer_now_set(r->block_set, object, timeout_ms);
}

ts_answer *recipe_take(const recipe *r, void *object) {
    ts_answer *answer = recipe_now(r, object, ts_patience(IN_TIME_MS));
    recipe_await(r, answer, PDK_OK);
    return answer;
}

pdk_status recipe_release(const recipe *r, void *object, ts_answer *held) {
    return r->release ? r->release(object, held) : ts_answer_release(held);
}

void recipe_await(const recipe *r, ts_answer *answer, pdk_status status) {
    ck_assert_msg(ts_answer_wait(answer, ts_patience(IN_TIME_MS)), "%s: no answer", r->name);
    const pdk_status came = ts_answer_status(answer);
    ck_assert_msg(came == status, "%s: %s instead of %s", r->name, pdk_status_name(came), pdk_status_name(status));
    assert_recipe(r, ts_answer_count(answer) == 1);
    assert_recipe(r, ts_answer_holds(answer) == (status == PDK_OK));
    assert_recipe(r, status != PDK_OK || ts_answer_is_valid(answer));
}

/* ---- nodes */

static int nodes_below(ts_observer *o, const char *path) {
    g_auto(GStrv) names = ts_observer_children(o, path, NULL);
    int count = 0;
    for (char **name = names; name && *name; name++) {
        g_autofree char *below = g_strdup_printf("%s/%s", path, *name);
        count += strstr(*name, "_c_") ? 1 : nodes_below(o, below);
    }
    return count;
}

int recipe_nodes(const char *path) {
    ts_observer *o = ts_observer_open(ts_bench_server());
    ck_assert_ptr_nonnull(o);
    const int count = nodes_below(o, path);
    ts_observer_close(o);
    return count;
}

void recipe_await_nodes(const recipe *r, const char *path, int count) {
    const int64_t end = ts_now_ms() + ts_patience(IN_TIME_MS);
    for (int now; (now = recipe_nodes(path)) != count; ts_sleep_ms(5))
        ck_assert_msg(ts_now_ms() < end, "%s: %d nodes instead of %d", r->name, now, count);
}

void recipe_await_waits(const recipe *r, ts_answer *answer, const char *path, int ahead) {
    const int64_t end = ts_now_ms() + ts_patience(IN_TIME_MS);
    int32_t position;
    recipe_await_nodes(r, path, ahead + r->waiting);
    if (!r->start && !r->start_set)
        return; /* a thread's claim tells no position */
    while (ts_answer_position(answer, &position) == PDK_UNAVAILABLE) {
        ck_assert_msg(ts_now_ms() < end, "%s: no position", r->name);
        ts_sleep_ms(1);
    }
}

/* ---- tests */

void recipes_each(Suite *suite, const TTest *test, int variations) {
    static TCase *cases[RECIPES];
    static Suite *of;
    for (int i = 0; i < RECIPES; i++) {
        if (of != suite)
            cases[i] = ts_bench_case(suite, recipes[i].name);
        for (int v = 0; v < variations; v++)
            tcase_add_loop_test(cases[i], test, v * RECIPES + i, v * RECIPES + i + 1);
    }
    of = suite;
}
