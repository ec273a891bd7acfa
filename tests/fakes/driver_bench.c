#include "driver_bench.h"

#include "session/session.h"
#include "sim_client.h"

#include <string.h>

#define PERMITS 2

bool (*driver_refuses)(const struct pdk__request *request);
const char *(*driver_redirects)(const struct pdk__request *request);
const char *driver_unresolved;
pdk_status driver_opening;
uint32_t driver_requests;
struct driver_user driver_users[2];

static bool submit(pdk__zk *zk, const struct pdk__request *request) {
    driver_requests++;
    if (driver_refuses && driver_refuses(request))
        return false;
    struct pdk__request sent = *request;
    const char *elsewhere = driver_redirects ? driver_redirects(request) : NULL;
    if (elsewhere)
        sent.path = elsewhere;
    return sim_client_calls.submit(zk, &sent);
}

static pdk_status open_client(const struct pdk__zk_config *config, pdk__zk **out) {
    return driver_opening == PDK_OK ? sim_client_calls.open(config, out) : driver_opening;
}

static bool look_up(struct pdk__names *names, unsigned index, const char *name) {
    if (driver_unresolved)
        pdk__names_found(names, index, NULL, driver_unresolved);
    return driver_unresolved || sim_platform.look_up(names, index, name);
}

static struct pdk__zk_calls calls;
static struct pdk__platform platform;

void driver_answers_within(int64_t late) { platform.late = late; }

/* ---- what is heard */

static void on_claim(pdk_status status, pdk_hold *hold, void *user) {
    struct driver_user *u = user;
    u->answered++;
    if (status != PDK_OK) {
        u->status = status;
        u->failed++;
        return;
    }
    u->granted++;
    ck_assert_uint_lt(u->holds_count, G_N_ELEMENTS(u->holds));
    u->holds[u->holds_count++] = hold;
}

static void on_elected(pdk_hold *hold, void *user) {
    struct driver_user *u = user;
    (void)hold;
    u->elected++;
}

static void on_deposed(pdk_reason reason, void *user) {
    struct driver_user *u = user;
    (void)reason;
    u->deposed++;
}

static void on_failed(pdk_status status, void *user) {
    struct driver_user *u = user;
    (void)status;
    u->candidacy_failed++;
}

static void on_leader(const char *identity, int64_t token, void *user) {
    struct driver_user *u = user;
    (void)token;
    u->told++;
    g_strlcpy(u->leader, identity ? identity : "", sizeof u->leader);
}

/* ---- in the process */

