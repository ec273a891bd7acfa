/* The client: what the driver does with the real lease, and which parts of its past can still matter.
 *
 * A state keeps no struct pdk__lease. It keeps the arguments of the calls that made it, and restores it by calling again.
 * Calls that cannot change any answer to come are left out. The worth of a time t is the end of a lease counted from it:
 * t + T − margin. A smaller T, later, lessens all worths and the lease's end alike. Left out are:
 *
 *  - The end of a lease that is over: any end at or before now says the same, and now only grows.
 *  - Birth, a look, and answers, worth no more than the end or than now: a lease counted from them would not move, or be over.
 *  - Of two answers seen in the same unit the one to the earlier request, unless it proves more: both may count, and it is
 *    worth less.
 *  - The fact that a write was committed, when that was seen so early that the write confirms a touch to every request that
 *    is not answered yet: only the newest such write is asked. Of the answers seen so early that this write confirms all of
 *    them, all but the newest.
 *  - The date of a request that is itself worth nothing: an answer before it was sent is worth even less. */
#include "lease_model.h"

#include <string.h>

int64_t lease_clock(const struct lease_model *m, int32_t time) {
    return 1000 * m->config.unit + time * (m->config.unit / LEASE_RATE) * m->config.rate;
}

int32_t lease_timeout(const struct lease_model *m, const struct lease_state *s) {
    return s->timeout != 0 ? s->timeout : m->config.timeout;
}

void lease_restore(const struct lease_model *m, const struct lease_state *s, struct pdk__lease *l) {
    pdk__lease_init(l, m->config.tick_known ? 2 * m->config.half * m->config.unit : 0, m->config.hops);
    pdk__lease_begin(l, lease_clock(m, s->born));
    if (s->timeout != 0)
        pdk__lease_negotiated(l, s->timeout * m->config.unit);
    for (int32_t i = 0; i < s->told; i++)
        pdk__lease_answered(l, lease_clock(m, s->sent[i]), lease_clock(m, s->answered[i]), s->committed[i]);
    if (s->looked != LEASE_NEVER)
        pdk__lease_dialled(l, lease_clock(m, s->looked), lease_clock(m, s->looked));
    l->end = s->end == 0 ? 0 : lease_clock(m, 0) + s->end;
}

static void keep_end(const struct lease_model *m, struct lease_state *s, const struct pdk__lease *l) {
    int64_t end = l->end - lease_clock(m, 0);
    s->end = l->end != 0 && end > 0 ? end : 0;
}

void lease_learn(struct lease_model *m, struct lease_state *s) {
    struct pdk__lease l;
    lease_restore(m, s, &l);
    int64_t before = l.end;
    pdk__lease_negotiated(&l, s->news * m->config.unit);
    if (l.end > before)
        lease_break(m, "no lease grows by news", "by %.2f units", (double)(l.end - before) / (double)m->config.unit);
    m->seen.shortened += l.end < before;
    s->timeout = (int8_t)(l.timeout / m->config.unit);
    s->news = 0;
    keep_end(m, s, &l);
}

/* All that it sends from here on goes over a connection that is dialled later. */
void lease_look(struct lease_state *s) { s->looked = 0; }

void lease_send(struct lease_state *s, enum lease_kind kind) {
    s->request[s->requests++] = (struct lease_request){.kind = (int8_t)kind, .stage = LEASE_SENT, .sent = 0};
}

/* As src/session/ops.c has it. */
static bool proves_quorum(enum lease_kind kind) { return kind == LEASE_BARRIER; }

static void remember(struct lease_state *s, int8_t sent, bool committed) {
    int8_t last = (int8_t)(s->told - 1);
    if (s->told != 0 && s->answered[last] == 0 && (committed || !s->committed[last]))
        s->told--;
    s->sent[s->told] = sent;
    s->committed[s->told] = committed;
    s->answered[s->told++] = 0;
}

void lease_answer(struct lease_model *m, struct lease_state *s) {
    struct lease_request k = s->request[0];
    struct pdk__lease l;
    memmove(s->request, s->request + 1, sizeof k * (size_t)--s->requests);
    s->request[s->requests] = (struct lease_request){0};
    lease_restore(m, s, &l);
    int64_t before = l.end;
    bool committed = proves_quorum((enum lease_kind)k.kind);
    pdk__lease_answered(&l, lease_clock(m, k.sent), lease_clock(m, 0), committed);
    lease_check_renewal(m, s, &k, before, l.end);
    keep_end(m, s, &l);
    remember(s, k.sent, committed);
}

/* ---- forgetting */

/* A lease counted from then would be over, or end no later than it does now. */
static bool is_worthless(const struct lease_model *m, const struct lease_state *s, int8_t time) {
    int32_t timeout = lease_timeout(m, s);
    return lease_clock(m, time) - lease_clock(m, 0) + timeout * m->config.unit - m->margin[timeout] <= s->end;
}

/* Requests after one that is never answered are not answered either. Returns the oldest time at which a request was
 * sent whose answer may yet prolong the lease by an earlier answer. */
static int8_t tidy_requests(const struct lease_model *m, struct lease_state *s) {
    int32_t stuck = lease_stuck(s);
    int8_t oldest = 0;
    for (int32_t i = 0; i < s->requests; i++) {
        struct lease_request *k = &s->request[i];
        if (i > stuck)
            *k = (struct lease_request){0};
        else if (i == stuck)
            *k = (struct lease_request){.kind = LEASE_BARRIER, .stage = LEASE_FORWARDED, .sent = LEASE_NEVER};
        else if (is_worthless(m, s, k->sent))
            k->sent = (int8_t)-m->config.timeout;
        else if (k->sent < oldest)
            oldest = k->sent;
    }
    if (s->requests > stuck)
        s->requests = (int8_t)(stuck + 1);
    return oldest;
}

/* The newest write that confirms every touch old enough for it, to any request sent from `oldest` on; −1: there is
 * none. */
static int32_t confirming(const struct lease_model *m, const struct lease_state *s, int8_t oldest) {
    int32_t i = s->told - 1;
    while (i >= 0 && (!s->committed[i] || lease_clock(m, s->answered[i]) >= lease_clock(m, oldest) - LEASE_CONFIRM))
        i--;
    return i;
}

void lease_tidy_client(const struct lease_model *m, struct lease_state *s) {
    int32_t write = confirming(m, s, tidy_requests(m, s));
    int64_t before = write < 0 ? INT64_MIN : lease_clock(m, s->sent[write]) - m->delay[lease_timeout(m, s)];
    int8_t kept = 0;
    if (s->born != LEASE_NEVER && is_worthless(m, s, s->born))
        s->born = LEASE_NEVER;
    if (s->looked != LEASE_NEVER && is_worthless(m, s, s->looked))
        s->looked = LEASE_NEVER;
    for (int32_t i = 0; i < s->told; i++) {
        if (is_worthless(m, s, s->sent[i]))
            continue;
        if (i + 1 < s->told && lease_clock(m, s->answered[i + 1]) < before)
            continue; /* the next counts whenever this one does */
        s->sent[kept] = s->sent[i];
        s->answered[kept] = s->answered[i];
        s->committed[kept++] = s->committed[i] && i >= write;
    }
    memset(s->sent + kept, 0, (size_t)(LEASE_TOLD - kept));
    memset(s->answered + kept, 0, (size_t)(LEASE_TOLD - kept));
    memset(s->committed + kept, 0, (size_t)(LEASE_TOLD - kept));
    s->told = kept;
}
