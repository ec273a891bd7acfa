/* The table of calls, on a client library that hands over what a server should not say, or has too old a server. The client library is
 * not there: what zk/client.c calls of it here is defined below. fuzz/fuzz_answers.c does the same with any bytes. */
#include "ts_check.h"
#include "zk/calls.h"

#include <glib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { TIMEOUT_MS = 10000 };
#define SESSION INT64_C(0x10000c1d2e30000)

/* ---- the client library */

static int handle_of_nobody;

static struct {
    watcher_fn watcher;
    void *context;
    strings_stat_completion_t list;
    acl_completion_t acl;
    string_completion_t string;
    const void *call;
    int modes[2], creates; /* as what directories were made */
    bool refuses;
    clientid_t id;
    int timeout_ms;
    string_stat_completion_t foreign; /* what was asked of a server that is no ZooKeeper */
    const void *asker;
} library;

static zhandle_t *handle(void) { return (zhandle_t *)&handle_of_nobody; }

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int timeout, const clientid_t *id, void *context, int flags,
                           log_callback_fn log) {
    (void)host, (void)timeout, (void)id, (void)flags, (void)log;
    library.watcher = fn;
    library.context = context;
    return handle();
}
int zookeeper_close(zhandle_t *zh) { return (void)zh, ZOK; }
int zoo_state(zhandle_t *zh) { return (void)zh, 0; }
int is_unrecoverable(zhandle_t *zh) { return (void)zh, 0; }
int zoo_recv_timeout(zhandle_t *zh) { return (void)zh, library.timeout_ms; }
const clientid_t *zoo_client_id(zhandle_t *zh) { return (void)zh, &library.id; }
int zoo_set_servers_resolution_delay(zhandle_t *zh, int ms) { return (void)zh, (void)ms, ZOK; }
struct sockaddr *zookeeper_get_connected_host(zhandle_t *zh, struct sockaddr *peer, socklen_t *size) {
    return (void)zh, (void)peer, (void)size, NULL;
}

int zoo_acreate(zhandle_t *zh, const char *path, const char *value, int length, const struct ACL_vector *acl, int mode,
                string_completion_t fn, const void *data) {
    (void)zh, (void)path, (void)value, (void)length, (void)acl;
    if (library.refuses)
        return ZINVALIDSTATE;
    library.string = fn;
    library.call = data;
    library.modes[library.creates++] = mode;
    return ZOK;
}
int zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int length, const struct ACL_vector *acl, int mode,
                 string_stat_completion_t fn, const void *data) {
    (void)zh, (void)value, (void)length, (void)mode;
    if (library.refuses)
        return ZINVALIDSTATE;
    ck_assert_str_eq(path, "/");
    ck_assert_int_gt(acl->count, 0);
    library.foreign = fn;
    library.asker = data;
    return ZOK;
}
int zoo_awget_children2(zhandle_t *zh, const char *path, watcher_fn w, void *context, strings_stat_completion_t fn,
                        const void *data) {
    (void)zh, (void)path, (void)context;
    ck_assert_ptr_eq(w, library.watcher);
    library.list = fn;
    library.call = data;
    return ZOK;
}
int zoo_aget_acl(zhandle_t *zh, const char *path, acl_completion_t fn, const void *data) {
    (void)zh, (void)path;
    library.acl = fn;
    library.call = data;
    return ZOK;
}

/* ---- the driver */

static struct {
    unsigned replies, malformed, events, states;
    enum pdk__result result;
    size_t children, acl;
    enum pdk__zk_state state;
} seen;

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    (void)driver, (void)zk;
    seen.replies++;
    seen.result = reply->result;
    seen.children = reply->children_count;
    seen.acl = reply->acl_count;
}

static void on_event(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    (void)driver, (void)zk, (void)path, (void)event;
    seen.events++;
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t id, int32_t ms) {
    (void)driver, (void)zk, (void)id, (void)ms;
    seen.state = state;
    seen.states++;
}

static void on_log(void *driver, int level, const char *text) { (void)driver, (void)level, (void)text; }

static void on_malformed(void *driver, pdk__zk *zk, const char *what) {
    (void)driver, (void)zk;
    ck_assert(what && what[0] != '\0');
    seen.malformed++;
}

static const struct pdk__zk_sink sink = {on_reply, on_event, on_state, on_log, on_malformed};
static pdk__zk *zk;

