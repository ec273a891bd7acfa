/* The connector: the work that may block for seconds, on a thread of its own. There is one handle at a time: the
 * retired one is closed before the next is opened; but one that the program has borrowed is kept until it is returned. */
#include "session/connect.h"

#include "session/borrow.h"
#include "session/chores.h"
#include "session/entries.h"
#include "session/ops.h"
#include "session/renew.h"
#include "session/supervise.h"

/* How often names are looked up again while there is no connection. */
#define REFRESH_NS (5000 * PDK__MS)
/* The session is given up after so many session timeouts without a connection. */
#define GIVE_UP_AFTER 4

static bool must_stop(void *user) {
    pdk_session *s = user;
    pdk__lock(s);
    bool stop = s->finish || s->ended != PDK_OK;
    pdk__unlock(s);
    return stop;
}

static pdk_status resolve(pdk_session *s, char **servers, char **why) {
    pdk__unlock(s);
    pdk_status status = s->platform->resolve(s->hosts, must_stop, s, servers, why);
    pdk__lock(s);
    return status;
}

/* Servers that work have ended the session by now. Servers that lost their data, or went back to older data, refuse a
 * client that has seen more than they have. They refuse it silently and for ever. */
static bool is_hopeless(const pdk_session *s) {
    return s->link == PDK__LINK_SUSPENDED && pdk__now(s) - s->suspended_at >= GIVE_UP_AFTER * s->lease.timeout;
}

/* Look up the names again. The client library knows addresses only. If the servers have moved while there was no
 * connection, it would try the old addresses for ever. */
static void refresh(pdk_session *s) {
    pdk__assert_locked(s);
    char *servers, *why;
    uint64_t generation = s->generation;
    pdk_status status = resolve(s, &servers, &why);
    s->refresh_at = pdk__now(s) + REFRESH_NS;
    if (generation == s->generation && s->link != PDK__LINK_CONNECTED) {
        if (status == PDK_OK && g_strcmp0(servers, s->servers) != 0)
            pdk__session_reopen(s, "the servers have moved to other addresses");
        else if (is_hopeless(s))
            pdk__session_reopen(s, "no server has taken it back for long");
    }
    g_free(servers);
    g_free(why);
}

static void opened(pdk_session *s, pdk__zk *zk) {
    s->zk = zk;
    if (s->link == PDK__LINK_OPENING) /* it may have reported already */
        pdk__silence_disconnected(s);
}

/* Under the monitor, which it gives up while it resolves and opens. */
static void open_handle(pdk_session *s) {
    pdk__assert_locked(s);
    char *servers, *why;
    s->link = PDK__LINK_OPENING;
    pdk_status status = resolve(s, &servers, &why);
    if (status != PDK_OK) {
        pdk__session_trouble(s, status, why ? why : pdk_status_text(status));
    } else {
        const struct pdk__zk_config config = {
            .servers = servers,
            .timeout_ms = (int32_t)s->session_timeout_ms,
            .digest = s->credentials.digest,
            .tls = s->credentials.tls,
            .access = s->access.choice,
            .access_list = s->access.list,
            .access_count = s->access.count,
            .sink = &pdk__session_sink,
            .driver = s,
        };
        uint64_t generation = s->generation;
        pdk__zk *zk = NULL;
        pdk__renew_begin(s);
        g_free(s->servers);
        s->servers = g_strdup(servers);
        s->refresh_at = pdk__now(s) + REFRESH_NS;
        pdk__unlock(s);
        status = s->platform->zk->open(&config, &zk);
        pdk__lock(s);
        if (status != PDK_OK)
            pdk__session_trouble(s, status,
                                 status == PDK_UNSUPPORTED ? "this build of libzookeeper has no TLS"
                                                           : "zookeeper_init: no thread or descriptor was to be had");
        else if (generation == s->generation)
            opened(s, zk); /* else it expired meanwhile, and is retired */
    }
    g_free(servers);
    g_free(why);
}

static void close_handle(pdk_session *s, pdk__zk *zk) {
    pdk__assert_locked(s);
    pdk__unlock(s);
    s->platform->zk->close(zk);
    pdk__lock(s);
    pdk__borrows_end(s, zk);
}

/* A retired handle that nobody has borrowed, or NULL. It is taken. */
static pdk__zk *to_close(pdk_session *s) {
    for (GList *link = s->retired.head; link; link = link->next) {
        pdk__zk *zk = link->data;
        if (!pdk__is_borrowed(s, zk)) {
            g_queue_delete_link(&s->retired, link);
            return zk;
        }
    }
    return NULL;
}

/* Has everything been returned? A return calls the connector again. */
static bool nothing_is_out(const pdk_session *s) {
    return s->retired.length == 0 && !(s->zk && pdk__is_borrowed(s, s->zk));
}

/* May the session end now? With a connection, deletes in flight get as much time as a request may take. */
static bool may_finish(pdk_session *s, int64_t *wait_until) {
    if (s->flush_until == 0)
        s->flush_until = pdk__now(s) + s->request_timeout_ms * PDK__MS;
    *wait_until = s->flush_until;
    return s->entries.length == 0 || s->link == PDK__LINK_NONE || pdk__now(s) >= s->flush_until;
}

static void finish(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__zk *zk = s->zk;
    s->zk = NULL;
    s->link = PDK__LINK_NONE;
    s->generation++;
    pdk__ops_reset(s);
    if (zk)
        close_handle(s, zk);
    pdk__entries_tell(s, PDK__EXPIRED);
    pdk__chores_run(s);
    s->finished = true;
    pdk__wake(&s->on_finish);
}

bool pdk__connector_run(pdk_session *s, int64_t *wait_until) {
    pdk__lock(s);
    pdk__chores_run(s);
    *wait_until = INT64_MAX;
    pdk__zk *zk = to_close(s);
    if (zk) {
        close_handle(s, zk);
        *wait_until = 0;
    } else if (s->finish) {
        if (!nothing_is_out(s))
            *wait_until = INT64_MAX;
        else if (may_finish(s, wait_until))
            finish(s);
    } else if (pdk__silence_act(s)) {
        *wait_until = 0;
    } else if (s->ended == PDK_OK && s->link != PDK__LINK_CONNECTED) {
        *wait_until = s->zk ? s->refresh_at : s->open_after;
        if (pdk__now(s) >= *wait_until) {
            if (s->zk)
                refresh(s);
            else
                open_handle(s);
            *wait_until = 0;
        }
    }
    bool finished = s->finished;
    pdk__unlock(s);
    return finished;
}
