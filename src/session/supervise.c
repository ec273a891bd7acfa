/* The life of the connection. The sink of the table of calls is here.
 *
 *              open              CONNECTED                 CONNECTING
 *     NONE ──────────► OPENING ─────────────► CONNECTED ◄──────────────► SUSPENDED
 *       ▲                 │                       │         CONNECTED        │
 *       └─────────────────┴──── EXPIRED, or given up: retire the handle ◄────┘
 *
 * The connector closes a retired handle before it opens the next one, unless the program has borrowed it. The reports
 * of such a handle are not heard.
 */
#include "session/supervise.h"

#include "base/probe.h"
#include "session/call.h"
#include "session/chores.h"
#include "session/connect.h"
#include "session/entries.h"
#include "session/live_query.h"
#include "session/mirrors.h"
#include "session/ops.h"
#include "session/reap.h"
#include "session/renew.h"
#include "session/tokens.h"
#include "session/unowned.h"
#include "session/watches.h"

#define REOPEN_AFTER_NS (1000 * PDK__MS)
#define MALFORMED_EVERY_NS (1000 * PDK__MS)

struct told {
    pdk_session *s;
    pdk_session_event event;
    int64_t time_left_ms;
};

static void tell_run(void *user) {
    const struct told *told = user;
    told->s->on_event(told->event, told->time_left_ms, told->s->on_event_user);
}

void pdk__session_tell(pdk_session *s, pdk_session_event event) {
    pdk__assert_locked(s);
    if (s->ended != PDK_OK && event != PDK_SESSION_CLOSED)
        return; /* CLOSED is the last one */
    static const char *const words[] = {"", "connected", "suspended", "restored", "expired", "reopened", "closed"};
    int64_t left = MAX(s->lease.end - pdk__now(s), 0) / PDK__MS;
    if (event == PDK_SESSION_EXPIRED || event == PDK_SESSION_CLOSED)
        left = 0;
    pdk__log(s, PDK_LOG_INFO, "session 0x%llx %s, %lld ms of lease left", (unsigned long long)s->id, words[event],
             (long long)left);
    pdk__probe_event(s->id, (int32_t)event, left);
    if (!s->on_event)
        return;
    struct told *told = g_new(struct told, 1);
    *told = (struct told){s, event, left};
    if (!pdk__later(s, tell_run, g_free, told))
        g_free(told);
}

static bool tell_now(pdk_session *s, void *user) {
    pdk__session_tell(s, (pdk_session_event)GPOINTER_TO_INT(user));
    return true;
}

/* The event comes behind the news that the chores have to tell: of losses, to begin with. */
static void tell_then(pdk_session *s, pdk_session_event event) {
    pdk__chore_add(s, tell_now, NULL, GINT_TO_POINTER(event));
}

/* Nothing from the current handle counts any more. The connector closes it. */
static void retire(pdk_session *s) {
    pdk__assert_locked(s);
    g_queue_push_tail(&s->retired, s->zk);
    s->zk = NULL;
    s->link = PDK__LINK_NONE;
    s->generation++;
    pdk__ops_reset(s);
    pdk__alarm_off(&s->renewal);
    pdk__alarm_off(&s->lease_over);
    pdk__silence_over(s);
    pdk__entries_tell(s, PDK__EXPIRED);
    pdk__unowned_forget_all(s);
    pdk__mirrors_void(s);
    pdk__watches_reset(s);
    pdk__wake(&s->on_link);
    pdk__wake(&s->on_entries);
    s->platform->work(s);
}

static void begin_anew(pdk_session *s) {
    pdk__assert_locked(s);
    bool had_session = s->link != PDK__LINK_OPENING;
    pdk__uuid_prefix_make(s); /* the next session must not take these nodes for its own */
    if (s->listener)
        s->listener->calls->expired(s->listener);
    retire(s);
    if (had_session) {
        s->stats.counts.sessions_lost++;
        tell_then(s, PDK_SESSION_EXPIRED);
    }
    pdk__lease_begin(&s->lease, 0);
    pdk__renew_share(s);
    /* A server can end each session that it gives, so there is a pace. */
    s->open_after = pdk__now(s) + pdk__pace_next(&s->reopenings, &pdk__pace_repeats, pdk__now(s));
}

