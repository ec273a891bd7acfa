#include "line.h"

#include "claim.h"
#include "hold.h"

static struct pdk__line *of(struct pdk__owner *owner) { return (struct pdk__line *)owner; }

/* All its claims are tries. */
static bool in_hurry(const struct pdk__owner *owner) {
    const struct pdk__line *line = (const struct pdk__line *)owner;
    for (const GList *link = line->claims.head; link; link = link->next)
        if (!((const struct pdk_claim *)link->data)->is_try)
            return false;
    return true;
}

static void moved(struct pdk__owner *owner, struct pdk__place *place);

static struct pdk__line *make(pdk_session *s, char *dir, const struct pdk__line_kind *kind, struct pdk__turns turns) {
    struct pdk__line *line = g_new0(struct pdk__line, 1);
    line->owner = (struct pdk__owner){moved, in_hurry};
    atomic_init(&line->refs, 1);
    line->s = pdk_session_ref(s);
    line->dir = dir;
    line->kind = *kind;
    line->turns = turns;
    line->main = line;
    line->link.data = line->side.data = line;
    return line;
}

struct pdk__line *pdk__line_new(pdk_session *s, const char *path, const struct pdk__line_kind *kind,
                                struct pdk__turns turns) {
    struct pdk__line *line = make(s, g_strconcat(s->hosts->chroot, path, NULL), kind, turns);
    pdk__lock(s);
    g_queue_push_tail_link(&s->lines, &line->link);
    pdk__unlock(s);
    return line;
}

struct pdk__line *pdk__line_side(struct pdk__line *main, const struct pdk__line_kind *kind) {
    struct pdk__turns turns;
    pdk__turns_init(&turns, 0, 0);
    struct pdk__line *line = make(main->s, g_strdup(main->dir), kind, turns);
    line->main = pdk__line_ref(main);
    pdk__lock(main->s);
    g_queue_push_tail_link(&main->s->lines, &line->link);
    g_queue_push_tail_link(&main->sides, &line->side);
    pdk__unlock(main->s);
    return line;
}

struct pdk__line *pdk__line_ref(struct pdk__line *line) {
    atomic_fetch_add(&line->refs, 1);
    return line;
}

static void drop_place(struct pdk__line *line) { pdk__place_drop(g_steal_pointer(&line->place)); }

void pdk__line_unref(struct pdk__line *line) {
    if (atomic_fetch_sub(&line->refs, 1) != 1)
        return;
    pdk_session *s = line->s;
    struct pdk__line *main = line->main != line ? line->main : NULL;
    pdk__lock(s);
    g_queue_unlink(&s->lines, &line->link);
    if (main)
        g_queue_unlink(&main->sides, &line->side);
    drop_place(line);
    pdk__unlock(s);
    g_free(line->dir);
    g_free(line->data);
    if (line->user_free)
        line->user_free(line->user);
    g_free(line);
    if (main)
        pdk__line_unref(main);
    pdk_session_unref(s);
}

/* Its place is first: the claim ahead gets the right, or its turn at the gate. */
static void grant_next(struct pdk__line *line) {
    struct pdk_claim *claim = g_queue_peek_head(&line->claims);
    if (!claim) {
        drop_place(line);
    } else if (line->gate) {
        line->passing = claim;
        line->gate->enter(line, claim);
    } else {
        struct pdk__place *place = g_steal_pointer(&line->place);
        line->right = pdk__right_new(line, &place, 1, line->turns.handovers);
        pdk__claim_decide(claim, PDK_OK, NULL, pdk__hold_new(line->right, claim));
    }
}

/* Somebody else is ahead: a try does not wait. */
static void answer_tries(struct pdk__line *line) {
    for (GList *link = line->claims.head, *next; link; link = next) {
        struct pdk_claim *claim = link->data;
        next = link->next;
        if (claim->is_try)
            pdk__claim_decide(claim, PDK_BUSY, "somebody is ahead", NULL);
    }
    if (g_queue_is_empty(&line->claims))
        drop_place(line);
}

void pdk__line_fail(struct pdk__line *line, pdk_status status, const char *why) {
    for (struct pdk_claim *claim; (claim = g_queue_peek_head(&line->claims));)
        pdk__claim_decide(claim, status, why, NULL);
}

static void fail_place(struct pdk__line *line, struct pdk__place *place) {
    char *why = pdk__place_failure(place);
    pdk__line_fail(line, place->c.failure, why);
    g_free(why);
    drop_place(line);
}

/* Whose it was stays in line, if nothing else is done about it, and has its turn again. */
static struct pdk_claim *end_turn(struct pdk__line *line) {
    struct pdk_claim *claim = g_steal_pointer(&line->passing);
    if (claim)
        line->gate->leave(line);
    return claim;
}

