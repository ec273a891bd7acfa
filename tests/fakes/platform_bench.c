#include "platform_bench.h"

#include "session/open.h"
#include "session/session.h"
#include "session/supervise.h"

#define SERVERS "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/app"

struct sim_agenda platform_agenda;
struct sim_net platform_net;
struct sim_ensemble *platform_ensemble;
struct rival rivals[RIVALS], *const first = &rivals[0], *const second = &rivals[1];

static const struct sim_ensemble_config config = {
    .servers = PLATFORM_SERVERS,
    .tick = TICK,
    .sync_limit = 20,
    .election_least = 100 * SIM_MS,
    .election_most = 200 * SIM_MS,
    .session_least = 2 * TICK,
    .session_most = 20 * TICK,
    .container_interval = 10 * SECOND,
    .containers = true,
};

/* ---- a client library that refuses requests */

static struct {
    enum pdk__op_kind kind;
    int32_t times, refused;
} refusal;

static bool submit(pdk__zk *zk, const struct pdk__request *request) {
    if (request->kind != refusal.kind || refusal.refused == refusal.times)
        return sim_client_calls.submit(zk, request);
    refusal.refused++;
    return false;
}

static struct pdk__zk_calls calls;
static struct pdk__platform platform;

void platform_refuse(enum pdk__op_kind kind, int32_t times) {
    refusal.kind = kind;
    refusal.times = times;
    refusal.refused = 0;
}

int32_t platform_refused(void) { return refusal.refused; }

/* ---- the actions of a rival, in its process */

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    static const char *const words[] = {"", "connected", "suspended", "restored", "expired", "reopened", "closed"};
    struct rival *r = user;
    (void)time_left_ms;
    ck_assert_ptr_eq(sim_process_current(), &r->process);
    g_string_append_printf(r->events, "%s%s", r->events->len == 0 ? "" : " ", words[event]);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct rival *r = user;
    ck_assert_ptr_eq(hold, r->hold);
    ck_assert(!pdk_hold_is_valid(hold));
    r->lost_at = platform_agenda.now;
    r->reason = reason;
    r->losses++;
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct rival *r = user;
    ck_assert_ptr_eq(sim_process_current(), &r->process);
    r->status = status;
    r->answers++;
    if (status != PDK_OK)
        return;
    ck_assert_ptr_null(r->hold);
    r->hold = hold;
    r->token = pdk_hold_token(hold);
    r->granted_at = platform_agenda.now;
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, r, NULL), PDK_OK);
}

pdk_session *platform_open(const pdk_session_options *options) {
    pdk_session *s;
    ck_assert_int_eq(pdk__session_begin(SERVERS, options, &platform, &s), PDK_OK);
    return s;
}

/* Hold, lock, session: the order does not matter, a reference is a reference. */
void rival_gives_back(void *subject, void *what) {
    struct rival *r = subject;
    (void)what;
    pdk_session_unref(g_steal_pointer(&r->session));
    pdk_hold_unref(g_steal_pointer(&r->hold));
    pdk_lock_unref(g_steal_pointer(&r->lock));
}

/* ---- actions on a rival */

void platform_pass(int64_t ns) {
    int64_t until = platform_agenda.now + ns;
    while (sim_step(&platform_agenda, until))
        ;
}

void platform_step(void) { ck_assert(sim_step(&platform_agenda, INT64_MAX - 1)); }

void rival_open(struct rival *r) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.stats_paths = 1;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    options.on_event = on_event;
    options.on_event_user = r;
    sim_process_enter(&r->process);
    r->session = platform_open(&options);
    sim_process_enter(&first->process);
    ck_assert_int_eq(pdk_lock_new(r->session, "/locks/one", NULL, &r->lock), PDK_OK);
}

void rival_acquire(struct rival *r, int64_t timeout_ms) {
    uint32_t answers = r->answers;
    ck_assert_int_eq(pdk_lock_acquire_async(r->lock, timeout_ms, on_acquired, r, NULL), PDK_OK);
    ck_assert_uint_eq(r->answers, answers);
}

void rival_release(struct rival *r) { r->status = pdk_hold_release(g_steal_pointer(&r->hold)); }

bool rival_is_valid(struct rival *r) { return pdk_hold_is_valid(r->hold); }

void rival_reopen(struct rival *r) {
    pdk__lock(r->session);
    pdk__session_reopen(r->session, "as a test wants it");
    pdk__unlock(r->session);
}

void platform_begin(uint64_t seed) {
    calls = sim_client_calls;
    calls.submit = submit;
    platform = sim_platform;
    platform.zk = &calls;
    platform_refuse(PDK__OP_CREATE, 0);
    sim_agenda_begin(&platform_agenda, seed);
    g_random_set_seed((guint32)seed);
    sim_net_begin(&platform_net, &platform_agenda, SIM_MS / 10, SIM_MS);
    platform_ensemble = sim_ensemble_new(&platform_agenda, &platform_net, &config);
    for (int32_t i = 0; i < config.servers; i++)
        sim_server_start(platform_ensemble, i);
    for (int32_t i = 0; i < RIVALS; i++) {
        struct rival *r = &rivals[i];
        *r = (struct rival){.events = g_string_new(NULL)};
        r->process = (struct sim_process){
            .agenda = &platform_agenda, .ensemble = platform_ensemble, .number = i, .rate = 1, .offset = SECOND};
        r->process.host = SIM_SERVERS + i;
        r->process.slow_least = SIM_MS / 100;
        r->process.slow_most = SIM_MS / 2;
    }
    sim_process_enter(&first->process);
    platform_pass(SECOND);
}

void platform_end(void) {
    for (int32_t i = 0; i < RIVALS; i++) {
        sim_dispose(&rivals[i].process, rival_gives_back, &rivals[i], NULL);
        g_string_free(rivals[i].events, TRUE);
    }
}

void platform_setup(void) {
    sim_agenda_init(&platform_agenda);
    platform_begin(1);
}

void platform_teardown(void) {
    platform_end();
    sim_agenda_free(&platform_agenda);
}

size_t platform_children(const char *dir) {
    size_t count = 0;
    if (sim_tree_find(sim_truth(platform_ensemble), dir))
        sim_tree_children(sim_truth(platform_ensemble), dir, &count);
    return count;
}

size_t platform_contenders(void) { return platform_children("/app/locks/one"); }

const char *platform_child(const char *dir, size_t index) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), dir, &count);
    ck_assert_uint_lt(index, count);
    g_autofree char *path = g_strconcat(dir, "/", names[index], NULL);
    return sim_text(&platform_agenda, path);
}

const struct sim_node *platform_node(const char *path) { return sim_tree_find(sim_truth(platform_ensemble), path); }

void platform_admin(enum sim_op op, const char *path) {
    const struct sim_packet packet = {.kind = SIM_REQUEST, .op = op, .path = path, .data = "theirs"};
    ck_assert(sim_admin(platform_ensemble, &packet));
}

void platform_block(const struct rival *r, bool blocked) {
    for (int32_t i = 0; i < config.servers; i++) {
        sim_net_block(&platform_net, r->process.host, i, blocked);
        sim_net_block(&platform_net, i, r->process.host, blocked);
    }
}