void pdk__session_reopen(pdk_session *s, const char *why) {
    pdk__assert_locked(s);
    if (!s->zk || s->ended != PDK_OK)
        return;
    pdk__log(s, PDK_LOG_ERROR, "giving up the ZooKeeper session: %s", why);
    begin_anew(s);
}

static bool tell_closed(pdk_session *s, void *user) {
    (void)user;
    if (!pdk__calls_end(s))
        return false;
    pdk__session_tell(s, PDK_SESSION_CLOSED);
    pdk__wake_all(s);
    return true;
}

void pdk__session_end(pdk_session *s, pdk_status status, const char *why) {
    pdk__assert_locked(s);
    if (s->ended != PDK_OK)
        return;
    s->ended = status;
    pdk__renew_share(s);
    g_free(s->trouble_text);
    s->trouble_text = g_strdup(why);
    if (s->listener)
        s->listener->calls->ended(s->listener, status, why);
    pdk__chore_add(s, tell_closed, NULL, NULL);
}

void pdk__session_trouble(pdk_session *s, pdk_status status, const char *why) {
    pdk__assert_locked(s);
    s->link = PDK__LINK_NONE;
    s->trouble = status;
    g_free(s->trouble_text);
    s->trouble_text = g_strdup(why);
    s->open_after = pdk__now(s) + REOPEN_AFTER_NS;
    pdk__log(s, PDK_LOG_WARN, "cannot connect: %s", why);
    pdk__wake(&s->on_link);
}

const char *pdk__session_why_away(const pdk_session *s) {
    return s->link != PDK__LINK_NONE ? NULL : s->names_trouble ? s->names_trouble : s->trouble_text;
}

/* NULL: the negotiated timeout carries a lease. Otherwise the words for why it does not, with the fix. g_free. */
static char *too_short(const pdk_session *s) {
    int64_t least = pdk__lease_least_timeout(&s->lease, s->platform->late);
    if (s->platform->late == 0 || s->lease.timeout >= least)
        return NULL;
    const char *tick = s->lease.tick_option ? "or lower their tickTime, and server_tick_ms with it"
                                            : "or set server_tick_ms to their tickTime, where that is small";
    return g_strdup_printf(
        "the negotiated session timeout of %lld ms is too short to keep a lease, which takes %lld ms; raise "
        "session_timeout_ms (%lld), the servers' maxSessionTimeout, which is 20 tickTime by default, %s",
        (long long)(s->lease.timeout / PDK__MS), (long long)((least + PDK__MS - 1) / PDK__MS),
        (long long)s->session_timeout_ms, tick);
}

/* A new session would not keep its holds, so it is given up. It is tried again, since the servers' configuration may
 * change. A session that has holds goes on. */
static bool refused(pdk_session *s, bool first) {
    char *why = too_short(s);
    bool refuse = why && first;
    if (refuse) {
        begin_anew(s);
        pdk__session_trouble(s, PDK_UNSUPPORTED, why);
    } else if (why) {
        pdk__log(s, PDK_LOG_ERROR, "%s", why);
    }
    g_free(why);
    return refuse;
}

/* A shorter timeout shortens the holds. */
static void shorten_holds(pdk_session *s) {
    if (s->listener)
        s->listener->calls->lease_shortened(s->listener, s->lease.end);
    pdk__alarm_set(s, &s->lease_over, s->lease.end);
}

/* Watches may have fired, or be set again later than something else happens. */
static void forget_what_was_told(pdk_session *s) {
    pdk__mirrors_void(s);
    pdk__watches_set_anew(s);
}

static void on_connected(pdk_session *s, int64_t id, int32_t timeout_ms) {
    bool first = s->link == PDK__LINK_OPENING, again = s->link == PDK__LINK_CONNECTED;
    if (s->link != PDK__LINK_CONNECTED) { /* it may come twice */
        s->connected_at = pdk__now(s);
        pdk__silence_connected(s);
        s->restored = first;
        s->stats.counts.reconnects += !first;
    }
    pdk__lease_negotiated(&s->lease, timeout_ms * PDK__MS);
    pdk__renew_share(s);
    if (refused(s, first))
        return;
    if (again) {
        shorten_holds(s);
        forget_what_was_told(s);
    }
    /* A server that says it again and again is not believed: renewals and polls go on. */
    if (again && pdk__pace_next(&s->repetitions, &pdk__pace_repeats, pdk__now(s)) > 0)
        return;
    s->link = PDK__LINK_CONNECTED;
    s->id = id;
    if (first) {
        pdk__tokens_begin(s);
        s->stats.counts.reopens += s->ever_connected;
        pdk__session_tell(s, s->ever_connected ? PDK_SESSION_REOPENED : PDK_SESSION_CONNECTED);
        s->ever_connected = true;
    } else if (!again) {
        shorten_holds(s);
    }
    pdk__wake(&s->on_link);
    pdk__renew_connected(s);
    pdk__reap_everywhere(s);
    forget_what_was_told(s); /* the end of the connection before may not have been told */
    pdk__entries_tell(s, PDK__LINK_UP);
    pdk__live_queries_look(s);
    pdk__ops_move(s);
}

