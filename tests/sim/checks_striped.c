/* The promises about striped locks. A stripe is a lock, with all that is promised about one. Besides: all agree about the
 * number of stripes, claims for any stripe come in order, and the first of them never waits while a stripe stands empty. */
#include "checker.h"

static bool is_empty(const struct checker *c, int32_t queue) {
    for (int32_t i = 0; i < c->live_count; i++)
        if (c->nodes[c->live[i]].path == queue)
            return false;
    return true;
}

/* So long the first one may need to stand in all stripes, where nothing goes wrong. */
static int64_t patience(const struct checker *c) {
    int64_t late = 0;
    for (int32_t i = 0; i < PLAN_PROCESSES; i++)
        late = c->processes[i].late > late ? c->processes[i].late : late;
    return late + 8 * c->round_trips;
}

/* Until now the same node was the first on the path, and nobody was granted by it. */
static void check_idle(struct checker *c, int32_t path, const struct history_event *e) {
    for (int32_t i = 0; i < c->paths[path].stripes && checker_first(c, (int8_t)path); i++) {
        int32_t queue = plan_stripe(path, i);
        int64_t since = c->paths[queue].stirred_at;
        since = since > c->paths[path].stirred_at ? since : c->paths[path].stirred_at;
        c->evaluated[CHECK_STRIPE_IDLE]++;
        if (is_empty(c, queue) && e->at > since + patience(c))
            checker_break(c, CHECK_STRIPE_IDLE, e, "stripe %d of path %d, for %.3f ms", i, path,
                          (double)(e->at - since) / 1e6);
    }
}

void checker_striped_stirred(struct checker *c, int8_t queue, const struct history_event *e) {
    int32_t path = plan_path_of(queue);
    if (!c->calm || c->paths[path].stripes == 0)
        return;
    check_idle(c, path, e);
    c->paths[queue].stirred_at = e->at;
}

/* It knows no other number than the one that was recorded. */
bool checker_agrees(const struct checker *c, int8_t process, int8_t queue) {
    const struct checker_path *path = &c->paths[plan_path_of(queue)];
    return path->recorded == path->stripes + (c->disagree && process % 2);
}

void checker_striped_granted(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    if (c->paths[hold->path].stripes == 0)
        return;
    c->evaluated[CHECK_MISMATCH]++;
    if (!checker_agrees(c, hold->process, hold->path))
        checker_break(c, CHECK_MISMATCH, e, "p%d is granted token %llx, and there are %lld stripes", hold->process,
                      (unsigned long long)hold->token, (long long)c->paths[plan_path_of(hold->path)].recorded);
}

/* Of any stripe. */
void checker_striped_admitted(struct checker *c, const struct history_event *e) {
    const struct checker_hold *hold = &c->holds[e->id];
    int8_t path = (int8_t)plan_path_of(hold->path);
    c->met[MET_ANY_STRIPE]++;
    checker_admitted(c, hold, path, (int32_t)e->a, e);
    checker_striped_stirred(c, path, e);
}
