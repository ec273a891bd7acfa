#include "answers.h"

#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

struct answered it;

/* ---- the callbacks */

static void take(pdk_status status, struct told *t) {
    t->status = status;
    t->words = status == PDK_OK ? NULL : g_strdup(pdk_last_error());
    t->thread = g_thread_self();
    t->at_ns = ts_now_ns();
    t->inside = t->call ? t->call->block() : PDK_WRONG_THREAD;
    if (t->call && t->inside == PDK_WRONG_THREAD &&
        !(strstr(pdk_last_error(), t->call->name) && strstr(pdk_last_error(), "callback")))
        t->inside = PDK_SYSTEM;
    if (t->chain)
        answers_ask((int)(t->chain->call - calls), PATIENCE_MS, t->chain);
    atomic_fetch_add(&t->count, 1);
}

void answers_status(pdk_status status, void *told) {
    struct told *t = told;
    if (status == PDK_OK && t->call == &calls[END])
        it.run = NULL;
    if (status == PDK_OK && t->call == &calls[GIVE])
        it.leased = NULL;
    take(status, t);
}

void answers_list(pdk_status status, pdk_contenders *list, void *told) {
    ck_assert(!list == (status != PDK_OK));
    ((struct told *)told)->listed = pdk_contenders_count(list);
    pdk_contenders_free(list);
    take(status, told);
}

void answers_runs(pdk_status status, pdk_job_runs *runs, void *told) {
    ck_assert(!runs == (status != PDK_OK));
    ((struct told *)told)->listed = pdk_job_runs_count(runs);
    ((struct told *)told)->runs = runs;
    take(status, told);
}

void answers_opened(pdk_status status, pdk_guarded *guarded, void *told) {
    ck_assert(!guarded == (status != PDK_OK));
    ((struct told *)told)->guarded = guarded;
    take(status, told);
}

void answers_read(pdk_status status, const void *data, size_t size, void *told) {
    ck_assert(status == PDK_OK || (!data && size == 0));
    ck_assert(!data == (size == 0));
    ((struct told *)told)->data = g_strndup(data ? data : "", size);
    take(status, told);
}

void answers_acquired(pdk_status status, pdk_hold *hold, void *told) {
    ck_assert(!hold == (status != PDK_OK));
    ((struct told *)told)->hold = hold;
    take(status, told);
}

void answers_begun(pdk_status status, pdk_hold *hold, pdk_job_runs *runs, void *told) {
    ck_assert(!runs == (status != PDK_SKIPPED));
    ((struct told *)told)->runs = runs;
    answers_acquired(status, hold, told);
}

/* ---- the calls */

/* The forms that block are given no time, and give nothing. */
static struct {
    pdk_contenders *list;
    pdk_job_runs *runs;
    pdk_hold *hold;
    pdk_guarded *guarded;
    size_t size;
} none;

