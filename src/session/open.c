/* A session is opened: options, the first connection, and the questions of a caller about it. */
#include "session/open.h"

#include "base/fork.h"
#include "base/slices.h"
#include "base/standard.h"
#include "base/text.h"
#include "session/blocking.h"
#include "session/chores.h"
#include "session/close.h"
#include "session/lists.h"
#include "session/mirrors.h"
#include "session/ops.h"
#include "session/options.h"
#include "session/path_stats.h"
#include "session/predecessors.h"
#include "session/protect.h"
#include "session/reap.h"
#include "session/renew.h"
#include "session/supervise.h"
#include "session/threads.h"
#include "session/tokens.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>
#include <unistd.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_session_options, token_base) + sizeof(int64_t))

pdk_status pdk_session_options_init(pdk_session_options *options, size_t size) {
    static const pdk_session_options defaults = PDK_SESSION_OPTIONS_INIT;
    return pdk__options_init("pdk_session_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

int64_t pdk_forever(void) { return PDK_FOREVER; }

static pdk_status check_range(const char *name, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "options: %s is %lld; from %lld to %lld", name, (long long)value, (long long)least,
                     (long long)most);
}

static pdk_status check_numbers(const pdk_session_options *o) {
    const struct {
        const char *name;
        int64_t value, least, most;
    } ranges[] = {
        {"session_timeout_ms", o->session_timeout_ms, 400, 600000},
        {"connect_timeout_ms", o->connect_timeout_ms, 1, INT32_MAX},
        {"request_timeout_ms", o->request_timeout_ms, 1, INT32_MAX},
        {"server_tick_ms", o->server_tick_ms, 0, 600000},
        {"touch_hops", o->touch_hops, 1, 2},
        {"dispatch", o->dispatch, PDK_DISPATCH_THREAD, PDK_DISPATCH_MANUAL},
        {"log_level", o->log_level, PDK_LOG_ERROR, PDK_LOG_DEBUG},
        {"open_in_background", o->open_in_background, 0, 1},
        {"stats_paths", o->stats_paths, 0, 1000},
        {"token_base", o->token_base, 0, PDK__TOKEN_BASE_MAX},
        {"access", o->access, PDK_ACCESS_DEFAULT, PDK_ACCESS_LIST},
        {"accept_unprotected", o->accept_unprotected, 0, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
        pdk_status status = check_range(ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most);
        if (status != PDK_OK)
            return status;
    }
    if (o->token_base % PDK__TOKEN_GENERATION != 0)
        return pdk__fail(PDK_INVALID,
                         "options: token_base is %lld, and no multiple of 2^48; pass what pdk_token_base_above "
                         "returned",
                         (long long)o->token_base);
    return PDK_OK;
}

static pdk_status check_strings(const pdk_session_options *o) {
    if (o->label && (strlen(o->label) > 64 || !g_utf8_validate(o->label, -1, NULL)))
        return pdk__fail(PDK_INVALID, "options: label is longer than 64 bytes or not UTF-8");
    return PDK_OK;
}

static char *make_identity(const char *label) {
    char host[256] = "unknown";
    gethostname(host, sizeof host - 1);
    return label && label[0] ? g_strdup_printf("%s:%ld:%s", host, (long)getpid(), label)
                             : g_strdup_printf("%s:%ld", host, (long)getpid());
}

static struct pdk__user_free event_free_of(const pdk_session_options *o) {
    return (struct pdk__user_free){o->on_event_user_free, o->on_event_user};
}

static struct pdk__user_free log_free_of(const pdk_session_options *o) {
    return (struct pdk__user_free){o->on_log_user_free, o->on_log_user};
}

/* The credentials and hosts are its own from now on. */
static pdk_session *session_make(const pdk_session_options *o, struct pdk__credentials credentials,
                                 struct pdk__hosts *hosts, const struct pdk__platform *platform) {
    pdk_session *s = g_new0(pdk_session, 1);
    atomic_init(&s->refs, 1);
    atomic_init(&s->handles, 1);
    s->forks = pdk__forks();
    s->platform = platform;
    s->hosts = hosts;
    s->names = pdk__names_new(hosts);
    s->identity = make_identity(o->label);
    pdk__uuid_prefix_make(s);
    s->credentials = credentials;
    s->access = pdk__access_copy(o);
    s->session_timeout_ms = o->session_timeout_ms;
    s->connect_timeout_ms = o->connect_timeout_ms;
    s->request_timeout_ms = o->request_timeout_ms;
    s->token_base = o->token_base;
    s->open_in_background = o->open_in_background != 0;
    s->on_event = o->on_event;
    s->on_event_user = o->on_event_user;
    s->event_free = event_free_of(o);
    s->log_free = log_free_of(o);
    pdk__monitor_init(&s->monitor);
    g_queue_init(&s->retired);
    g_queue_init(&s->borrows);
    g_queue_init(&s->entries);
    s->marked = g_hash_table_new(g_int64_hash, g_int64_equal);
    s->found = g_hash_table_new(g_str_hash, g_str_equal);
    s->searched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_queue_init(&s->renewing);
    g_queue_init(&s->leaving);
    g_queue_init(&s->live_queries);
    s->alarms = g_sequence_new(NULL);
    s->armed = INT64_MAX;
    pdk__chores_init(s);
    pdk__predecessors_init(s);
    pdk__unowned_init(s);
    pdk__mirrors_init(s);
    pdk__watches_init(s);
    pdk__window_init(&s->window);
    pdk__lists_init(s);
    pdk__protect_init(s);
    pdk__renew_init(s);
    pdk__silence_init(s);
    pdk__stats_init(&s->stats);
    pdk__path_stats_init(&s->stats, o->stats_paths);
    pdk__lease_init(&s->lease, o->server_tick_ms * PDK__MS, o->touch_hops);
    return s;
}

/* The caller never got this session, so none of its callbacks runs any more. */
static void session_abandon(void *user) {
    pdk_session *s = user;
    pdk__outbox_silence(s);
    pdk__session_unref(s);
}

/* Wait for the first lease, or fail with the reason. A connection alone is not enough: a server refuses credentials
 * only after it, and a server without a quorum accepts it. */
static pdk_status await_connection(pdk_session *s) {
    int64_t deadline = pdk__deadline(s, s->connect_timeout_ms);
    struct pdk__leave leave = {.after = session_abandon, .user = s};
    pdk__leave_push(&leave);
    pdk__lock(s);
    while (s->lease.end == 0 && s->ended == PDK_OK && s->trouble == PDK_OK && pdk__wait(s, &s->on_link, deadline))
        ;
    pdk_status status = s->lease.end != 0 ? PDK_OK : s->ended ? s->ended : s->trouble ? s->trouble : PDK_UNAVAILABLE;
    const char *why = pdk__session_why_away(s);
    if (status == PDK_UNAVAILABLE)
        pdk__fail(status, "hosts: no server answered within connect_timeout_ms (%lld ms)%s%s",
                  (long long)s->connect_timeout_ms, why ? "; " : "", why ? why : "");
    else if (status != PDK_OK)
        pdk__fail(status, "hosts: %s", s->trouble_text);
    pdk__unlock(s);
    pdk__leave_pop();
    return status;
}

/* Read the arguments with which a session begins. *credentials is to be freed after a failure too. */
static pdk_status session_read_arguments(const char *hosts_text, const pdk_session_options *given,
                                         pdk_session_options *o, struct pdk__credentials *credentials,
                                         struct pdk__hosts **hosts) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    status = check_numbers(o);
    if (status != PDK_OK)
        return status;
    status = check_strings(o);
    if (status != PDK_OK)
        return status;
    if (!pdk__slices_work())
        return pdk__fail(PDK_SYSTEM,
                         "pdk_session_open: this process was forked while another thread was in GLib's allocator, "
                         "whose lock is held for good: fork again, or set G_SLICE=always-malloc");
    status = pdk__credentials_take(o, credentials);
    if (status != PDK_OK)
        return status;
    status = pdk__access_check(o);
    return status == PDK_OK ? pdk__hosts_parse(hosts_text, hosts) : status;
}

pdk_status pdk__session_begin(const char *hosts_text, const pdk_session_options *given,
                              const struct pdk__platform *platform, pdk_session **out) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    struct pdk__credentials credentials = {NULL, NULL, NULL};
    struct pdk__hosts *hosts = NULL;
    pdk_status status = session_read_arguments(hosts_text, given, &options, &credentials, &hosts);
    if (status == PDK_UNSUPPORTED || status == PDK_SYSTEM) { /* nothing began, but only INVALID calls no user_free */
        pdk__user_free(event_free_of(&options));
        pdk__user_free(log_free_of(&options));
    }
    if (status != PDK_OK) {
        pdk__credentials_free(&credentials);
        return status;
    }

    pdk_session *s = session_make(&options, credentials, hosts, platform);
    status = pdk__outbox_init(s, &options);
    if (status == PDK_OK)
        status = s->platform->start(s);
    if (status != PDK_OK) {
        session_abandon(s);
        return status;
    }
    if (s->credentials.warning)
        pdk__log(s, PDK_LOG_WARN, "%s", s->credentials.warning);
    *out = s;
    return PDK_OK;
}

