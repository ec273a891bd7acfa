#include "lease.h"

#include "clock.h"
#include "say.h"

void cmd_lease_begin(cmd_lease *lease, pdk_session *session, bool timing) {
    *lease = (cmd_lease){.timing = timing, .timeout_ms = pdk_session_timeout_ms(session)};
    lease->margin_ms = lease->timeout_ms / 16 + 50; /* ARCHITECTURE.md, "Why the lease is safe" */
    lease->interval_ms = lease->timeout_ms / 40;
}

int64_t cmd_lease_publish(cmd_lease *lease, const cmd_keeper *keeper, cmd_moments *moments) {
    int64_t now = cmd_now_ms(); /* ahead of what is left: we may be held up in between */
    int64_t remaining = cmd_keeper_remaining_ms(keeper);
    if (remaining > 0 && now + remaining > lease->end) {
        if (lease->grace_ms == 0)
            lease->grace_ms = remaining / 2 < lease->timeout_ms / 6 ? remaining / 2 : lease->timeout_ms / 6;
        lease->end = now + remaining;
        atomic_store(&moments->term_at, lease->end - lease->grace_ms);
        atomic_store(&moments->kill_at, lease->end);
    }
    return lease->interval_ms;
}

void cmd_lease_tell(const cmd_lease *lease, const char *event) {
    long long left = lease->end - cmd_now_ms();
    if (lease->timing)
        cmd_error("timing: %s: TERM in %lld ms, KILL in %lld ms, no server expires the session for %lld ms", event,
                  left - lease->grace_ms, left, left + lease->margin_ms);
}