static pdk_status holder_async(int64_t ms, struct told *t) {
    return pdk_lock_holder_async(it.lock, ms, answers_list, t);
}
static pdk_status holder_now(void) { return pdk_lock_holder(it.lock, 0, &none.list); }
static pdk_status list_async(int64_t ms, struct told *t) { return pdk_lock_list_async(it.lock, ms, answers_list, t); }
static pdk_status list_now(void) { return pdk_lock_list(it.lock, 0, &none.list); }
static pdk_status readers_async(int64_t ms, struct told *t) {
    return pdk_rwlock_list_async(it.rwlock, ms, answers_list, t);
}
static pdk_status readers_now(void) { return pdk_rwlock_list(it.rwlock, 0, &none.list); }
static pdk_status permits_async(int64_t ms, struct told *t) {
    return pdk_semaphore_holders_async(it.semaphore, ms, answers_list, t);
}
static pdk_status permits_now(void) { return pdk_semaphore_holders(it.semaphore, 0, &none.list); }
static pdk_status leader_async(int64_t ms, struct told *t) {
    return pdk_election_leader_async(it.election, ms, answers_list, t);
}
static pdk_status leader_now(void) { return pdk_election_leader(it.election, 0, &none.list); }
static pdk_status candidates_async(int64_t ms, struct told *t) {
    return pdk_election_list_async(it.election, ms, answers_list, t);
}
static pdk_status candidates_now(void) { return pdk_election_list(it.election, 0, &none.list); }
static pdk_status proof_async(int64_t ms, struct told *t) {
    return pdk_session_check_sequencer_async(it.client->session, it.proof, ms, answers_status, t);
}
static pdk_status proof_now(void) { return pdk_session_check_sequencer(it.client->session, it.proof, 0); }
static pdk_status wish_async(int64_t ms, struct told *t) {
    return pdk_session_request_release_async(it.client->session, answers_path("held"), NULL, "a test", 0, ms,
                                             answers_status, t);
}
static pdk_status wish_now(void) {
    return pdk_session_request_release(it.client->session, answers_path("held"), NULL, "a test", 0, 0);
}
static pdk_status history_async(int64_t ms, struct told *t) {
    return pdk_job_history_async(it.client->session, answers_path("history"), ms, answers_runs, t);
}
static pdk_status history_now(void) {
    return pdk_job_history(it.client->session, answers_path("history"), 0, &none.runs);
}
static pdk_status ensure_async(int64_t ms, struct told *t) {
    (void)ms;
    return pdk_hold_ensure_async(it.own, 1, answers_status, t);
}
static pdk_status ensure_now(void) { return pdk_hold_ensure(it.own, 1); }
static pdk_status break_async(int64_t ms, struct told *t) {
    return pdk_session_break_async(it.client->session, it.victim, it.victim_token, ms, answers_list, t);
}
static pdk_status break_now(void) {
    return pdk_session_break(it.client->session, it.victim, it.victim_token, 0, &none.list);
}
static pdk_status open_async(int64_t ms, struct told *t) {
    return pdk_guarded_open_async(it.guards, answers_path("opened"), ms, answers_opened, t);
}
static pdk_status open_now(void) { return pdk_guarded_open(it.guards, "/t/other", 0, &none.guarded); }
static pdk_status read_async(int64_t ms, struct told *t) {
    return pdk_guarded_read_async(it.read, ms, answers_read, t);
}
static pdk_status read_now(void) { return pdk_guarded_read(it.read, NULL, 0, &none.size, 0); }
/* The bytes are copied. */
static pdk_status write_async(int64_t ms, struct told *t) {
    char data[] = "written";
    pdk_status status = pdk_guarded_write_async(it.write, data, strlen(data), ms, answers_status, t);
    memset(data, 'x', sizeof data);
    return status;
}
static pdk_status write_now(void) { return pdk_guarded_write(it.write, "x", 1, 0); }
static pdk_status create_async(int64_t ms, struct told *t) {
    return pdk_guarded_create_async(it.create, "created", 7, ms, answers_status, t);
}
static pdk_status create_now(void) { return pdk_guarded_create(it.create, "x", 1, 0); }
static pdk_status remove_async(int64_t ms, struct told *t) {
    return pdk_guarded_delete_async(it.remove, ms, answers_status, t);
}
static pdk_status remove_now(void) { return pdk_guarded_delete(it.remove, 0); }
static pdk_status ask_async(int64_t ms, struct told *t) { return pdk_job_acquire_async(it.asks, ms, answers_begun, t); }
static pdk_status ask_now(void) { return pdk_job_acquire(it.asks, 0, &none.hold, NULL); }
static pdk_status end_async(int64_t ms, struct told *t) {
    return pdk_job_finish_async(it.ends, it.run, 7, ms, answers_status, t);
}
/* NOT_HELD: the hold is given back already. */
static pdk_status end_now(void) { return it.run ? pdk_job_finish(it.ends, it.run, 0, 0) : PDK_NOT_HELD; }
static pdk_status take_async(int64_t ms, struct told *t) {
    return pdk_lease_lock_acquire_async(it.takes, ms, answers_acquired, t);
}
static pdk_status take_now(void) { return pdk_lease_lock_acquire(it.takes, 0, &none.hold); }
static pdk_status give_async(int64_t ms, struct told *t) {
    return pdk_lease_lock_release_async(it.gives, it.leased, ms, answers_status, t);
}
static pdk_status give_now(void) { return it.leased ? pdk_lease_lock_release(it.gives, it.leased, 0) : PDK_NOT_HELD; }
static pdk_status publish_async(int64_t ms, struct told *t) {
    return pdk_election_publish_async(it.office, it.led, "published", 9, ms, answers_status, t);
}
static pdk_status publish_now(void) { return pdk_election_publish(it.office, it.led, "x", 1, 0); }
static pdk_status set_async(int64_t ms, struct told *t) {
    return pdk_member_set_data_async(it.member, "set", 3, ms, answers_status, t);
}
static pdk_status set_now(void) { return pdk_member_set_data(it.member, "x", 1, 0); }

