/* What was granted, from then until it is released or lost, as src/right.c and hold.c have it: one hold each.
 *
 *     on the line's place ──released──► back to the line, which may hand the place on
 *        │  └──its node or the lease lost──► lost
 *        └──downgraded: another contender, on its way to a reader's node with the same number; as soon as that is admitted the
 *           right stands on it, apart from the line, and the writer's node goes
 */
#include "model.h"

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

int32_t model_right_of_line(const struct model_client *k) {
    int32_t place = model_place_with(k, MODEL_LINE);
    return place >= 0 && k->places[place].right.hold != MODEL_NO_HOLD ? place : -1;
}

static void drop_exchange(struct model *m, int32_t client) {
    int32_t place = model_place_with(client_of(m, client), MODEL_EXCHANGE);
    if (place >= 0)
        model_place_leave(m, client, place);
}

void model_right_end(struct model *m, int32_t client, int32_t place, bool kept) {
    struct model_place *p = &client_of(m, client)->places[place];
    int32_t before = p->right.handover;
    bool downgraded = p->right.downgraded; /* it goes to whoever is behind, not to the next thread here */
    m->seen.given_back += kept && p->right.downgraded && p->owner == MODEL_LINE;
    p->right = (struct model_right){.hold = MODEL_NO_HOLD};
    if (p->owner == MODEL_LINE) {
        drop_exchange(m, client);
        model_line_ended(m, client, place, kept && !downgraded, before);
    } else {
        model_place_leave(m, client, place);
    }
}

void model_right_lose(struct model *m, int32_t client, int32_t place) {
    const struct model_right *right = &client_of(m, client)->places[place].right;
    m->seen.lost_holds++;
    if (m->now->budgets[FAULTS] == m->config.budgets[FAULTS])
        model_break(m, "nothing is lost without a fault", "client %c", 'A' + client);
    model_say(m, client, right->holder,
              right->hold == MODEL_TAKEN ? "is told that its hold is lost" : "has lost it before it woke up");
    if (right->hold == MODEL_GRANTED)
        model_line_sleep(m, client, right->holder);
    model_right_end(m, client, place, false);
}

void model_right_release(struct model *m, int32_t client, int32_t place) {
    if (client_of(m, client)->places[place].right.valid)
        model_right_end(m, client, place, true);
    else
        model_right_lose(m, client, place);
}

bool model_rights_lapsed(const struct model_client *k) {
    for (int32_t i = 0; i < k->places_count; i++)
        if (k->places[i].right.hold != MODEL_NO_HOLD && !k->places[i].right.valid)
            return true;
    return false;
}

/* One loss makes no other right: what is granted meanwhile is not among those. */
void model_rights_lose(struct model *m, int32_t client, bool all) {
    struct model_client *k = client_of(m, client);
    for (int32_t i = 0, count = k->places_count; i < count; i++)
        if (k->places[i].right.hold != MODEL_NO_HOLD && (all || !k->places[i].right.valid))
            model_right_lose(m, client, i);
}

/* ---- the downgrade */

void model_right_downgrade(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    int32_t place = model_right_of_line(k);
    m->seen.downgrades++;
    k->places[place].right.downgraded = true;
    model_place_exchange(m, client, place);
}

/* The reader's node is in line, in the writer's place: stand on it, and let the writer's go. */
static void take_over(struct model *m, int32_t client, int32_t place) {
    struct model_client *k = client_of(m, client);
    int32_t old = model_right_of_line(k);
    m->seen.taken_over++;
    k->places[place].right = k->places[old].right;
    k->places[place].owner = MODEL_RIGHT;
    k->places[old].right = (struct model_right){.hold = MODEL_NO_HOLD};
    model_check_taken_over(m, client, place);
    model_place_leave(m, client, old);
    model_line_advance(m, client);
}

static void exchange_moved(struct model *m, int32_t client, int32_t place) {
    const struct pdk__contender *c = &client_of(m, client)->places[place].c;
    if (c->phase == PDK__HELD) {
        take_over(m, client, place);
    } else if (c->leaving) {
        bool disowned = c->failure == PDK_OK;
        model_place_leave(m, client, place);
        m->seen.disowned += disowned;
        if (disowned) /* the writer's node was not there any more */
            model_right_lose(m, client, model_right_of_line(client_of(m, client)));
    }
}

void model_moved(struct model *m, int32_t client, int32_t place) {
    const struct model_place *p = &client_of(m, client)->places[place];
    if (m->broken || p->owner == MODEL_REAPER)
        return;
    if (p->owner == MODEL_EXCHANGE)
        exchange_moved(m, client, place);
    else if (p->right.hold == MODEL_NO_HOLD)
        model_line_moved(m, client, place);
    else if (p->c.phase == PDK__GONE)
        model_right_lose(m, client, place);
}
