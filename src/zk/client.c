/* The table of calls on libzookeeper_mt.
 *
 * Faults of the client library, and how we keep them away from our users:
 *  - synchronous calls can hang for ever at expiry: only zoo_a* here;
 *  - every watch shares one function and context and is told apart by path and event: distinct contexts cost O(n^2) at
 *    a reconnect. Thus a node's end is told once, though its data and its children may both be watched;
 *  - zookeeper_close forgets completions: each call stands in `calls` until answered, and close answers the rest;
 *  - with its default settings it resolves names in its IO loop and stops pinging meanwhile: only numeric addresses,
 *    and a resolution delay of -1;
 *  - multis with two operations can free twice: ours have one;
 *  - sockets and pipes are inherited by exec: see cloexec.c, sockets.c;
 *  - it takes another list of servers safely at certain moments alone: see servers.h;
 *  - it stays with a server that is silent, or swallows its handshake, for two thirds of the timeout: see sockets.h;
 *  - it aborts the process where it cannot have its two threads: see spare.h;
 *  - its log lines ask for the local time, whose lock does not survive a fork: a forked process has none of them;
 *  - a completion of zoo_add_auth may run under its own mutex: we pass none;
 *  - it hands over answers that it could not read: see answers.h. ADR 38 tells how it treats such answers itself.
 */
#include "base/fork.h"
#include "base/thread.h"
#include "zk/acl.h"
#include "zk/answers.h"
#include "zk/cloexec.h"
#include "zk/errors.h"
#include "zk/foreign.h"
#include "zk/logs.h"
#include "zk/request.h"
#include "zk/servers.h"
#include "zk/sockets.h"
#include "zk/spare.h"
#include "zk/tls.h"

#include <errno.h>
#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* Past this the wake-up pipe of the client library may overflow, and it then closes its own socket. */
#define OUTSTANDING_MAX 10000

/* How long a close waits for the answers to requests in flight. */
#define LAST_ANSWERS_NS 200000000

struct pdk__zk {
    struct pdk__zk_config config;
    char *servers;
    _Atomic(zhandle_t *) handle;
    struct ACL_vector node_acl;
    pthread_mutex_t opening; /* held until the credentials are given: nothing may be sent before them */
    pthread_mutex_t lock;    /* guards calls, password, peer, and servers, which the thread that closes alone changes */
    GHashTable *calls;       /* submitted, not answered */
    pthread_cond_t answered;
    unsigned char password[PDK__ZK_PASSWORD]; /* as of the last connection */
    char peer[PDK__SOCKETS_NAME];
    int64_t session;     /* for the completions, which run on one thread */
    atomic_bool foreign; /* foreign.h */
    GHashTable *dials;   /* sockets.h; of the thread that closes */
};

struct call {
    pdk__zk *zk;
    struct pdk__request request; /* with copies of its path and data */
    zoo_op_t op;                 /* BARRIER */
    zoo_op_result_t op_result;
};

static void call_free(struct call *call) {
    g_free((char *)call->request.path);
    g_free((char *)call->request.data);
    g_free(call);
}

static void client_take(struct call *call) {
    pthread_mutex_lock(&call->zk->lock);
    g_hash_table_remove(call->zk->calls, call);
    pthread_cond_signal(&call->zk->answered);
    pthread_mutex_unlock(&call->zk->lock);
}

/* A server with enforce.auth.enabled closes each session so, and the client library would open another one for ever. */
static void requires_auth(pdk__zk *zk) {
    const struct pdk__zk_sink *sink = zk->config.sink;
    sink->log(zk->config.driver, PDK_LOG_ERROR,
              "the servers demand authentication by a scheme that this session has no credentials for "
              "(enforce.auth.schemes): SESSIONCLOSEDREQUIRESASLAUTH(-124)");
    sink->state(zk->config.driver, zk, PDK__ZK_AUTH_FAILED, 0, 0);
}

