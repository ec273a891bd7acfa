#include "right.h"

#include "hold.h"

static struct pdk__right *of(struct pdk__owner *owner) { return (struct pdk__right *)owner; }

/* The first hold's end is the end of all of them, and of the right. */
static void lose(struct pdk__right *right, pdk_reason reason) {
    pdk__hold_lose(((GList *)right->holds.head)->data, reason);
}

/* The reader's node is in line, in the writer's place: stand on it, and let the writer's go. */
static void take_over(struct pdk__right *right) {
    struct pdk__line *line = right->line;
    struct pdk__place *old = right->places[0];
    right->places[0] = g_steal_pointer(&right->exchange);
    for (GList *link = right->holds.head; link; link = link->next)
        pdk__hold_stands_on(link->data, right->places[0], "shared");
    pdk__place_drop(old);
    pdk__line_detach(line, right);
}

static void exchange_moved(struct pdk__right *right) {
    struct pdk__place *place = right->exchange;
    if (place->c.phase == PDK__HELD) {
        take_over(right);
    } else if (place->c.leaving) {
        bool disowned = place->c.failure == PDK_OK;
        if (!disowned)
            pdk__log(right->line->s, PDK_LOG_WARN, "%s: a reader's node is refused (%s): others wait until the release",
                     right->line->dir, pdk_status_text(place->c.failure));
        pdk__place_drop(g_steal_pointer(&right->exchange));
        if (disowned)
            lose(right, PDK_REASON_NODE_GONE); /* the writer's node was not there any more */
    }
}

static void moved(struct pdk__owner *owner, struct pdk__place *place) {
    struct pdk__right *right = of(owner);
    if (place == right->exchange)
        exchange_moved(right);
    else if (place->c.phase == PDK__GONE)
        lose(right, PDK_REASON_NODE_GONE);
}

static bool in_hurry(const struct pdk__owner *owner) {
    (void)owner;
    return false;
}

struct pdk__right *pdk__right_new(struct pdk__line *line, struct pdk__place *const *places, guint count,
                                  uint32_t handover) {
    struct pdk__right *right = g_new0(struct pdk__right, 1);
    right->owner = (struct pdk__owner){moved, in_hurry};
    right->line = line;
    right->places = g_memdup2(places, count * sizeof(struct pdk__place *));
    right->count = count;
    right->handover = handover;
    right->shared = line->kind.shared;
    for (guint i = 0; i < count; i++) {
        struct pdk__place *place = right->places[i];
        place->owner = &right->owner;
        if (place->c.token < right->places[0]->c.token) { /* the oldest is the one whose token it is */
            right->places[i] = right->places[0];
            right->places[0] = place;
        }
    }
    right->token = right->places[0]->c.token;
    right->link.data = right;
    g_queue_push_tail_link(&line->main->rights, &right->link);
    return right;
}

static void end(struct pdk__right *right, bool kept, pdk_reason reason) {
    struct pdk__line *line = right->line;
    g_queue_unlink(&line->main->rights, &right->link);
    pdk__place_drop(right->exchange);
    if (line->right == right) {
        line->right = NULL;
        /* What was downgraded goes to whoever is behind, not to the next writer here. */
        pdk__line_ended(line, right->places[0], kept && right->shared == line->kind.shared);
    } else {
        for (guint i = 0; i < right->count; i++)
            pdk__place_drop(right->places[i]);
    }
    g_free(right->places);
    g_free(right);
    if (line->ended)
        line->ended(line, reason);
}

void pdk__right_hold_ended(struct pdk__right *right, struct pdk_hold *hold, bool kept) {
    g_queue_unlink(&right->holds, &hold->in_right);
    if (right->losing)
        return; /* whoever loses them all goes on with the next */
    right->losing = !kept;
    while (right->losing && !g_queue_is_empty(&right->holds))
        lose(right, hold->reason);
    if (g_queue_is_empty(&right->holds))
        end(right, kept, hold->reason);
}

pdk_status pdk__right_downgrade(struct pdk__right *right, const struct pdk__place_kind *kind) {
    pdk_status status = pdk__place_exchange(right->places[0], &right->owner, kind, &right->exchange);
    right->shared = status == PDK_OK;
    return status;
}
