/* What can happen next, and doing it. */
#include "lease_model.h"

#include <string.h>

void lease_init(struct lease_model *m, const struct lease_config *config) {
    memset(m, 0, sizeof *m);
    m->config = *config;
    m->seen.closest = INT64_MAX;
    if (m->config.unit == 0)
        m->config.unit = LEASE_LONG;
    for (int8_t timeout = 1; timeout <= LEASE_TIMEOUT; timeout++) {
        struct pdk__lease l;
        lease_restore(m, &(struct lease_state){.timeout = timeout}, &l);
        m->margin[timeout] = pdk__lease_margin(&l);
        m->delay[timeout] = l.timeout - m->margin[timeout] - pdk__lease_longest(&l);
    }
}

void lease_begin(struct lease_state *s) {
    memset(s, 0, sizeof *s);
    lease_disconnect(s);
    s->connection = LEASE_NO_SESSION;
    s->looked = LEASE_NEVER;
}

/* ---- what can happen */

struct list {
    lease_action *actions;
    int32_t count;
};

static void may(struct list *list, enum lease_action_kind kind, int32_t argument) {
    list->actions[list->count++] = lease_act(kind, argument);
}

/* Every server to connect to, and every moment at which the servers on the way may be pinged next. */
static void may_connect(struct list *list, const struct lease_config *config, enum lease_action_kind kind,
                        bool shorter) {
    for (int32_t at = config->never_leader ? config->hops : 0; at <= config->hops; at++)
        for (int32_t first = 0; first <= (at >= 1 ? config->half : 0); first++)
            for (int32_t second = 0; second <= (at >= 2 ? config->half : 0); second++)
                may(list, kind, lease_target(at, first, second, shorter));
}

static void may_be_without(struct list *list, const struct lease_model *m, const struct lease_state *s) {
    if (s->looked != 0)
        may(list, LEASE_LOOK, 0);
    bool shorter = m->config.shorter != 0 && s->budgets[LEASE_SHORTS] < m->config.budgets[LEASE_SHORTS];
    for (int32_t i = 0; i <= shorter; i++) {
        may_connect(list, &m->config, LEASE_RECONNECT, i == 1);
        if (s->usurped)
            may(list, LEASE_RECONNECT_DEPOSED, lease_target(0, 0, 0, i == 1));
    }
}

static bool left(const struct lease_model *m, const struct lease_state *s, enum lease_budget budget) {
    return s->budgets[budget] < m->config.budgets[budget];
}

/* One request a unit is enough. */
static bool sent_now(const struct lease_state *s) {
    return (s->requests != 0 && s->request[s->requests - 1].sent == 0) || (s->told != 0 && s->sent[s->told - 1] == 0);
}

static void may_send(struct list *list, const struct lease_model *m, const struct lease_state *s) {
    if (s->requests == m->config.requests || lease_stuck(s) != s->requests || sent_now(s))
        return;
    may(list, LEASE_SEND, LEASE_READ);
    may(list, LEASE_SEND, LEASE_BARRIER);
    if (m->config.syncs)
        may(list, LEASE_SEND, LEASE_SYNC);
}

static const struct lease_request *oldest(const struct lease_state *s, enum lease_stage stage) {
    for (int32_t i = 0; i < s->requests; i++)
        if (s->request[i].stage == (int8_t)stage)
            return &s->request[i];
    return NULL;
}

static void may_go_on(struct list *list, const struct lease_state *s) {
    const struct lease_request *returning = oldest(s, LEASE_RETURNING);
    if (oldest(s, LEASE_SENT))
        may(list, LEASE_ARRIVE, 0);
    if (returning && !returning->pinged)
        may(list, LEASE_RETURN, 0);
    if (s->requests != 0 && s->request[0].stage == LEASE_DONE && !s->request[0].pinged)
        may(list, LEASE_ANSWER, 0);
    for (int32_t link = 0; link <= LEASE_HOPS; link++) {
        bool runs = link > 1 || !s->stalled;
        if (s->link[link].requests != 0 && runs)
            may(list, LEASE_PASS, link);
        if (lease_reports(s, link) && s->ping[link] <= 0 && runs)
            may(list, LEASE_PING, link);
        if (lease_pinged(s, link))
            may(list, LEASE_REPORT, link);
    }
}

static void may_connected(struct list *list, const struct lease_model *m, const struct lease_state *s) {
    if (s->news != 0)
        may(list, LEASE_LEARN, 0);
    else
        may_send(list, m, s);
    may_go_on(list, s);
    if (s->stalled)
        may(list, LEASE_RESUME, 0);
    else if (lease_reports(s, 1) && left(m, s, LEASE_STALLS))
        may(list, LEASE_STALL, 0);
    if (s->timeout != 0 && left(m, s, LEASE_LOSSES))
        may(list, LEASE_LOSE, 0);
}

