/* What happens, noted: what the ensemble commits and fires, and what every driver believes.
 *
 * A hold's word is read after each event, also of holds that nobody has received yet. Readings change nothing: the word of
 * a hold that is over stays as it is until the driver looks.
 */
#include "deployment.h"

#include "claim.h"
#include "hold.h"
#include "session/places.h"

#include <stdlib.h>
#include <string.h>

/* ---- names: read here by other means than the core's, which is what is being looked at */

/* "…-lock-" or "…__lock__", and a number. */
static const char *number_of(const char *name) {
    const char *curator = strstr(name, "-lock-"), *kazoo = strstr(name, "__lock__");
    if (name[0] == '_' && curator)
        return curator + 6;
    return kazoo && kazoo - name == 32 ? kazoo + 8 : NULL;
}

static bool is_contender(const char *name) {
    const char *number = number_of(name);
    return number && strlen(number) >= 10 &&
           strspn(number + (number[0] == '-'), "0123456789") == strlen(number + (number[0] == '-'));
}

static int32_t sequence_of(const char *name) { return (int32_t)strtol(number_of(name), NULL, 10); }

static int64_t place_of(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *end = number_of(name); name < end; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (int64_t)(hash | 1);
}

/* The directory a path lies in, and the rest of it; -1: in none. */
static int32_t path_of(const char *path, const char **name) {
    for (int32_t i = 0; i < PLAN_PATHS; i++) {
        size_t length = strlen(plan_path(i));
        if (strncmp(path, plan_path(i), length) == 0 && (path[length] == '/' || path[length] == '\0')) {
            *name = path + length + (path[length] == '/');
            return i;
        }
    }
    return -1;
}

/* ---- nodes */

static struct checker_node *live_node(struct deployment *d, int32_t path, const char *name) {
    struct checker *c = &d->checker;
    int64_t place = place_of(name);
    int32_t sequence = sequence_of(name);
    for (int32_t i = 0; i < c->live_count; i++) {
        struct checker_node *node = &c->nodes[c->live[i]];
        if (node->path == path && node->sequence == sequence && node->place == place)
            return node;
    }
    return NULL;
}

static bool expired_by_hand(const struct deployment *d, int64_t session) {
    for (int32_t i = 0; i < d->expired_count; i++)
        if (d->expired[i] == session)
            return true;
    return false;
}

/* The checker knows which nodes live: it must have seen all that was noted. */
static void look_on(struct deployment *d) {
    for (; d->looked < d->history.count; d->looked++)
        checker_look(&d->checker, &d->history.events[d->looked]);
}

static void note_deleted(struct deployment *d, const struct checker_node *node, int64_t by, bool expired) {
    struct history_event *event = note(d, HISTORY_DELETED, node->sequence, NULL);
    if (!event)
        return;
    event->path = node->path;
    event->a = node->czxid;
    event->b = by;
    event->extra = expired;
}

static void on_created(struct deployment *d, const struct sim_txn *txn) {
    const char *name;
    int32_t path = path_of(txn->path, &name);
    if (path < 0 || !is_contender(name) || txn->session == 0)
        return;
    struct history_event *event = note(d, HISTORY_CREATED, sequence_of(name), NULL);
    if (!event)
        return;
    event->path = (int8_t)path;
    event->a = txn->zxid;
    event->b = place_of(name);
    event->extra = txn->session;
}

static void on_deleted(struct deployment *d, const struct sim_txn *txn) {
    const char *name;
    int32_t path = path_of(txn->path, &name);
    if (path >= 0 && is_contender(name)) {
        const struct checker_node *node = live_node(d, path, name);
        if (node)
            note_deleted(d, node, txn->session, false);
    } else if (path >= 0 && name[0] == '\0' && (txn->session == 0 || d->plan->first > 1000000)) {
        struct history_event *event = note(d, HISTORY_RMDIR, 0, NULL);
        if (event)
            event->path = (int8_t)path;
    } else if (txn->session != 0) {
        struct history_event *event = note(d, HISTORY_MEDDLED, 0, NULL);
        if (event)
            event->a = txn->session;
    }
}

static void on_closed(struct deployment *d, const struct sim_txn *txn) {
    struct checker *c = &d->checker;
    int64_t by = expired_by_hand(d, txn->session) ? 0 : txn->session;
    for (int32_t i = c->live_count - 1; i >= 0; i--)
        if (c->nodes[c->live[i]].session == txn->session)
            note_deleted(d, &c->nodes[c->live[i]], by, txn->expired);
}

