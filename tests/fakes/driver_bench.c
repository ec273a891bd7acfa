#include "driver_bench.h"

#include "session/chores.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_client.h"
#include "sim_thread.h"

#include <string.h>

#define PERMITS 2

bool (*driver_refuses)(const struct pdk__request *request);
const char *(*driver_redirects)(const struct pdk__request *request);
const char *driver_unresolved;
pdk_status driver_opening;
uint32_t driver_openings, driver_requests, driver_seen[PDK__OP_SYNC + 1];
struct driver_user driver_users[2], *const one = &driver_users[0], *const two = &driver_users[1];
struct fault fault;

/* ---- the platform of the first process */

static bool submit(pdk__zk *zk, const struct pdk__request *request) {
    driver_requests++;
    driver_seen[request->kind]++;
    if (driver_refuses && driver_refuses(request))
        return false;
    struct pdk__request sent = *request;
    const char *elsewhere = driver_redirects ? driver_redirects(request) : NULL;
    if (elsewhere)
        sent.path = elsewhere;
    return sim_client_calls.submit(zk, &sent);
}

static pdk_status open_client(const struct pdk__zk_config *config, pdk__zk **out) {
    driver_openings++;
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

void driver_forget_seen(void) { memset(driver_seen, 0, sizeof driver_seen); }

static bool refuses(const struct pdk__request *request) {
    if (request->kind != fault.kind || !strstr(request->path, fault.part))
        return false;
    fault.seen++;
    if (fault.refuse > 0) {
        fault.refuse--;
        return true;
    }
    if (fault.code != 0)
        sim_answer_about(platform_ensemble, sim_client_session(&first->process), request->path, fault.code,
                         fault.executed);
    if (!fault.always)
        fault.code = 0;
    if (fault.act)
        fault.act();
    fault.act = NULL;
    return false;
}

void driver_arm(enum pdk__op_kind kind, const char *part) {
    fault = (struct fault){.kind = kind, .part = part};
    driver_refuses = refuses;
}

void driver_spoil(enum pdk__op_kind kind, const char *part, int32_t code, bool executed) {
    driver_arm(kind, part);
    fault.refuse = code == 0;
    fault.code = code;
    fault.executed = executed;
}

void driver_step_until_seen(void) {
    for (const int64_t until = platform_agenda.now + 60 * SECOND; fault.seen == 0; platform_step())
        ck_assert_msg(platform_agenda.now < until, "no such request: kind %d", (int)fault.kind);
}

static void block_answers(bool blocked) {
    for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
        sim_net_block(&platform_net, i, first->process.host, blocked);
}

void driver_hold_answers_back(void) { block_answers(true); }
void driver_let_answers_come(void) { block_answers(false); }

void driver_block_requests(bool blocked) {
    for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
        sim_net_block(&platform_net, first->process.host, i, blocked);
}

void driver_hold_up(int64_t ns) {
    sim_process_pause(&first->process, true);
    platform_pass(ns);
    sim_process_pause(&first->process, false);
}

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
    (void)hold;
    ((struct driver_user *)user)->elected++;
}

static void on_deposed(pdk_reason reason, void *user) {
    (void)reason;
    ((struct driver_user *)user)->deposed++;
}

static void on_failed(pdk_status status, void *user) {
    (void)status;
    ((struct driver_user *)user)->candidacy_failed++;
}

static void on_leader(const char *identity, int64_t token, void *user) {
    struct driver_user *u = user;
    (void)token;
    u->told++;
    g_strlcpy(u->leader, identity ? identity : "", sizeof u->leader);
}

void answered(pdk_status status, pdk_hold *hold, void *user) {
    struct answer *answer = user;
    answer->status = status;
    answer->hold = hold;
    answer->count++;
    answer->granted += status == PDK_OK;
}

void answer_release(struct answer *answer) {
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&answer->hold)), PDK_OK);
}

/* ---- what the two do */

void driver_join(struct driver_user *u) {
    pdk_election_callbacks calls_back = PDK_ELECTION_CALLBACKS_INIT;
    calls_back.elected = on_elected;
    calls_back.deposed = on_deposed;
    calls_back.failed = on_failed;
    calls_back.leader = on_leader;
    calls_back.user = u;
    ck_assert_int_eq(pdk_election_join(u->election, &calls_back), PDK_OK);
}