static pdk_status open_session(const char *hosts, const pdk_session_options *options, pdk_session **out) {
    pdk_session *s;
    if (!out)
        return pdk__fail(PDK_INVALID, "out: NULL; pass the address of a pdk_session pointer");
    if (pdk__in_callback())
        return pdk__fail(PDK_WRONG_THREAD, "pdk_session_open: blocks, so it must not be called from a callback");
    pdk__fill_standard(); /* the client library opens sockets as it reconnects: it takes any number that is free */
    pdk_status status = pdk__session_begin(hosts, options, &pdk__platform_real, &s);
    if (status != PDK_OK)
        return status;
    if (!s->open_in_background)
        status = await_connection(s);
    if (status != PDK_OK) {
        session_abandon(s);
        return status;
    }
    if (!s->credentials.digest && s->access.choice == PDK_ACCESS_OPEN)
        pdk__log(s, PDK_LOG_WARN, "no authentication: nodes are open to everybody who reaches the servers");
    *out = s;
    return PDK_OK;
}

pdk_status pdk_session_open(const char *hosts, const pdk_session_options *options, pdk_session **out) {
    pdk__cancel_off();
    pdk_status status = open_session(hosts, options, out);
    pdk__cancel_back();
    return status;
}

int64_t pdk_session_id(pdk_session *s) {
    if (!s || s->forks != pdk__forks())
        return 0;
    pdk__lock(s);
    int64_t id = s->link == PDK__LINK_CONNECTED || s->link == PDK__LINK_SUSPENDED ? s->id : 0;
    pdk__unlock(s);
    return id;
}

pdk_status pdk_session_secret(pdk_session *s, int64_t *id, unsigned char password[16], char *servers,
                              size_t servers_size) {
    static const char call[] = "pdk_session_secret";
    if (!id || !password || !servers || !servers_size)
        return pdk__fail(PDK_INVALID, "%s: %s; it is written to", call,
                         !id         ? "id: NULL"
                         : !password ? "password: NULL"
                         : !servers  ? "servers: NULL"
                                     : "servers_size: 0");
    pdk_status status = pdk__check_call(s, call, 0);
    if (status != PDK_OK)
        return status;
    pdk__lock(s);
    status = pdk__session_connected(s, call);
    if (status == PDK_OK) {
        *id = s->id;
        s->platform->zk->secret(s->zk, password, servers, servers_size);
    }
    pdk__unlock(s);
    return status;
}

int32_t pdk_session_timeout_ms(pdk_session *s) {
    if (!s || s->forks != pdk__forks())
        return 0;
    pdk__lock(s);
    int64_t ms = s->lease.timeout / PDK__MS;
    pdk__unlock(s);
    return (int32_t)ms;
}

const char *pdk_session_identity(const pdk_session *s) { return s ? s->identity : ""; }
