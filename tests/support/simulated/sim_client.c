/* The table of calls over the fake ensemble: handles, requests, and the thread that brings answers to the driver. */
#include "sim_client_internal.h"

#include "zk/errors.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

/* As the real table: it refuses more than this many in flight. */
#define OUTSTANDING_MAX 10000

void sim_calls_push(struct sim_calls *calls, struct sim_call *call) {
    call->next = NULL;
    if (calls->first)
        calls->last->next = call;
    else
        calls->first = call;
    calls->last = call;
}

struct sim_call *sim_calls_pop(struct sim_calls *calls) {
    struct sim_call *call = calls->first;
    if (call)
        calls->first = call->next;
    return call;
}

/* ---- the completion thread */

static const char *name_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : NULL;
}

static void set_stat(struct pdk__reply *reply, const struct sim_stat *stat) {
    reply->token = stat->czxid;
    reply->zxid = MAX(stat->mzxid, stat->pzxid);
    reply->owner = stat->owner;
    reply->ctime_ms = stat->ctime_ms;
    reply->mtime_ms = stat->mtime_ms;
    reply->version = stat->version;
}

static void set_result(struct pdk__reply *reply, const struct sim_call *call, const struct sim_packet *packet,
                       pdk_access_entry *everybody) {
    switch (call->kind) {
    case PDK__OP_CREATE:
        set_stat(reply, &packet->stat);
        reply->name = name_of(packet->path);
        break;
    case PDK__OP_LIST:
        reply->children = packet->paths;
        reply->children_count = packet->count;
        reply->token = call->stat ? packet->stat.czxid : 0;
        break;
    case PDK__OP_WATCH:
    case PDK__OP_GET:
        if (packet->data && packet->data[0] != '\0') {
            reply->data = packet->data;
            reply->data_size = strlen(packet->data);
        }
        set_stat(reply, &packet->stat);
        break;
    case PDK__OP_ACL:
        *everybody = (pdk_access_entry){packet->mode, "world", "anyone"};
        reply->acl = everybody;
        reply->acl_count = 1;
        set_stat(reply, &packet->stat);
        break;
    case PDK__OP_STAT:
        set_stat(reply, &packet->stat);
        break;
    case PDK__OP_MKDIR:
    case PDK__OP_BARRIER:
    case PDK__OP_DELETE:
    case PDK__OP_SET:
    case PDK__OP_SYNC:
        break;
    }
}

static void enqueue(struct sim_handle *h, struct sim_call *call) {
    call->tag = ++h->tags;
    call->reply = NULL;
    sim_calls_push(&h->calls, call);
    if (!h->unsent)
        h->unsent = call;
    sim_io_wake(h);
}

static void answer(struct sim_handle *h, struct sim_call *call, int32_t code, const struct sim_packet *packet) {
    struct pdk__reply reply = {.tag = call->driver_tag, .result = pdk__zk_result(code), .code = code};
    pdk_access_entry everybody;
    if (code == ZOK && packet)
        set_result(&reply, call, packet, &everybody);
    h->outstanding--;
    h->sink->reply(h->driver, h->zk, &reply);
}

static bool is_over(const struct sim_handle *h) { return h->link == SIM_LINK_EXPIRED || h->process->dead; }

static void bring(struct sim_handle *h, struct sim_call *call) {
    switch (call->word) {
    case SIM_WORD_REPLY:
        if (call->kind == PDK__OP_MKDIR && call->code == ZUNIMPLEMENTED && call->container) {
            call->container = false; /* the server knows no container nodes */
            if (is_over(h))
                answer(h, call, ZINVALIDSTATE, NULL);
            else
                enqueue(h, call);
        } else {
            answer(h, call, call->code, call->reply);
        }
        break;
    case SIM_WORD_WATCH:
        h->sink->watch(h->driver, h->zk, call->path, call->event);
        break;
    case SIM_WORD_STATE:
        if (call->state == PDK__ZK_CONNECTED)
            h->sink->state(h->driver, h->zk, call->state, h->session, (int32_t)(h->timeout / SIM_MS));
        else
            h->sink->state(h->driver, h->zk, call->state, 0, 0);
        break;
    }
}