static void answer(struct call *call, int code, struct pdk__reply *reply) {
    pdk__zk *zk = call->zk;
    client_take(call);
    reply->tag = call->request.tag;
    reply->result = pdk__zk_result(code);
    reply->code = code;
    if (code == PDK__CODE_REQUIRES_AUTH) /* ahead of the answer, so that its waiter hears why the session ends */
        requires_auth(zk);
    zk->config.sink->reply(zk->config.driver, zk, reply);
    call_free(call);
}

/* The answer is counted, and nothing else comes of it. */
static void tell_malformed(pdk__zk *zk, const char *what) {
    if (zk->config.sink->malformed)
        zk->config.sink->malformed(zk->config.driver, zk, what);
}

/* The code of an answer that says so, unless it is not well-formed. */
static int code_of(const struct call *call, int code, bool well_formed) {
    static const char *const what[] = {
        [PDK__OP_CREATE] = "an answer to a create",
        [PDK__OP_MKDIR] = "an answer to the create of a directory",
        [PDK__OP_LIST] = "a list",
        [PDK__OP_WATCH] = "a node's data",
        [PDK__OP_GET] = "a node's data",
        [PDK__OP_ACL] = "an access control list",
        [PDK__OP_STAT] = "a node's stat",
        [PDK__OP_SET] = "an answer to a write",
        [PDK__OP_SYNC] = "an answer to a sync",
    };
    if (code != ZOK || well_formed)
        return code;
    tell_malformed(call->zk, what[call->request.kind]);
    return ZMARSHALLINGERROR;
}

static void set_stat(struct pdk__reply *reply, const struct Stat *stat) {
    reply->token = stat->czxid;
    reply->zxid = MAX(stat->mzxid, stat->pzxid);
    reply->owner = stat->ephemeralOwner;
    reply->ctime_ms = stat->ctime;
    reply->mtime_ms = stat->mtime;
    reply->version = stat->version;
    reply->acl_version = stat->aversion;
}

static bool send_call(struct call *call);

static void on_void(int code, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    answer(call, code, &reply);
}

static void on_created(int code, const char *path, const struct Stat *stat, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    const char *name = NULL;
    code = code_of(call, code,
                   code == ZOK && pdk__answer_is_created(&call->request, call->zk->session, path, stat, &name));
    if (code == ZOK) {
        reply.name = name;
        set_stat(&reply, stat);
    }
    answer(call, code, &reply);
}

/* A sync uses this, too, since its answer is a path as well. */
static void on_made_dir(int code, const char *path, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    code = code_of(call, code, code == ZOK && pdk__answer_is_path(&call->request, path));
    if (code == ZUNIMPLEMENTED && call->request.container) { /* a server that knows no container nodes */
        call->request.container = false;
        if (send_call(call))
            return;
        code = ZINVALIDSTATE; /* the handle is over: this says nothing about the server */
    }
    answer(call, code, &reply);
}

static void on_list(int code, const struct String_vector *children, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    code = code_of(call, code, code == ZOK && pdk__answer_is_list(children));
    if (code == ZOK) {
        reply.children = (const char *const *)children->data;
        reply.children_count = (size_t)children->count;
    }
    answer(call, code, &reply);
}

static void on_list_and_stat(int code, const struct String_vector *children, const struct Stat *stat,
                             const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    code = code_of(call, code, code == ZOK && pdk__answer_is_list(children) && pdk__answer_is_stat(stat));
    if (code == ZOK) {
        reply.children = (const char *const *)children->data;
        reply.children_count = (size_t)children->count;
        reply.token = stat->czxid;
        reply.acl_version = stat->aversion;
    }
    answer(call, code, &reply);
}

