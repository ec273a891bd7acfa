/* The life of the connection. The sink of the table of calls is here.
 *
 *              open              CONNECTED                 CONNECTING
 *     NONE ──────────► OPENING ─────────────► CONNECTED ◄──────────────► SUSPENDED
 *       ▲                 │                       │         CONNECTED        │
 *       └─────────────────┴──── EXPIRED, or given up: retire the handle ◄────┘
 *
 * The connector closes a retired handle before it opens the next one. So one handle reports at a time.
 */
#include "session/supervise.h"

#include "session/entries.h"
#include "session/live_query.h"
#include "session/ops.h"
#include "session/reap.h"
#include "session/renew.h"
#include "session/watches.h"

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
    if (!s->on_event)
        return;
    struct told *told = g_new(struct told, 1);
    *told = (struct told){s, event, left};
    if (!pdk__later(s, tell_run, g_free, told))
        g_free(told);
}

/* Nothing from the current handle counts any more. The connector closes it. */
static void retire(pdk_session *s) {
    pdk__assert_locked(s);
    s->retired = s->zk;
    s->zk = NULL;
    s->link = PDK__LINK_NONE;
    s->generation++;
    pdk__alarm_off(&s->renewal);
    pdk__alarm_off(&s->lease_over);
    pdk__entries_tell(s, PDK__EXPIRED);
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
    if (had_session)
        pdk__session_tell(s, PDK_SESSION_EXPIRED);
    pdk__lease_begin(&s->lease, 0);
}

void pdk__session_reopen(pdk_session *s, const char *why) {
    pdk__assert_locked(s);
    if (!s->zk || s->ended != PDK_OK)
        return;
    pdk__log(s, PDK_LOG_ERROR, "giving up the ZooKeeper session: %s", why);
    begin_anew(s);
}

void pdk__session_end(pdk_session *s, pdk_status status, const char *why) {
    pdk__assert_locked(s);
    if (s->ended != PDK_OK)
        return;
    s->ended = status;
    g_free(s->trouble_text);
    s->trouble_text = g_strdup(why);
    if (s->listener)
        s->listener->calls->ended(s->listener, status, why);
    pdk__session_tell(s, PDK_SESSION_CLOSED);
    pdk__wake_all(s);
}

static void on_connected(pdk_session *s, int64_t id, int32_t timeout_ms) {
    bool first = s->link == PDK__LINK_OPENING;
    if (s->link != PDK__LINK_CONNECTED) { /* it may come twice */
        s->connected_at = pdk__now(s);
        s->restored = first;
    }
    s->link = PDK__LINK_CONNECTED;
    s->id = id;
    pdk__lease_negotiated(&s->lease, timeout_ms * PDK__MS);
    if (first) {
        pdk__session_tell(s, s->ever_connected ? PDK_SESSION_REOPENED : PDK_SESSION_CONNECTED);
        s->ever_connected = true;
    } else { /* a shorter timeout shortens the holds */
        if (s->listener)
            s->listener->calls->lease_shortened(s->listener, s->lease.end);
        pdk__alarm_set(s, &s->lease_over, s->lease.end);
    }
    pdk__wake(&s->on_link);
    pdk__renew_connected(s);
    pdk__entries_tell(s, PDK__LINK_UP);
    pdk__live_queries_look(s);
}

static void on_connecting(pdk_session *s) {
    if (s->link != PDK__LINK_CONNECTED)
        return;
    s->link = PDK__LINK_SUSPENDED;
    s->suspended_at = pdk__now(s);
    s->refresh_at = s->suspended_at + MAX(s->lease.timeout, 5000 * PDK__MS); /* every hold is lost by then */
    s->platform->work(s);
    pdk__entries_tell(s, PDK__LINK_DOWN);
    pdk__session_tell(s, PDK_SESSION_SUSPENDED);
}

static void sink_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t id, int32_t timeout_ms) {
    pdk_session *s = driver;
    pdk__lock(s);
    if (!s->zk && s->link == PDK__LINK_OPENING)
        s->zk = zk; /* it reports before its opening has returned */
    if (s->zk == zk) {
        if (state == PDK__ZK_CONNECTED) {
            on_connected(s, id, timeout_ms);
        } else if (state == PDK__ZK_CONNECTING) {
            on_connecting(s);
        } else if (state == PDK__ZK_EXPIRED) {
            begin_anew(s);
        } else {
            pdk__session_end(s, PDK_AUTH, "the server refused the credentials; check the digest option");
            retire(s);
        }
    }
    pdk__unlock(s);
}

static void sink_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    pdk_session *s = driver;
    pdk__lock(s);
    if (s->zk == zk)
        pdk__watches_fired(s, path, event);
    pdk__unlock(s);
}

static void sink_log(void *driver, int level, const char *text) { pdk__log_text(driver, level, text); }

const struct pdk__zk_sink pdk__session_sink = {pdk__answered, sink_watch, sink_state, sink_log};
