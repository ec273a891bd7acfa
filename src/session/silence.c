/* The client library bears a silent server for two thirds of T. No lease lasts that long.
 *
 *     connected       a barrier has no answer for T/5, then 2T/5, …, T   ── leave ──► the next server
 *     not connected   a look at the handle every 50 ms:
 *                       no handshake is under way, twice in a row        ── dialled ─► the lease: docs/adr/0013
 *                       one has no answer for T/10, at most 1 s, or
 *                       nobody accepts a connection for so long; in
 *                       the next round twice as long, …, 2T/3            ── hurry ──► the next server
 *
 * Only a write that a quorum has to commit is evidence: a server that has lost its leader goes on answering pings and
 * reads. Why T/5: right after a renewal at least half of T is left. Up to T/10 later the next barrier goes out. So more
 * than T/8 is left for a new connection, which takes a round trip or two. A shorter patience would take a disk that is
 * slow for a server that is lost. If all servers are silent, the back-off makes the changes rare. The first commit ends
 * it.
 *
 * The patience doubles with each round, in which each server has been tried once, and not with each server: without a
 * leader no server answers a handshake. Once there is a leader, the lost server still does not, and the next handshake
 * may go there. Had the patience doubled each time, it would be 8 s by then, at T = 20 s.
 */
#include "session/silence.h"

#include "base/probe.h"
#include "session/supervise.h"

#include <string.h>

#define LOOK_NS (50 * PDK__MS)
#define HANDSHAKE_NS_MAX (1000 * PDK__MS)

static int64_t timeout(const pdk_session *s) {
    return s->lease.timeout != 0 ? s->lease.timeout : s->session_timeout_ms * PDK__MS;
}

static int64_t doubled(int64_t ns, unsigned times, int64_t most) {
    while (times-- > 0 && ns < most)
        ns *= 2;
    return MIN(ns, most);
}

static int64_t answer_patience(const pdk_session *s) { return doubled(timeout(s) / 5, s->silence.leaves, timeout(s)); }

static unsigned servers_of(const pdk_session *s) {
    unsigned count = 1;
    for (const char *at = s->servers; (at = strchr(at, ',')); at++)
        count++;
    return count;
}

static int64_t handshake_patience(const pdk_session *s) {
    return doubled(MIN(timeout(s) / 10, HANDSHAKE_NS_MAX), s->silence.hurries / servers_of(s), timeout(s) * 2 / 3);
}

/* ---- connected */

static void wait_for_answer(pdk_session *s) {
    pdk__alarm_set(s, &s->silence.alarm, s->silence.since + answer_patience(s));
}

static void on_no_answer(pdk_session *s) {
    struct pdk__silence *silence = &s->silence;
    int64_t now = pdk__now(s);
    if (silence->since == 0)
        return;
    if (now < silence->since + answer_patience(s)) {
        wait_for_answer(s);
    } else if (now - silence->alarm.at > answer_patience(s) / 4) {
        silence->since = now; /* this process was held up: the answer may have come */
        wait_for_answer(s);
    } else {
        silence->leave = true;
        s->platform->work(s);
    }
}

void pdk__silence_asked(pdk_session *s) {
    pdk__assert_locked(s);
    if (s->silence.since != 0)
        return;
    s->silence.since = pdk__now(s);
    if (!s->silence.alarm.position)
        wait_for_answer(s);
}

/* The alarm stays: it sees that it is too early. Other requests may be unanswered yet, but this server answers. */
void pdk__silence_broken(pdk_session *s) {
    pdk__assert_locked(s);
    s->silence.leaves = 0;
    s->silence.since = 0;
    s->silence.leave = false; /* if the connector has not begun yet */
}

/* ---- not connected */

/* The client library says so a moment after it has sent a handshake, so one look may come in between. Two looks may
 * not, if they are further apart than threads are late. */
static void found_idle(pdk_session *s, int64_t now) {
    struct pdk__silence *silence = &s->silence;
    silence->dialled_at = 0;
    if (silence->idle_at != 0 && now - silence->idle_at < LOOK_NS)
        return;
    if (silence->idle_at != 0)
        pdk__lease_dialled(&s->lease, silence->idle_at, now);
    silence->idle_at = now;
}

static void found_dialled(pdk_session *s, int64_t now) {
    struct pdk__silence *silence = &s->silence;
    silence->idle_at = 0;
    if (silence->dialled_at == 0)
        silence->dialled_at = now;
    if (now - silence->dialled_at < handshake_patience(s))
        return;
    silence->dialled_at = 0; /* the next one counts from a look that finds it: it was sent before that, and is as old */
    silence->hurry = true;
    s->platform->work(s);
}

