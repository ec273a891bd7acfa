/* Where the threads of a client queue in front of its place, as src/line.c and claim.c have it. The decision whose turn is
 * next is the real core/turns.
 *
 *     queue:  t3 t4 t5        place, with a right on it or none (right.c)        sleepers: t1, whose grant lapsed
 *
 * Readers have a line each in truth. Here those of a client stand behind each other, which takes nothing away from the order
 * of their nodes, and they do not hand over.
 */
#include "model.h"

#include <assert.h>
#include <string.h>

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

void model_say(struct model *m, int32_t client, int32_t ticket, const char *what) {
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
    int32_t place = model_place_with(client_of(m, client), MODEL_LINE);
    if (place >= 0)
        model_place_leave(m, client, place);
}

static bool is_outpaced(const struct model_place *p) { return p->c.phase == PDK__IN && p->c.listed && p->outpaced; }

static void grant_next(struct model *m, int32_t client, int32_t place) {
    struct model_client *k = client_of(m, client);
    if (k->queued == 0) {
        drop_place(m, client);
        return;
    }
    int32_t holder = take(k->queue, &k->queued, 0);
    for (int32_t i = 0; i < k->queued; i++)
        if (k->queue[i] < holder)
            model_break(m, "threads are served in their order", "client %c", 'A' + client);
    k->places[place].right = (struct model_right){
        .hold = MODEL_GRANTED, .valid = k->lease, .holder = holder, .handover = (int32_t)k->turns.handovers};
    model_say(m, client, holder, "is granted what it wants; it has yet to wake up");
    model_check_grant(m, client, place);
}

static void answer_all(struct model *m, int32_t client, const char *what) {
    struct model_client *k = client_of(m, client);
    while (k->queued != 0)
        model_say(m, client, take(k->queue, &k->queued, 0), what);
    drop_place(m, client);
}

void model_line_moved(struct model *m, int32_t client, int32_t place) {
    struct model_client *k = client_of(m, client);
    const struct pdk__contender *c = &k->places[place].c;
    if (c->failure != PDK_OK) {
        answer_all(m, client, "is told that this can never be granted");
    } else if (c->phase == PDK__GONE) {
        drop_place(m, client);
        model_line_advance(m, client);
    } else if (c->phase == PDK__HELD) {
        pdk__turns_granted(&k->turns, 0);
        grant_next(m, client, place);
    } else if (is_outpaced(&k->places[place])) {
        if (model_in_hurry(m, client)) /* somebody else is ahead: a try does not wait */
            answer_all(m, client, "does not want to wait");
    }
}

void model_line_advance(struct model *m, int32_t client) {
    const struct model_client *k = client_of(m, client);
    if (model_right_of_line(k) >= 0 || m->broken)
        return;
    if (k->queued == 0)
        drop_place(m, client);
    else if (model_place_with(k, MODEL_LINE) < 0)
        model_place_new(m, client);
}

/* One that comes back goes where it was. */
void model_line_push(struct model *m, int32_t client, int32_t ticket) {
    struct model_client *k = client_of(m, client);
    int32_t held = model_right_of_line(k);
    if (held >= 0 && !k->places[held].right.valid)
        model_right_lose(m, client, held);
    int32_t place = model_place_with(k, MODEL_LINE);
    bool behind = k->queued != 0 || model_right_of_line(k) >= 0 || (place >= 0 && is_outpaced(&k->places[place]));
    if (model_in_hurry(m, client) && behind) {
        model_say(m, client, ticket, "does not want to wait");
        return;
    }
    int32_t at = 0;
    while (at < k->queued && k->queue[at] < ticket)
        at++;
    insert(k->queue, &k->queued, at, ticket);
    model_line_advance(m, client);
}

void model_line_ended(struct model *m, int32_t client, int32_t place, bool kept, int32_t before) {
    struct model_client *k = client_of(m, client);
    bool again = kept && k->places[place].c.phase == PDK__HELD && k->lease;
    bool waiting = k->queued != 0;
    switch (pdk__turns_next(&k->turns, 0, waiting, again)) {
    case PDK__TURN_HAND_OVER:
        grant_next(m, client, place);
        model_check_handover(m, client, before);
        return;
    case PDK__TURN_REJOIN: /* queue anew before leaving */
        m->seen.rejoins++;
        k->places[place].owner = MODEL_REAPER;
        model_line_advance(m, client);
        model_place_leave(m, client, place);
        if (!waiting)
            model_break(m, "no place without a thread", "client %c queues anew for nobody", 'A' + client);
        return;
    case PDK__TURN_LEAVE:
        drop_place(m, client);
        return;
    }
}

void model_line_sleep(struct model *m, int32_t client, int32_t ticket) {
    struct model_client *k = client_of(m, client);
    insert(k->sleeper, &k->sleepers, k->sleepers, ticket);
}

void model_line_receive(struct model *m, int32_t client, int32_t which, bool in_time) {
    struct model_client *k = client_of(m, client);
    int32_t place = which == 0 ? model_right_of_line(k) : -1;
    bool valid = place >= 0 && k->places[place].right.valid;
    if (valid && in_time) {
        k->places[place].right.hold = MODEL_TAKEN;
        return;
    }
    int32_t ticket = place >= 0 ? k->places[place].right.holder : take(k->sleeper, &k->sleepers, which - 1);
    m->seen.late_receipts += in_time;
    model_say(m, client, ticket, in_time ? "finds that the grant has lapsed, and queues again" : "gives up");
    if (place >= 0)
        model_right_end(m, client, place, valid);
    if (in_time)
        model_line_push(m, client, ticket);
}

void model_line_cancel(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    take(k->queue, &k->queued, k->queued - 1);
    model_line_advance(m, client);
}
