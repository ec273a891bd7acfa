#include "grant/registry.h"

#include "grant/hold.h"

static struct pdk__registry *of(struct pdk__listener *l) { return (struct pdk__registry *)l; }

void pdk__registry_check(struct pdk__registry *r) {
    pdk__assert_locked(r->s);
    for (GList *link = r->holds.head, *next; link; link = next) {
        next = link->next;
        if (pdk_hold_valid(link->data))
            continue;
        pdk__hold_lose(link->data, PDK_REASON_LEASE);
        if (next && ((const struct pdk_hold *)next->data)->ended) /* it shared the grant, and was lost with it */
            next = r->holds.head;
    }
}

static void lose_all(struct pdk__registry *r, pdk_reason reason) {
    pdk__registry_check(r); /* the reason for a hold that has lapsed is LEASE */
    while (r->holds.head)
        pdk__hold_lose(r->holds.head->data, reason);
}

static void on_lease_extended(struct pdk__listener *l, int64_t end) {
    struct pdk__registry *r = of(l);
    pdk__registry_check(r); /* a hold that has lapsed stays so; the alarm moves away next */
    for (GList *link = r->holds.head; link; link = link->next)
        pdk__hold_extend(link->data, end);
}

static void on_lease_shortened(struct pdk__listener *l, int64_t end) {
    struct pdk__registry *r = of(l);
    for (GList *link = r->holds.head; link; link = link->next)
        pdk__hold_shorten(link->data, end);
    pdk__registry_check(r);
}

static void on_lease_over(struct pdk__listener *l) { pdk__registry_check(of(l)); }

static void on_expired(struct pdk__listener *l) { lose_all(of(l), PDK_REASON_EXPIRED); }

static void on_ended(struct pdk__listener *l, pdk_status status, const char *why) {
    struct pdk__registry *r = of(l);
    for (GList *link = r->queues.head; link; link = link->next)
        pdk__queue_end(link->data, status, why);
    lose_all(r, PDK_REASON_CLOSED);
}

static void registry_free(struct pdk__listener *l) { g_free(of(l)); }

struct pdk__registry *pdk__registry_of(pdk_session *s) {
    static const struct pdk__listener_calls calls = {
        on_lease_extended, on_lease_shortened, on_lease_over, on_expired, on_ended, registry_free,
    };
    pdk__assert_locked(s);
    if (!s->listener) {
        struct pdk__registry *r = g_new0(struct pdk__registry, 1);
        r->listener.calls = &calls;
        r->s = s;
        s->listener = &r->listener;
    }
    return of(s->listener);
}
