/* A hold that ends before its lease does: what it stands for has an end of its own, by this machine's clock. */
#include "grant/hold.h"

static void overdue(pdk_session *s, void *user) {
    (void)s;
    pdk__hold_lose(user, PDK_REASON_OVERDUE);
}

void pdk__hold_limit(struct pdk_hold *hold, int64_t latest, int64_t leaves) {
    pdk__assert_locked(hold->s);
    if (hold->ended)
        return;
    hold->latest = latest;
    hold->leaves = leaves;
    hold->limit.ring = overdue;
    hold->limit.user = hold;
    pdk__hold_shorten(hold, latest);
    pdk__hold_extend(hold, hold->s->lease.end);
    /* It may have come to an earlier end a moment ago: then that is told now. */
    pdk__alarm_set(hold->s, &hold->limit, pdk_hold_is_valid(hold) ? latest : 0);
}

int64_t pdk__hold_most_ms(const struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    if (hold->latest == INT64_MAX)
        return INT64_MAX;
    return (hold->leaves > 0 ? hold->leaves : MAX(hold->latest - pdk__now(hold->s), 0)) / PDK__MS;
}
