/* The connector: the work that may block for seconds, on a thread of its own. There is one handle at a time: the
 * retired one is closed before the next is opened; but one that the program has borrowed is kept until it is
 * returned. */
#include "session/connect.h"

#include "session/borrow.h"
#include "session/chores.h"
#include "session/entries.h"
#include "session/ops.h"
#include "session/renew.h"
#include "session/supervise.h"

#include <assert.h>
#include <string.h>

/* The session is given up after so many session timeouts without a connection. */
#define GIVE_UP_AFTER 4
/* A new handle begins with the names that were found by then. The others follow. */
#define PATIENCE_NS (250 * PDK__MS)
/* The pause before a handle that dials a server is asked again to take another list. */
#define AGAIN_NS (20 * PDK__MS)

static int64_t between(int64_t least, int64_t value, int64_t most) { return CLAMP(value, least, most); }

/* ---- the names
 *
 *     no connection        they are looked up at once, and every T/10; after T, every 5 s
 *     connected            every T, so that the list is at hand when the connection is lost, and maybe the resolver
 *     the list is another  a handle that has no connection, and dials nobody, is given it: zk/servers.h
 */

static int64_t timeout(const pdk_session *s) {
    return s->lease.timeout != 0 ? s->lease.timeout : s->session_timeout_ms * PDK__MS;
}

static int64_t pace(const pdk_session *s) {
    int64_t t = timeout(s);
    if (s->link == PDK__LINK_CONNECTED)
        return between(5000 * PDK__MS, t, 60000 * PDK__MS);
    return pdk__now(s) - s->away_since < t ? between(200 * PDK__MS, t / 10, 1000 * PDK__MS) : 5000 * PDK__MS;
}

static void look_up(pdk_session *s) {
    struct pdk__names *names = s->names;
    s->looked_at = s->hear_at = pdk__now(s);
    s->look_at = pdk__names_are_numbers(names) ? INT64_MAX : s->looked_at + pace(s);
    pdk__unlock(s);
    pdk__names_look_up(names, s->platform->look_up);
    pdk__lock(s);
}

/* Most answers come soon, and some come late. */
static int64_t next_hearing(pdk_session *s) {
    int64_t now = pdk__now(s);
    return now + between(PDK__MS, (now - s->looked_at) / 4, 1000 * PDK__MS);
}

/* A change is told once. Takes the text. */
static void tell_trouble(pdk_session *s, const char *what, char *why) {
    if (why && g_strcmp0(why, s->names_trouble) != 0)
        pdk__log(s, PDK_LOG_WARN, "%s: %s; it is looked up again", what, why);
    g_free(s->names_trouble);
    s->names_trouble = why;
}

/* Give the handle the list, if it can take one now. */
static void give(pdk_session *s, char *servers) {
    uint64_t generation = s->generation;
    pdk__zk *zk = s->zk;
    pdk__unlock(s);
    bool given = s->platform->zk->servers(zk, servers);
    pdk__lock(s);
    if (generation != s->generation)
        return;
    if (!given) {
        s->hear_at = MIN(s->hear_at, pdk__now(s) + AGAIN_NS);
        return;
    }
    pdk__log(s, PDK_LOG_INFO, "the servers' addresses are now %s", servers);
    g_free(s->servers);
    s->servers = g_strdup(servers);
}

static void hear(pdk_session *s) {
    char *servers, *why;
    bool awaited = pdk__names_awaited(s->names) > 0;
    (void)pdk__names_list(s->names, &servers, &why);
    assert(s->zk && servers); /* the handle was opened with the addresses found then, and no address is forgotten */
    s->hear_at = awaited ? next_hearing(s) : INT64_MAX;
    tell_trouble(s, "without one of the servers", why);
    if (s->link != PDK__LINK_CONNECTED && strcmp(servers, s->servers) != 0)
        give(s, servers);
    g_free(servers);
}

void pdk__connector_follow(pdk_session *s) {
    pdk__assert_locked(s);
    s->away_since = s->hear_at = pdk__now(s);
    if (!pdk__names_are_numbers(s->names))
        s->look_at = s->away_since;
    s->platform->work(s);
}

/* ---- the handle */

/* The session is hopeless then: servers that work have ended it by that time. And servers that lost their data, or went
 * back to older data, refuse a client that has seen more than they have, silently and for ever. */
static int64_t hopeless_at(const pdk_session *s) {
    return s->link == PDK__LINK_SUSPENDED ? s->suspended_at + GIVE_UP_AFTER * s->lease.timeout : INT64_MAX;
}

/* Do the work that is due for a handle. The moment when something is due again. */
static int64_t tend(pdk_session *s) {
    int64_t now = pdk__now(s);
    uint64_t generation = s->generation;
    if (now >= hopeless_at(s)) {
        pdk__session_reopen(s, "no server has taken it back for long");
        return 0;
    }
    if (now >= s->look_at)
        look_up(s);
    if (generation == s->generation && now >= s->hear_at)
        hear(s);
    return generation == s->generation ? MIN(MIN(s->look_at, s->hear_at), hopeless_at(s)) : 0;
}

static void opened(pdk_session *s, pdk__zk *zk) {
    s->zk = zk;
    if (s->link == PDK__LINK_OPENING) /* it may have reported already */
        pdk__silence_disconnected(s);
}

/* Under the monitor, which it gives up while it opens. */
static void open_handle(pdk_session *s, const char *servers) {
    pdk__assert_locked(s);
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
    s->away_since = pdk__now(s);
    s->link = PDK__LINK_OPENING;
    pdk__unlock(s);
    pdk_status status = s->platform->zk->open(&config, &zk);
    pdk__lock(s);
    if (status != PDK_OK)
        pdk__session_trouble(s, status,
                             status == PDK_UNSUPPORTED ? "this build of libzookeeper has no TLS"
                                                       : "zookeeper_init: no thread or descriptor was to be had");
    else if (generation == s->generation)
        opened(s, zk); /* else it expired meanwhile, and is retired */
}

/* Look up the names, and open a handle with the addresses that are found in time. The moment when something is due
 * again. */
static int64_t connect_begin(pdk_session *s) {
    char *servers, *why;
    int64_t now = pdk__now(s);
    if (now < s->open_after)
        return s->open_after;
    if (!s->opens) {
        s->opens = true;
        s->away_since = now;
        look_up(s);
    }
    bool awaited = pdk__names_awaited(s->names) > 0;
    pdk_status status = pdk__names_list(s->names, &servers, &why);
    if (awaited && (status != PDK_OK || now - s->away_since < PATIENCE_NS)) {
        if (now >= s->look_at)
            look_up(s); /* again the names that failed: one that hangs holds up no other */
        s->hear_at = next_hearing(s);
        if (status != PDK_OK && now - s->away_since >= PATIENCE_NS)
            tell_trouble(s, "cannot connect", g_steal_pointer(&why));
    } else if (status != PDK_OK) {
        s->opens = false;
        tell_trouble(s, "", NULL);
        pdk__session_trouble(s, status, why);
    } else {
        s->opens = false;
        tell_trouble(s, "without one of the servers", g_steal_pointer(&why));
        open_handle(s, servers);
    }
    g_free(servers);
    g_free(why);
    return s->opens ? MIN(s->hear_at, s->look_at) : 0;
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

static void connect_finish(pdk_session *s) {
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
            connect_finish(s);
    } else if (pdk__silence_act(s)) {
        *wait_until = 0;
    } else if (s->ended == PDK_OK) {
        *wait_until = s->zk ? tend(s) : connect_begin(s);
    }
    bool finished = s->finished;
    pdk__unlock(s);
    return finished;
}
