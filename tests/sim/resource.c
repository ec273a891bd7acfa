/* What the holds protect, outside of ZooKeeper: one resource of each path that refuses any token smaller than the largest it
 * has seen, and beside it a naive one that takes every write. Writes are under way for a while after their writer looked
 * whether its hold is valid; that is what tokens are for. */
#include "deployment.h"

static bool is_older(int64_t token, uint32_t handover, const struct resource *r) {
    return token < r->token || (token == r->token && handover < r->handover);
}

static void arrive(void *subject, void *what) {
    struct deployment *d = subject;
    const struct holding *h = what;
    struct resource *fenced = &d->resources[h->path], *naive = &d->naive[h->path];
    bool refused = is_older(h->token, h->handover, fenced);
    if (!refused)
        *fenced = (struct resource){h->token, h->handover};
    /* What the naive one has now is what an older owner wrote over a newer one's. */
    bool harmful = is_older(h->token, h->handover, naive);
    *naive = (struct resource){h->token, h->handover};
    struct history_event *event = note(d, HISTORY_WRITE, h->id, h->life);
    d->tally.writes++;
    d->tally.stale_refused += refused;
    d->tally.stale_harmful += harmful;
    if (!event)
        return;
    event->path = (int8_t)h->path;
    event->a = h->token;
    event->b = !refused;
    event->extra = h->handover;
}

void resource_write(struct holding *holding, int64_t delay) {
    struct deployment *d = holding->life->player->d;
    sim_at(&d->agenda, d->agenda.now + delay, arrive, d, holding);
}