static void on_committed(void *user, const struct sim_txn *txn) {
    struct deployment *d = user;
    look_on(d);
    switch (txn->kind) {
    case SIM_TXN_CREATE:
        on_created(d, txn);
        break;
    case SIM_TXN_DELETE:
        on_deleted(d, txn);
        break;
    case SIM_TXN_CLOSE:
        on_closed(d, txn);
        break;
    case SIM_TXN_SET:
        if (txn->session != 0) {
            struct history_event *event = note(d, HISTORY_MEDDLED, 0, NULL);
            if (event)
                event->a = txn->session;
        }
        break;
    default:
        break;
    }
    look_on(d);
    if (d->story)
        story_txn(d, txn);
}

static bool is_read(const struct life *life) { return life && life->s && !life->process->dead; }

/* ---- wake-ups: a place that waits for that node, and has one of its own */

static void note_woken(struct deployment *d, const pdk_session *s, const char *dir, const char *name, int64_t czxid) {
    for (const GList *link = s->places.head; link; link = link->next) {
        const struct pdk__place *place = link->data;
        if (place->c.phase != PDK__IN || place->c.leaving || strcmp(place->c.watched, name) != 0 ||
            strcmp(place->dir, dir) != 0)
            continue;
        const char *ignored;
        if (!live_node(d, path_of(place->dir, &ignored), place->c.own))
            continue;
        struct history_event *event = note(d, HISTORY_WOKEN, 0, NULL);
        d->tally.wake_ups++;
        if (event) {
            event->a = czxid;
            event->b = place_of(place->c.own);
        }
    }
}

/* The node's record, dead or alive: its number may have come back in a new directory, so the newest counts. */
static const struct checker_node *any_node(const struct deployment *d, int32_t path, const char *name) {
    const struct checker *c = &d->checker;
    for (int32_t i = c->nodes_count - 1; i >= 0; i--)
        if (c->nodes[i].path == path && c->nodes[i].sequence == sequence_of(name) &&
            c->nodes[i].place == place_of(name))
            return &c->nodes[i];
    return NULL;
}

static void on_fired(void *user, int64_t session, const char *path, bool deleted) {
    struct deployment *d = user;
    const char *name;
    int32_t in = path_of(path, &name);
    if (in < 0 || !deleted || !is_contender(name))
        return;
    look_on(d);
    const struct checker_node *node = any_node(d, in, name);
    for (int32_t i = 0; node && i < d->plan->processes; i++) {
        const struct life *life = d->players[i].life;
        if (is_read(life) && life->s->id == session)
            note_woken(d, life->s, plan_path(in), name, node->czxid);
    }
    if (d->story)
        story_fired(d, session, path, deleted);
}

void observe_begin(struct deployment *d) {
    d->believed_count = 0;
    d->expired_count = d->stalls_count = 0;
    d->looked = 0;
    sim_observe(d->ensemble, on_committed, on_fired, d);
}

/* ---- holds */

static int64_t true_until(const struct believed *b, const struct deployment *d) {
    if (b->until <= 0)
        return d->agenda.now;
    return sim_process_when(b->life->process, b->until);
}

static struct believed *find(struct deployment *d, const pdk_hold *hold) {
    for (int32_t i = 0; i < d->believed_count; i++) {
        struct believed *b = &d->believed[i];
        if (b->hold == hold && b->token == hold->token && b->handover == hold->handover)
            return b;
    }
    return NULL;
}

/* How many who wait in the same line had come before the claim that gets the hold. */
static int32_t count_passed(const struct life *life, const pdk_hold *hold) {
    const struct claiming *gets = life->claims;
    int32_t passed = 0;
    while (gets && (!gets->claim || gets->claim->hold != hold))
        gets = gets->next;
    for (const struct claiming *claim = gets; claim; claim = claim->next)
        passed += claim->claim && claim->claim->line == hold->line && claim->claim->state == PDK__CLAIM_QUEUED;
    return passed;
}

static struct believed *begin(struct deployment *d, struct life *life, const pdk_hold *hold) {
    const char *ignored;
    if (d->believed_count == DEPLOYMENT_BELIEVED || d->holds_count == HISTORY_HOLDS)
        return NULL;
    struct believed *b = &d->believed[d->believed_count++];
    *b = (struct believed){
        .hold = hold,
        .token = hold->token,
        .handover = hold->handover,
        .until = atomic_load(&((pdk_hold *)hold)->until),
        .id = d->holds_count++,
        .life = life,
    };
    struct history_event *event = note(d, HISTORY_GRANT, b->id, life);
    const struct checker_node *node = checker_node_of(&d->checker, hold->token);
    d->tally.grants++;
    d->tally.contended += node && node->behind && hold->handover == 0;
    d->tally.handovers += hold->handover > 0;
    if (!event)
        return b;
    event->path = (int8_t)path_of(hold->line->dir, &ignored);
    event->a = hold->token;
    event->b = true_until(b, d);
    event->extra = hold->handover;
    event->passed = count_passed(life, hold);
    return b;
}

