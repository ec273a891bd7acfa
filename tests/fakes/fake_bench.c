#include "fake_bench.h"

#include <stdio.h>
#include <string.h>

struct ts_fake_environment fake_environment;
struct fake_client fake_a, fake_b;

/* ---- answers and events of a client */

static void hear(struct fake_client *c, const char *text) {
    size_t n = strlen(c->heard);
    snprintf(c->heard + n, sizeof c->heard - n, "%s%s", n == 0 ? "" : " ", text);
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct fake_client *c = driver;
    char text[512];
    ck_assert_ptr_eq(zk, c->zk);
    int n = snprintf(text, sizeof text, "%d=%d", (int)reply->tag, (int)reply->result);
    if (reply->name) {
        snprintf(text + n, sizeof text - (size_t)n, ":%s", reply->name);
        c->token = reply->token;
    }
    for (size_t i = 0; i < reply->children_count; i++) {
        n = (int)strlen(text);
        snprintf(text + n, sizeof text - (size_t)n, ",%s", reply->children[i]);
    }
    if (reply->owner != 0)
        c->owner = reply->owner;
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
    struct fake_client *c = driver;
    (void)zk;
    ck_assert_int_eq(timeout_ms, 4000);
    c->session = session_id;
    hear(c, words[state]);
}

static const struct pdk__zk_sink sink = {.reply = on_reply, .watch = on_watch, .state = on_state};

void fake_heard(struct fake_client *c, const char *text) {
    ck_assert_str_eq(c->heard, text);
    c->heard[0] = '\0';
}

/* ---- actions of a client */

void fake_open(struct fake_client *c) {
    memset(c, 0, sizeof *c);
    ck_assert_int_eq(
        ts_fake_calls.open(&(struct pdk__zk_config){.timeout_ms = 4000, .sink = &sink, .driver = c}, &c->zk), PDK_OK);
}

int32_t fake_session(const struct fake_client *c) { return (int32_t)c->session - 1; }

static void submit(struct fake_client *c, const struct pdk__request *request) {
    ck_assert(ts_fake_calls.submit(c->zk, request));
}

void fake_submit(struct fake_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path) {
    submit(c, &(struct pdk__request){.kind = kind, .tag = tag, .path = path});
}

void fake_create_named(struct fake_client *c, uint64_t tag, const char *path) {
    submit(c, &(struct pdk__request){.kind = PDK__OP_CREATE, .tag = tag, .path = path, .named = true});
}

void fake_watch_children(struct fake_client *c, uint64_t tag) {
    submit(c, &(struct pdk__request){.kind = PDK__OP_LIST, .tag = tag, .path = "/locks/a", .watch = true});
}

/* ---- the environment */

void fake_settle(void) {
    while (ts_fake_environment_step(&fake_environment))
        ;
}

void fake_begin(int32_t levels) {
    ts_fake_environment_init(&fake_environment, "/locks/a", levels, 0);
    ts_fake_environment_use(&fake_environment);
    fake_open(&fake_a);
    fake_open(&fake_b);
    fake_settle();
    ck_assert_str_eq(fake_a.heard, "connected");
    ck_assert_int_ne(fake_a.session, fake_b.session);
    fake_a.heard[0] = fake_b.heard[0] = '\0';
}

void fake_end(void) {
    ts_fake_calls.close(fake_a.zk);
    ts_fake_calls.close(fake_b.zk);
}
