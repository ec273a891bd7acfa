#include "answers_rights.h"

#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

struct rights rights;

/* ---- the callbacks */

static void take(pdk_status status, struct told *t) {
    t->status = status;
    t->words = status == PDK_OK ? NULL : g_strdup(pdk_last_error());
    t->thread = g_thread_self();
    t->inside = t->call->block();
    if (t->chain)
        rights_ask((int)(t->chain->call - calls), PATIENCE_MS, t->chain);
    atomic_fetch_add(&t->count, 1);
}

void rights_status(pdk_status status, void *told) {
    struct told *t = told;
    if (status == PDK_OK && t->call == &calls[END])
        rights.run = NULL;
    if (status == PDK_OK && t->call == &calls[GIVE])
        rights.leased = NULL;
    take(status, t);
}

void rights_opened(pdk_status status, pdk_guarded *guarded, void *told) {
    ck_assert(!guarded == (status != PDK_OK));
    ((struct told *)told)->guarded = guarded;
    take(status, told);
}

void rights_read(pdk_status status, const void *data, size_t size, void *told) {
    ck_assert(status == PDK_OK || (!data && size == 0));
    ck_assert(!data == (size == 0));
    ((struct told *)told)->data = g_strndup(data ? data : "", size);
    take(status, told);
}

void rights_acquired(pdk_status status, pdk_hold *hold, void *told) {
    ck_assert(!hold == (status != PDK_OK));
    ((struct told *)told)->hold = hold;
    take(status, told);
}

void rights_begun(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *told) {
    ck_assert(!runs == (status != PDK_SKIPPED));
    ((struct told *)told)->runs = runs;
    rights_acquired(status, hold, told);
}

/* ---- the calls */

static pdk_answered_fn status_fn(const struct told *t) { return t ? rights_status : NULL; }

static pdk_status open_async(int64_t ms, struct told *t) {
    return pdk_guarded_open_async(rights.guards, rights_path("opened"), ms, t ? rights_opened : NULL, t);
}
static pdk_status open_now(void) {
    pdk_guarded *out = NULL;
    return pdk_guarded_open(rights.guards, "/t/other", 0, &out);
}
static pdk_status read_async(int64_t ms, struct told *t) {
    return pdk_guarded_read_async(rights.read, ms, t ? rights_read : NULL, t);
}
static pdk_status read_now(void) {
    size_t size = 0;
    return pdk_guarded_read(rights.read, NULL, 0, &size, 0);
}
/* The bytes are copied. */
static pdk_status write_async(int64_t ms, struct told *t) {
    char data[] = "written";
    pdk_status status = pdk_guarded_write_async(rights.write, data, strlen(data), ms, status_fn(t), t);
    memset(data, 'x', sizeof data);
    return status;
}
static pdk_status write_now(void) { return pdk_guarded_write(rights.write, "x", 1, 0); }
static pdk_status create_async(int64_t ms, struct told *t) {
    return pdk_guarded_create_async(rights.create, "created", 7, ms, status_fn(t), t);
}
static pdk_status create_now(void) { return pdk_guarded_create(rights.create, "x", 1, 0); }
static pdk_status remove_async(int64_t ms, struct told *t) {
    return pdk_guarded_delete_async(rights.remove, ms, status_fn(t), t);
}
static pdk_status remove_now(void) { return pdk_guarded_delete(rights.remove, 0); }
static pdk_status ask_async(int64_t ms, struct told *t) {
    return pdk_job_acquire_async(rights.asks, ms, t ? rights_begun : NULL, t);
}
static pdk_status ask_now(void) {
    pdk_hold *out = NULL;
    return pdk_job_acquire(rights.asks, 0, &out, NULL);
}
static pdk_status end_async(int64_t ms, struct told *t) {
    return pdk_job_finish_async(rights.ends, rights.run, 7, ms, status_fn(t), t);
}
/* Where the hold is not given back yet. */
static pdk_status end_now(void) {
    return rights.run ? pdk_job_finish(rights.ends, rights.run, 0, 0) : PDK_WRONG_THREAD;
}
static pdk_status take_async(int64_t ms, struct told *t) {
    return pdk_lease_lock_acquire_async(rights.takes, ms, t ? rights_acquired : NULL, t);
}
static pdk_status take_now(void) {
    pdk_hold *out = NULL;
    return pdk_lease_lock_acquire(rights.takes, 0, &out);
}
static pdk_status give_async(int64_t ms, struct told *t) {
    return pdk_lease_lock_release_async(rights.gives, rights.leased, ms, status_fn(t), t);
}
static pdk_status give_now(void) {
    return rights.leased ? pdk_lease_lock_release(rights.gives, rights.leased, 0) : PDK_WRONG_THREAD;
}

