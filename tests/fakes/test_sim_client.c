/* The simulated client library, where its faults are: connections that are cut and silent, processes that are paused and killed,
 * servers that are behind or too old. Conformance compares all else with libzookeeper.
 *
 * There are two processes with a client library each, on a fake ensemble of three servers. Their drivers write down what they
 * hear, a word each:
 *
 *     connected connecting expired                          states
 *     4=ok 4=none 4=later 4=unknown                         the answer to request 4
 *     4=ok:x-0000000003  4=ok,x,y                           of a create, a list
 *     gone:/a changed:/a children:/a                        watches
 */
#include "sim_client.h"
#include "sim_process.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define SECOND (1000 * SIM_MS)
#define TICK (200 * SIM_MS)
#define TIMEOUT_MS 3000
#define TIMEOUT (TIMEOUT_MS * SIM_MS)
#define SERVERS "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181"

struct bench_client {
    struct sim_process process;
    pdk__zk *zk;
    GString *heard;
    int64_t session, heard_at;
    int32_t asked_ms, timeout_ms; /* the session's timeout: what open asks for, what the servers say */
};

static struct sim_agenda bench_agenda;
static struct sim_net bench_net;
static struct sim_ensemble *bench_ensemble;
static struct bench_client client_a, client_b;

static const struct sim_ensemble_config bench_config = {
    .servers = 3,
    .tick = TICK,
    .sync_limit = 5,
    .election_least = 100 * SIM_MS,
    .election_most = 200 * SIM_MS,
    .session_least = 2 * TICK,
    .session_most = 20 * TICK,
    .containers = true,
};

/* ---- the driver */

static void hear(struct bench_client *c, const char *text) {
    ck_assert_ptr_eq(sim_process_current(), &c->process);
    g_string_append_printf(c->heard, "%s%s", c->heard->len == 0 ? "" : " ", text);
    c->heard_at = bench_agenda.now;
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct bench_client *c = driver;
    static const char *const words[] = {
        [PDK__OK] = "ok", [PDK__NO_NODE] = "none", [PDK__NOT_NOW] = "later", [PDK__UNKNOWN] = "unknown"};
    g_autoptr(GString) text = g_string_new(NULL);
    ck_assert_ptr_eq(zk, c->zk);
    g_string_printf(text, "%d=%s", (int)reply->tag, words[reply->result]);
    if (reply->name)
        g_string_append_printf(text, ":%s", reply->name);
    for (size_t i = 0; i < reply->children_count; i++)
        g_string_append_printf(text, ",%s", reply->children[i]);
    hear(c, text->str);
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    static const char *const words[] = {"changed", "gone", "children"};
    g_autofree char *text = g_strdup_printf("%s:%s", words[event], path);
    (void)zk;
    hear(driver, text);
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session_id, int32_t timeout_ms) {
    static const char *const words[] = {"connected", "connecting", "expired", "auth"};
    struct bench_client *c = driver;
    (void)zk;
    if (state == PDK__ZK_CONNECTED) {
        ck_assert_int_ne(session_id, 0);
        c->session = session_id;
        c->timeout_ms = timeout_ms;
    }
    hear(c, words[state]);
}

static const struct pdk__zk_sink sink = {.reply = on_reply, .watch = on_watch, .state = on_state};

static void client_heard(struct bench_client *c, const char *text) {
    ck_assert_str_eq(c->heard->str, text);
    g_string_truncate(c->heard, 0);
}

/* ---- time and the network */

static void bench_pass(int64_t ns) {
    int64_t until = bench_agenda.now + ns;
    while (sim_step(&bench_agenda, until))
        ;
}

static bool client_awaits(struct bench_client *c, int64_t ns) {
    int64_t until = bench_agenda.now + ns;
    gsize length = c->heard->len;
    while (c->heard->len == length)
        if (!sim_step(&bench_agenda, until))
            return false;
    return true;
}

static void bench_settle(void) {
    bench_pass(SECOND);
    ck_assert(sim_settled(bench_ensemble));
}

static void bench_block(const struct bench_client *c, bool up, bool down, bool blocked) {
    for (int32_t i = 0; i < bench_config.servers; i++) {
        if (up)
            sim_net_block(&bench_net, c->process.host, i, blocked);
        if (down)
            sim_net_block(&bench_net, i, c->process.host, blocked);
    }
}

/* ---- the client's calls, from inside its process */

static void open_in(void *subject, void *what) {
    struct bench_client *c = subject;
    (void)what;
    const struct pdk__zk_config config = {.servers = SERVERS, .timeout_ms = c->asked_ms, .sink = &sink, .driver = c};
    ck_assert_int_eq(sim_client_calls.open(&config, &c->zk), PDK_OK);
}