static void on_acl(int code, struct ACL_vector *acl, struct Stat *stat, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    pdk_access_entry *entries = NULL;
    code = code_of(call, code, code == ZOK && pdk__answer_is_acl(acl) && pdk__answer_is_stat(stat));
    if (code == ZOK) {
        entries = g_new0(pdk_access_entry, (gsize)acl->count);
        for (int32_t i = 0; i < acl->count; i++) {
            const struct ACL *entry = &acl->data[i];
            entries[i] = (pdk_access_entry){entry->perms, entry->id.scheme, entry->id.id};
        }
        reply.acl = entries;
        reply.acl_count = (size_t)acl->count;
        set_stat(&reply, stat);
    }
    answer(call, code, &reply);
    g_free(entries);
}

static void on_stat(int code, const struct Stat *stat, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    code = code_of(call, code, code == ZOK && pdk__answer_is_stat(stat));
    if (code == ZOK)
        set_stat(&reply, stat);
    answer(call, code, &reply);
}

static void on_set(int code, const struct Stat *stat, const void *data) {
    on_void(code_of((const struct call *)data, code, code == ZOK && pdk__answer_is_stat(stat)), data);
}

static void on_get(int code, const char *value, int length, const struct Stat *stat, const void *data) {
    struct call *call = (struct call *)data;
    struct pdk__reply reply = {0};
    code = code_of(call, code, code == ZOK && pdk__answer_is_data(value, length, stat));
    if (code == ZOK) {
        set_stat(&reply, stat);
        reply.data = length > 0 ? value : NULL;
        reply.data_size = length > 0 ? (size_t)length : 0;
    }
    answer(call, code, &reply);
}

static char *servers_of(pdk__zk *zk) {
    pthread_mutex_lock(&zk->lock);
    char *servers = g_strdup(zk->servers);
    pthread_mutex_unlock(&zk->lock);
    return servers;
}

static void keep_secret(pdk__zk *zk, zhandle_t *handle) {
    pthread_mutex_lock(&zk->lock);
    memcpy(zk->password, zoo_client_id(handle)->passwd, sizeof zk->password);
    pdk__sockets_peer(handle, zk->peer);
    pthread_mutex_unlock(&zk->lock);
}

/* A server that is no ZooKeeper has answered what it was asked first. Or it has hung up. */
static void on_foreign(int code, const char *path, const struct Stat *stat, const void *data) {
    pdk__zk *zk = (pdk__zk *)data;
    const struct pdk__zk_sink *sink = zk->config.sink;
    bool can = pdk__foreign_can(code);
    (void)path, (void)stat;
    if (can)
        sink->log(zk->config.driver, PDK_LOG_WARN,
                  "the server is no ZooKeeper: it takes no session back, so each lost connection ends every hold, and "
                  "others wait until the session has timed out; directories of locks stay when they are empty");
    enum pdk__zk_state state = can ? PDK__ZK_CONNECTED : code == ZUNIMPLEMENTED ? PDK__ZK_FOREIGN : PDK__ZK_HUNG_UP;
    sink->state(zk->config.driver, zk, state, zk->session, zoo_recv_timeout(atomic_load(&zk->handle)));
}

/* The library goes on with any handshake: without a timeout it reconnects as fast as it can. */
static void on_connected(pdk__zk *zk, int64_t session, int32_t timeout_ms) {
    bool well_formed = pdk__answer_is_session(session, timeout_ms);
    zk->session = session;
    if (!well_formed)
        tell_malformed(zk, "a handshake");
    atomic_store(&zk->foreign, well_formed && pdk__foreign_is(session, (const char *)zk->password));
    if (atomic_load(&zk->foreign) && pdk__foreign_ask(atomic_load(&zk->handle), &zk->node_acl, on_foreign, zk))
        return;
    zk->config.sink->state(zk->config.driver, zk, well_formed ? PDK__ZK_CONNECTED : PDK__ZK_SPOILT, session,
                           timeout_ms);
}

