/* Real ZooKeeper servers, one or three. The production table of calls talks to them, and every slot has a proxy of its
 * own. */
#include "conformance.h"
#include "seed_log.h"

#include <ts_clock.h>
#include <ts_support.h>
#include <ts_wire.h>

#define TIMEOUT_MS 4000
#define WAIT_MS 30000
#define TRIES 5

struct real {
    struct backend backend;
    ts_ensemble *servers;
    ts_proxy *proxies[SLOTS];
    ts_observer *admin;
    int scripts;
    char *root;
};

static struct real *of(struct backend *b) { return (struct real *)b; }

static const char *server_of(const struct real *r, int slot) {
    return ts_ensemble_host(r->servers, slot % ts_ensemble_size(r->servers));
}

static pdk_status open_slot(struct backend *b, int slot, const struct pdk__zk_sink *sink, void *driver, pdk__zk **zk) {
    const char *address = ts_proxy_address(of(b)->proxies[slot]);
    /* The client library pauses between two rounds through its list. A longer list lets it come back sooner. */
    g_autofree char *list = g_strjoin(",", address, address, address, address, address, NULL);
    struct pdk__zk_config config = {
        .servers = list, .timeout_ms = TIMEOUT_MS, .access = PDK_ACCESS_OPEN, .sink = sink, .driver = driver};
    return pdk__zk_client.open(&config, zk);
}

static bool cut(struct backend *b, int slot) {
    ts_proxy_set_mode(of(b)->proxies[slot], TS_CUT);
    return true;
}

static bool restore(struct backend *b, int slot) {
    ts_proxy_heal(of(b)->proxies[slot]);
    return true;
}

static void forget(struct backend *b, int slot) { ts_proxy_heal(of(b)->proxies[slot]); }

static bool expire(struct backend *b, int slot) { return ts_expire(of(b)->proxies[slot], server_of(of(b), slot)) == 0; }

static bool prepare(struct backend *b, int slot, enum step_kind loss) {
    ts_proxy *proxy = of(b)->proxies[slot];
    ts_proxy_zero(proxy);
    if (loss == LOSE_ALL)
        ts_proxy_set_mode(proxy, TS_DROP_REPLIES);
    else
        ts_proxy_arm(proxy, TS_OP_ANY, loss == LOSE_REPLY ? TS_LOSE_REPLY : TS_LOSE_REQUEST, TS_PASS);
    return true;
}

static bool has_replied(void *user) {
    ts_proxy_counters counters;
    ts_proxy_read(user, &counters);
    return counters.replies > 0;
}

static bool lose(struct backend *b, int slot, enum step_kind loss) {
    ts_proxy *proxy = of(b)->proxies[slot];
    if (loss != LOSE_ALL)
        return ts_proxy_wait_fired(proxy, WAIT_MS);
    bool lost = ts_wait_until(has_replied, proxy, WAIT_MS);
    ts_proxy_heal(proxy); /* the connection has lost bytes: it is reset */
    return lost;
}

struct wait {
    struct real *real;
    const char *path;
};

static bool is_gone(void *user) {
    struct wait *wait = user;
    return ts_observer_exists(wait->real->admin, wait->path, NULL) == -101;
}

/* Connects to the leader. Until the leader itself has applied a new access control list, it checks requests from any
 * server by the old one. A follower may have confirmed the change to its own clients by then. */
static bool open_admin(struct real *r) {
    int leader = ts_ensemble_wait_leader(r->servers, -1, WAIT_MS);
    r->admin = leader < 0 ? NULL : ts_observer_open(ts_ensemble_host(r->servers, leader));
    return r->admin != NULL;
}

/* On a busy machine an answer may come later than the observer waits, and its session may expire between two scripts. So it
 * connects anew before each further try. A root that exists then is this script's. */
