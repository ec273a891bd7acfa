/* The lease: never longer than a memory that forgets nothing allows, and exactly as long while it had to forget nothing.
 *
 *     end ≤ s_j + T − (T/16 + 50 ms)
 *
 * Either j is the birth. Or j is the latest request that was answered the reports' delay before some committed k' was sent,
 * and k' was answered 17/16 · 50 ms before some committed k was sent.
 * Input: the options, and then answers, negotiations and new sessions. */
#include "core/lease.h"
#include "fuzz.h"

#include <glib.h>
#include <inttypes.h>

enum { MOST = 400 };

struct memory {
    int64_t timeout, tick, hops, born;
    int64_t touch; /* the latest touch that the leader must have heard of; −1: nothing was ever confirmed */
    size_t count;
    bool forgets; /* the lease may have had to forget a sample */
    int64_t sent[MOST], answered[MOST];
    bool committed[MOST];
};

static int64_t margin(int64_t timeout) { return timeout / 16 + 50 * PDK__MS; }

/* How long a touch may take to become known: half a tick and 50 ms for each hop, by a clock that is fast by a sixteenth. */
static int64_t delay(const struct memory *m) {
    int64_t half = (m->tick ? m->tick : m->timeout / 2) / 2;
    int64_t slow = half + 50 * PDK__MS;
    return (slow + slow / 16) * m->hops;
}

/* The touch that a write sent at that time proves. */
static int64_t heard_by(const struct memory *m, int64_t sent) {
    int64_t confirmed = -1, heard = m->born;
    for (size_t i = 0; i < m->count; i++)
        if (m->committed[i] && m->answered[i] < sent - 50 * PDK__MS / 16 * 17)
            confirmed = MAX(confirmed, m->sent[i]);
    for (size_t i = 0; i < m->count && confirmed >= 0; i++)
        if (m->answered[i] < confirmed - delay(m))
            heard = MAX(heard, m->sent[i]);
    return heard;
}

static void learn(struct memory *m, int64_t sent, int64_t answered, bool committed) {
    if (committed)
        m->touch = MAX(m->touch, heard_by(m, sent));
    for (size_t i = 0; i < m->count; i++)
        m->forgets = m->forgets || sent - m->sent[i] < m->timeout / 64;
    m->forgets = m->forgets || m->count >= PDK__LEASE_SAMPLES;
    m->sent[m->count] = sent;
    m->committed[m->count] = committed;
    m->answered[m->count++] = answered;
}

static void check(const struct pdk__lease *l, const struct memory *m, int64_t now) {
    int64_t allowed = m->touch + m->timeout - margin(m->timeout);
    FUZZ_REQUIRE(l->timeout == m->timeout, "timeout %" PRId64, l->timeout);
    FUZZ_REQUIRE(m->touch >= 0 || l->end == 0, "a lease that nobody confirmed, until %" PRId64, l->end);
    FUZZ_REQUIRE(m->touch < 0 || l->end <= allowed || l->end == 0, "%" PRId64 " beyond %" PRId64, l->end, allowed);
    FUZZ_REQUIRE(m->touch < 0 || m->forgets || l->end == MAX(allowed, 0), "%" PRId64 ", not %" PRId64, l->end, allowed);
    FUZZ_REQUIRE(!pdk__lease_fresh(l, now) || (l->end > now && m->touch >= 0), "fresh at %" PRId64, now);
    FUZZ_REQUIRE(pdk__lease_margin(l) == margin(m->timeout), "margin %" PRId64, pdk__lease_margin(l));
}

static void begin(struct pdk__lease *l, struct memory *m, int64_t now) {
    pdk__lease_begin(l, now);
    *m = (struct memory){.tick = m->tick, .hops = m->hops, .born = now, .touch = -1};
}

static void negotiate(struct pdk__lease *l, struct memory *m, int64_t timeout) {
    pdk__lease_negotiated(l, timeout);
    m->timeout = m->timeout ? MIN(m->timeout, timeout) : timeout;
}

/* Requests are handed over in order. Answers may be late, and arrive for an earlier request after a later one. */
static void answer(struct pdk__lease *l, struct memory *m, struct fuzz_in *in, int64_t *now, bool committed) {
    int64_t took = (int64_t)fuzz_number(in, 2) * PDK__MS;
    *now += (int64_t)fuzz_number(in, 2) * PDK__MS / 4;
    int64_t sent = MAX(*now - took, m->born), end = l->end;
    bool moved = pdk__lease_answered(l, sent, *now, committed);
    FUZZ_REQUIRE(moved == (l->end > end) && l->end >= end, "%" PRId64 " after %" PRId64, l->end, end);
    FUZZ_REQUIRE(committed || !moved, "moved by what no quorum committed");
    if (m->timeout > 0)
        learn(m, sent, *now, committed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    struct pdk__lease l;
    uint8_t options = fuzz_byte(&in);
    struct memory m = {.tick = options & 3 ? (options & 3) * INT64_C(1000) * PDK__MS : 0,
                       .hops = 1 + (options >> 2) % 4};
    int64_t now = (int64_t)fuzz_number(&in, 2) * PDK__MS;
    pdk__lease_init(&l, m.tick, m.hops);
    begin(&l, &m, now);
    while (in.left > 0 && m.count < MOST) {
        uint8_t step = fuzz_byte(&in);
        if (step % 16 == 0)
            begin(&l, &m, now);
        else if (step % 16 == 1)
            negotiate(&l, &m, (400 + (int64_t)fuzz_number(&in, 2) * 10) * PDK__MS);
        else
            answer(&l, &m, &in, &now, step % 2);
        check(&l, &m, now);
    }
    return 0;
}