static void on_state(pdk__zk *zk, zhandle_t *handle, int state) {
    const struct pdk__zk_sink *sink = zk->config.sink;
    if (state == ZOO_CONNECTED_STATE) {
        char *servers = servers_of(zk);
        pdk__sockets_connected(handle, servers);
        g_free(servers);
        keep_secret(zk, handle);
        on_connected(zk, zoo_client_id(handle)->client_id, zoo_recv_timeout(handle));
    } else if (state == ZOO_READONLY_STATE) { /* we have not asked for a read-only server */
        on_connected(zk, 0, 0);
    } else if (state == ZOO_CONNECTING_STATE) {
        sink->state(zk->config.driver, zk, PDK__ZK_CONNECTING, 0, 0);
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
        sink->state(zk->config.driver, zk, PDK__ZK_EXPIRED, 0, 0);
    } else if (state == ZOO_AUTH_FAILED_STATE) {
        sink->state(zk->config.driver, zk, PDK__ZK_AUTH_FAILED, 0, 0);
    }
}

static enum pdk__zk_event event_of(int type) {
    return type == ZOO_DELETED_EVENT ? PDK__ZK_DELETED : type == ZOO_CHILD_EVENT ? PDK__ZK_CHILDREN : PDK__ZK_CHANGED;
}

/* The one watcher of every watch and of the session. May run before zookeeper_init has returned. */
static void on_watch(zhandle_t *handle, int type, int state, const char *path, void *context) {
    pdk__zk *zk = context;
    pthread_mutex_lock(&zk->opening);
    pthread_mutex_unlock(&zk->opening);
    atomic_store(&zk->handle, handle);
    pdk__thread_answers(); /* completions of the program may run here, too */
    if (type == ZOO_SESSION_EVENT)
        on_state(zk, handle, state);
    else if (type == ZOO_NOTWATCHING_EVENT)
        return;
    else if (!pdk__answer_is_event(type, path))
        tell_malformed(zk, "an event");
    else
        zk->config.sink->watch(zk->config.driver, zk, path, event_of(type));
}

static int send_barrier(struct call *call, zhandle_t *handle) {
    zoo_check_op_init(&call->op, call->request.path, -1);
    return zoo_amulti(handle, 1, &call->op, &call->op_result, on_void, call);
}

static int dispatch(struct call *call, zhandle_t *handle) {
    const struct ACL_vector *acl = &call->zk->node_acl;
    const struct pdk__request *r = &call->request;
    int length = r->data ? (int)(r->data_size > 0 ? r->data_size : strlen(r->data)) : -1;
    switch (r->kind) {
    case PDK__OP_CREATE:
        return zoo_acreate2(handle, r->path, r->data, length, acl, r->named ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL,
                            on_created, call);
    case PDK__OP_MKDIR:
        return zoo_acreate(handle, r->path, r->data, length, acl,
                           r->container && !atomic_load(&call->zk->foreign) ? ZOO_CONTAINER : ZOO_PERSISTENT,
                           on_made_dir, call);
    case PDK__OP_LIST:
        if (r->stat)
            return zoo_awget_children2(handle, r->path, r->watch ? on_watch : NULL, call->zk, on_list_and_stat, call);
        return r->watch ? zoo_awget_children(handle, r->path, on_watch, call->zk, on_list, call)
                        : zoo_aget_children(handle, r->path, 0, on_list, call);
    case PDK__OP_WATCH:
        return zoo_awget(handle, r->path, on_watch, call->zk, on_get, call);
    case PDK__OP_GET:
        return zoo_aget(handle, r->path, 0, on_get, call);
    case PDK__OP_STAT:
        return zoo_aexists(handle, r->path, 0, on_stat, call);
    case PDK__OP_BARRIER:
        return send_barrier(call, handle);
    case PDK__OP_DELETE:
        return zoo_adelete(handle, r->path, -1, on_void, call);
    case PDK__OP_SET:
        return zoo_aset(handle, r->path, r->data, length, r->versioned ? r->version : -1, on_set, call);
    case PDK__OP_ACL:
        return zoo_aget_acl(handle, r->path, on_acl, call);
    case PDK__OP_SYNC:
        return zoo_async(handle, r->path, on_made_dir, call);
    }
    return ZBADARGUMENTS;
}