static void on_connecting(pdk_session *s) {
    if (s->link != PDK__LINK_CONNECTED)
        return;
    s->link = PDK__LINK_SUSPENDED;
    s->suspended_at = pdk__now(s);
    pdk__connector_follow(s);
    pdk__silence_disconnected(s);
    forget_what_was_told(s);
    pdk__unowned_forget_all(s);
    pdk__entries_tell(s, PDK__LINK_DOWN);
    if (s->restored) /* otherwise it was told already, and nothing was proved since */
        pdk__session_tell(s, PDK_SESSION_SUSPENDED);
}

/* A server that hangs up on what it does not know looks like a connection that is lost at that moment. */
static void tell_foreign(pdk_session *s, bool hung_up) {
    char *why =
        g_strdup_printf("the server is no ZooKeeper, and %s create2, the request that makes a contender's "
                        "node%s; ClickHouse Keeper, which counts its sessions from 1 as this server does, has "
                        "it from 26.7 on",
                        hung_up ? "hung up on" : "has no", hung_up ? ", or the connection was lost meanwhile" : "");
    pdk__session_trouble(s, PDK_UNSUPPORTED, why);
    g_free(why);
}

static void sink_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t id, int32_t timeout_ms) {
    pdk_session *s = driver;
    pdk__lock_again(s);
    if (!s->zk && s->link == PDK__LINK_OPENING && !g_queue_find(&s->retired, zk))
        s->zk = zk; /* it reports before its opening has returned */
    if (s->zk == zk) {
        if (state == PDK__ZK_CONNECTED) {
            on_connected(s, id, timeout_ms);
        } else if (state == PDK__ZK_CONNECTING) {
            on_connecting(s);
        } else if (state == PDK__ZK_EXPIRED) {
            begin_anew(s);
        } else if (state == PDK__ZK_SPOILT) {
            begin_anew(s);
            pdk__session_trouble(s, PDK_UNAVAILABLE, "a server's handshake gives no session, or no time");
        } else if (state == PDK__ZK_FOREIGN || state == PDK__ZK_HUNG_UP) {
            begin_anew(s);
            tell_foreign(s, state == PDK__ZK_HUNG_UP);
        } else {
            pdk__session_end(s, PDK_AUTH,
                             "the server refused the credentials, or demands others; check the digest option, and "
                             "enforce.auth.schemes of "
                             "the servers");
            retire(s);
        }
    }
    pdk__chores_run_and_unlock(s);
}

static void sink_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    pdk_session *s = driver;
    pdk__lock_again(s);
    if (s->zk == zk)
        pdk__watches_fired(s, path, event);
    pdk__chores_run_and_unlock(s);
}

static void sink_log(void *driver, int level, const char *text) { pdk__log_text(driver, level, text); }

/* A server that sends one such answer can send many, so the log has a pace. */
static void sink_malformed(void *driver, pdk__zk *zk, const char *what) {
    pdk_session *s = driver;
    (void)zk;
    pdk__lock_again(s);
    uint64_t count = ++s->stats.counts.answers_malformed;
    int64_t now = pdk__now(s);
    if (now >= s->malformed_told + MALFORMED_EVERY_NS) {
        s->malformed_told = now;
        pdk__log(s, PDK_LOG_WARN,
                 "a server sent an answer that is not well-formed: %s (%llu so far); is it a ZooKeeper, and is the "
                 "path to it safe?",
                 what, (unsigned long long)count);
    }
    pdk__chores_run_and_unlock(s);
}

const struct pdk__zk_sink pdk__session_sink = {pdk__answered, sink_watch, sink_state, sink_log, sink_malformed};