static void on_due(void *subject, void *what);

static void wake_completions(struct sim_handle *h) {
    if (h->telling || !h->due.first)
        return;
    h->telling = true;
    sim_run_in(h->process, h->process->agenda->now, true, on_due, h, NULL);
}

static void on_due(void *subject, void *what) {
    struct sim_handle *h = subject;
    (void)what;
    h->telling = false;
    if (!h->zk)
        return;
    bring(h, sim_calls_pop(&h->due));
    wake_completions(h);
}

void sim_tell(struct sim_handle *h, struct sim_call *call) {
    sim_calls_push(&h->due, call);
    wake_completions(h);
}

void sim_tell_state(struct sim_handle *h, enum pdk__zk_state state) {
    struct sim_call *call = sim_alloc(h->process->agenda, sizeof *call);
    call->word = SIM_WORD_STATE;
    call->state = state;
    sim_tell(h, call);
}

/* ---- the table */

/* "10.0.M.N:2181,…": an ensemble, and numbers of servers, shuffled as the client library does it. */
static void set_servers(struct sim_handle *h, const char *text) {
    int32_t ensemble = (int32_t)strtol(text + strlen("10.0."), NULL, 10);
    h->ensemble = ensemble == 0 ? h->process->ensemble : h->process->more[ensemble - 1];
    for (const char *at = text; at && h->servers_count < SIM_CLIENT_SERVERS; at = strchr(at, ',')) {
        at += *at == ',';
        g_assert(g_str_has_prefix(at, "10.0.") && strtol(at + strlen("10.0."), NULL, 10) == ensemble);
        h->servers[h->servers_count++] = (int32_t)strtol(strchr(at + strlen("10.0."), '.') + 1, NULL, 10) - 1;
    }
    for (int32_t i = h->servers_count - 1; i > 0; i--) {
        int32_t j = (int32_t)sim_random_between(&h->process->agenda->chance, 0, i), kept = h->servers[i];
        h->servers[i] = h->servers[j];
        h->servers[j] = kept;
    }
}

static pdk_status open_handle(const struct pdk__zk_config *config, pdk__zk **out) {
    struct sim_process *p = sim_process_current();
    struct sim_handle *h = sim_alloc(p->agenda, sizeof *h);
    h->process = p;
    h->zk = g_new0(pdk__zk, 1);
    h->zk->handle = h;
    h->sink = config->sink;
    h->driver = config->driver;
    h->timeout = config->timeout_ms * SIM_MS;
    h->server = -1;
    set_servers(h, config->servers);
    h->next = p->client;
    p->client = h;
    *out = h->zk;
    sim_io_wake(h);
    return PDK_OK;
}

/* The servers here keep data as texts, so bytes must have no NUL among them. */
static const char *copy_data(struct sim_agenda *agenda, const struct pdk__request *request) {
    if (!request->data || request->data_size == 0)
        return sim_text(agenda, request->data);
    g_assert(!memchr(request->data, '\0', request->data_size));
    char *text = sim_alloc(agenda, request->data_size + 1);
    memcpy(text, request->data, request->data_size);
    text[request->data_size] = '\0';
    return text;
}

static bool is_unsent(struct sim_process *p, enum pdk__op_kind kind) {
    if (p->unsent == 0 || (p->unsent_kind >= 0 && p->unsent_kind != (int32_t)kind))
        return false;
    p->unsent--;
    return true;
}

