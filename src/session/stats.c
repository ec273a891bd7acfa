#include "session/stats.h"

#include "base/text.h"
#include "core/histogram.h"
#include "session/blocking.h"
#include "session/options.h"
#include "session/path_stats.h"
#include "session/session.h"

/* A size of the first version ends there. */
#define STATS_FIRST_SIZE (offsetof(pdk_stats, log_lines_dropped) + sizeof(uint64_t))

void pdk__stats_init(struct pdk__stats *stats) {
    *stats = (struct pdk__stats){.counts = PDK_STATS_INIT, .least = INT64_MAX};
    stats->counts.ephemeral_bytes_max = PDK__EPHEMERAL_BYTES_MAX;
    stats->counts.watched_bytes_max = PDK__WATCHED_BYTES_MAX;
}

/* ---- counting */

static uint64_t *decided_as(pdk_stats *counts, pdk_status status) {
    switch (status) {
    case PDK_OK:
        return &counts->claims_granted;
    case PDK_BUSY:
        return &counts->claims_busy;
    case PDK_TIMEOUT:
        return &counts->claims_timed_out;
    case PDK_UNAVAILABLE:
        return &counts->claims_unavailable;
    case PDK_CANCELED:
        return &counts->claims_cancelled;
    default:
        return &counts->claims_failed;
    }
}

static void decided(pdk_stats *counts, pdk_status status) {
    assert(counts->claims_waiting > 0);
    counts->claims_waiting--;
    ++*decided_as(counts, status);
}

static void lost(pdk_stats *counts, pdk_reason reason) {
    uint64_t *const by_reason[] = {
        [PDK_REASON_EXPIRED] = &counts->lost_expired,     [PDK_REASON_LEASE] = &counts->lost_lease,
        [PDK_REASON_NODE_GONE] = &counts->lost_node_gone, [PDK_REASON_CLOSED] = &counts->lost_closed,
        [PDK_REASON_OVERDUE] = &counts->lost_overdue,
    };
    assert(reason != PDK_REASON_NONE);
    ++*by_reason[reason];
}

static void hold_ended(pdk_stats *counts, int64_t ns) {
    assert(counts->holds > 0);
    counts->holds--;
    pdk__histogram_count(&counts->hold_time, ns);
}

void pdk__stats_claim_queued(pdk_session *s, pdk_stats *path) {
    pdk__assert_locked(s);
    s->stats.counts.claims_waiting++;
    if (path)
        path->claims_waiting++;
}

void pdk__stats_claim_decided(pdk_session *s, pdk_stats *path, pdk_status status) {
    pdk__assert_locked(s);
    decided(&s->stats.counts, status);
    if (path)
        decided(path, status);
}

void pdk__stats_waited(pdk_session *s, pdk_stats *path, int64_t ns) {
    pdk__assert_locked(s);
    pdk__histogram_count(&s->stats.counts.wait_time, ns);
    if (path)
        pdk__histogram_count(&path->wait_time, ns);
}

void pdk__stats_lapsed(pdk_session *s, pdk_stats *path) {
    pdk__assert_locked(s);
    s->stats.counts.grants_lapsed++;
    if (path)
        path->grants_lapsed++;
}

void pdk__stats_handed_over(pdk_session *s, pdk_stats *path) {
    pdk__assert_locked(s);
    s->stats.counts.handovers++;
    if (path)
        path->handovers++;
}

void pdk__stats_lease(pdk_session *s, int64_t now) {
    pdk__assert_locked(s);
    if (s->stats.counts.holds > 0)
        s->stats.least = MIN(s->stats.least, MAX(s->lease.end - now, 0));
}

void pdk__stats_hold_began(pdk_session *s, pdk_stats *path) {
    pdk__assert_locked(s);
    s->stats.counts.holds++;
    if (path)
        path->holds++;
}

void pdk__stats_lost(pdk_session *s, pdk_stats *path, pdk_reason reason) {
    pdk__assert_locked(s);
    lost(&s->stats.counts, reason);
    if (path)
        lost(path, reason);
}

void pdk__stats_hold_ended(pdk_session *s, pdk_stats *path, int64_t since, int64_t now) {
    pdk__stats_lease(s, now);
    hold_ended(&s->stats.counts, now - since);
    if (path)
        hold_ended(path, now - since);
}

void pdk__stats_renewed(pdk_session *s, int64_t sent, int64_t now) {
    pdk__assert_locked(s);
    s->stats.counts.renewals_answered++;
    pdk__histogram_count(&s->stats.counts.renewal_time, now - sent);
}

/* ---- reading */

static void read_lease(pdk_session *s, pdk_stats *stats) {
    int64_t now = pdk__now(s);
    pdk__stats_lease(s, now);
    stats->session_timeout_us = pdk__us(s->lease.timeout);
    stats->lease_us = pdk__us(atomic_load(&s->lease_end) - now);
    stats->lease_least_us = s->stats.least == INT64_MAX ? -1 : (int64_t)pdk__us(s->stats.least);
}

static void read_all(pdk_session *s, pdk_stats *stats) {
    pdk__lock(s);
    *stats = s->stats.counts;
    read_lease(s, stats);
    stats->connected = s->link == PDK__LINK_CONNECTED;
    stats->deletes_pending = s->leaving.length;
    stats->ephemeral_bytes = s->ephemeral_bytes;
    stats->watched_bytes = s->watched_bytes;
    pdk__unlock(s);
    pdk__outbox_read(s, stats);
}

pdk_status pdk_stats_init(pdk_stats *stats, size_t size) {
    const pdk_stats empty = PDK_STATS_INIT;
    return pdk__options_init("pdk_stats_init", stats, size, &empty, sizeof empty, STATS_FIRST_SIZE);
}

pdk_status pdk__stats_give(const char *call, pdk_stats *stats, const pdk_stats *all) {
    return pdk__options_init(call, stats, stats ? stats->size : 0, all, sizeof *all, STATS_FIRST_SIZE);
}

pdk_status pdk_session_stats(pdk_session *session, pdk_stats *stats) {
    static const char call[] = "pdk_session_stats";
    pdk_status status = pdk__check_call(session, call, 0);
    if (status != PDK_OK)
        return status;
    pdk_stats all;
    read_all(session, &all);
    return pdk__stats_give(call, stats, &all);
}

pdk_status pdk_session_stats_reset(pdk_session *session) {
    pdk_status status = pdk__check_call(session, "pdk_session_stats_reset", 0);
    if (status != PDK_OK)
        return status;
    pdk__lock(session);
    session->stats.least = INT64_MAX;
    pdk__unlock(session);
    pdk__outbox_forget_delay(session);
    return PDK_OK;
}

pdk_status pdk_session_stats_text(pdk_session *session, char *buffer, size_t size, size_t *length) {
    static const char call[] = "pdk_session_stats_text";
    pdk_status status = pdk__check_call(session, call, 0);
    if (status != PDK_OK)
        return status;
    if (!length)
        return pdk__fail(PDK_INVALID, "%s: length: NULL; it is how the caller learns the length of the text", call);
    if (!buffer && size > 0)
        return pdk__fail(PDK_INVALID, "%s: buffer: NULL; allowed with a size of 0 alone, which is %zu", call, size);
    pdk_stats all;
    read_all(session, &all);
    struct pdk__path_rows rows = pdk__path_stats_rows(session);
    *length = pdk__stats_text(&all, &rows, buffer, size);
    if (size == 0 || *length < size)
        return PDK_OK;
    buffer[0] = '\0';
    return pdk__fail(PDK_LIMIT, "%s: size is %zu; the text takes %zu bytes, and one for its end", call, size, *length);
}