static void reread(struct deployment *d, struct believed *b) {
    int64_t until = atomic_load(&((pdk_hold *)b->hold)->until);
    if (until == b->until)
        return;
    b->until = until;
    if (until <= 0) {
        if (!b->ended)
            note(d, HISTORY_ENDED, b->id, b->life);
        b->ended = true;
        return;
    }
    struct history_event *event = note(d, HISTORY_EXTEND, b->id, b->life);
    d->tally.extends++;
    if (event)
        event->a = true_until(b, d);
}

static void reread_lease(struct deployment *d, struct life *life) {
    int64_t end = life->s->lease.end;
    bool longer = end > life->leased;
    life->leased = end;
    struct history_event *event = longer ? note(d, HISTORY_LEASED, life->number, life) : NULL;
    if (!event)
        return;
    event->a = sim_process_when(life->process, end);
    event->b = sim_promised_until(d->ensemble, life->s->id);
}

/* true: there are some that were not known yet. */
static bool reread_session(struct deployment *d, struct life *life) {
    bool more = false;
    for (const GList *link = life->s->holds.head; link; link = link->next) {
        struct believed *b = find(d, link->data);
        if (!b) {
            more = true;
            continue;
        }
        b->seen = true;
        reread(d, b);
    }
    return more;
}

/* Its ZooKeeper session is another one now, or none. */
static void look_at_session(struct deployment *d, struct life *life) {
    if (life->generation == life->s->generation)
        return;
    life->generation = life->s->generation;
    note(d, HISTORY_RETIRED, life->number, life);
}

static void begin_new(struct deployment *d, struct life *life) {
    for (const GList *link = life->s->holds.head; link; link = link->next)
        if (!find(d, link->data))
            begin(d, life, link->data);
}

/* What is in no driver's list any more has ended. */
static void forget_ended(struct deployment *d) {
    int32_t kept = 0;
    for (int32_t i = 0; i < d->believed_count; i++) {
        struct believed *b = &d->believed[i];
        if (b->seen) {
            b->seen = false;
            d->believed[kept++] = *b;
        } else if (!b->ended) {
            note(d, HISTORY_ENDED, b->id, b->life);
        }
    }
    d->believed_count = kept;
}

int32_t observe_hold(struct deployment *d, struct life *life, const pdk_hold *hold) {
    struct believed *b = find(d, hold);
    if (!b)
        b = begin(d, life, hold);
    return b ? b->id : -1;
}

void observe_killed(struct deployment *d, const struct player *player) {
    int32_t kept = 0;
    for (int32_t i = 0; i < d->believed_count; i++)
        if (d->believed[i].life->player != player)
            d->believed[kept++] = d->believed[i];
    d->believed_count = kept;
}

/* What ended comes before what began in the same event. */
bool observe(struct deployment *d) {
    bool more = false;
    for (int32_t i = 0; i < d->plan->processes; i++)
        if (is_read(d->players[i].life))
            more |= reread_session(d, d->players[i].life);
    if (d->believed_count > 0)
        forget_ended(d);
    for (int32_t i = 0; i < d->plan->processes; i++)
        if (is_read(d->players[i].life)) {
            look_at_session(d, d->players[i].life);
            reread_lease(d, d->players[i].life);
            if (more)
                begin_new(d, d->players[i].life);
        }
    look_on(d);
    if (d->story)
        story_look(d);
    return !d->checker.broken;
}

const char *observe_contender(const struct deployment *d, int32_t path, int32_t place) {
    const struct sim_tree *truth = sim_truth(d->ensemble);
    const char *found = NULL;
    for (int64_t after = INT64_MIN; place >= 0; place--) {
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < truth->count; i++) {
            const char *name;
            if (path_of(truth->nodes[i].path, &name) == path && is_contender(name) &&
                truth->nodes[i].stat.czxid > after && truth->nodes[i].stat.czxid < least) {
                least = truth->nodes[i].stat.czxid;
                found = truth->nodes[i].path;
            }
        }
        if (least == INT64_MAX)
            return NULL;
        after = least;
    }
    return found;
}