static void make_in(void *subject, void *what) {
    struct driver_user *u = subject;
    pdk_session *s = u->rival->session;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    (void)what;
    options.identity = u == &driver_users[0] ? "first" : "second";
    ck_assert_int_eq(pdk_lock_new(s, "/locks/lock", NULL, &u->lock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_new(s, "/locks/rwlock", NULL, &u->rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(s, "/locks/permits", PERMITS, NULL, &u->semaphore), PDK_OK);
    ck_assert_int_eq(pdk_election_new(s, "/locks/office", &options, &u->election), PDK_OK);
}

static void join_in(void *subject, void *what) {
    struct driver_user *u = subject;
    pdk_election_callbacks calls_back = PDK_ELECTION_CALLBACKS_INIT;
    (void)what;
    calls_back.elected = on_elected;
    calls_back.deposed = on_deposed;
    calls_back.failed = on_failed;
    calls_back.leader = on_leader;
    calls_back.user = u;
    ck_assert_int_eq(pdk_election_join(u->election, &calls_back), PDK_OK);
}

static void leave_in(void *subject, void *what) {
    (void)what;
    pdk_election_leave(((struct driver_user *)subject)->election);
}

struct permits {
    int32_t count;
    int64_t timeout_ms;
};

static void want_permits_in(void *subject, void *what) {
    struct driver_user *u = subject;
    const struct permits *permits = what;
    u->wanted++;
    ck_assert_int_eq(pdk_semaphore_acquire_async(u->semaphore, permits->count, permits->timeout_ms, on_claim, u, NULL),
                     PDK_OK);
}

static void want_lock_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    u->wanted++;
    ck_assert_int_eq(pdk_lock_acquire_async(u->lock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
}

/* The last reference cancels its claims. */
static void drop_lock_in(void *subject, void *what) {
    (void)what;
    pdk_lock_unref(g_steal_pointer(&((struct driver_user *)subject)->lock));
}

static void want_all_in(void *subject, void *what) {
    struct driver_user *u = subject;
    struct permits all = {PERMITS, PDK_FOREVER}, one = {1, 0};
    want_lock_in(u, what);
    u->wanted += 3;
    ck_assert_int_eq(pdk_rwlock_acquire_read_async(u->rwlock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(u->rwlock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_read_async(u->rwlock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
    want_permits_in(u, &all);
    want_permits_in(u, &one);
    join_in(u, what);
}

static void release_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    while (u->holds_count > 0)
        pdk_hold_release(u->holds[--u->holds_count]);
}

static void gives_back_in(void *subject, void *what) {
    struct driver_user *u = subject;
    release_in(u, what);
    pdk_lock_unref(g_steal_pointer(&u->lock));
    pdk_rwlock_unref(g_steal_pointer(&u->rwlock));
    pdk_semaphore_unref(g_steal_pointer(&u->semaphore));
    pdk_election_unref(g_steal_pointer(&u->election));
    rival_gives_back(u->rival, what);
}

static void call(struct driver_user *u, sim_event_fn fn, void *what) { sim_call_in(&u->rival->process, fn, u, what); }

/* ---- from outside */

void driver_want_all(struct driver_user *u) { call(u, want_all_in, NULL); }
void driver_want_lock(struct driver_user *u) { call(u, want_lock_in, NULL); }
void driver_drop_lock(struct driver_user *u) { call(u, drop_lock_in, NULL); }
void driver_join(struct driver_user *u) { call(u, join_in, NULL); }
void driver_leave(struct driver_user *u) { call(u, leave_in, NULL); }
void driver_release_all(struct driver_user *u) { call(u, release_in, NULL); }

void driver_want_permits(struct driver_user *u, int32_t count, int64_t timeout_ms) {
    struct permits permits = {count, timeout_ms};
    call(u, want_permits_in, &permits);
}

static void dispose(void) {
    for (int i = 0; i < 2; i++)
        if (driver_users[i].rival)
            sim_dispose(&rivals[i].process, gives_back_in, &driver_users[i], NULL);
    memset(driver_users, 0, sizeof driver_users);
}

void driver_give_back(struct driver_user *u) { call(u, gives_back_in, NULL); }

void driver_begin(void) {
    dispose();
    platform_end();
    platform_begin(1);
    driver_refuses = NULL;
    driver_requests = 0;
    platform = sim_platform;
    calls = sim_client_calls;
    calls.open = open_client;
    calls.submit = submit;
    platform.zk = &calls;
    platform.look_up = look_up;
    driver_unresolved = NULL;
    driver_opening = PDK_OK;
    for (int i = 0; i < 2; i++) {
        struct driver_user *u = &driver_users[i];
        *u = (struct driver_user){.rival = &rivals[i]};
        rival_open(u->rival);
        if (i == 0)
            u->rival->session->platform = &platform; /* before its first connection */
        call(u, make_in, NULL);
    }
    platform_pass(SECOND);
}

void driver_teardown(void) {
    dispose();
    platform_teardown();
}

void driver_pass_and_release(int64_t ns) {
    for (int64_t until = platform_agenda.now + ns; platform_agenda.now < until;) {
        platform_pass(50 * SIM_MS);
        for (int i = 0; i < 2; i++)
            driver_release_all(&driver_users[i]);
    }
}

size_t driver_nodes(void) {
    static const char *const dirs[] = {"lock", "rwlock", "permits/locks", "permits/leases", "office"};
    size_t all = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(dirs); i++) {
        char *path = g_strdup_printf("/app/locks/%s", dirs[i]);
        size_t count = 0;
        if (sim_tree_find(sim_truth(platform_ensemble), path))
            sim_tree_children(sim_truth(platform_ensemble), path, &count);
        all += count;
        g_free(path);
    }
    return all;
}
