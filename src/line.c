#include "line.h"

#include "claim.h"
#include "hold.h"
#include "zk/errors.h"

struct pdk__line *pdk__line_new(pdk_session *s, const char *path, enum pdk__profile profile, pdk__blocks_fn blocks,
                                const char *mode, struct pdk__turns turns) {
    struct pdk__line *line = g_new0(struct pdk__line, 1);
    atomic_init(&line->refs, 1);
    line->s = pdk_session_ref(s);
    line->dir = g_strconcat(s->hosts->chroot, path, NULL);
    line->profile = profile;
    line->blocks = blocks;
    line->mode = mode;
    line->turns = turns;
    g_queue_init(&line->claims);
    line->link.data = line;
    pdk__lock(s);
    g_queue_push_tail_link(&s->lines, &line->link);
    pdk__unlock(s);
    return line;
}

struct pdk__line *pdk__line_ref(struct pdk__line *line) {
    atomic_fetch_add(&line->refs, 1);
    return line;
}

/* Leave the place to the reaper. */
static void drop_place(struct pdk__line *line) {
    struct pdk__place *place = line->place;
    line->place = NULL;
    if (!place)
        return;
    pdk__place_leave(place);
    pdk__place_unref(place);
}

void pdk__line_unref(struct pdk__line *line) {
    if (atomic_fetch_sub(&line->refs, 1) != 1)
        return;
    pdk_session *s = line->s;
    pdk__lock(s);
    g_queue_unlink(&s->lines, &line->link);
    drop_place(line);
    pdk__unlock(s);
    g_free(line->dir);
    g_free(line);
    pdk_session_unref(s);
}

static void grant_next(struct pdk__line *line) {
    struct pdk_claim *claim = g_queue_peek_head(&line->claims);
    if (!claim) {
        drop_place(line);
        return;
    }
    line->hold = pdk__hold_new(line, line->place, line->turns.handovers, claim);
    pdk__claim_decide(claim, PDK_OK, NULL, line->hold);
}

static bool is_outpaced(const struct pdk__place *place) {
    return place->c.phase == PDK__IN && place->c.listed && place->outpaced;
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

bool pdk__line_in_hurry(const struct pdk__line *line) {
    for (const GList *link = line->claims.head; link; link = link->next)
        if (!((const struct pdk_claim *)link->data)->is_try)
            return false;
    return true;
}

void pdk__line_fail(struct pdk__line *line, pdk_status status, const char *why) {
    for (struct pdk_claim *claim; (claim = g_queue_peek_head(&line->claims));)
        pdk__claim_decide(claim, status, why, NULL);
}

static void fail_place(struct pdk__line *line, struct pdk__place *place) {
    char *why = place->failure_code ? g_strdup_printf("%s: %s", pdk_status_text(place->c.failure),
                                                      pdk__zk_code_name(place->failure_code))
                                    : g_strdup(pdk_status_text(place->c.failure));
    pdk__line_fail(line, place->c.failure, why);
    g_free(why);
    drop_place(line);
}

void pdk__line_moved(struct pdk__line *line, struct pdk__place *place) {
    if (place != line->place)
        return;
    if (place->c.failure != PDK_OK) {
        fail_place(line, place);
    } else if (place->c.phase == PDK__GONE) {
        if (line->hold) { /* and through it, here again */
            pdk__hold_lose(line->hold, PDK_REASON_NODE_GONE);
            return;
        }
        drop_place(line);
        pdk__line_advance(line);
    } else if (place->c.phase == PDK__HELD && !line->hold) {
        pdk__turns_granted(&line->turns, pdk__now(line->s));
        grant_next(line);
    } else if (is_outpaced(place)) {
        answer_tries(line);
    }
}

void pdk__line_advance(struct pdk__line *line) {
    if (line->hold || line->s->ended != PDK_OK)
        return;
    if (g_queue_is_empty(&line->claims))
        drop_place(line);
    else if (!line->place && pdk__place_new(line) != PDK_OK)
        pdk__line_fail(line, PDK_LIMIT,
                       "the nodes of this session have paths of 512 KiB together; use shorter paths, or more sessions");
}

void pdk__line_check(struct pdk__line *line) {
    if (line->hold && !pdk_hold_valid(line->hold))
        pdk__hold_lose(line->hold, PDK_REASON_LEASE);
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
    bool behind = claim->link.prev || line->hold || (line->place && is_outpaced(line->place));
    if (claim->is_try && behind)
        pdk__claim_decide(claim, PDK_BUSY, line->hold ? "held by this process" : "somebody is ahead", NULL);
    else
        pdk__line_advance(line);
}

void pdk__line_ended(struct pdk__line *line, struct pdk_hold *hold, bool kept) {
    pdk_session *s = line->s;
    if (line->hold != hold)
        return;
    line->hold = NULL;
    int64_t now = pdk__now(s);
    bool again = kept && s->ended == PDK_OK && line->place->c.phase == PDK__HELD && pdk__lease_fresh(&s->lease, now);
    struct pdk__place *old = line->place;
    switch (pdk__turns_next(&line->turns, now, !g_queue_is_empty(&line->claims), again)) {
    case PDK__TURN_HAND_OVER:
        grant_next(line);
        return;
    case PDK__TURN_REJOIN: /* queue anew before leaving */
        line->place = NULL;
        pdk__line_advance(line);
        pdk__place_leave(old);
        pdk__place_unref(old);
        return;
    case PDK__TURN_LEAVE:
        drop_place(line);
        return;
    }
}

void pdk__lines_end(pdk_session *s, pdk_status status, const char *why) {
    for (GList *link = s->lines.head; link; link = link->next) {
        struct pdk__line *line = link->data;
        pdk__line_fail(line, status, why);
        if (!line->hold)
            drop_place(line);
    }
}