/* The client library leaks its memory of a request that its close forgets (ZOOKEEPER-3868). LeakSanitizer must not take
 * it for ours; a suppression could not tell the two apart, since the library's thread is below all our callbacks. */
static void forgive_leaks(bool begin) {
#ifdef __SANITIZE_ADDRESS__
    begin ? __lsan_disable() : __lsan_enable();
#else
    (void)begin;
#endif
}

/* The call may be answered and freed, on another thread, before this returns true. */
static bool send_call(struct call *call) {
    zhandle_t *handle = atomic_load(&call->zk->handle);
    forgive_leaks(true);
    bool sent = handle && !is_unrecoverable(handle) && dispatch(call, handle) == ZOK;
    forgive_leaks(false);
    return sent;
}

static bool client_submit(pdk__zk *zk, const struct pdk__request *request) {
    struct call *call = g_new0(struct call, 1);
    call->zk = zk;
    call->request = *request;
    call->request.path = g_strdup(request->path);
    call->request.data = pdk__request_data(request);

    pthread_mutex_lock(&zk->lock);
    bool room = g_hash_table_size(zk->calls) < OUTSTANDING_MAX;
    if (room)
        g_hash_table_add(zk->calls, call);
    pthread_mutex_unlock(&zk->lock);
    if (room && send_call(call))
        return true;
    client_take(call);
    call_free(call);
    return false;
}

static void client_free(pdk__zk *zk) {
    pdk__logs_remove(zk->config.driver);
    g_hash_table_destroy(zk->calls);
    pthread_cond_destroy(&zk->answered);
    pthread_mutex_destroy(&zk->lock);
    pthread_mutex_destroy(&zk->opening);
    pdk__acl_free(&zk->node_acl);
    g_hash_table_destroy(zk->dials);
    g_free(zk->servers);
    explicit_bzero(zk->password, sizeof zk->password);
    g_free(zk);
}

static zhandle_t *init_handle(pdk__zk *zk) {
    const struct pdk__zk_config *config = &zk->config;
    if (!pdk__spare_threads()) {
        errno = EAGAIN;
        return NULL;
    }
    if (!config->tls)
        return zookeeper_init2(zk->servers, on_watch, config->timeout_ms, NULL, zk, ZOO_NO_LOG_CLIENTENV,
                               pdk__logs_queue);
    return pdk__tls_init(config, on_watch, zk);
}

/* A line of the client library has the local time in it. The lock of the C library on the time zone may have stayed
 * with a thread of the parent: then a thread that writes a line here waits for ever. */
static void be_quiet_after_fork(void) {
    if (pdk__forks() > 0)
        zoo_set_debug_level((ZooLogLevel)0); /* none */
}

static pdk_status client_open(const struct pdk__zk_config *config, pdk__zk **out) {
    pdk__zk *zk = g_new0(pdk__zk, 1);
    zk->config = *config;
    zk->servers = g_strdup(config->servers);
    zk->config.servers = zk->servers;
    zk->dials = pdk__sockets_dials_new();
    zk->node_acl = pdk__acl_make(config);
    zk->calls = g_hash_table_new(NULL, NULL);
    pthread_mutex_init(&zk->opening, NULL);
    pthread_mutex_init(&zk->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&zk->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pdk__logs_add(config->sink->log, config->driver);
    be_quiet_after_fork();
    *out = zk;

    pdk__cloexec_begin();
    pthread_mutex_lock(&zk->opening);
    zhandle_t *handle = init_handle(zk);
    bool unsupported = !handle && errno == ENOSYS;
    if (handle) {
        atomic_store(&zk->handle, handle);
        zoo_set_servers_resolution_delay(handle, -1);
        if (config->digest)
            zoo_add_auth(handle, "digest", config->digest, (int)strlen(config->digest), NULL, NULL);
    }
    pthread_mutex_unlock(&zk->opening);
    pdk__cloexec_end();
    if (handle)
        return PDK_OK;
    *out = NULL;
    client_free(zk);
    return unsupported ? PDK_UNSUPPORTED : PDK_SYSTEM;
}

/* Wait for answers, since the close neither forgets nor leaks a request that is answered before it. */
static void await_answers(pdk__zk *zk) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LAST_ANSWERS_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&zk->lock);
    while (g_hash_table_size(zk->calls) > 0 && zoo_state(atomic_load(&zk->handle)) == ZOO_CONNECTED_STATE &&
           pthread_cond_timedwait(&zk->answered, &zk->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&zk->lock);
}