static const char *begin(struct backend *b, const struct script *script) {
    struct real *r = of(b);
    (void)script;
    g_free(r->root);
    r->root = g_strdup_printf("/script%d", ++r->scripts);
    int rc = -1;
    for (int tries = 0; tries < TRIES && rc != 0 && rc != TS_NODE_EXISTS; tries++) {
        if (tries > 0) {
            ts_sleep_ms(tries * 500);
            ts_observer_abandon(r->admin);
            open_admin(r);
        }
        rc = r->admin ? ts_observer_create(r->admin, r->root, "", TS_PERSISTENT, NULL) : -1;
    }
    return rc == 0 || rc == TS_NODE_EXISTS ? r->root : NULL;
}

static bool set_counter(struct real *r, const char *path, int32_t counter) {
    ts_observer_abandon(r->admin);
    bool ok = seed_counter(r->servers, path, counter);
    return open_admin(r) && ok;
}

static bool admin(struct backend *b, const struct admin *what, const char *path) {
    struct real *r = of(b);
    struct wait wait = {r, path};
    switch (what->kind) {
    case ADMIN_MKDIR:
    case ADMIN_CREATE:
        return ts_observer_create(r->admin, path, what->data ? what->data : "", TS_PERSISTENT, NULL) == 0;
    case ADMIN_SET:
        return ts_observer_set(r->admin, path, what->data ? what->data : "") == 0;
    case ADMIN_DELETE:
        return ts_observer_delete(r->admin, path) == 0;
    case ADMIN_ACL:
        return ts_observer_set_acl(r->admin, path,
                                   (what->value & NO_READ ? 0 : TS_PERM_READ) |
                                       (what->value & NO_WRITE ? 0 : TS_PERM_WRITE) |
                                       (what->value & NO_CREATE ? 0 : TS_PERM_CREATE) |
                                       (what->value & NO_DELETE ? 0 : TS_PERM_DELETE) | TS_PERM_ADMIN,
                                   "world", "anyone") == 0;
    case ADMIN_COUNTER:
        return set_counter(r, path, (int32_t)what->value);
    case ADMIN_AWAIT_GONE:
        return ts_wait_until(is_gone, &wait, WAIT_MS);
    }
    return false;
}

static void end(struct backend *b) { (void)b; }

static void free_real(struct backend *b) {
    struct real *r = of(b);
    ts_observer_close(r->admin);
    for (int i = 0; i < SLOTS; i++)
        ts_proxy_stop(r->proxies[i]);
    ts_ensemble_stop(r->servers);
    g_free(r->root);
    g_free(r);
}

static const struct backend real = {
    .can = CAN_TREE | CAN_ACL | CAN_CONTAINERS | CAN_OFFLINE | CAN_LINGER | CAN_VERSIONS,
    .shows = SHOWS_CODE | SHOWS_DATA | SHOWS_VERSION,
    .calls = &pdk__zk_client,
    .begin = begin,
    .open = open_slot,
    .cut = cut,
    .restore = restore,
    .forget = forget,
    .expire = expire,
    .prepare = prepare,
    .lose = lose,
    .admin = admin,
    .end = end,
    .free = free_real,
};

struct backend *backend_real(int servers) {
    static const char *const properties[] = {"znode.container.checkIntervalMs=100", NULL};
    struct real *r = g_new0(struct real, 1);
    r->backend = real;
    r->backend.name = servers == 1 ? "ZooKeeper" : "ZooKeeper x 3";
    r->backend.about = servers == 1 ? "a real server" : "a real ensemble, every session on another server";
    if (servers == 1)
        r->backend.can |= CAN_COUNTER;
    r->servers = ts_ensemble_start(&(ts_ensemble_options){.nodes = servers, .java_properties = properties});
    bool ok = r->servers != NULL;
    for (int i = 0; i < SLOTS && ok; i++)
        ok = (r->proxies[i] = ts_proxy_start(server_of(r, i))) != NULL;
    if (ok && open_admin(r))
        return &r->backend;
    fprintf(stderr, "conformance: no ZooKeeper\n");
    free_real(&r->backend);
    return NULL;
}
