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
static void made(pdk_status status) {
    if (status != PDK_OK) /* Check counts what succeeds, too, and cannot where no test runs */
        ck_abort_msg("%s", pdk_last_error());
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
static void *ref_lock(void *lock) { return pdk_lock_ref(lock); }
static pdk_status start_lock(void *lock, int64_t ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_lock_acquire_async(lock, ms, fn, user, out);
}
static pdk_status block_lock(void *lock, int64_t ms, pdk_hold **out) { return pdk_lock_acquire(lock, ms, out); }

/* ---- read/write locks: a reader waits for a writer, a writer for a reader */

static void *make_rwlock(const ts_client *client, const char *path) {
    pdk_rwlock *lock = NULL;
    made(pdk_rwlock_new(client->session, path, NULL, &lock));
    return lock;
}
static void unref_rwlock(void *lock) { pdk_rwlock_unref(lock); }
static void *ref_rwlock(void *lock) { return pdk_rwlock_ref(lock); }
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

/* ---- semaphores of three permits: one, or two at once */

static void *make_permits(const ts_client *client, const char *path) {
    pdk_semaphore *semaphore = NULL;
    made(pdk_semaphore_new(client->session, path, PERMITS, NULL, &semaphore));
    return semaphore;
}
static void unref_permits(void *semaphore) { pdk_semaphore_unref(semaphore); }
static void *ref_permits(void *semaphore) { return pdk_semaphore_ref(semaphore); }
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

/* ---- striped locks of two stripes: one by its key, any, or both by their keys */

static const char *const keys[STRIPES] = {"one", "a"}; /* of the first stripe, and of the second one */

static void *make_striped(const ts_client *client, const char *path) {
    pdk_striped *striped = NULL;
    made(pdk_striped_new(client->session, path, STRIPES, NULL, &striped));
    return striped;
}
static void unref_striped(void *striped) { pdk_striped_unref(striped); }
static void *ref_striped(void *striped) { return pdk_striped_ref(striped); }
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

/* ---- the table */

#define OBJECT(what) .make = make_##what, .unref = unref_##what, .ref = ref_##what
#define HOLD(what) .start = start_##what, .block = block_##what
#define LOCK .unref = unref_lock, .ref = ref_lock, HOLD(lock), .shares = 1, .waiting = 1
#define SHARED 1000

/* What keeps claims of a semaphore out. */
static const recipe all_permits = {"all permits", OBJECT(permits), .block = block_all_permits, .held = PERMITS};

const recipe recipes[RECIPES] = {
    [RECIPE_LOCK] = {"lock", make_lock, LOCK, .against = &recipes[RECIPE_LOCK], .again = PDK_DEADLOCK, .held = 1},
    [RECIPE_REENTRANT] = {"reentrant", make_reentrant, LOCK, .against = &recipes[RECIPE_LOCK], .again = PDK_OK,
                          .held = 1},
    [RECIPE_DELAYED] = {"delayed", make_delayed, LOCK, .against = &recipes[RECIPE_DELAYED], .again = PDK_DEADLOCK,
                        .held = 2, .left = 1},
    [RECIPE_READ] = {"read", OBJECT(rwlock), HOLD(read), .against = &recipes[RECIPE_WRITE], .shares = SHARED,
                     .again = PDK_DEADLOCK, .held = 1, .waiting = 1},
    [RECIPE_WRITE] = {"write", OBJECT(rwlock), HOLD(write), .against = &recipes[RECIPE_READ], .shares = 1,
                      .again = PDK_DEADLOCK, .held = 1, .waiting = 1},
    [RECIPE_PERMIT] = {"permit", OBJECT(permits), HOLD(permit), .against = &all_permits, .shares = PERMITS,
                       .again = PDK_OK, .held = 1, .waiting = 1, .tried = 1},
    [RECIPE_PERMITS] = {"permits", OBJECT(permits), HOLD(several), .against = &all_permits, .shares = 1,
                        .again = PDK_TIMEOUT, .held = SEVERAL, .waiting = 1, .tried = 1},
    [RECIPE_KEY] = {"key", OBJECT(striped), HOLD(key), .against = &recipes[RECIPE_KEYS], .shares = 1,
                    .again = PDK_DEADLOCK, .held = 1, .waiting = 1},
    [RECIPE_ANY] = {"any", OBJECT(striped), HOLD(any), .against = &recipes[RECIPE_KEYS], .shares = STRIPES,
                    .again = PDK_OK, .held = 1, .waiting = 1 + STRIPES, .tried = 1},
    [RECIPE_KEYS] = {"keys", OBJECT(striped), .block_set = block_keys, .against = &recipes[RECIPE_KEYS], .shares = 1,
                     .again = PDK_DEADLOCK, .held = STRIPES, .waiting = 1},
    [RECIPE_SET] = {"set", make_set, unref_set, .start_set = start_set, .block_set = block_set, .against = &all_permits,
                    .below = "/c", .shares = 1, .again = PDK_DEADLOCK, .held = 2 + SEVERAL, .waiting = 3, .tried = 3},
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

bool recipe_is_async(const recipe *r) { return r->start || r->start_set; }

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

static void nodes_below(ts_observer *o, const char *path, GPtrArray *found) {
    g_auto(GStrv) names = ts_observer_children(o, path, NULL);
    for (char **name = names; name && *name; name++) {
        char *below = g_strdup_printf("%s/%s", path, *name);
        if (strstr(*name, "_c_")) {
            g_ptr_array_add(found, below);
        } else {
            nodes_below(o, below, found);
            g_free(below);
        }
    }
}

static int by_sequence(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    return strcmp(x + strlen(x) - 10, y + strlen(y) - 10);
}

/* Of that session, or of all: 0. */
static GPtrArray *nodes_of(int64_t session, const char *path) {
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    ts_observer *o = ts_observer_open(ts_bench_server());
    ck_assert_ptr_nonnull(o);
    nodes_below(o, path, found);
    for (guint i = found->len; session && i-- > 0;) {
        ts_stat stat = {.ephemeral_owner = 0};
        if (ts_observer_get(o, found->pdata[i], NULL, NULL, &stat) != 0 || stat.ephemeral_owner != session)
            g_ptr_array_remove_index(found, i);
    }
    ts_observer_close(o);
    g_ptr_array_sort(found, by_sequence);
    return found;
}

int recipe_nodes(const char *path) {
    g_autoptr(GPtrArray) found = nodes_of(0, path);
    return (int)found->len;
}

GPtrArray *recipe_nodes_of(const ts_client *client, const char *path) {
    return nodes_of(pdk_session_id(client->session), path);
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
    if (!recipe_is_async(r))
        return; /* a thread's claim tells no position */
    while (ts_answer_position(answer, &position) == PDK_UNAVAILABLE) {
        ck_assert_msg(ts_now_ms() < end, "%s: no position", r->name);
        ts_sleep_ms(1);
    }
}

/* ---- pairs */

void pair_begin(struct pair *p, const recipe *r, int session_ms) {
    p->r = r;
    p->path = ts_fresh_path();
    g_autofree char *below = g_strconcat(p->path, r->below, NULL);
    for (int k = 0; k < 2; k++) {
        p->client[k] = ts_bench_client(session_ms);
        p->object[k] = recipe_at(r, p->client[k], p->path);
        p->against[k] = recipe_at(r->against, p->client[k], below);
    }
}

void pairs_begin(struct pair pairs[RECIPES], int session_ms) {
    for (int i = 0; i < RECIPES; i++)
        pair_begin(&pairs[i], &recipes[i], session_ms);
}

/* The test's thread may claim what it keeps out, and no node is left of the claim. */
ts_answer *pair_obstruct(const struct pair *p, int k) {
    ts_answer *obstacle = recipe_take(p->r->against, p->against[k]);
    ts_answer_detach(obstacle);
    pair_flush(p, k);
    return obstacle;
}

void pair_admit(const struct pair *p, int k, ts_answer *obstacle) {
    assert_recipe(p->r, recipe_release(p->r->against, p->against[k], obstacle) == PDK_OK);
}

static bool is_more(void *user) {
    const struct {
        const char *path;
        int than;
    } *nodes = user;
    return recipe_nodes(nodes->path) > nodes->than;
}

ts_answer *pair_against(const struct pair *p, int k) {
    struct {
        const char *path;
        int than;
    } nodes = {p->path, recipe_nodes(p->path)};
    ts_answer *answer = recipe_async(p->r->against, p->against[k], PDK_FOREVER);
    assert_recipe(p->r, ts_wait_until(is_more, &nodes, ts_patience(IN_TIME_MS)));
    assert_recipe(p->r, ts_answer_count(answer) == 0);
    return answer;
}

void pair_release(const struct pair *p, int k, ts_answer *held) {
    const pdk_status status = recipe_release(p->r, p->object[k], held);
    ck_assert_msg(status == PDK_OK, "%s: release: %s: %s", p->r->name, pdk_status_name(status), pdk_last_error());
}

void pair_flush(const struct pair *p, int k) {
    assert_recipe(p->r, pdk_session_flush(p->client[k]->session, ts_patience(IN_TIME_MS)) == PDK_OK);
}

void pair_expect(const struct pair *p, ts_answer *answer, pdk_status status) { recipe_await(p->r, answer, status); }

ts_answer *pair_waits(const struct pair *p, int k, int ahead) {
    ts_answer *answer = recipe_async(p->r, p->object[k], PDK_FOREVER);
    recipe_await_waits(p->r, answer, p->path, ahead);
    return answer;
}

void pair_assert_waits(const struct pair *p, ts_answer *answer, int64_t for_ms) {
    ck_assert_msg(!ts_answer_wait(answer, for_ms), "%s: answered: %s", p->r->name,
                  pdk_status_name(ts_answer_status(answer)));
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