static void moved(struct pdk__owner *owner, struct pdk__place *place) {
    struct pdk__line *line = of(owner);
    if (place->c.failure != PDK_OK) {
        fail_place(line, place);
    } else if (place->c.phase == PDK__GONE) {
        end_turn(line);
        drop_place(line);
        pdk__line_advance(line);
    } else if (place->c.phase == PDK__HELD && !line->passing) {
        pdk__turns_granted(&line->turns, pdk__now(line->s));
        grant_next(line);
    } else if (pdk__place_is_outpaced(place)) {
        answer_tries(line);
    }
}

void pdk__line_advance(struct pdk__line *line) {
    if (line->right || line->passing || line->s->ended != PDK_OK)
        return;
    if (line->place && line->place->c.phase == PDK__HELD) /* the one whose turn it was is gone */
        pdk__line_ended(line, g_steal_pointer(&line->place), true);
    else if (g_queue_is_empty(&line->claims))
        drop_place(line);
    else if (!line->place &&
             pdk__place_new(line->s, &line->owner, line->dir, &line->kind.place, line->data, &line->place) != PDK_OK)
        pdk__line_fail(line, PDK_LIMIT, PDK__NODES_LIMIT);
}

void pdk__line_check(struct pdk__line *line) {
    if (!line->right)
        return;
    struct pdk_hold *hold = line->right->holds.head->data;
    if (!pdk_hold_valid(hold))
        pdk__hold_lose(hold, PDK_REASON_LEASE);
}

static void insert(struct pdk__line *line, struct pdk_claim *claim) {
    GList *next = line->claims.head;
    if (claim->number == 0) {
        claim->number = ++line->claims_taken;
        next = NULL;
    }
    while (next && ((const struct pdk_claim *)next->data)->number < claim->number)
        next = next->next;
    g_queue_insert_before_link(&line->claims, next, &claim->link);
}

void pdk__line_push(struct pdk__line *line, struct pdk_claim *claim) {
    pdk__line_check(line);
    insert(line, claim);
    if (line->shut) {
        pdk__claim_decide(claim, PDK_CANCELED, "nobody may queue here any more", NULL);
        return;
    }
    bool behind =
        claim->link.prev || line->right || line->passing || (line->place && pdk__place_is_outpaced(line->place));
    if (claim->is_try && behind)
        pdk__claim_decide(claim, PDK_BUSY, line->right ? "held by this process" : "somebody is ahead", NULL);
    else
        pdk__line_advance(line);
}

void pdk__line_ended(struct pdk__line *line, struct pdk__place *place, bool kept) {
    pdk_session *s = line->s;
    int64_t now = pdk__now(s);
    bool again = kept && s->ended == PDK_OK && place->c.phase == PDK__HELD && pdk__lease_fresh(&s->lease, now);
    switch (pdk__turns_next(&line->turns, now, !g_queue_is_empty(&line->claims), again)) {
    case PDK__TURN_HAND_OVER:
        place->owner = &line->owner;
        line->place = place;
        grant_next(line);
        return;
    case PDK__TURN_REJOIN: /* queue anew before leaving */
        pdk__line_advance(line);
        pdk__place_drop(place);
        return;
    case PDK__TURN_LEAVE:
        pdk__place_drop(place);
        return;
    }
}

void pdk__line_detach(struct pdk__line *line, struct pdk__right *right) {
    if (line->right != right)
        return;
    line->right = NULL;
    pdk__line_advance(line);
}

void pdk__line_pass(struct pdk__line *line, struct pdk__right *right) {
    struct pdk_claim *claim = end_turn(line);
    pdk__claim_decide(claim, PDK_OK, NULL, pdk__hold_new(right, claim));
    pdk__line_advance(line);
}

void pdk__line_refuse(struct pdk__line *line, pdk_status status, const char *why) {
    pdk__claim_decide(end_turn(line), status, why, NULL);
    pdk__line_advance(line);
}

void pdk__line_forget(struct pdk__line *line, const struct pdk_claim *claim) {
    if (line->passing == claim)
        end_turn(line);
}

static void shut(struct pdk__line *line, const char *why) {
    line->shut = true;
    pdk__line_fail(line, PDK_CANCELED, why);
    pdk__line_advance(line);
}

void pdk__line_cancel(struct pdk__line *line, const char *why) {
    shut(line, why);
    for (GList *link = line->sides.head; link; link = link->next)
        shut(link->data, why);
}

int32_t pdk__line_ahead(const struct pdk__line *line, const struct pdk_claim *claim) {
    if (!line->right && !(line->place && line->place->c.listed))
        return -1;
    int32_t before = g_queue_link_index((GQueue *)&line->claims, (GList *)&claim->link);
    return before + (line->right ? 1 : line->place->c.ahead);
}

void pdk__lines_end(pdk_session *s, pdk_status status, const char *why) {
    for (GList *link = s->lines.head; link; link = link->next) {
        pdk__line_fail(link->data, status, why);
        drop_place(link->data);
    }
}