static void close_in(void *subject, void *what) {
    struct bench_client *c = subject;
    (void)what;
    sim_client_calls.close(c->zk);
    c->zk = NULL;
}

static void submit_in(void *subject, void *what) {
    struct bench_client *c = subject;
    struct pdk__request *request = what;
    if (!sim_client_calls.submit(c->zk, request))
        request->tag = 0;
}

static void call(struct bench_client *c, sim_event_fn fn, void *what) {
    gsize length = c->heard->len;
    (c->process.dead ? sim_call_dead : sim_call_in)(&c->process, fn, c, what);
    if (fn != close_in) /* which alone answers from inside */
        ck_assert_uint_eq(c->heard->len, length);
}

static void client_open(struct bench_client *c) {
    call(c, open_in, NULL);
    bench_pass(SECOND / 2);
    client_heard(c, "connected");
}

static void client_close(struct bench_client *c) { call(c, close_in, NULL); }

static bool try_request(struct bench_client *c, struct pdk__request request) {
    uint64_t tag = request.tag;
    call(c, submit_in, &request);
    return request.tag == tag;
}

static bool client_try(struct bench_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path) {
    return try_request(c, (struct pdk__request){.kind = kind, .tag = tag, .path = path, .container = true});
}

static void client_submit(struct bench_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path) {
    ck_assert(client_try(c, tag, kind, path));
}

/* Both are connected; /l/x-0000000000 is client_b's. */
static void clients_and_a_node(void) {
    client_open(&client_a);
    client_open(&client_b);
    client_submit(&client_b, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_b, 2, PDK__OP_CREATE, "/l/x-");
    bench_settle();
    client_heard(&client_b, "1=ok 2=ok:x-0000000000");
}

/* ---- the fixture */

static void client_init(struct bench_client *c, int32_t number) {
    GString *heard = c->heard ? g_string_truncate(c->heard, 0) : g_string_new(NULL);
    *c = (struct bench_client){.heard = heard, .asked_ms = TIMEOUT_MS};
    c->process = (struct sim_process){
        .agenda = &bench_agenda,
        .ensemble = bench_ensemble,
        .number = number,
        .host = SIM_SERVERS + number,
        .rate = 1,
        .offset = SECOND,
    };
}

static void bench_begin(uint64_t seed, const struct sim_ensemble_config *config) {
    sim_agenda_begin(&bench_agenda, seed);
    sim_net_begin(&bench_net, &bench_agenda, SIM_MS, 2 * SIM_MS);
    bench_ensemble = sim_ensemble_new(&bench_agenda, &bench_net, config);
    for (int32_t i = 0; i < config->servers; i++)
        sim_server_start(bench_ensemble, i);
    client_init(&client_a, 0);
    client_init(&client_b, 1);
    bench_settle();
}

static void bench_setup(void) {
    sim_agenda_init(&bench_agenda);
    bench_begin(1, &bench_config);
}

static void client_end(struct bench_client *c) {
    sim_process_kill(&c->process);
    if (c->zk)
        client_close(c);
    g_string_free(g_steal_pointer(&c->heard), TRUE);
}

static void bench_teardown(void) {
    client_end(&client_a);
    client_end(&client_b);
    sim_agenda_free(&bench_agenda);
}

/* ---- the tests */

START_TEST(a_cut_says_so_and_then_that_nothing_is_known) {
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 2, PDK__OP_LIST, "/l");
    bench_pass(SIM_MS / 2);
    sim_client_cut(&client_a.process);
    client_submit(&client_a, 3, PDK__OP_LIST, "/");
    bench_settle();
    client_heard(&client_a, "connecting 1=unknown 2=unknown 3=unknown connected");
}
END_TEST

START_TEST(what_is_asked_without_a_connection_goes_out_with_the_next) {
    client_open(&client_a);
    sim_client_cut(&client_a.process);
    ck_assert(client_awaits(&client_a, SECOND));
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "connecting connected 1=ok");
}
END_TEST

/* It tries all servers of its list, in any order. */
START_TEST(it_visits_every_server_but_one_that_is_behind) {
    for (int32_t lag = 0; lag < 2; lag++) {
        bool visited[3] = {false};
        bench_begin(7, &bench_config);
        client_open(&client_a);
        int32_t late = (sim_leader(bench_ensemble) + 1) % 3;
        sim_server_lag(bench_ensemble, late, lag * 100 * SECOND);
        for (uint64_t i = 1; i <= 12; i++) {
            client_submit(&client_a, i, PDK__OP_BARRIER, "/");
            bench_pass(SECOND / 4);
            sim_client_cut(&client_a.process);
            bench_pass(SECOND / 4);
            ck_assert_int_ge(sim_client_server(&client_a.process), 0);
            visited[sim_client_server(&client_a.process)] = true;
        }
        for (int32_t i = 0; i < 3; i++)
            ck_assert_msg(visited[i] == (lag == 0 || i != late), "server %d, lag %d", i, lag);
        client_close(&client_a);
    }
}
END_TEST