static void open_with(const struct pdk__zk_sink *with) {
    const struct pdk__zk_config config = {
        .servers = "127.0.0.1:1", .timeout_ms = TIMEOUT_MS, .access = PDK_ACCESS_OPEN, .sink = with};
    memset(&library, 0, sizeof library);
    library.id.client_id = SESSION;
    library.timeout_ms = TIMEOUT_MS;
    ck_assert_int_eq(pdk__zk_client.open(&config, &zk), PDK_OK);
    library.watcher(handle(), ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", library.context);
    memset(&seen, 0, sizeof seen);
}

static void set_up(void) { open_with(&sink); }
static void tear_down(void) { pdk__zk_client.close(zk); }

static void submit(struct pdk__request request) {
    request.path = "/dir";
    ck_assert(pdk__zk_client.submit(zk, &request));
}

/* ---- answers */

static const struct Stat fine = {.czxid = 3, .mzxid = 4, .pzxid = 5}, wrong = {.czxid = -1};

static void check_reply(bool good) {
    ck_assert_uint_eq(seen.replies, 1);
    ck_assert_int_eq(seen.result, good ? PDK__OK : PDK__UNKNOWN);
    ck_assert_uint_eq(seen.malformed, !good);
    memset(&seen, 0, sizeof seen);
}

START_TEST(a_list_with_its_stat) {
    char a[] = "a", path[] = "b/c", *names[] = {a, path};
    const struct String_vector one = {1, names}, two = {2, names};
    const struct {
        const struct String_vector *list;
        const struct Stat *stat;
        bool good;
    } answers[] = {{&one, &fine, true}, {&two, &fine, false}, {NULL, &fine, false}, {&one, &wrong, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
        submit((struct pdk__request){.kind = PDK__OP_LIST, .stat = true, .watch = true});
        library.list(ZOK, answers[i].list, answers[i].stat, library.call);
        ck_assert_uint_eq(seen.children, answers[i].good);
        check_reply(answers[i].good);
    }
}
END_TEST

START_TEST(an_access_control_list) {
    char scheme[] = "world", id[] = "anyone";
    struct ACL entries[] = {{31, {scheme, id}}, {31, {scheme, NULL}}};
    struct ACL_vector one = {1, entries}, two = {2, entries};
    struct Stat stats[] = {fine, wrong};
    const struct {
        struct ACL_vector *list;
        struct Stat *stat;
        bool good;
    } answers[] = {
        {&one, &stats[0], true}, {&two, &stats[0], false}, {NULL, &stats[0], false}, {&one, &stats[1], false}};
    for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
        submit((struct pdk__request){.kind = PDK__OP_ACL});
        library.acl(ZOK, answers[i].list, answers[i].stat, library.call);
        ck_assert_uint_eq(seen.acl, answers[i].good);
        check_reply(answers[i].good);
    }
}
END_TEST

/* Of two, the second is asked for as an ordinary node. It may not be possible to ask. */
START_TEST(a_server_that_knows_no_containers) {
    submit((struct pdk__request){.kind = PDK__OP_MKDIR, .container = true});
    library.refuses = _i;
    library.string(ZUNIMPLEMENTED, NULL, library.call);
    if (_i) {
        ck_assert_uint_eq(seen.replies, 1);
        ck_assert_int_eq(seen.result, PDK__UNKNOWN);
        return;
    }
    ck_assert_uint_eq(seen.replies, 0);
    ck_assert_int_eq(library.creates, 2);
    ck_assert_int_eq(library.modes[0], ZOO_CONTAINER);
    ck_assert_int_eq(library.modes[1], ZOO_PERSISTENT);
    library.string(ZOK, "/dir", library.call);
    check_reply(true);
}
END_TEST

/* A plain node that is refused so is refused. */
START_TEST(a_server_that_knows_no_create) {
    submit((struct pdk__request){.kind = PDK__OP_MKDIR});
    library.string(ZUNIMPLEMENTED, NULL, library.call);
    ck_assert_int_eq(library.creates, 1);
    ck_assert_uint_eq(seen.replies, 1);
    ck_assert_int_ne(seen.result, PDK__OK);
}
END_TEST

/* ---- the session */

START_TEST(handshakes) {
    static const struct {
        int64_t id;
        int ms;
    } spoilt[] = {{0, TIMEOUT_MS}, {SESSION, 0}, {SESSION, -1}, {SESSION, INT32_MAX}};
    for (size_t i = 0; i < G_N_ELEMENTS(spoilt); i++) {
        library.id.client_id = spoilt[i].id;
        library.timeout_ms = spoilt[i].ms;
        library.watcher(handle(), ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", library.context);
        ck_assert_uint_eq(seen.states, i + 1);
        ck_assert_int_eq(seen.state, PDK__ZK_SPOILT);
        ck_assert_uint_eq(seen.malformed, i + 1);
    }
}
END_TEST

static void shake_hands(int64_t id, const char *password) {
    memset(&seen, 0, sizeof seen);
    library.foreign = NULL;
    library.id.client_id = id;
    memset(library.id.passwd, 0, sizeof library.id.passwd);
    memcpy(library.id.passwd, password, strlen(password));
    library.watcher(handle(), ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", library.context);
}

/* ZooKeeper has large ids, and random passwords: one of the two is enough. */
START_TEST(a_zookeeper) {
    static const struct {
        int64_t id;
        const char *password;
    } theirs[] = {{SESSION, ""}, {-SESSION, ""}, {77, "p"}, {INT64_C(1) << 40, ""}};
    for (size_t i = 0; i < G_N_ELEMENTS(theirs); i++) {
        shake_hands(theirs[i].id, theirs[i].password);
        ck_assert_int_eq(seen.state, PDK__ZK_CONNECTED);
        ck_assert(library.foreign == NULL);
    }
}
END_TEST

/* There is a session once it has answered a create2, if only that the node exists. No container is asked for. */
START_TEST(a_server_that_is_no_zookeeper) {
    static const struct {
        int code;
        enum pdk__zk_state state;
    } answers[] = {{ZNODEEXISTS, PDK__ZK_CONNECTED},     {ZNONODE, PDK__ZK_CONNECTED},
                   {ZNOAUTH, PDK__ZK_CONNECTED},         {ZBADARGUMENTS, PDK__ZK_CONNECTED},
                   {ZCONNECTIONLOSS, PDK__ZK_HUNG_UP},   {ZUNIMPLEMENTED, PDK__ZK_FOREIGN},
                   {ZOPERATIONTIMEOUT, PDK__ZK_HUNG_UP}, {ZCLOSING, PDK__ZK_HUNG_UP}};
    for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
        shake_hands(77, "");
        ck_assert_uint_eq(seen.states, 0);
        library.foreign(answers[i].code, NULL, NULL, library.asker);
        ck_assert_uint_eq(seen.states, 1);
        ck_assert_int_eq(seen.state, answers[i].state);
    }
    submit((struct pdk__request){.kind = PDK__OP_MKDIR, .container = true});
    ck_assert_int_eq(library.modes[0], ZOO_PERSISTENT);
    library.string(ZOK, "/dir", library.call);
}
END_TEST

/* The handle is over already: another state follows. */
START_TEST(a_server_that_cannot_be_asked) {
    library.refuses = true;
    shake_hands(77, "");
    ck_assert_int_eq(seen.state, PDK__ZK_CONNECTED);
}
END_TEST

/* A session that may only read is none, and was not asked for. */
START_TEST(states) {
    const struct {
        int state;
        enum pdk__zk_state expected;
    } told[] = {{ZOO_CONNECTING_STATE, PDK__ZK_CONNECTING},
                {ZOO_READONLY_STATE, PDK__ZK_SPOILT},
                {ZOO_AUTH_FAILED_STATE, PDK__ZK_AUTH_FAILED},
                {ZOO_EXPIRED_SESSION_STATE, PDK__ZK_EXPIRED}};
    for (unsigned i = 0; i < G_N_ELEMENTS(told); i++) {
        library.watcher(handle(), ZOO_SESSION_EVENT, told[i].state, "", library.context);
        ck_assert_uint_eq(seen.states, i + 1);
        ck_assert_int_eq(seen.state, told[i].expected);
    }
    library.watcher(handle(), ZOO_SESSION_EVENT, 12345, "", library.context);
    ck_assert_uint_eq(seen.states, G_N_ELEMENTS(told));
}
END_TEST

START_TEST(events) {
    library.watcher(handle(), ZOO_CHANGED_EVENT, 0, "/dir", library.context);
    ck_assert_uint_eq(seen.events, 1);
    library.watcher(handle(), ZOO_NOTWATCHING_EVENT, 0, "/dir", library.context);
    ck_assert_uint_eq(seen.malformed, 0);
    library.watcher(handle(), ZOO_CHANGED_EVENT, 0, "dir", library.context);
    library.watcher(handle(), 12345, 0, "/dir", library.context);
    ck_assert_uint_eq(seen.malformed, 2);
    ck_assert_uint_eq(seen.events, 1);
}
END_TEST

/* Who does not want to hear of it gets the answer all the same. */
START_TEST(a_driver_that_does_not_count) {
    struct pdk__zk_sink deaf = sink;
    tear_down();
    deaf.malformed = NULL;
    open_with(&deaf);
    submit((struct pdk__request){.kind = PDK__OP_ACL});
    library.acl(ZOK, NULL, NULL, library.call);
    ck_assert_uint_eq(seen.replies, 1);
    ck_assert_int_eq(seen.result, PDK__UNKNOWN);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("client");
    TCase *cases = tcase_create("client");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_list_with_its_stat);
    tcase_add_test(cases, an_access_control_list);
    tcase_add_loop_test(cases, a_server_that_knows_no_containers, 0, 2);
    tcase_add_test(cases, a_server_that_knows_no_create);
    tcase_add_test(cases, handshakes);
    tcase_add_test(cases, a_zookeeper);
    tcase_add_test(cases, a_server_that_is_no_zookeeper);
    tcase_add_test(cases, a_server_that_cannot_be_asked);
    tcase_add_test(cases, states);
    tcase_add_test(cases, events);
    tcase_add_test(cases, a_driver_that_does_not_count);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