const struct call calls[CALLS] = {
    [HOLDER] = {"pdk_lock_holder", holder_async, holder_now, 1},
    [LIST] = {"pdk_lock_list", list_async, list_now, 2},
    [READERS] = {"pdk_rwlock_list", readers_async, readers_now, 1},
    [PERMITS] = {"pdk_semaphore_holders", permits_async, permits_now, 1},
    [LEADER] = {"pdk_election_leader", leader_async, leader_now, 1},
    [CANDIDATES] = {"pdk_election_list", candidates_async, candidates_now, 1},
    [PROOF] = {"pdk_session_check_sequencer", proof_async, proof_now, 0},
    [WISH] = {"pdk_session_request_release", wish_async, wish_now, 0},
    [HISTORY] = {"pdk_job_history", history_async, history_now, 1},
    [ENSURE] = {"pdk_hold_ensure", ensure_async, ensure_now, 0},
    [BREAK] = {"pdk_session_break", break_async, break_now, 1},
    [OPEN] = {"pdk_guarded_open", open_async, open_now, 0},
    [READ] = {"pdk_guarded_read", read_async, read_now, 0},
    [WRITE] = {"pdk_guarded_write", write_async, write_now, 0},
    [CREATE] = {"pdk_guarded_create", create_async, create_now, 0},
    [REMOVE] = {"pdk_guarded_delete", remove_async, remove_now, 0},
    [ASK] = {"pdk_job_acquire", ask_async, ask_now, 0},
    [END] = {"pdk_job_finish", end_async, end_now, 0},
    [TAKE] = {"pdk_lease_lock_acquire", take_async, take_now, 0},
    [GIVE] = {"pdk_lease_lock_release", give_async, give_now, 0},
    [PUBLISH] = {"pdk_election_publish", publish_async, publish_now, 0},
    [SET] = {"pdk_member_set_data", set_async, set_now, 0},
};

void answers_ask(int call, int64_t timeout_ms, struct told *told) {
    told->call = &calls[call];
    pdk_status status = calls[call].start(timeout_ms, told);
    if (status != PDK_OK)
        ck_abort_msg("%s_async: %s: %s", calls[call].name, pdk_status_name(status), pdk_last_error());
}

bool answers_is_told(void *told) { return atomic_load(&((struct told *)told)->count) > 0; }

void answers_expect(struct told *t, pdk_status status) {
    const char *name = t->call->name;
    ck_assert_msg(ts_wait_until(answers_is_told, t, ts_patience(PATIENCE_MS)), "%s: no answer", name);
    ck_assert_msg(t->status == status, "%s: %s instead of %s (%s)", name, pdk_status_name(t->status),
                  pdk_status_name(status), t->words);
    ck_assert_msg(status == PDK_OK || strstr(t->words, name), "%s: \"%s\"", name, t->words);
    ck_assert_msg(status != PDK_OK || t->listed == t->call->listed, "%s: %zu are listed", name, t->listed);
    bool over = (t->inside == PDK_CLOSED && status != PDK_OK) || (t->inside == PDK_NOT_HELD && status == PDK_OK);
    ck_assert_msg(t->inside == PDK_WRONG_THREAD || over, "%s: in a callback: %s", name, pdk_status_name(t->inside));
}

void answers_done(struct told *t) {
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

static void keep(void *object, void (*drop)(void *object)) { ts_paddock_keep(object, drop); }
static void drop_hold(void *hold) { pdk_hold_unref(hold); }
static void drop_election(void *election) { pdk_election_unref(election); }

const char *answers_path(const char *name) {
    char *path = g_strdup_printf("%s-%s", it.base, name);
    keep(path, g_free);
    return path;
}

static pdk_hold *held(const ts_client *client, const char *name) {
    pdk_hold *hold = ts_bench_acquire(ts_lock(client, answers_path(name)), PATIENCE_MS);
    keep(hold, drop_hold);
    return hold;
}

static pdk_rwlock *rwlock_of(const ts_client *client) {
    pdk_rwlock *lock = NULL;
    ck_assert_int_eq(pdk_rwlock_new(client->session, answers_path("rwlock"), NULL, &lock), PDK_OK);
    keep(lock, (void (*)(void *))pdk_rwlock_unref);
    return lock;
}

static pdk_semaphore *semaphore_of(const ts_client *client) {
    pdk_semaphore *semaphore = NULL;
    ck_assert_int_eq(pdk_semaphore_new(client->session, answers_path("semaphore"), 2, NULL, &semaphore), PDK_OK);
    keep(semaphore, (void (*)(void *))pdk_semaphore_unref);
    return semaphore;
}

static pdk_election *election_of(const ts_client *client, const char *name) {
    pdk_election *election = NULL;
    ck_assert_int_eq(pdk_election_new(client->session, answers_path(name), NULL, &election), PDK_OK);
    keep(election, drop_election);
    return election;
}

static pdk_hold *led(pdk_election *election) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_election_join(election, NULL), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(election, PATIENCE_MS, &hold), PDK_OK);
    keep(hold, drop_hold);
    return hold;
}

