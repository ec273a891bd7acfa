/* Where the threads of a client queue in front of its place, as src/line.c, claim.c and hold.c have it. The decision whose
 * turn is next is the real core/turns.
 *
 *     queue:  t3 t4 t5        hold: none ─ granted to t2 ─ t2 wakes and takes it        sleepers: t1, whose grant lapsed
 */
#include "model.h"

#include <assert.h>
#include <string.h>

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

static void say(struct model *m, int32_t client, int32_t ticket, const char *what) {
    if (m->transcript)
        model_print_thread(m, client, ticket, what);
}

/* Take the one at `at` out of a list of tickets. */
static int32_t take(int32_t *list, int32_t *count, int32_t at) {
    int32_t ticket = list[at];
    --*count;
    memmove(&list[at], &list[at + 1], (size_t)(*count - at) * sizeof list[0]);
    return ticket;
}

static void insert(int32_t *list, int32_t *count, int32_t at, int32_t ticket) {
    assert(*count < MODEL_CLAIMS);
    memmove(&list[at + 1], &list[at], (size_t)(*count - at) * sizeof list[0]);
    list[at] = ticket;
    ++*count;
}

/* Leave the place to the reaper. */
static void drop_place(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (!k->has_place)
        return;
    k->has_place = false;
    model_place_leave(m, client, k->places_count - 1);
}

static bool is_outpaced(const struct model_place *p) { return p->c.phase == PDK__IN && p->c.listed && p->outpaced; }

static void grant_next(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->queued == 0) {
        drop_place(m, client);
        return;
    }
    k->holder = take(k->queue, &k->queued, 0);
    for (int32_t i = 0; i < k->queued; i++)
        if (k->queue[i] < k->holder)
            model_break(m, "threads are served in their order", "client %c", 'A' + client);
    k->hold = MODEL_GRANTED;
    k->valid = k->lease;
    k->handover = (int32_t)k->turns.handovers;
    say(m, client, k->holder, "is granted the lock; it has yet to wake up");
    model_check_grant(m, client);
}

static void answer_all(struct model *m, int32_t client, const char *what) {
    struct model_client *k = client_of(m, client);
    while (k->queued != 0)
        say(m, client, take(k->queue, &k->queued, 0), what);
    drop_place(m, client);
}

void model_line_moved(struct model *m, int32_t client, int32_t place) {
    struct model_client *k = client_of(m, client);
    const struct pdk__contender *c = &k->places[place].c;
    if (!k->has_place || place != k->places_count - 1 || m->broken)
        return;
    if (c->failure != PDK_OK) {
        answer_all(m, client, "is told that this can never be granted");
    } else if (c->phase == PDK__GONE) {
        if (k->hold != MODEL_NO_HOLD) {
            model_line_lose(m, client);
            return;
        }
        drop_place(m, client);
        model_line_advance(m, client);
    } else if (c->phase == PDK__HELD && k->hold == MODEL_NO_HOLD) {
        pdk__turns_granted(&k->turns, 0);
        grant_next(m, client);
    } else if (is_outpaced(&k->places[place])) {
        if (model_in_hurry(m, client)) /* somebody else is ahead: a try does not wait */
            answer_all(m, client, "does not want to wait");
    }
}

void model_line_advance(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->hold != MODEL_NO_HOLD || m->broken)
        return;
    if (k->queued == 0)
        drop_place(m, client);
    else if (!k->has_place)
        model_place_new(m, client);
}

/* One that comes back goes where it was. */
void model_line_push(struct model *m, int32_t client, int32_t ticket) {
    struct model_client *k = client_of(m, client);
    if (k->hold != MODEL_NO_HOLD && !k->valid)
        model_line_lose(m, client);
    bool behind =
        k->queued != 0 || k->hold != MODEL_NO_HOLD || (k->has_place && is_outpaced(&k->places[k->places_count - 1]));
    if (model_in_hurry(m, client) && behind) {
        say(m, client, ticket, "does not want to wait");
        return;
    }
    int32_t at = 0;
    while (at < k->queued && k->queue[at] < ticket)
        at++;
    insert(k->queue, &k->queued, at, ticket);
    model_line_advance(m, client);
}

/* The hold ended. kept: it was given up while valid, so that the next thread may have it. */
static void ended(struct model *m, int32_t client, bool kept) {
    struct model_client *k = client_of(m, client);
    int32_t old = k->places_count - 1, before = k->handover;
    k->hold = MODEL_NO_HOLD;
    k->valid = false;
    assert(k->has_place);
    bool again = kept && k->places[old].c.phase == PDK__HELD && k->lease;
    bool waiting = k->queued != 0;
    switch (pdk__turns_next(&k->turns, 0, waiting, again)) {
    case PDK__TURN_HAND_OVER:
        grant_next(m, client);
        model_check_handover(m, client, before);
        return;
    case PDK__TURN_REJOIN: /* queue anew before leaving */
        m->seen.rejoins++;
        k->has_place = false;
        model_line_advance(m, client);
        model_place_leave(m, client, old);
        if (!waiting)
            model_break(m, "no place without a thread", "client %c queues anew for nobody", 'A' + client);
        return;
    case PDK__TURN_LEAVE:
        drop_place(m, client);
        return;
    }
}

void model_line_lose(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    m->seen.lost_holds++;
    say(m, client, k->holder,
        k->hold == MODEL_TAKEN ? "is told that its hold is lost" : "has lost it before it woke up");
    if (k->hold == MODEL_GRANTED)
        insert(k->sleeper, &k->sleepers, k->sleepers, k->holder);
    ended(m, client, false);
}

void model_line_release(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->valid)
        ended(m, client, true);
    else
        model_line_lose(m, client);
}

void model_line_receive(struct model *m, int32_t client, int32_t which, bool in_time) {
    struct model_client *k = client_of(m, client);
    if (which == 0 && k->valid && in_time) {
        k->hold = MODEL_TAKEN;
        return;
    }
    int32_t ticket = which == 0 ? k->holder : take(k->sleeper, &k->sleepers, which - 1);
    m->seen.late_receipts += in_time;
    say(m, client, ticket, in_time ? "finds that the grant has lapsed, and queues again" : "gives up");
    if (which == 0)
        ended(m, client, k->valid);
    if (in_time)
        model_line_push(m, client, ticket);
}

void model_line_cancel(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    take(k->queue, &k->queued, k->queued - 1);
    model_line_advance(m, client);
}