static bool may_pass_the_unit(const struct lease_model *m, const struct lease_state *s) {
    for (int32_t i = 1; i <= LEASE_HOPS; i++)
        if (lease_reports(s, i) && s->ping[i] <= -m->config.late && (i > 1 || !s->stalled))
            return false;
    return true;
}

int32_t lease_possible(const struct lease_model *m, const struct lease_state *s, lease_action out[SEARCH_ACTIONS]) {
    struct list list = {out, 0};
    if (s->connection == LEASE_NO_SESSION)
        may_connect(&list, &m->config, LEASE_CREATE, false);
    else if (s->connection == LEASE_UP)
        may_connected(&list, m, s);
    else
        may_be_without(&list, m, s);
    if (s->connection != LEASE_NO_SESSION && !s->deposed && left(m, s, LEASE_DEPOSALS))
        may(&list, LEASE_DEPOSE, 0);
    if (may_pass_the_unit(m, s))
        may(&list, LEASE_TICK, 0);
    return list.count;
}

/* ---- doing it */

static int8_t older(int8_t time) { return time > LEASE_NEVER ? (int8_t)(time - 1) : time; }

static void age_all(int8_t *times, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        times[i] = older(times[i]);
}

void lease_age(struct lease_model *m, struct lease_state *s) {
    int64_t end = s->end;
    if (end != 0) {
        end -= lease_clock(m, 1) - lease_clock(m, 0);
        s->end = end > 0 ? end : 0;
        m->seen.lapses += end <= 0;
    }
    s->born = older(s->born);
    s->looked = older(s->looked);
    s->heard = older(s->heard);
    age_all(s->sent, s->told);
    age_all(s->answered, s->told);
    age_all(s->touched, LEASE_HOPS + 1);
    for (int32_t i = 0; i < s->requests; i++)
        s->request[i].sent = older(s->request[i].sent);
    for (int32_t i = 0; i <= LEASE_HOPS; i++) {
        if (lease_reports(s, i) && s->ping[i] > -m->config.late)
            s->ping[i]--;
        age_all(s->link[i].reports, s->link[i].requests + 1);
    }
}

static void connect(struct lease_model *m, struct lease_state *s, enum lease_action_kind kind, int32_t target) {
    bool shorter = lease_target_shorter(target);
    lease_connect(s, target, shorter ? m->config.shorter : m->config.timeout);
    if (kind == LEASE_RECONNECT_DEPOSED) {
        s->deposed = true;
    } else {
        s->heard = 0;
        s->granted = s->news;
    }
    m->seen.reconnects += kind == LEASE_RECONNECT;
    s->budgets[LEASE_SHORTS] = (int8_t)(s->budgets[LEASE_SHORTS] + shorter);
    if (shorter && !m->config.late_news)
        lease_learn(m, s);
}

static void step(struct lease_model *m, struct lease_state *s, enum lease_action_kind kind, int32_t argument) {
    switch (kind) {
    case LEASE_TICK:
        lease_age(m, s);
        break;
    case LEASE_LEARN:
        lease_learn(m, s);
        break;
    case LEASE_SEND:
        lease_send(s, (enum lease_kind)argument);
        break;
    case LEASE_ARRIVE:
        lease_arrive(&m->config, s);
        break;
    case LEASE_PING:
        lease_ping(&m->config, s, argument);
        break;
    case LEASE_REPORT:
        lease_report(&m->config, s, argument);
        break;
    case LEASE_RETURN:
        lease_return(s);
        break;
    case LEASE_PASS:
        lease_pass(s, argument);
        break;
    case LEASE_ANSWER:
        lease_answer(m, s);
        break;
    case LEASE_LOOK:
        lease_look(s);
        break;
    case LEASE_CREATE:
    case LEASE_RECONNECT:
    case LEASE_RECONNECT_DEPOSED:
        connect(m, s, kind, argument);
        break;
    case LEASE_STALL:
        s->stalled = true;
        s->budgets[LEASE_STALLS]++;
        m->seen.stalls++;
        break;
    case LEASE_RESUME:
        s->stalled = false;
        break;
    case LEASE_DEPOSE:
        lease_depose(s);
        s->budgets[LEASE_DEPOSALS]++;
        m->seen.deposals++;
        break;
    default:
        lease_disconnect(s);
        s->budgets[LEASE_LOSSES]++;
        break;
    }
}

void lease_apply(struct lease_model *m, struct lease_state *s, lease_action a) {
    step(m, s, lease_kind_of(a), lease_argument_of(a));
    lease_tidy_client(m, s);
    lease_tidy_servers(s);
    if (!m->broken)
        lease_check_expiry(m, s);
}
