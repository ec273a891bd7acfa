/* The resources that holds protect, outside of ZooKeeper. One resource of each path refuses any token smaller than the
 * largest writer's it has seen. A naive one beside it takes every write. A write is under way for a while after its
 * writer looked whether its hold is valid. Tokens are for that time. */
#include "deployment.h"

static bool is_older(int64_t token, uint32_t handover, const struct resource *r) {
    return token < r->token || (token == r->token && handover < r->handover);
}

/* A write on its way, and whether it only reads: its owner may become a reader meanwhile. */
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
        /* An older owner has overwritten a newer one's value in the naive resource. */
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
