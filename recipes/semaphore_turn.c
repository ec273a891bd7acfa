/* A claim's turn at the leases of a semaphore.
 *
 *     its turn ─► ASK: list and watch ──enough are free──► TAKE: one node each ──all admitted──► right; the next one's turn
 *                  ▲      │ too few: wait for the watch        │
 *                  └──────┴────────── one is not admitted ─────┘
 */
#include "semaphore_turn.h"

#include "claim.h"
#include "hold.h"
#include "session/lookout.h"
#include "session/ops.h"
#include "session/reap.h"

#include <string.h>

/* A claim's turn at the gate. */
struct turn {
    struct pdk__lookout lookout;
    struct pdk__owner owner; /* of the leases */
    struct pdk__line *queue;
    struct pdk__permits *all; /* the queue's, which may be gone when a late answer finds the turn stopped */
    char *key;                /* of the watch on the leases */
    const struct pdk_claim *claim;
    struct pdk__place **leases; /* claim->count references, while TAKE; else NULLs */
    bool taking;
    bool watching;          /* the list under way leaves a watch */
    enum pdk__result known; /* of the number of permits */
    char *number;
};

static struct pdk__permits *permits_of(const struct pdk__line *queue) { return queue->user; }

static struct turn *turn_of(struct pdk__owner *owner) {
    return (struct turn *)((char *)owner - offsetof(struct turn, owner));
}

/* ---- TAKE */

static void give_up(struct turn *turn) {
    turn->taking = false;
    for (int32_t i = 0; i < turn->claim->count; i++)
        pdk__place_drop(g_steal_pointer(&turn->leases[i]));
}

/* The turn is over, and may be freed. */
static void refuse(const struct turn *turn, pdk_status status, const char *why) {
    pdk__line_refuse(turn->queue, status, why);
}

static void moved(struct pdk__owner *owner, struct pdk__place *place) {
    struct turn *turn = turn_of(owner);
    int32_t admitted = 0;
    if (place->c.failure != PDK_OK) {
        char *why = pdk__place_failure(place);
        refuse(turn, place->c.failure, why);
        g_free(why);
        return;
    }
    /* Where the directory has gone, the number comes first in the new one. */
    if (place->c.leaving || place->c.phase == PDK__GONE || place->c.dirless) {
        give_up(turn);
        pdk__lookout_look(&turn->lookout);
        return;
    }
    while (admitted < turn->claim->count && turn->leases[admitted] && turn->leases[admitted]->c.phase == PDK__HELD)
        admitted++;
    if (admitted < turn->claim->count)
        return;
    struct pdk__right *right = pdk__right_new(turn->queue, turn->leases, (guint)admitted, 0);
    while (admitted > 0)
        turn->leases[--admitted] = NULL; /* the right's now */
    pdk__line_pass(turn->queue, right);
}

static bool in_hurry(const struct pdk__owner *owner) {
    (void)owner;
    return true; /* who is not admitted leaves, and asks again */
}

static void take(struct turn *turn) {
    struct pdk__place_kind kind = {PDK__CURATOR, PDK__LABEL_LEASE, {pdk__blocks_always, turn->all->permits - 1}};
    pdk_session *s = turn->queue->s;
    pdk_status status = PDK_OK;
    turn->taking = true;
    for (int32_t i = 0; i < turn->claim->count && turn->taking && status == PDK_OK; i++)
        status = pdk__place_new(s, &turn->owner, turn->all->leases, &kind, NULL, &turn->leases[i]);
    if (status != PDK_OK)
        refuse(turn, status, PDK__NODES_LIMIT);
}

/* ---- ASK */

static void answered(struct turn *turn, bool fine) {
    pdk__lookout_done(&turn->lookout, fine);
    pdk__lookout_unref(&turn->lookout);
}

static bool send(struct turn *turn, struct pdk__request request, pdk__done_fn done) {
    request.path = turn->all->leases;
    if (!pdk__send(turn->lookout.s, request, done, turn))
        return false;
    pdk__lookout_ref(&turn->lookout);
    return true;
}

static void on_made(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct turn *turn = user;
    (void)s;
    bool refused = reply && (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED);
    if (refused && !turn->lookout.stopped)
        refuse(turn, reply->result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED,
               "the directory of the leases cannot be created");
    pdk__lookout_again(&turn->lookout); /* there is something to list now, or may be */
    answered(turn, reply && (reply->result == PDK__OK || reply->result == PDK__NODE_EXISTS));
}

static void on_noted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct turn *turn = user;
    (void)s;
    (void)reply; /* whoever is next finds it, or notes it again */
    pdk__lookout_unref(&turn->lookout);
}