void driver_leave(struct driver_user *u) { pdk_election_leave(u->election); }

void driver_want_permits(struct driver_user *u, int32_t count, int64_t timeout_ms) {
    u->wanted++;
    ck_assert_int_eq(pdk_semaphore_acquire_async(u->semaphore, count, timeout_ms, on_claim, u, NULL), PDK_OK);
}

void driver_want_lock(struct driver_user *u) {
    u->wanted++;
    ck_assert_int_eq(pdk_lock_acquire_async(u->lock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
}

void driver_drop_lock(struct driver_user *u) { pdk_lock_unref(g_steal_pointer(&u->lock)); }

void driver_want_all(struct driver_user *u) {
    driver_want_lock(u);
    u->wanted += 3;
    ck_assert_int_eq(pdk_rwlock_acquire_read_async(u->rwlock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(u->rwlock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_read_async(u->rwlock, PDK_FOREVER, on_claim, u, NULL), PDK_OK);
    driver_want_permits(u, PERMITS, PDK_FOREVER);
    driver_want_permits(u, 1, 0);
    driver_join(u);
}

void driver_release_all(struct driver_user *u) {
    while (u->holds_count > 0)
        pdk_hold_release(u->holds[--u->holds_count]);
}

static void gives_back(void *subject, void *what) {
    struct driver_user *u = subject;
    driver_release_all(u);
    pdk_lock_unref(g_steal_pointer(&u->lock));
    pdk_rwlock_unref(g_steal_pointer(&u->rwlock));
    pdk_semaphore_unref(g_steal_pointer(&u->semaphore));
    pdk_election_unref(g_steal_pointer(&u->election));
    rival_gives_back(u->rival, NULL);
    if (what)
        (*(void (**)(void))what)();
}

void driver_give_back(struct driver_user *u) { gives_back(u, NULL); }

void driver_kill(struct driver_user *u, void (*give_back)(void)) {
    sim_dispose(&u->rival->process, gives_back, u, &give_back);
}

static void dispose(void) {
    for (int i = 0; i < 2; i++)
        if (driver_users[i].rival)
            sim_dispose(&rivals[i].process, gives_back, &driver_users[i], NULL);
    memset(driver_users, 0, sizeof driver_users);
}

static void make(struct driver_user *u) {
    pdk_session *s = u->rival->session;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = u == one ? "first" : "second";
    ck_assert_int_eq(pdk_lock_new(s, "/locks/lock", NULL, &u->lock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_new(s, "/locks/rwlock", NULL, &u->rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(s, "/locks/permits", PERMITS, NULL, &u->semaphore), PDK_OK);
    ck_assert_int_eq(pdk_election_new(s, "/locks/office", &options, &u->election), PDK_OK);
}

void driver_begin(void) {
    dispose();
    platform_end();
    platform_begin(1);
    driver_refuses = NULL;
    driver_redirects = NULL;
    driver_requests = driver_openings = 0;
    driver_forget_seen();
    platform = sim_platform;
    calls = sim_client_calls;
    calls.open = open_client;
    calls.submit = submit;
    platform.zk = &calls;
    platform.look_up = look_up;
    driver_unresolved = NULL;
    driver_opening = PDK_OK;
    for (int i = 0; i < 2; i++) {
        driver_users[i] = (struct driver_user){.rival = &rivals[i]};
        rival_open(&rivals[i]);
        if (i == 0)
            first->session->platform = &platform; /* before its first connection */
        make(&driver_users[i]);
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
    static const char *const dirs[] = {"/app/locks/lock", "/app/locks/rwlock", "/app/locks/permits/locks",
                                       "/app/locks/permits/leases", "/app/locks/office"};
    size_t all = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(dirs); i++)
        all += platform_children(dirs[i]);
    return all;
}

void driver_fill_watches(struct driver_user *u, size_t bytes) {
    pdk__lock(u->rival->session);
    u->rival->session->watched_bytes += bytes;
    pdk__unlock(u->rival->session);
}
