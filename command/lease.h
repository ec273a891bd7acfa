/*
 * The moments at which a command is ended as its lease runs out. All of them come from pdk_hold_remaining_ms.
 *
 *     now ─────────► TERM ─────────► KILL = the end of the lease ─────────► no server expires the session before
 *                      grace                                    T/16 + 50 ms
 *
 * T is the session timeout. grace is T/6, and no more than half of a lease at its beginning.
 */
#ifndef CMD_LEASE_H
#define CMD_LEASE_H

#include "guard.h"
#include "keeper.h"

typedef struct {
    int64_t timeout_ms, grace_ms, margin_ms, end, interval_ms;
    bool timing;
} cmd_lease;

/* For one hold. */
void cmd_lease_begin(cmd_lease *lease, pdk_session *session, bool timing);
/* Writes until when the keeper's hold stays valid, for the guardian to read. Returns after how many ms to do so again. A
 * lease never gets shorter, so the guardian never knows too late a moment. */
int64_t cmd_lease_publish(cmd_lease *lease, const cmd_keeper *keeper, cmd_moments *moments);
/* With --timing: says how far TERM, KILL and the earliest expiry are. */
void cmd_lease_tell(const cmd_lease *lease, const char *event);

#endif