static bool submit(pdk__zk *zk, const struct pdk__request *request) {
    struct sim_handle *h = zk->handle;
    struct sim_agenda *agenda = h->process->agenda;
    if (is_over(h) || h->outstanding >= OUTSTANDING_MAX || is_unsent(h->process, request->kind))
        return false;
    struct sim_call *call = sim_alloc(agenda, sizeof *call);
    call->kind = request->kind;
    call->driver_tag = request->tag;
    call->path = sim_text(agenda, request->path);
    call->data = copy_data(agenda, request);
    call->versioned = request->versioned;
    call->version = request->version;
    call->container = request->container;
    call->named = request->named;
    call->watch = request->watch;
    call->stat = request->stat;
    h->outstanding++;
    enqueue(h, call);
    return true;
}

/* Answers on their way to the driver are forgotten as well, as the client library may do it. */
static void answer_all(struct sim_handle *h, struct sim_calls *calls) {
    for (struct sim_call *call; (call = sim_calls_pop(calls));)
        if (call->word == SIM_WORD_REPLY)
            answer(h, call, ZCLOSING, NULL);
}

static void close_handle(pdk__zk *zk) {
    struct sim_handle *h = zk->handle;
    sim_io_close(h);
    answer_all(h, &h->due);
    answer_all(h, &h->calls);
    g_assert(h->outstanding == 0);
    h->zk = NULL;
    g_free(zk);
}

static enum pdk__zk_dial dial(pdk__zk *zk) {
    enum sim_client_link link = zk->handle->link;
    return link == SIM_LINK_CONNECTING || link == SIM_LINK_UP ? PDK__ZK_DIALLED : PDK__ZK_IDLE;
}

static bool has_choice(const struct sim_handle *h) {
    for (int32_t i = 1; i < h->servers_count; i++)
        if (h->servers[i] != h->servers[0])
            return true;
    return false;
}

static enum pdk__zk_parting leave(pdk__zk *zk) {
    struct sim_handle *h = zk->handle;
    bool leaves = h->link == SIM_LINK_UP && has_choice(h);
    if (leaves)
        sim_io_shut(h);
    return leaves ? PDK__ZK_HAS_LEFT : PDK__ZK_STAYS;
}

static enum pdk__zk_parting hurry(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms) {
    struct sim_handle *h = zk->handle;
    if (what != PDK__ZK_DIALLED || h->link != SIM_LINK_CONNECTING ||
        sim_process_clock(h->process) - h->sent < patience_ms * SIM_MS)
        return PDK__ZK_STAYS;
    sim_io_shut(h);
    return PDK__ZK_HAS_LEFT;
}

static bool take_servers(pdk__zk *zk, const char *servers) {
    struct sim_handle *h = zk->handle;
    if (dial(zk) != PDK__ZK_IDLE)
        return false;
    h->servers_count = h->next_server = h->first_pass = 0;
    set_servers(h, servers);
    return true;
}

static void *native(pdk__zk *zk) { return zk; }

static void secret(pdk__zk *zk, unsigned char password[PDK__ZK_PASSWORD], char *servers, size_t size) {
    (void)zk;
    memset(password, 's', PDK__ZK_PASSWORD);
    (void)snprintf(servers, size, "10.0.0.1:2181");
}

const struct pdk__zk_calls sim_client_calls = {open_handle, submit,       close_handle, dial,  leave,
                                               hurry,       take_servers, native,       secret};

/* ---- from outside */

static struct sim_handle *newest(const struct sim_process *p) {
    struct sim_handle *h = p->client;
    return h && h->zk ? h : NULL;
}

int32_t sim_client_server(const struct sim_process *p) {
    const struct sim_handle *h = newest(p);
    return h && h->link == SIM_LINK_UP ? h->server : -1;
}

int64_t sim_client_session(const struct sim_process *p) {
    const struct sim_handle *h = newest(p);
    return h && h->link != SIM_LINK_EXPIRED ? h->session : 0;
}

void sim_client_cut(struct sim_process *p) {
    struct sim_handle *h = newest(p);
    if (!h || h->server < 0)
        return;
    sim_break(h->wire.up);
    sim_break(h->wire.down);
}

void sim_client_killed(struct sim_process *p) {
    for (struct sim_handle *h = p->client; h; h = h->next)
        sim_io_hang_up(h);
}