/* The kernel dials again and again, and the client library lets it, for two thirds of T. Each look that finds it so may
 * find another server dialled. So the connector notes the dialled server, and gives up the one that it has noted when
 * its patience is over. */
static void found_dialling(pdk_session *s, bool dials, int64_t now) {
    struct pdk__silence *silence = &s->silence;
    if (!dials)
        silence->dials_at = 0;
    if (!dials || (silence->dials_at != 0 && now - silence->dials_at < handshake_patience(s)))
        return;
    silence->dials_at = now;
    silence->skip = true;
    s->platform->work(s);
}

static void silence_look(pdk_session *s) {
    int64_t before = pdk__now(s);
    enum pdk__zk_dial dial = s->platform->zk->dial(s->zk);
    found_dialling(s, dial == PDK__ZK_DIALS, before);
    if (dial == PDK__ZK_DIALLED)
        found_dialled(s, before);
    else
        found_idle(s, before);
    pdk__alarm_set(s, &s->silence.alarm, before + LOOK_NS);
}

/* ---- both */

static void parted(pdk_session *s, enum pdk__zk_parting parting, int64_t from) {
    if (parting == PDK__ZK_HAS_LEFT)
        pdk__lease_dialled(&s->lease, from, pdk__now(s));
}

static void silence_leave(pdk_session *s) {
    uint64_t generation = s->generation;
    int64_t now = pdk__now(s), silent = now - s->silence.since;
    pdk__zk *zk = s->zk;
    pdk__unlock(s);
    enum pdk__zk_parting parting = s->platform->zk->leave(zk);
    pdk__lock(s);
    if (generation != s->generation)
        return;
    parted(s, parting, now);
    if (parting != PDK__ZK_STAYS) {
        s->stats.counts.server_leaves++;
        pdk__probe_move(s->id, 0, silent);
        pdk__log(s, PDK_LOG_WARN, "the server commits nothing: no answer to a write for %lld ms; going to another one",
                 (long long)(silent / PDK__MS));
    }
    s->silence.leaves++;
    if (s->silence.since == 0 || s->link != PDK__LINK_CONNECTED)
        return;
    s->silence.since = pdk__now(s);
    wait_for_answer(s);
}

static void hurry(pdk_session *s, enum pdk__zk_dial what) {
    uint64_t generation = s->generation;
    int64_t now = pdk__now(s), patience = handshake_patience(s);
    pdk__zk *zk = s->zk;
    pdk__unlock(s);
    enum pdk__zk_parting parting = s->platform->zk->hurry(zk, what, patience / PDK__MS);
    pdk__lock(s);
    if (generation != s->generation)
        return;
    if (what == PDK__ZK_DIALS &&
        s->silence.dials_at != 0) /* another server is dialled, or this one has been noted now */
        s->silence.dials_at = parting == PDK__ZK_STAYS ? pdk__now(s) : 0;
    if (parting == PDK__ZK_STAYS)
        return; /* the client library had gone on already: the patience of this one begins now */
    s->silence.hurries++;
    parted(s, parting, now);
    s->stats.counts.server_hurries++;
    pdk__probe_move(s->id, 1, patience);
    pdk__log(s, PDK_LOG_WARN, "no answer to a handshake for %lld ms; going to another server",
             (long long)(patience / PDK__MS));
}

static void silence_on_alarm(pdk_session *s, void *user) {
    (void)user;
    if (s->link == PDK__LINK_CONNECTED)
        on_no_answer(s);
    else if (s->zk)
        silence_look(s);
}

void pdk__silence_init(pdk_session *s) { s->silence = (struct pdk__silence){.alarm = {.ring = silence_on_alarm}}; }

void pdk__silence_disconnected(pdk_session *s) {
    pdk__assert_locked(s);
    s->silence.since = s->silence.idle_at = s->silence.dials_at = s->silence.dialled_at = 0;
    s->silence.leave = false;
    silence_look(s);
}

void pdk__silence_connected(pdk_session *s) {
    pdk__assert_locked(s);
    s->silence.since = 0;
    s->silence.hurries = 0;
    s->silence.hurry = s->silence.skip = false;
    pdk__alarm_off(&s->silence.alarm);
}

void pdk__silence_over(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__alarm_off(&s->silence.alarm);
    pdk__silence_init(s);
}

bool pdk__silence_act(pdk_session *s) {
    pdk__assert_locked(s);
    struct pdk__silence *silence = &s->silence;
    struct pdk__silence asked = *silence;
    silence->leave = silence->hurry = silence->skip = false;
    if (!s->zk || (!asked.leave && !asked.hurry && !asked.skip))
        return false;
    if (asked.leave)
        silence_leave(s);
    else
        hurry(s, asked.hurry ? PDK__ZK_DIALLED : PDK__ZK_DIALS);
    return true;
}
