/* How a run of the model ends: everybody was granted, in finite time. And whether a search showed what it should
 * have. */
#include "model.h"

void model_check_rest(struct model *m, const struct model_state *s) {
    for (int32_t i = 0; i < m->config.clients; i++)
        if (model_is_live(&s->clients[i]))
            model_break(m, "everybody is granted", "client %c waits for ever", 'A' + i);
}

/* The next ordinary action after the one taken last, in rotation. */
static bool next_ordinary(const struct model *m, const struct model_state *s, model_action last, model_action *next) {
    model_action enabled[SEARCH_ACTIONS];
    size_t count = model_enabled(m, s, enabled);
    bool found = false;
    for (int round = 0; round < 2 && !found; round++)
        for (size_t i = 0; i < count; i++) {
            if (model_kind(enabled[i]) >= ORDINARY || (round == 0 && enabled[i] <= last))
                continue;
            if (!found || enabled[i] < *next)
                *next = enabled[i];
            found = true;
        }
    return found;
}

void model_check_converges(struct model *m, const struct model_state *s) {
    struct model_state end, *before = m->now;
    model_action a = 0;
    int32_t done = 0;
    model_copy(&end, s);
    for (; done < 300 && !m->broken && next_ordinary(m, &end, a, &a); done++) {
        if (m->transcript)
            model_print_action(m, &end, done + 1, a);
        model_apply(m, &end, a);
    }
    m->broken = NULL; /* the search comes there itself, by a shorter way */
    if (done == 300)
        model_break(m, "it comes to rest", "%d ordinary actions later it still goes on", done);
    m->now = before;
}

static int32_t readers(const struct model *m) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->config.clients; i++)
        count += m->config.roles[i] == MODEL_READS;
    return count;
}

const char *model_vacuous(const struct model *m) {
    const struct model_seen *seen = &m->seen;
    const int32_t *budgets = m->config.budgets;
    const struct {
        bool wanted;
        uint64_t times;
        const char *missing;
    } rules[] = {
        {true, seen->contended, "no contended grant"},
        {readers(m) > 1, seen->shared, "no two readers at the same time"},
        {m->config.permits > 0, seen->full, "no moment with all permits taken"},
        {m->config.permits > 1, seen->shared, "no two permits taken at the same time"},
        {budgets[DOWNGRADES] != 0, seen->taken_over, "no reader's node that took over from a writer's"},
        {budgets[DOWNGRADES] != 0, seen->given_back, "no release in the middle of a downgrade"},
        {budgets[DOWNGRADES] != 0 && m->readers, seen->let_in, "no reader let in by a downgrade"},
        {budgets[DOWNGRADES] != 0 && budgets[REMOVALS] != 0, seen->exchanged_gone,
         "no downgrade of a node that is gone"},
        {m->config.tries > 0 && m->config.permits == 0, seen->turned_away, "no try that looked, and found somebody"},
        {budgets[SQUATS] != 0, seen->squatted, "no name that was taken"},
        {m->config.mirrors, seen->alone, "no create that needed no list"},
        {m->config.mirrors, seen->gaps, "no create with a gap"},
        {m->config.mirrors, seen->mirrored, "no list that a mirror stood for"},
        {budgets[GHOSTS] != 0, seen->ghosts, "no server that shows what is gone"},
        {m->config.threads[0] > 1 && m->config.handovers > 0, seen->handovers, "no hand-over"},
        {m->config.lingers, seen->lingered, "no node that lingered"},
        {m->config.lingers && budgets[CLAIMS] != 0, seen->taken_up, "no lingering node that was taken"},
        {m->config.lingers, seen->met, "nobody who came to a lingering node"},
        {m->config.lingers, seen->outstayed, "no node that lingered to the end of its time"},
        {m->config.threads[0] > m->config.handovers + 1, seen->rejoins, "no queueing anew for other threads"},
        {budgets[LOSSES] != 0, seen->losses, "no loss"},
        {budgets[LOSSES] != 0, seen->recovered_found, "no lost create that had been executed"},
        {budgets[LOSSES] != 0, seen->recovered_absent, "no lost create that had not been executed"},
        {budgets[EXPIRIES] != 0 && budgets[LAPSES] != 0, seen->expiries, "no expiry"},
        {budgets[LAPSES] != 0, seen->lost_holds, "no lost hold"},
        {budgets[LAPSES] != 0, seen->late_notices, "no lapse that is noticed late"},
        {budgets[LAPSES] != 0, seen->late_receipts, "no grant that had lapsed when its thread woke"},
        {budgets[ABANDONS] != 0, seen->abandons, "no session given up"},
        {budgets[REMOVALS] != 0, seen->removed_holds, "no node deleted under its owner's grant"},
        {budgets[TOUCHES] != 0, seen->touched, "no write to a node that was watched"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].wanted && rules[i].times == 0)
            return rules[i].missing;
    return NULL;
}
