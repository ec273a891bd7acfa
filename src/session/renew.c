/* Renews the lease with barriers: every T/10 while an entry is held or close to the head of its queue. Otherwise every
 * T/4, so that a new claim finds the evidence for a lease. T is the session timeout; core/lease.h computes. */
#include "session/renew.h"

#include "session/entries.h"
#include "session/ops.h"
#include "session/reap.h"
#include "session/supervise.h"

#include <string.h>

/* A barrier that follows another one sooner proves hardly more. So all that ask meanwhile share it. */
#define SPACING_NS (54 * PDK__MS)

/* Does a caller wait for a longer lease, or do all wait for the first one, also after a reconnect? The evidence for it
 * is half a tick away. */
static bool is_urgent(const pdk_session *s) { return s->urgent > 0 || !s->restored || s->lease.end == 0; }

/* The time of the next barrier. */
static int64_t due(const pdk_session *s, int64_t now) {
    bool active = pdk__entries_active(s), pressed = is_urgent(s) || (active && pdk__lease_short(&s->lease, now));
    return s->last_proof + (pressed  ? pdk__lease_urgent_period(&s->lease)
                            : active ? pdk__lease_renewal_period(&s->lease)
                                     : pdk__lease_idle_period(&s->lease));
}

/* With a connection. */
static void schedule(pdk_session *s) {
    int64_t now = pdk__now(s);
    pdk__alarm_set(s, &s->renewal, MAX(due(s, now), now + PDK__MS));
}

static void renew_on_barrier(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    if (!entry)
        return;
    if (reply && reply->result == PDK__NO_NODE) {
        pdk__reap_again(s, entry->dir);
        pdk__entry_tell(entry, PDK__NODE_LOST);
    } else if (reply && reply->result == PDK__NOT_ALLOWED) {
        pdk__entry_unguard(entry); /* the server keeps back the events of what we may not read */
    }
    pdk__entry_unref(entry);
}

static void send_barrier(pdk_session *s, struct pdk__entry *entry) {
    pdk__assert_locked(s);
    if (s->link != PDK__LINK_CONNECTED)
        return;
    struct pdk__request request = {.kind = PDK__OP_BARRIER, .path = "/"};
    if (entry && entry->own_path)
        request.path = entry->own_path;
    else
        entry = NULL;
    int64_t now = pdk__now(s);
    if (!pdk__send_now(s, PDK__LANE_NONE, request, renew_on_barrier, entry))
        return;
    if (entry)
        pdk__entry_ref(entry);
    s->last_proof = now;
    s->asked = false;
    pdk__silence_asked(s);
}

static void on_renewal(pdk_session *s, void *user) {
    (void)user;
    if (s->link != PDK__LINK_CONNECTED)
        return;
    int64_t now = pdk__now(s);
    if (s->asked || now >= due(s, now))
        send_barrier(s, pdk__entries_to_renew(s));
    schedule(s);
}

static void on_lease_over(pdk_session *s, void *user) {
    (void)user;
    if (s->listener)
        s->listener->calls->lease_over(s->listener);
}

void pdk__renew_init(pdk_session *s) {
    s->renewal = (struct pdk__alarm){.ring = on_renewal};
    s->lease_over = (struct pdk__alarm){.ring = on_lease_over};
}

void pdk__renew_share(pdk_session *s) {
    pdk__assert_locked(s);
    atomic_store(&s->lease_end, s->ended == PDK_OK ? s->lease.end : 0);
}

void pdk__renew_begin(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__lease_begin(&s->lease, pdk__now(s));
    pdk__renew_share(s);
    pdk__alarm_off(&s->renewal);
    s->last_proof = 0;
    s->barrier = 0;
    s->asked = false;
}

void pdk__renew_connected(pdk_session *s) {
    pdk__assert_locked(s);
    s->barrier = 0; /* one of an earlier connection serves nobody any more */
    send_barrier(s, NULL);
    schedule(s);
}

void pdk__renew_soon(pdk_session *s) {
    pdk__assert_locked(s);
    int64_t now = pdk__now(s);
    bool pressed = is_urgent(s) || pdk__lease_short(&s->lease, now);
    int64_t by = s->last_proof + (pressed ? pdk__lease_urgent_period(&s->lease) : pdk__lease_renewal_period(&s->lease));
    if (s->link == PDK__LINK_CONNECTED && (!s->renewal.position || s->renewal.at > by))
        pdk__alarm_set(s, &s->renewal, MAX(by, now + PDK__MS));
}

/* Has something that a quorum commits been handed over on this connection, so lately that a barrier now would prove
 * hardly more? */
static bool is_served(const pdk_session *s, int64_t now) {
    return s->last_proof >= s->connected_at && now - s->last_proof < SPACING_NS;
}

void pdk__renew_ahead(pdk_session *s) {
    pdk__assert_locked(s);
    if (!is_served(s, pdk__now(s)))
        send_barrier(s, pdk__entries_to_renew(s));
}

void pdk__renew_now(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__renew_ahead(s);
    int64_t by = s->last_proof + SPACING_NS;
    s->asked = by > pdk__now(s) && s->link == PDK__LINK_CONNECTED;
    if (s->asked && (!s->renewal.position || s->renewal.at > by))
        pdk__alarm_set(s, &s->renewal, by);
}

bool pdk__renew_prove(pdk_session *s, uint64_t since) {
    pdk__assert_locked(s);
    if (s->barrier <= since)
        send_barrier(s, NULL);
    return s->barrier > since;
}

void pdk__renew_answered(pdk_session *s, int64_t sent, bool committed) {
    pdk__assert_locked(s);
    int64_t now = pdk__now(s);
    pdk__stats_lease(s, now);
    bool was_fresh = pdk__lease_fresh(&s->lease, now);
    bool moved = pdk__lease_answered(&s->lease, sent, now, committed);
    pdk__renew_share(s);
    if (committed)
        pdk__silence_broken(s);
    if (committed && sent > s->last_proof)
        s->last_proof = sent; /* a busy session needs no barriers */
    if (moved && s->listener)
        s->listener->calls->lease_extended(s->listener, s->lease.end);
    if (committed && !s->restored && sent >= s->connected_at && pdk__lease_fresh(&s->lease, now)) {
        s->restored = true;
        pdk__session_tell(s, PDK_SESSION_RESTORED);
    }
    if (!moved)
        return;
    pdk__alarm_set(s, &s->lease_over, s->lease.end);
    pdk__wake(&s->on_link);
    if (!was_fresh && pdk__lease_fresh(&s->lease, now))
        pdk__entries_tell_fresh(s);
}
