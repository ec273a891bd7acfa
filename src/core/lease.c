#include "core/lease.h"

#include <assert.h>
#include <string.h>

/* The margin for threads that run late, ours and the servers'. */
#define SLACK (50 * PDK__MS)

/* At least as long by a server's clock when ours is fast. */
static int64_t by_any_clock(int64_t ns) { return ns + ns / 16; }

void pdk__lease_init(struct pdk__lease *l, int64_t tick_option, int64_t hops) {
    memset(l, 0, sizeof *l);
    l->tick_option = tick_option;
    l->hops = hops;
}

void pdk__lease_begin(struct pdk__lease *l, int64_t born) {
    pdk__lease_init(l, l->tick_option, l->hops);
    l->born = born;
}

void pdk__lease_dialled(struct pdk__lease *l, int64_t from, int64_t seen) {
    assert(from <= seen);
    if (from <= l->dialled)
        return;
    l->dialled = from;
    l->dialled_seen = seen;
}

int64_t pdk__lease_margin(const struct pdk__lease *l) { return l->timeout / 16 + SLACK; }

void pdk__lease_negotiated(struct pdk__lease *l, int64_t timeout) {
    if (l->timeout == 0) {
        l->timeout = timeout;
        return;
    }
    if (timeout >= l->timeout)
        return;
    int64_t margin = pdk__lease_margin(l);
    if (l->end != 0) {
        l->end -= l->timeout - timeout; /* the j it was counted from is the same */
        l->end += margin;
    }
    l->timeout = timeout;
    if (l->end != 0)
        l->end -= pdk__lease_margin(l);
}

/* A follower has reported a touch after this time, unless a process or link stalls: the leader sends a ping every half
 * tick, or a little later. */
static int64_t report_delay(const struct pdk__lease *l) {
    int64_t half = (l->tick_option ? l->tick_option : l->timeout / 2) / 2;
    return by_any_clock(half + SLACK) * l->hops;
}

/* The leader has confirmed the session at this time or later, on the connection of a request sent at `sent`. */
static int64_t handshake(const struct pdk__lease *l, int64_t sent) {
    return sent >= l->dialled_seen && l->dialled > l->born ? l->dialled : l->born;
}

/* The newest touch that the leader has certainly heard of when it commits a request sent at `sent`. */
static int64_t reported_touch(const struct pdk__lease *l, int64_t sent) {
    int64_t before = sent - by_any_clock(SLACK), confirmed_at = handshake(l, sent);
    bool confirmed = false; /* k' is found */
    for (uint32_t i = 0; i < l->samples; i++) {
        uint32_t at = (l->newest + PDK__LEASE_SAMPLES - i) % PDK__LEASE_SAMPLES;
        if (l->answered[at] >= before)
            continue;
        if (confirmed)
            return l->sent[at] > confirmed_at ? l->sent[at] : confirmed_at;
        if (l->committed[at]) {
            confirmed = true;
            before = l->sent[at] - report_delay(l);
        }
    }
    return confirmed_at;
}

/* A busy session would push out the samples that matter. So the requests of each T/64 become one sample, which was sent
 * with the first of them and answered with the last. That is only more careful. */
static void remember(struct pdk__lease *l, int64_t sent, int64_t answered, bool committed) {
    if (l->samples == 0 || sent - l->sent[l->newest] >= l->timeout / 64) {
        l->newest = l->samples == 0 ? 0 : (l->newest + 1) % PDK__LEASE_SAMPLES;
        if (l->samples < PDK__LEASE_SAMPLES)
            l->samples++;
        l->sent[l->newest] = sent;
        l->answered[l->newest] = answered;
        l->committed[l->newest] = committed;
        return;
    }
    if (sent < l->sent[l->newest])
        return; /* older than it: an answer that waited */
    l->answered[l->newest] = answered;
    l->committed[l->newest] = l->committed[l->newest] || committed;
}

bool pdk__lease_answered(struct pdk__lease *l, int64_t sent, int64_t answered, bool committed) {
    if (l->timeout == 0)
        return false;
    bool moved = false;
    if (committed) {
        int64_t end = reported_touch(l, sent) + l->timeout - pdk__lease_margin(l);
        /* No touch is later than the request. */
        assert(end <= sent + l->timeout - pdk__lease_margin(l));
        moved = end > l->end;
        if (moved)
            l->end = end;
    }
    remember(l, sent, answered, committed);
    assert(l->samples > 0 && l->samples <= PDK__LEASE_SAMPLES && l->newest < l->samples);
    return moved;
}

int64_t pdk__lease_longest(const struct pdk__lease *l) {
    return l->timeout - pdk__lease_margin(l) - report_delay(l) - by_any_clock(SLACK);
}

/* longest − T/16 ≥ 4 (T/16 + late), solved for T in 64ths: the margin, the grants and the renewals take 24 of them, and
 * a tick of T/2 takes 17 for each hop. */
int64_t pdk__lease_least_timeout(const struct pdk__lease *l, int64_t late) {
    int64_t share = 64 - 24 - (l->tick_option ? 0 : 17 * l->hops);
    int64_t half = l->tick_option / 2;
    int64_t fixed = SLACK + by_any_clock(SLACK) + by_any_clock(half + SLACK) * l->hops + 4 * late;
    return fixed * 64 / share;
}

bool pdk__lease_fresh(const struct pdk__lease *l, int64_t now) { return l->end - now > l->timeout / 16; }

int64_t pdk__lease_renewal_period(const struct pdk__lease *l) { return l->timeout / 10; }
int64_t pdk__lease_urgent_period(const struct pdk__lease *l) { return l->timeout / 16; }

/* With two hops a touch takes longer to count. With a period of a quarter, two of them would be too old by then. */
int64_t pdk__lease_idle_period(const struct pdk__lease *l) {
    return report_delay(l) > l->timeout / 3 ? l->timeout / 10 : l->timeout / 4;
}

bool pdk__lease_short(const struct pdk__lease *l, int64_t now) {
    return l->end - now < 2 * pdk__lease_renewal_period(l);
}