static void on_number(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct turn *turn = user;
    (void)s;
    turn->known = reply ? reply->result : PDK__UNKNOWN;
    g_free(turn->number);
    char *text = g_strndup(reply && reply->data ? reply->data : "", reply ? MIN(reply->data_size, 32) : 0);
    turn->number = g_strescape(text, NULL); /* anybody may have written it */
    g_free(text);
    pdk__lookout_unref(&turn->lookout);
}

/* The number of permits stands in the directory's data. Whoever made the directory may not have known of that. */
static bool agrees(struct turn *turn) {
    char *ours = g_strdup_printf("%d", turn->all->permits);
    bool same = strcmp(turn->number, ours) == 0;
    if (turn->number[0] == '\0') {
        send(turn, (struct pdk__request){.kind = PDK__OP_SET, .data = ours}, on_noted);
        same = true;
    }
    g_free(ours);
    if (same)
        return true;
    char *why = g_strdup_printf("%s says that there are \"%s\" permits, not %d", turn->all->leases, turn->number,
                                turn->all->permits);
    refuse(turn, PDK_MISMATCH, why);
    g_free(why);
    return false;
}

static void count(struct turn *turn, const struct pdk__reply *reply) {
    int32_t taken = 0;
    if (turn->taking || !agrees(turn))
        return;
    for (size_t i = 0; i < reply->children_count; i++) {
        struct pdk__name name;
        taken += pdk__name_parse(reply->children[i], &name) && name.kind == PDK__LEASE;
    }
    if (turn->all->permits - taken >= turn->claim->count)
        take(turn);
    else if (turn->claim->is_try)
        refuse(turn, PDK_BUSY, "too few permits are free");
    else if (!turn->watching)
        refuse(turn, PDK_LIMIT, PDK__WATCHES_LIMIT);
}

/* Nothing was asked that goes on by itself: tell the lookout what came of it. */
static void on_leases(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct turn *turn = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    if (reply && result != PDK__OK)
        pdk__lookout_unset(&turn->lookout, turn->key);
    bool fine = result == PDK__OK && turn->known == PDK__OK;
    if (turn->lookout.stopped) {
        fine = true;
    } else if (fine) {
        pdk__reap_strays(s, turn->all->leases, "", reply->children, reply->children_count);
        count(turn, reply);
    } else if (result == PDK__NOT_ALLOWED || turn->known == PDK__NOT_ALLOWED) {
        refuse(turn, PDK_NO_PERMISSION, "the leases may not be read");
    } else if (result == PDK__NO_NODE) {
        char *number = g_strdup_printf("%d", turn->all->permits);
        bool sent =
            send(turn, (struct pdk__request){.kind = PDK__OP_MKDIR, .data = number, .container = true}, on_made);
        g_free(number);
        if (sent) { /* its answer is the answer */
            pdk__lookout_unref(&turn->lookout);
            return;
        }
    }
    answered(turn, fine);
}

static bool ask(struct pdk__lookout *lookout) {
    struct turn *turn = (struct turn *)lookout;
    if (turn->taking) { /* our own nodes among the leases are news to nobody, and tell of themselves when they are in */
        pdk__lookout_done(lookout, true);
        return true;
    }
    /* A try is answered now, or takes. */
    turn->watching = !turn->claim->is_try && pdk__lookout_watch(lookout, turn->key);
    bool sent = send(turn, (struct pdk__request){.kind = PDK__OP_GET}, on_number) &&
                send(turn, (struct pdk__request){.kind = PDK__OP_LIST, .watch = turn->watching}, on_leases);
    if (!sent)
        pdk__lookout_unset(lookout, turn->key);
    return sent;
}

static void turn_free(struct pdk__lookout *lookout) {
    struct turn *turn = (struct turn *)lookout;
    g_free(turn->leases);
    g_free(turn->key);
    g_free(turn->number);
    g_free(turn);
}

/* ---- the gate of the queue */

static void enter(struct pdk__line *queue, struct pdk_claim *claim) {
    static const struct pdk__lookout_calls calls = {ask, turn_free};
    struct turn *turn = g_new0(struct turn, 1);
    pdk__lookout_init(&turn->lookout, queue->s, &calls);
    turn->owner = (struct pdk__owner){moved, in_hurry};
    turn->queue = queue;
    turn->all = permits_of(queue);
    turn->key = pdk__watches_children_key(turn->all->leases);
    turn->claim = claim;
    turn->leases = g_new0(struct pdk__place *, (gsize)claim->count);
    turn->all->turn = turn;
    pdk__lookout_look(&turn->lookout);
}

static void leave(struct pdk__line *queue) {
    struct turn *turn = g_steal_pointer(&permits_of(queue)->turn);
    give_up(turn);
    pdk__lookout_stop(&turn->lookout);
}

const struct pdk__gate pdk__permits_gate = {enter, leave};
