/* What must be true of a lease. It ends before its session can. It is never taken back. It is as long as its evidence
 * allows. A client with a healthy connection gets a fresh lease and keeps it. */
#include "lease_model.h"

#include <stdarg.h>

void lease_break(struct lease_model *m, const char *check, const char *format, ...) {
    va_list arguments;
    if (m->broken)
        return;
    m->broken = check;
    va_start(arguments, format);
    vsnprintf(m->detail, sizeof m->detail, format, arguments);
    va_end(arguments);
}

static double units(const struct lease_model *m, int64_t ns) { return (double)ns / (double)m->config.unit; }

static int64_t margin(int64_t timeout) { return timeout / 16 + LEASE_SLACK; }

/* How long after a touch it is reported, as lease.h has it. */
static int64_t report_delay(const struct lease_model *m, const struct lease_state *s) {
    int64_t half = m->config.tick_known ? m->config.half * m->config.unit : lease_timeout(m, s) * m->config.unit / 4;
    half += LEASE_SLACK;
    return (half + half / 16) * m->config.hops;
}

/* The newest answer seen before that time. */
static int32_t newest(const struct lease_model *m, const struct lease_state *s, int64_t before, bool committed) {
    int32_t i = s->told - 1;
    while (i >= 0 && (lease_clock(m, s->answered[i]) >= before || (committed && !s->committed[i])))
        i--;
    return i;
}

/* The formula of lease.h, from what the model remembers. */
static void check_length(struct lease_model *m, const struct lease_state *s, const struct lease_request *k,
                         int64_t end) {
    int64_t timeout = s->timeout * m->config.unit;
    int32_t write = newest(m, s, lease_clock(m, k->sent) - LEASE_CONFIRM, true);
    int32_t touch = write < 0 ? -1 : newest(m, s, lease_clock(m, s->sent[write]) - report_delay(m, s), false);
    int8_t confirmed = s->looked > s->born ? s->looked : s->born;
    int8_t j = touch >= 0 && s->sent[touch] > confirmed ? s->sent[touch] : confirmed;
    int64_t promised = lease_clock(m, j) + timeout - margin(timeout);
    if (j != LEASE_NEVER && end < promised)
        lease_break(m, "a lease is as long as its evidence allows", "it ends %.2f units too early",
                    units(m, promised - end));
    m->seen.renewals += j > confirmed;
    m->seen.handshakes += confirmed > s->born && j == confirmed;
}

void lease_check_renewal(struct lease_model *m, const struct lease_state *s, const struct lease_request *k,
                         int64_t before, int64_t end) {
    if (end < before)
        lease_break(m, "a lease is never taken back", "an answer shortened it by %.2f units", units(m, before - end));
    if (k->kind == LEASE_BARRIER)
        check_length(m, s, k, end);
    int64_t spare = lease_clock(m, s->heard + s->granted) - end;
    if (end > before && end > lease_clock(m, 0) && spare < m->seen.closest)
        m->seen.closest = spare;
}

void lease_check_expiry(struct lease_model *m, const struct lease_state *s) {
    if (s->connection == LEASE_NO_SESSION || s->heard > -s->granted)
        return;
    m->seen.expiries++;
    struct lease_state after = *s;
    struct lease_model scratch = *m;
    while (after.requests != 0 && after.request[0].stage >= LEASE_RETURNING)
        lease_answer(&scratch, &after); /* the answers that are under way do arrive */
    if (after.end > 0)
        lease_break(m, "no lease outlives its session", "it goes on for %.2f units of the client's clock",
                    units(m, after.end));
}

/* ---- the lease comes back */

/* Does the next step that is under way; false when nothing is. */
static bool something_arrives(struct lease_model *m, struct lease_state *s) {
    for (int32_t server = 1; server <= LEASE_HOPS; server++)
        if (lease_pinged(s, server)) {
            lease_report(&m->config, s, server);
            return true;
        }
    for (int32_t link = 0; link <= LEASE_HOPS; link++)
        if (s->link[link].requests != 0) {
            lease_pass(s, link);
            return true;
        }
    for (int32_t i = 0; i < s->requests; i++) {
        if (s->request[i].stage == LEASE_SENT) {
            lease_arrive(&m->config, s);
            return true;
        }
        if (s->request[i].stage == LEASE_RETURNING) {
            lease_return(s);
            return true;
        }
    }
    if (s->requests != 0)
        lease_answer(m, s);
    return s->requests != 0;
}

static void all_arrives(struct lease_model *m, struct lease_state *s) {
    while (!m->broken && something_arrives(m, s))
        ;
}

static void heal(struct lease_model *m, struct lease_state *s) {
    s->stalled = false;
    if (s->connection == LEASE_DOWN || s->deposed) {
        lease_disconnect(s);
        s->heard = 0;
        s->granted = m->config.timeout;
        lease_connect(s, lease_target(m->config.hops, 0, 0, false), s->granted);
    }
    if (s->news != 0)
        lease_learn(m, s);
}

/* A barrier every T/10, as the driver sends them, or every unit. Nothing takes any time. */
void lease_check_recovers(struct lease_model *m, const struct lease_state *state) {
    struct lease_state s = *state;
    if (s.connection == LEASE_NO_SESSION)
        return;
    heal(m, &s);
    int32_t period = s.timeout < 10 ? 1 : s.timeout / 10;
    int32_t fresh_from = (int32_t)(report_delay(m, &s) * LEASE_RATE / m->config.rate / m->config.unit) + 3 * period + 2;
    for (int32_t time = 0; time < fresh_from + s.timeout && !m->broken; time++) {
        struct pdk__lease l;
        for (int32_t i = 1; i <= LEASE_HOPS; i++)
            if (lease_reports(&s, i) && s.ping[i] <= 0)
                lease_ping(&m->config, &s, i);
        all_arrives(m, &s);
        if (time % period == 0)
            lease_send(&s, LEASE_BARRIER);
        all_arrives(m, &s);
        lease_restore(m, &s, &l);
        if (time >= fresh_from && !pdk__lease_fresh(&l, lease_clock(m, 0)))
            lease_break(m, "a healthy connection has a fresh lease", "not after %d units of it", time);
        lease_age(m, &s);
        lease_tidy_client(m, &s);
    }
}

const char *lease_vacuous(const struct lease_model *m) {
    const struct lease_seen *seen = &m->seen;
    const int8_t *budgets = m->config.budgets;
    if (seen->renewals == 0)
        return "no lease was renewed by more than its birth";
    if (seen->lapses == 0)
        return "no lease ended";
    if (seen->expiries == 0)
        return "no session came to its end";
    if (budgets[LEASE_DEPOSALS] != 0 && seen->deposals == 0)
        return "no leader was deposed";
    if (budgets[LEASE_LOSSES] != 0 && seen->reconnects == 0)
        return "nobody reconnected";
    if (budgets[LEASE_LOSSES] != 0 && seen->handshakes == 0)
        return "no handshake moved a lease";
    if (budgets[LEASE_SHORTS] != 0 && seen->shortened == 0)
        return "no lease was shortened";
    if (budgets[LEASE_STALLS] != 0 && seen->stalls == 0)
        return "no leader was silent";
    return NULL;
}