const struct call calls[CALLS] = {
    [OPEN] = {"pdk_guarded_open", open_async, open_now},
    [READ] = {"pdk_guarded_read", read_async, read_now},
    [WRITE] = {"pdk_guarded_write", write_async, write_now},
    [CREATE] = {"pdk_guarded_create", create_async, create_now},
    [REMOVE] = {"pdk_guarded_delete", remove_async, remove_now},
    [ASK] = {"pdk_job_acquire", ask_async, ask_now},
    [END] = {"pdk_job_finish", end_async, end_now},
    [TAKE] = {"pdk_lease_lock_acquire", take_async, take_now},
    [GIVE] = {"pdk_lease_lock_release", give_async, give_now},
};

void rights_ask(int call, int64_t timeout_ms, struct told *told) {
    told->call = &calls[call];
    pdk_status status = calls[call].start(timeout_ms, told);
    if (status != PDK_OK)
        ck_abort_msg("%s_async: %s: %s", calls[call].name, pdk_status_name(status), pdk_last_error());
}

bool rights_is_told(void *told) { return atomic_load(&((struct told *)told)->count) > 0; }

void rights_expect(struct told *t, pdk_status status) {
    const char *name = t->call->name;
    ck_assert_msg(ts_wait_until(rights_is_told, t, ts_patience(PATIENCE_MS)), "%s: no answer", name);
    ck_assert_msg(t->status == status, "%s: %s instead of %s (%s)", name, pdk_status_name(t->status),
                  pdk_status_name(status), t->words);
    ck_assert_msg(status == PDK_OK || strstr(t->words, name), "%s: \"%s\"", name, t->words);
    bool closed = t->inside == PDK_CLOSED && status != PDK_OK;
    ck_assert_msg(t->inside == PDK_WRONG_THREAD || closed, "%s: in a callback: %s", name, pdk_status_name(t->inside));
}

void rights_done(struct told *t) {
    ck_assert_int_eq(atomic_load(&t->count), 1);
    if (t->hold)
        pdk_hold_release(t->hold);
    pdk_guarded_close(t->guarded);
    pdk_job_runs_free(t->runs);
    g_free(t->data);
    g_free(t->words);
    memset(t, 0, sizeof *t);
}

/* ---- what they are about */

const char *rights_path(const char *name) {
    char *path = g_strdup_printf("%s-%s", rights.base, name);
    ts_paddock_keep(path, g_free);
    return path;
}

static void unref_job(void *job) { pdk_job_unref(job); }
static void unref_lease(void *lock) { pdk_lease_lock_unref(lock); }

pdk_job *rights_job(const ts_client *client, const char *name) {
    pdk_job *job = NULL;
    ck_assert_int_eq(pdk_job_new(client->session, rights_path(name), NULL, &job), PDK_OK);
    ts_paddock_keep(job, unref_job);
    return job;
}

pdk_lease_lock *rights_lease(const ts_client *client, const char *name, const char *secret) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    options.secret = secret;
    ck_assert_int_eq(pdk_lease_lock_new(client->session, rights_path(name), &options, &lock), PDK_OK);
    ts_paddock_keep(lock, unref_lease);
    return lock;
}

static pdk_guarded *opened(const char *name, const char *payload) {
    pdk_guarded *g = NULL;
    pdk_status status = pdk_guarded_open(rights.guards, rights_path(name), PATIENCE_MS, &g);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    if (payload)
        ck_assert_int_eq(pdk_guarded_create(g, payload, strlen(payload), PATIENCE_MS), PDK_OK);
    return g;
}

void rights_begin_with(pdk_dispatch dispatch, int session_ms, int request_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    options.request_timeout_ms = request_ms;
    options.dispatch = (int32_t)dispatch;
    memset(&rights, 0, sizeof rights);
    rights.base = g_strdup(ts_fresh_path());
    rights.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(rights.client);
    rights.guards = ts_bench_acquire(ts_lock(rights.client, rights_path("guards")), PATIENCE_MS);
    rights.read = opened("read", "payload");
    rights.write = opened("write", "first");
    rights.create = opened("create", NULL);
    rights.remove = opened("remove", "gone soon");
    rights.asks = rights_job(rights.client, "asks");
    rights.ends = rights_job(rights.client, "ends");
    rights.takes = rights_lease(rights.client, "takes", "the secret of a test");
    rights.gives = rights_lease(rights.client, "gives", "the secret of a test");
    ck_assert_int_eq(pdk_job_acquire(rights.ends, PATIENCE_MS, &rights.run, NULL), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_acquire(rights.gives, PATIENCE_MS, &rights.leased), PDK_OK);
}

void rights_begin(pdk_dispatch dispatch) { rights_begin_with(dispatch, SLOW_MS, PATIENCE_MS); }

void rights_end(void) {
    pdk_guarded_close(rights.read);
    pdk_guarded_close(rights.write);
    pdk_guarded_close(rights.create);
    pdk_guarded_close(rights.remove);
    pdk_hold_unref(rights.guards);
    pdk_hold_unref(rights.run);
    pdk_hold_unref(rights.leased);
    g_free(rights.base);
    memset(&rights, 0, sizeof rights);
}
