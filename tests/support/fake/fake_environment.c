/* The driver's table of calls over the fake ZooKeeper. */
#include "fake_environment.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ts_fake_handle {
    struct ts_fake_environment *environment;
    const struct pdk__zk_sink *sink;
    void *driver;
    int32_t session;
    int32_t timeout_ms;
    bool dead; /* EXPIRED was reported */
};

static struct ts_fake_environment *current;

static pdk__zk *as_zk(struct ts_fake_handle *h) { return (pdk__zk *)(void *)h; }
static struct ts_fake_handle *as_handle(pdk__zk *zk) { return (struct ts_fake_handle *)(void *)zk; }

void ts_fake_environment_init(struct ts_fake_environment *environment, const char *directory, int32_t levels,
                              int32_t first_sequence) {
    memset(environment, 0, sizeof *environment);
    ts_fake_init(&environment->fake, levels, first_sequence);
    ts_fake_names_init(&environment->names, directory);
}

void ts_fake_environment_use(struct ts_fake_environment *environment) { current = environment; }

static pdk_status open_handle(const struct pdk__zk_config *config, pdk__zk **out) {
    int32_t session = ts_fake_open(&current->fake);
    if (session < 0)
        return PDK_SYSTEM;
    struct ts_fake_handle *h = calloc(1, sizeof *h);
    if (!h)
        abort();
    *h = (struct ts_fake_handle){current, config->sink, config->driver, session, config->timeout_ms, false};
    current->handles[session] = h;
    *out = as_zk(h);
    return PDK_OK;
}

static bool submit(pdk__zk *zk, const struct pdk__request *request) {
    struct ts_fake_handle *h = as_handle(zk);
    return !h->dead && ts_fake_submit(&h->environment->fake, &h->environment->names, h->session, request);
}

static void tell(struct ts_fake_handle *h, enum pdk__zk_state state) {
    h->sink->state(h->driver, as_zk(h), state, h->session + 1, h->timeout_ms);
}

static void deliver(struct ts_fake_handle *h) {
    struct ts_fake_reply packet;
    ts_fake_take(&h->environment->fake, h->session, &packet);
    ts_fake_deliver(&h->environment->names, &packet, h->sink, h->driver, as_zk(h));
}

/* The session ends in order: its nodes go, and requests in flight are UNKNOWN. */
static void close_handle(pdk__zk *zk) {
    struct ts_fake_handle *h = as_handle(zk);
    struct ts_fake *fake = &h->environment->fake;
    ts_fake_cut(fake, h->session);
    while (fake->sessions[h->session].replies_count != 0)
        deliver(h);
    if (fake->sessions[h->session].alive)
        ts_fake_expire(fake, h->session, NULL);
    ts_fake_forget(fake, h->session);
    h->environment->handles[h->session] = NULL;
    free(h);
}

static enum pdk__zk_dial dial(pdk__zk *zk) {
    struct ts_fake_handle *h = as_handle(zk);
    return h->environment->fake.sessions[h->session].link ? PDK__ZK_DIALLED : PDK__ZK_IDLE;
}

/* There is one server. */
static enum pdk__zk_parting leave(pdk__zk *zk) {
    (void)zk;
    return PDK__ZK_STAYS;
}

static enum pdk__zk_parting hurry(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms) {
    (void)zk;
    (void)what;
    (void)patience_ms;
    return PDK__ZK_STAYS;
}

static bool take_servers(pdk__zk *zk, const char *servers) {
    (void)servers;
    return dial(zk) == PDK__ZK_IDLE;
}

static void *native(pdk__zk *zk) { return zk; }

static void secret(pdk__zk *zk, unsigned char password[PDK__ZK_PASSWORD], char *servers, size_t size) {
    (void)zk;
    memset(password, 's', PDK__ZK_PASSWORD);
    (void)snprintf(servers, size, "10.0.0.1:2181");
}

const struct pdk__zk_calls ts_fake_calls = {open_handle, submit,       close_handle, dial,  leave,
                                            hurry,       take_servers, native,       secret};

void ts_fake_environment_cut(struct ts_fake_environment *environment, int32_t session) {
    struct ts_fake_handle *h = environment->handles[session];
    ts_fake_cut(&environment->fake, session);
    tell(h, PDK__ZK_CONNECTING);
}

void ts_fake_environment_expire(struct ts_fake_environment *environment, int32_t session) {
    ts_fake_expire(&environment->fake, session, NULL);
}

static bool step(struct ts_fake_environment *environment, struct ts_fake_handle *h) {
    struct ts_fake *fake = &environment->fake;
    struct ts_fake_session *s = &fake->sessions[h->session];
    if (h->dead)
        return false;
    if (s->link && !s->alive)
        ts_fake_environment_cut(environment, h->session);
    else if (ts_fake_can_execute(fake, h->session))
        ts_fake_execute(fake, &environment->names, h->session, NULL);
    else if (s->replies_count != 0)
        deliver(h);
    else if (s->link)
        return false;
    else if (ts_fake_connect(fake, &environment->names, h->session, true))
        tell(h, PDK__ZK_CONNECTED);
    else {
        h->dead = true;
        tell(h, PDK__ZK_EXPIRED);
    }
    return true;
}

bool ts_fake_environment_step(struct ts_fake_environment *environment) {
    for (int32_t i = 0; i < TS_FAKE_SESSIONS; i++) {
        int32_t session = environment->next;
        environment->next = (environment->next + 1) % TS_FAKE_SESSIONS;
        if (environment->handles[session] && step(environment, environment->handles[session]))
            return true;
    }
    return false;
}
