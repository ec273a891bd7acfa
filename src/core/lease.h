/* The lease: until this moment, by our own clock, no server can have ended our session.
 *
 *       s_j ──────► r_j                     s_k' ────► r_k'          s_k ────► answer
 *        │ request j │ ◄─ half a tick ───►   │ write k' │ ◄─ 50 ms ─► │ write k
 *        ▼           ▼    and a bit · hops   ▼          ▼             ▼
 *   touched at    answered   j's touch is   committed by a quorum    committed: by now the leader has heard
 *   or after s_j             reported                                of j, and it was still the leader
 *
 *     end = s_j + T − (T/16 + 50 ms)
 *
 * k is the newest request that a quorum committed and that was answered. k' is the newest such request that was
 * answered 17/16 · 50 ms before k was handed over. j is the latest request, of any kind, that was answered half a tick
 * and a bit before k' was handed over. A follower reports touches to its leader with its answer to each ping, every
 * half tick. The report goes over the FIFO link that carries our writes. The leader expires a session no earlier than T
 * after a touch. Only a quorum can have acknowledged k, so neither a follower that was cut off nor a deposed leader can
 * prolong a lease. One write would do if pings were always on time. With two writes, a leader, a follower or a link may
 * stall for any time between j and k, once (docs/adr/0006). The birth of the session is a j of its own that needs no
 * report. A quorum committed it at the leader, and T counts from there: at or after the moment when the first
 * connection attempt began. The handshake of each later connection is such a j for every k on that connection
 * (docs/adr/0013).
 *
 * Times are nanoseconds of CLOCK_BOOTTIME, read before the request is handed over. Without a j there is no lease.
 */
#ifndef PDK_CORE_LEASE_H
#define PDK_CORE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#define PDK__MS INT64_C(1000000)
#define PDK__LEASE_SAMPLES 128

struct pdk__lease {
    int64_t timeout;     /* T: the smallest ever negotiated in this session; 0 before the first */
    int64_t tick_option; /* the servers' tickTime, or 0: T/2 */
    int64_t hops;
    int64_t born;                  /* when the opening of this session began */
    int64_t dialled, dialled_seen; /* see pdk__lease_dialled; 0: not yet */
    int64_t end;                   /* 0: none yet */
    uint32_t newest;               /* index of the newest sample */
    uint32_t samples;              /* how many are valid */
    int64_t sent[PDK__LEASE_SAMPLES];
    int64_t answered[PDK__LEASE_SAMPLES];
    bool committed[PDK__LEASE_SAMPLES];
};

void pdk__lease_init(struct pdk__lease *l, int64_t tick_option, int64_t hops);
/* A new session, opened by an attempt that began at born. */
void pdk__lease_begin(struct pdk__lease *l, int64_t born);
/* The server negotiated a timeout: the smallest counts, and the lease can only shrink by it. */
void pdk__lease_negotiated(struct pdk__lease *l, int64_t timeout);
/* At `from` no handshake was under way and no connection was there, as was known at `seen`. So each request that is
 * handed over from `seen` on goes over a connection whose handshake was sent at `from` or later. */
void pdk__lease_dialled(struct pdk__lease *l, int64_t from, int64_t seen);
/* An answer arrived. committed: it proves that a quorum committed the request. True when the lease moved. */
bool pdk__lease_answered(struct pdk__lease *l, int64_t sent, int64_t answered, bool committed);
/* T/16 + 50 ms, for clock rates that differ and for scheduling. */
int64_t pdk__lease_margin(const struct pdk__lease *l);
/* The longest it can be right after a renewal. */
int64_t pdk__lease_longest(const struct pdk__lease *l);
/* The least timeout that carries a lease where every answer comes within `late`: right after a renewal the lease has
 * T/16 for grants, and lasts for four renewals of T/16 and their answers. Two make the next proof, one may fail, and
 * one is under way. */
int64_t pdk__lease_least_timeout(const struct pdk__lease *l, int64_t late);
/* Does enough of it remain for a grant? */
bool pdk__lease_fresh(const struct pdk__lease *l, int64_t now);
/* Does less of it remain than two renewals take? */
bool pdk__lease_short(const struct pdk__lease *l, int64_t now);
/* How often to write: while a node is held or next in the queue; while none is, so that evidence is at hand; and while
 * a claim waits for a longer lease. */
int64_t pdk__lease_renewal_period(const struct pdk__lease *l);
int64_t pdk__lease_idle_period(const struct pdk__lease *l);
int64_t pdk__lease_urgent_period(const struct pdk__lease *l);

#endif