/* A timeout is what the servers say, and pings keep the session within it. */
START_TEST(the_servers_have_the_last_word_on_the_timeout) {
    client_a.asked_ms = 100;
    client_b.asked_ms = 1000000;
    client_open(&client_a);
    client_open(&client_b);
    ck_assert_int_eq(client_a.timeout_ms, 2 * TICK / SIM_MS);
    ck_assert_int_eq(client_b.timeout_ms, 20 * TICK / SIM_MS);
    bench_pass(30 * TICK);
    client_heard(&client_a, "");
    bench_block(&client_a, false, true, true);
    ck_assert(client_awaits(&client_a, 2 * TICK));
    client_heard(&client_a, "connecting");
}
END_TEST

/* Two thirds of the timeout after the last packet, which is at most a third old; by the process's own clock. */
START_TEST(a_silent_connection_is_given_up) {
    client_a.process.rate = 1.25;
    client_open(&client_a);
    bench_pass(TIMEOUT / 5);
    bench_block(&client_a, false, true, true);
    int64_t since = bench_agenda.now;
    ck_assert(client_awaits(&client_a, 2 * TIMEOUT));
    client_heard(&client_a, "connecting");
    double silent = (double)(client_a.heard_at - since) * client_a.process.rate / (double)TIMEOUT;
    ck_assert_double_gt(silent, 0.33);
    ck_assert_double_le(silent, 0.67);
    bench_block(&client_a, false, true, false);
    bench_settle();
    client_heard(&client_a, "connected");
}
END_TEST

START_TEST(watches_are_set_again_elsewhere) {
    clients_and_a_node();
    ck_assert(
        try_request(&client_a, (struct pdk__request){.kind = PDK__OP_LIST, .tag = 1, .path = "/l", .watch = true}));
    client_submit(&client_a, 2, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    int32_t server = sim_client_server(&client_a.process);
    sim_client_cut(&client_a.process);
    bench_settle();
    client_heard(&client_a, "1=ok,x-0000000000 2=ok connecting connected");
    ck_assert_int_ne(sim_client_server(&client_a.process), server);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "gone:/l/x-0000000000 children:/l");
    sim_client_cut(&client_a.process);
    bench_settle();
    client_heard(&client_a, "connecting connected");
}
END_TEST

START_TEST(a_server_without_containers_gets_a_plain_directory) {
    struct sim_ensemble_config config = bench_config;
    config.containers = false;
    bench_begin(2, &config);
    client_open(&client_a);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    client_submit(&client_a, 2, PDK__OP_STAT, "/l");
    bench_settle();
    client_heard(&client_a, "2=none 1=ok");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l"));
}
END_TEST

START_TEST(a_code_is_the_servers) {
    client_open(&client_a);
    sim_answer_next(bench_ensemble, client_a.session, ZTHROTTLEDOP, false);
    client_submit(&client_a, 1, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "1=later");
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l"));
    sim_answer_next(bench_ensemble, client_a.session, ZOPERATIONTIMEOUT, true);
    client_submit(&client_a, 2, PDK__OP_MKDIR, "/l");
    bench_settle();
    client_heard(&client_a, "2=unknown");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l"));
}
END_TEST

START_TEST(close_answers_everything_but_it_is_still_sent) {
    clients_and_a_node();
    client_submit(&client_b, 3, PDK__OP_MKDIR, "/m");
    client_submit(&client_b, 4, PDK__OP_LIST, "/m");
    client_close(&client_b);
    client_heard(&client_b, "3=unknown 4=unknown");
    bench_settle();
    client_heard(&client_b, "");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/m"));
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    ck_assert_ptr_null(sim_tree_session(sim_truth(bench_ensemble), client_b.session));
}
END_TEST

START_TEST(close_without_a_connection_leaves_the_session_to_its_timeout) {
    clients_and_a_node();
    sim_client_cut(&client_b.process);
    ck_assert(client_awaits(&client_b, SECOND));
    client_close(&client_b);
    bench_pass(TIMEOUT / 2);
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    bench_pass(TIMEOUT);
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
}
END_TEST

