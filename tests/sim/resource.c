/* What the holds protect, outside of ZooKeeper: one resource of each path that refuses any token smaller than the largest
 * writer's it has seen, and beside it a naive one that takes every write. Writes are under way for a while after their writer looked
 * whether its hold is valid; that is what tokens are for. */
#include "deployment.h"

static bool is_older(int64_t token, uint32_t handover, const struct resource *r) {
    return token < r->token || (token == r->token && handover < r->handover);
}

/* One on its way, and whether it only reads: its owner may become a reader meanwhile. */
struct flight {
    const struct holding *h;
    bool reads;
};

static void note_write(struct deployment *d, const struct flight *flight, bool refused) {
    const struct holding *h = flight->h;
    struct history_event *event = note(d, HISTORY_WRITE, h->id, h->client);
    if (!event)
        return;
    event->path = (int8_t)h->path;
    event->mode = flight->reads ? MODE_SHARED : MODE_EXCLUSIVE;
    event->a = h->token;
    event->b = !refused;
    event->extra = h->handover;
}

static void arrive(void *subject, void *what) {
    struct deployment *d = subject;
    const struct flight *flight = what;
    const struct holding *h = flight->h;
    struct resource *fenced = &d->resources[h->path], *naive = &d->naive[h->path];
    bool refused = is_older(h->token, h->handover, fenced);
    d->tally.stale_refused += refused;
    if (flight->reads) {
        d->tally.reads++;
    } else {
        if (!refused)
            *fenced = (struct resource){h->token, h->handover};
        /* What the naive one has now is what an older owner wrote over a newer one's. */
        d->tally.stale_harmful += is_older(h->token, h->handover, naive);
        *naive = (struct resource){h->token, h->handover};
        d->tally.writes++;
    }
    note_write(d, flight, refused);
}

void resource_write(struct holding *holding, int64_t delay) {
    struct deployment *d = holding->client->player->d;
    struct flight *flight = sim_alloc(&d->agenda, sizeof *flight);
    *flight = (struct flight){holding, holding->shared};
    sim_at(&d->agenda, d->agenda.now + delay, arrive, d, flight);
}
