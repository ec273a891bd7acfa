#include "sim_client_bench.h"

#include <stdio.h>

#define SERVERS "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181"

struct sim_agenda bench_agenda;
struct sim_net bench_net;
struct sim_ensemble *bench_ensemble;
struct bench_client client_a, client_b;

const struct sim_ensemble_config bench_config = {
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
        [PDK__OK] = "ok",          [PDK__NO_NODE] = "none",  [PDK__NODE_EXISTS] = "exists",
        [PDK__NOT_ALLOWED] = "no", [PDK__NOT_NOW] = "later", [PDK__UNKNOWN] = "unknown",
    };
    char text[512];
    ck_assert_ptr_eq(zk, c->zk);
    int n = snprintf(text, sizeof text, "%d=%s", (int)reply->tag, words[reply->result]);
    if (reply->name)
        n += snprintf(text + n, sizeof text - (size_t)n, ":%s", reply->name);
    for (size_t i = 0; i < reply->children_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, ",%s", reply->children[i]);
    if (reply->data)
        snprintf(text + n, sizeof text - (size_t)n, "\"%.*s\"", (int)reply->data_size, reply->data);
    c->token = reply->token != 0 ? reply->token : c->token;
    hear(c, text);
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    static const char *const words[] = {"changed", "gone", "children"};
    char text[256];
    (void)zk;
    snprintf(text, sizeof text, "%s:%s", words[event], path);
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

void client_heard(struct bench_client *c, const char *text) {
    ck_assert_str_eq(c->heard->str, text);
    g_string_truncate(c->heard, 0);
}

/* ---- time and the network */

void bench_pass(int64_t ns) {
    int64_t until = bench_agenda.now + ns;
    while (sim_step(&bench_agenda, until))
        ;
}

bool client_awaits(struct bench_client *c, int64_t ns) {
    int64_t until = bench_agenda.now + ns;
    gsize length = c->heard->len;
    while (c->heard->len == length)
        if (!sim_step(&bench_agenda, until))
            return false;
    return true;
}

void bench_settle(void) {
    bench_pass(SECOND);
    ck_assert(sim_settled(bench_ensemble));
}

void bench_block(const struct bench_client *c, bool up, bool down, bool blocked) {
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

void client_open(struct bench_client *c) {
    call(c, open_in, NULL);
    bench_pass(SECOND / 2);
    client_heard(c, "connected");
}

void client_close(struct bench_client *c) { call(c, close_in, NULL); }

static bool try_request(struct bench_client *c, struct pdk__request request) {
    uint64_t tag = request.tag;
    call(c, submit_in, &request);
    return request.tag == tag;
}

bool client_try(struct bench_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path) {
    return try_request(
        c,
        (struct pdk__request){
            .kind = kind, .tag = tag, .path = path, .container = true, .data = kind == PDK__OP_CREATE ? "me" : NULL});
}

void client_request(struct bench_client *c, struct pdk__request request) { ck_assert(try_request(c, request)); }

void client_submit(struct bench_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path) {
    ck_assert(client_try(c, tag, kind, path));
}

void clients_and_a_node(void) {
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

void bench_begin(uint64_t seed, const struct sim_ensemble_config *config) {
    sim_agenda_begin(&bench_agenda, seed);
    sim_net_begin(&bench_net, &bench_agenda, SIM_MS, 2 * SIM_MS);
    bench_ensemble = sim_ensemble_new(&bench_agenda, &bench_net, config);
    for (int32_t i = 0; i < config->servers; i++)
        sim_server_start(bench_ensemble, i);
    client_init(&client_a, 0);
    client_init(&client_b, 1);
    bench_settle();
}

void bench_setup(void) {
    sim_agenda_init(&bench_agenda);
    bench_begin(1, &bench_config);
}

static void client_end(struct bench_client *c) {
    sim_process_kill(&c->process);
    if (c->zk)
        client_close(c);
    g_string_free(g_steal_pointer(&c->heard), TRUE);
}

void bench_teardown(void) {
    client_end(&client_a);
    client_end(&client_b);
    sim_agenda_free(&bench_agenda);
}