/* ASSOCIATING follows the handshake that is sent. A thread that is held up in between is late by as much. */
static enum pdk__zk_dial client_dial(pdk__zk *zk) {
    zhandle_t *handle = atomic_load(&zk->handle);
    int state = handle ? zoo_state(handle) : 0;
    return state == ZOO_ASSOCIATING_STATE || state == ZOO_CONNECTED_STATE ? PDK__ZK_DIALLED
           : state == ZOO_CONNECTING_STATE                                ? PDK__ZK_DIALS
                                                                          : PDK__ZK_IDLE;
}

static enum pdk__zk_parting client_leave(pdk__zk *zk) {
    zhandle_t *handle = atomic_load(&zk->handle);
    return handle ? pdk__sockets_leave(handle, zk->servers) : PDK__ZK_STAYS;
}

static enum pdk__zk_parting client_hurry(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms) {
    return what == PDK__ZK_DIALS ? pdk__sockets_skip(zk->dials, zk->servers, patience_ms)
                                 : pdk__sockets_hurry(zk->servers, patience_ms);
}

static bool client_servers(pdk__zk *zk, const char *servers) {
    if (!pdk__servers_give(atomic_load(&zk->handle), zk->dials, zk->servers, servers)) {
        if (client_dial(zk) == PDK__ZK_DIALS)
            pdk__sockets_abandon(zk->dials, zk->servers, servers);
        return false;
    }
    pthread_mutex_lock(&zk->lock);
    g_free(zk->servers);
    zk->config.servers = zk->servers = g_strdup(servers);
    pthread_mutex_unlock(&zk->lock);
    return true;
}

static void *client_native(pdk__zk *zk) { return atomic_load(&zk->handle); }

static void client_secret(pdk__zk *zk, unsigned char password[PDK__ZK_PASSWORD], char *servers, size_t size) {
    pthread_mutex_lock(&zk->lock);
    memcpy(password, zk->password, sizeof zk->password);
    g_autofree char *all = *zk->peer ? g_strconcat(zk->peer, ",", zk->servers, NULL) : g_strdup(zk->servers);
    pthread_mutex_unlock(&zk->lock);
    if (g_strlcpy(servers, all, size) >= size) { /* no address is cut in two */
        char *comma = strrchr(servers, ',');
        *(comma ? comma : servers) = '\0';
    }
}

static void client_close(pdk__zk *zk) {
    await_answers(zk);
    pdk__sockets_forget(atomic_load(&zk->handle));
    zookeeper_close(atomic_load(&zk->handle));
    /* No thread of the client library is left: it forgot these. */
    GList *forgotten = g_hash_table_get_keys(zk->calls);
    for (GList *link = forgotten; link; link = link->next) {
        struct pdk__reply reply = {0};
        answer(link->data, ZCLOSING, &reply);
    }
    g_list_free(forgotten);
    client_free(zk);
}

/* A child of fork may open a session of its own. So no thread that the child lacks must hold these locks. They are
 * taken in the order in which opening takes them. */
static void before_fork(void) {
    pdk__cloexec_fork(true);
    pdk__sockets_fork(true);
    pdk__logs_fork(true);
}

static void after_fork(void) {
    pdk__logs_fork(false);
    pdk__sockets_fork(false);
    pdk__cloexec_fork(false);
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

const struct pdk__zk_calls pdk__zk_client = {client_open,  client_submit,  client_close,  client_dial,  client_leave,
                                             client_hurry, client_servers, client_native, client_secret};