static pdk_job *job_of(const ts_client *client, const char *name) {
    pdk_job *job = NULL;
    ck_assert_int_eq(pdk_job_new(client->session, answers_path(name), NULL, &job), PDK_OK);
    keep(job, (void (*)(void *))pdk_job_unref);
    return job;
}

pdk_lease_lock *answers_lease(const char *name, const char *secret) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    options.secret = secret;
    ck_assert_int_eq(pdk_lease_lock_new(it.client->session, answers_path(name), &options, &lock), PDK_OK);
    keep(lock, (void (*)(void *))pdk_lease_lock_unref);
    return lock;
}

static pdk_guarded *opened(const char *name, const char *payload) {
    pdk_guarded *g = NULL;
    pdk_status status = pdk_guarded_open(it.guards, answers_path(name), PATIENCE_MS, &g);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    if (payload)
        ck_assert_int_eq(pdk_guarded_create(g, payload, strlen(payload), PATIENCE_MS), PDK_OK);
    return g;
}

/* What another client holds. */
static void fill(const ts_client *client) {
    pdk_hold *hold = NULL, *victim = held(client, "victim");
    it.proof = g_strdup(pdk_hold_sequencer(held(client, "held")));
    it.victim = g_strdup(pdk_hold_node(victim));
    it.victim_token = pdk_hold_token(victim);
    ts_acquire_async(ts_lock(client, answers_path("held")), PDK_FOREVER);
    ck_assert_int_eq(pdk_rwlock_acquire_read(rwlock_of(client), PATIENCE_MS, &hold), PDK_OK);
    keep(hold, drop_hold);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore_of(client), 1, PATIENCE_MS, &hold), PDK_OK);
    keep(hold, drop_hold);
    led(election_of(client, "election"));
    pdk_job *job = job_of(client, "history");
    ck_assert_int_eq(pdk_job_acquire(job, PATIENCE_MS, &hold, NULL), PDK_OK);
    ck_assert_int_eq(pdk_job_finish(job, hold, 0, PATIENCE_MS), PDK_OK);
}

static void own(void) {
    it.own = held(it.client, "own");
    it.guards = held(it.client, "guards");
    it.read = opened("read", "payload");
    it.write = opened("write", "first");
    it.create = opened("create", NULL);
    it.remove = opened("remove", "gone soon");
    it.asks = job_of(it.client, "asks");
    it.ends = job_of(it.client, "ends");
    it.takes = answers_lease("takes", "the secret of a test");
    it.gives = answers_lease("gives", "the secret of a test");
    it.office = election_of(it.client, "office");
    it.led = led(it.office);
    ck_assert_int_eq(pdk_job_acquire(it.ends, PATIENCE_MS, &it.run, NULL), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_acquire(it.gives, PATIENCE_MS, &it.leased), PDK_OK);
    ck_assert_int_eq(pdk_group_join(it.client->session, answers_path("group"), "zero", 4, NULL, &it.member), PDK_OK);
}

void answers_begin_with(pdk_dispatch dispatch, int session_ms, int request_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    options.request_timeout_ms = request_ms;
    options.dispatch = (int32_t)dispatch;
    options.server_tick_ms = 200; /* with T/2 a renewal gives less */
    memset(&it, 0, sizeof it);
    it.base = g_strdup(ts_fresh_path());
    fill(ts_bench_client(SLOW_MS));
    it.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    it.lock = ts_lock(it.client, answers_path("held"));
    it.rwlock = rwlock_of(it.client);
    it.semaphore = semaphore_of(it.client);
    it.election = election_of(it.client, "election");
    own();
}

void answers_begin(pdk_dispatch dispatch) { answers_begin_with(dispatch, SLOW_MS, PATIENCE_MS); }

void answers_end(void) {
    pdk_guarded_close(it.read);
    pdk_guarded_close(it.write);
    pdk_guarded_close(it.create);
    pdk_guarded_close(it.remove);
    pdk_hold_unref(it.run);
    pdk_hold_unref(it.leased);
    pdk_member_unref(it.member);
    g_free(it.base);
    g_free(it.proof);
    g_free(it.victim);
    memset(&it, 0, sizeof it);
}
