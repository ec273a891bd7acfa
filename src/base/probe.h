/* Probes for tracers: bpftrace, perf, SystemTap (docs/tracing.md).
 *
 *     <sys/sdt.h> at build time    a nop for each probe, and a note in the library that says where it is and where its
 *                                  arguments are; a tracer puts a breakpoint there
 *     without it                   nothing
 *
 * Names and arguments are as in docs/tracing.md, and stay. Code that fires a probe has the values anyway: nothing is
 * computed for it but a difference.
 */
#ifndef PDK_PROBE_H
#define PDK_PROBE_H

#include <stdint.h>

#ifdef PDK_PROBES
#include <sys/sdt.h>
#define PDK__PROBE3(name, a, b, c) DTRACE_PROBE3(paddock, name, a, b, c)
#define PDK__PROBE4(name, a, b, c, d) DTRACE_PROBE4(paddock, name, a, b, c, d)
#else
#define PDK__PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define PDK__PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#endif

/* ---- of claims and holds. path: the directory of their queue, chroot included */

/* A claim stands in the queue of this process. */
static inline void pdk__probe_queue(const char *path, uint64_t claim, uint32_t waiting) {
    PDK__PROBE3(queue, path, claim, waiting);
}

/* A claim has a hold. */
static inline void pdk__probe_grant(const char *path, int64_t token, uint32_t handover, int64_t waited_ns) {
    PDK__PROBE4(grant, path, token, handover, waited_ns);
}

/* A claim has none, with that pdk_status. */
static inline void pdk__probe_refuse(const char *path, uint64_t claim, int32_t status) {
    PDK__PROBE3(refuse, path, claim, status);
}

/* A grant goes to the next thread, without a round trip. handover: how many there were in a row. */
static inline void pdk__probe_handover(const char *path, int64_t token, uint32_t handover) {
    PDK__PROBE3(handover, path, token, handover);
}

/* A hold has ended: released, or lost with that pdk_reason. */
static inline void pdk__probe_release(const char *path, int64_t token, int64_t held_ns) {
    PDK__PROBE3(release, path, token, held_ns);
}
static inline void pdk__probe_lost(const char *path, int64_t token, int32_t reason, int64_t held_ns) {
    PDK__PROBE4(lost, path, token, reason, held_ns);
}

/* ---- of the session. session: its number at the servers */

/* A quorum has committed a renewal of the lease, of which so much was left; not above 0: it was over, or there was
 * none. */
static inline void pdk__probe_renew(int64_t session, int64_t took_ns, int64_t left_ns) {
    PDK__PROBE3(renew, session, took_ns, left_ns);
}

/* It leaves a server, which has committed nothing (0), or answered no handshake (1), for so long. */
static inline void pdk__probe_move(int64_t session, int32_t silent, int64_t silent_ns) {
    PDK__PROBE3(move, session, silent, silent_ns);
}

/* A pdk_session_event: connected, suspended, restored, expired, reopened, closed. */
static inline void pdk__probe_event(int64_t session, int32_t event, int64_t left_ms) {
    PDK__PROBE3(event, session, event, left_ms);
}

#endif
