/* The promises to observers. Each hears of those who led, and of none older than the last. It never misses the
 * newest. */
#include "checker.h"

#include "core/names.h"

static void began(struct checker *c, const struct history_event *e) {
    while (c->observers_count <= e->id)
        c->observers[c->observers_count++].known = false;
    c->observers[e->id] = (struct checker_observer){
        .session = e->number, .process = e->process, .path = e->path, .known = true, .frees = e->a != 0};
    if (c->paths[e->path].recipe == PLAN_RECIPE_GROUP)
        c->observers[e->id].live_token = c->group_zxid;
}

/* For a number that occurs twice nobody can tell which node was first. None of them is ever granted. */
static bool is_stuck(const struct checker_node *node) { return pdk__sequence_is_stuck(node->sequence); }

/* It was first in the queue, and its node has that identity. An admin may have written there. */
static void check_who(struct checker *c, const struct checker_observer *observer, const struct checker_node *node,
                      const struct history_event *e) {
    const char *wrong = !node                                                ? "never was there"
                        : node->path != observer->path                       ? "is somewhere else"
                        : !node->was_first && !is_stuck(node)                ? "never was first"
                        : node->identity != e->b && e->b != IDENTITY_BY_HAND ? "is called otherwise"
                                                                             : NULL;
    c->evaluated[CHECK_OBSERVED]++;
    if (wrong)
        checker_break(c, CHECK_OBSERVED, e, "p%d's observer %d of %llx, which %s", observer->process, e->id,
                      (unsigned long long)e->a, wrong);
}

/* Behind a server that lags, a new session may see leaders that are gone already. A node that is in the queue is newer
 * than those before it. */
static void check_order(struct checker *c, struct checker_observer *observer, const struct checker_node *node,
                        const struct history_event *e) {
    bool again = observer->told && observer->token == e->a && observer->identity == (int32_t)e->b;
    bool in_queue = node && !node->gone && !is_stuck(node);
    c->evaluated[CHECK_OBSERVER_ORDER]++;
    if (again || (in_queue && e->a < observer->live_token))
        checker_break(c, CHECK_OBSERVER_ORDER, e, "p%d's observer %d of %llx after %llx", observer->process, e->id,
                      (unsigned long long)e->a, (unsigned long long)(again ? e->a : observer->live_token));
    if (in_queue)
        observer->live_token = e->a;
}

static void told(struct checker *c, struct checker_observer *observer, const struct history_event *e) {
    const struct checker_node *node = e->a ? checker_node_of(c, e->a) : NULL;
    c->evaluated[CHECK_AFTER_LEFT]++;
    if (c->sessions[observer->session].closed)
        checker_break(c, CHECK_SILENCE, e, "observer %d of p%d is told", e->id, observer->process);
    if (observer->stopped || observer->freed)
        checker_break(c, CHECK_AFTER_LEFT, e, "observer %d of p%d is told", e->id, observer->process);
    if (e->a)
        check_who(c, observer, node, e);
    check_order(c, observer, node, e);
    c->met[e->a ? MET_OBSERVED : MET_VACANT]++;
    observer->told = true;
    observer->token = e->a;
    observer->identity = (int32_t)e->b;
}

void checker_observer_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_OBSERVES) {
        began(c, e);
        return;
    }
    struct checker_observer *observer = &c->observers[e->id];
    if (e->id >= c->observers_count || !observer->known) {
        checker_break(c, CHECK_OBSERVED, e, "observer %d does not exist", e->id);
    } else if (e->kind == HISTORY_LEADER) {
        told(c, observer, e);
    } else if (e->kind == HISTORY_DIFFERENCE || e->kind == HISTORY_MEMBER || e->kind == HISTORY_VIEW) {
        checker_view_event(c, observer, e);
    } else if (e->kind == HISTORY_STOPPED) {
        observer->stopped = true;
    } else {
        c->evaluated[CHECK_OBSERVER_FREED]++;
        if (observer->freed || !observer->stopped)
            checker_break(c, CHECK_OBSERVER_FREED, e, "observer %d of p%d, %s", e->id, observer->process,
                          observer->freed ? "twice" : "which was not stopped");
        observer->freed = true;
    }
}

bool checker_knows(struct checker *c, const struct checker_observer *observer) {
    const struct checker_session *session = &c->sessions[observer->session];
    if (!observer->known || observer->stopped || session->closed || session->closing)
        return true;
    if (c->paths[observer->path].recipe == PLAN_RECIPE_GROUP)
        return checker_sees(c, observer);
    const struct checker_node *first = checker_first(c, observer->path);
    return observer->told && observer->token == (first ? first->czxid : 0) &&
           (!first || observer->identity == first->identity || observer->identity == IDENTITY_BY_HAND);
}

/* Everything is healed, and at rest. */
void checker_observers_look(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->observers_count; i++) {
        const struct checker_observer *observer = &c->observers[i];
        const struct checker_node *first = checker_first(c, observer->path);
        c->evaluated[CHECK_OBSERVER_BEHIND]++;
        if (!checker_knows(c, observer))
            checker_break(c, CHECK_OBSERVER_BEHIND, e,
                          "p%d's observer %d of path %d says %llx, and it is %llx, %.3f s after the last fault",
                          observer->process, i, observer->path, (unsigned long long)observer->token,
                          (unsigned long long)(first ? first->czxid : 0), (double)(e->at - c->healed_at) / 1e9);
    }
}

void checker_observers_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->observers_count; i++) {
        const struct checker_observer *observer = &c->observers[i];
        if (observer->known && observer->frees && observer->stopped && !observer->freed &&
            !c->sessions[observer->session].closed)
            checker_break(c, CHECK_OBSERVER_FREED, e, "observer %d of p%d, never", i, observer->process);
    }
}