START_TEST(a_paused_process_hears_it_all_later) {
    clients_and_a_node();
    client_submit(&client_a, 1, PDK__OP_WATCH, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "1=ok");
    client_submit(&client_a, 2, PDK__OP_STAT, "/l");
    sim_process_pause(&client_a.process, true);
    client_submit(&client_b, 3, PDK__OP_DELETE, "/l/x-0000000000");
    bench_settle();
    client_heard(&client_a, "");
    sim_process_pause(&client_a.process, false);
    bench_pass(20 * SIM_MS);
    client_heard(&client_a, "gone:/l/x-0000000000 2=ok");
    sim_process_pause(&client_a.process, true);
    bench_pass(2 * TIMEOUT);
    sim_process_pause(&client_a.process, false);
    bench_pass(TIMEOUT);
    client_heard(&client_a, "connecting expired");
}
END_TEST

static void count_fired(void *user, int64_t session, const char *path, enum sim_event event) {
    (void)path;
    (void)event;
    if (session == client_b.session)
        ++*(uint32_t *)user;
}

static void ignore_txn(void *user, const struct sim_txn *txn) {
    (void)user;
    (void)txn;
}

START_TEST(a_killed_process_reaches_nobody) {
    uint32_t fired = 0;
    clients_and_a_node();
    client_submit(&client_b, 5, PDK__OP_WATCH, "/l");
    bench_settle();
    client_heard(&client_b, "5=ok");
    sim_observe(bench_ensemble, ignore_txn, count_fired, &fired);
    client_submit(&client_b, 3, PDK__OP_MKDIR, "/m");
    sim_process_kill(&client_b.process); /* the request has not left */
    ck_assert(!client_try(&client_b, 4, PDK__OP_MKDIR, "/n"));
    bench_pass(TIMEOUT / 2);
    ck_assert(sim_admin_set(bench_ensemble, "/l", SIM_SET_DATA, 1));
    bench_pass(TIMEOUT / 10);
    ck_assert_uint_eq(fired, 0); /* the kernel has hung up */
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    bench_pass(TIMEOUT);
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/l/x-0000000000"));
    ck_assert_ptr_null(sim_tree_find(sim_truth(bench_ensemble), "/m"));
    client_heard(&client_b, "");
    client_close(&client_b);
    client_heard(&client_b, "3=unknown");
}
END_TEST

static int64_t rang_at, rang;

static void ring(void *subject, void *what) {
    struct bench_client *c = subject;
    (void)what;
    ck_assert_ptr_eq(sim_process_current(), &c->process);
    rang_at = sim_process_clock(&c->process);
    rang++;
}

START_TEST(a_process_has_a_clock_and_late_threads_of_its_own) {
    client_a.process.rate = 0.9375;
    client_a.process.slow_least = 2 * SIM_MS;
    client_a.process.slow_most = 5 * SIM_MS;
    int64_t clock = sim_process_clock(&client_a.process);
    ck_assert_int_gt(clock, 0);
    for (int i = 0; i < 100; i++) {
        int64_t moment = sim_process_clock(&client_a.process) + 40 * SIM_MS + i;
        sim_run_in(&client_a.process, sim_process_when(&client_a.process, moment), true, ring, &client_a, NULL);
        bench_pass(60 * SIM_MS);
        ck_assert_int_ge(rang_at, moment + 2 * SIM_MS * 15 / 16);
        ck_assert_int_le(rang_at, moment + 5 * SIM_MS);
    }
    ck_assert_int_eq(rang, 100);
    ck_assert_int_eq((sim_process_clock(&client_a.process) - clock + 8) * 16 / 15 / SIM_MS, 6000);
    sim_run_in(&client_a.process, bench_agenda.now + SIM_MS, false, ring, &client_a, NULL);
    sim_process_kill(&client_a.process);
    bench_pass(SECOND);
    ck_assert_int_eq(rang, 100);
}
END_TEST

int main(void) {
    return ts_run("sim_client", bench_setup, bench_teardown, a_cut_says_so_and_then_that_nothing_is_known,
                  what_is_asked_without_a_connection_goes_out_with_the_next,
                  it_visits_every_server_but_one_that_is_behind, the_servers_have_the_last_word_on_the_timeout,
                  a_silent_connection_is_given_up, watches_are_set_again_elsewhere,
                  a_server_without_containers_gets_a_plain_directory, a_code_is_the_servers,
                  close_answers_everything_but_it_is_still_sent,
                  close_without_a_connection_leaves_the_session_to_its_timeout, a_paused_process_hears_it_all_later,
                  a_killed_process_reaches_nobody, a_process_has_a_clock_and_late_threads_of_its_own, NULL);
}
