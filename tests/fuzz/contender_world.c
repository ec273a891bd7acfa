/* The directory, and the requests on it: executed, refused or lost. */
#include "contender_world.h"
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#define MARK "_c_mine-lock-"

static const char *const prefixes[] = {
    [WORLD_OURS] = MARK, [WORLD_OLDER] = MARK, [WORLD_OTHERS] = "_c_x-lock-", [WORLD_EXCHANGED] = "_c_was-lock-"};

static void name_of(const struct world *w, size_t i, char name[PDK__NAME_SIZE]) {
    snprintf(name, PDK__NAME_SIZE, "%s%010d", prefixes[w->nodes[i].owner], w->nodes[i].sequence);
}

/* Of any name; WORLD_NODES: there is none. */
static size_t find(const struct world *w, const char *name) {
    char text[PDK__NAME_SIZE];
    for (size_t i = 0; i < WORLD_NODES; i++) {
        if (w->nodes[i].owner == WORLD_FREE)
            continue;
        name_of(w, i, text);
        if (strcmp(text, name) == 0)
            return i;
    }
    return WORLD_NODES;
}

static size_t first_of(const struct world *w, enum world_owner owner) {
    size_t i = 0;
    while (i < WORLD_NODES && w->nodes[i].owner != owner)
        i++;
    return i;
}

bool world_own(const struct world *w) { return first_of(w, WORLD_OURS) != WORLD_NODES; }

static size_t put(struct world *w, enum world_owner owner, int32_t sequence) {
    size_t i = first_of(w, WORLD_FREE);
    if (i == WORLD_NODES)
        i = first_of(w, WORLD_OTHERS); /* somebody has to make room */
    w->nodes[i].owner = owner;
    w->nodes[i].sequence = sequence;
    return i;
}

static size_t add(struct world *w, enum world_owner owner) {
    size_t i = put(w, owner, w->counter);
    w->counter = w->counter == INT32_MAX ? INT32_MIN : w->counter + 1;
    return i;
}

void world_begin(struct world *w, uint8_t options) {
    memset(w, 0, sizeof *w);
    pdk__contender_init(&w->c, MARK);
    w->dir = options & 1;
    w->counter = options & 4 ? INT32_MAX - (options >> 4) : 0;
    if (w->dir && options & 2)
        add(w, WORLD_OLDER);
    w->named = w->c.named = options & 8;
    w->place = w->counter;
    if (w->named && w->dir)
        add(w, WORLD_EXCHANGED);
}

void world_join(struct world *w) {
    if (w->dir)
        add(w, WORLD_OTHERS);
}

void world_remove(struct world *w, uint8_t which) {
    bool empty = true;
    for (size_t i = 0; i < WORLD_NODES; i++)
        empty = empty && w->nodes[i].owner == WORLD_FREE;
    if (which >= WORLD_NODES && empty)
        w->dir = false;
    else if (which < WORLD_NODES)
        w->nodes[which].owner = WORLD_FREE;
}

void world_expire(struct world *w) {
    w->expired = true;
    w->late_create = false;
    for (size_t i = 0; i < WORLD_NODES; i++)
        if (w->nodes[i].owner == WORLD_OURS || w->nodes[i].owner == WORLD_EXCHANGED)
            w->nodes[i].owner = WORLD_FREE;
}

/* ---- requests */

static enum pdk__result create(struct world *w, struct pdk__event *event) {
    static char name[PDK__NAME_SIZE];
    if (!w->dir)
        return PDK__NO_NODE;
    if (w->named && world_own(w))
        return PDK__NODE_EXISTS;
    FUZZ_REQUIRE(!world_own(w), "a second node");
    size_t i = w->named ? put(w, WORLD_OURS, w->place) : add(w, WORLD_OURS);
    name_of(w, i, name);
    event->name = name;
    event->token = w->own_token = (int64_t)w->nodes[i].sequence + (INT64_C(1) << 32);
    return PDK__OK;
}

void world_late(struct world *w) {
    struct pdk__event unheard;
    if (w->late_create)
        create(w, &unheard);
    w->late_create = false;
}

/* As the driver does it, and what a grant would need. */
static enum pdk__result list(struct world *w, uint8_t chance, struct pdk__event *event, struct pdk__view *view) {
    char texts[WORLD_NODES][PDK__NAME_SIZE];
    const char *names[WORLD_NODES];
    size_t count = 0, own = first_of(w, WORLD_OURS);
    size_t exchanged = w->named ? first_of(w, WORLD_EXCHANGED) : WORLD_NODES;
    char earlier[PDK__NAME_SIZE] = "";
    bool ahead = false;
    if (!w->dir)
        return PDK__NO_NODE;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        if (w->nodes[i].owner == WORLD_FREE)
            continue;
        name_of(w, i, texts[count]);
        names[count] = texts[count];
        count++;
        ahead = ahead || (own != WORLD_NODES && i != own && i != exchanged &&
                          (int32_t)((uint32_t)w->nodes[i].sequence - (uint32_t)w->nodes[own].sequence) < 0);
    }
    if (w->named)
        snprintf(earlier, sizeof earlier, "%s%010d", prefixes[WORLD_EXCHANGED], w->place);
    pdk__view_make(view, names, count, &(struct pdk__viewer){w->c.mark, w->c.own, earlier, {pdk__blocks_always, 0}});
    event->fresh = !(chance & 1);
    event->never_waits = chance & 2;
    w->may_grant = event->fresh && own != WORLD_NODES && !ahead && find(w, w->c.own) == own &&
                   (!w->named || exchanged != WORLD_NODES);
    if ((chance & 12) == 12) {
        view->beyond_limits = w->refused = true;
        w->may_grant = false;
    }
    return PDK__OK;
}

static enum pdk__result make_dir(struct world *w) {
    enum pdk__result result = w->dir ? PDK__NODE_EXISTS : PDK__OK;
    w->dir = true;
    return result;
}

static enum pdk__result stat_own(struct world *w, struct pdk__event *event) {
    size_t i = find(w, w->c.own);
    if (i == WORLD_NODES)
        return PDK__NO_NODE;
    event->ours = w->nodes[i].owner == WORLD_OURS;
    event->token = (int64_t)w->nodes[i].sequence + (INT64_C(1) << 32);
    return PDK__OK;
}

static enum pdk__result delete_own(struct world *w) {
    size_t i = find(w, w->c.own);
    if (i == WORLD_NODES)
        return PDK__NO_NODE;
    FUZZ_REQUIRE(w->nodes[i].owner == WORLD_OURS, "deletes %s, of owner %d", w->c.own, w->nodes[i].owner);
    w->nodes[i].owner = WORLD_FREE;
    return PDK__OK;
}

/* Behind it no create of before can be executed any more: it has been, or will never be. */
static enum pdk__result barrier(struct world *w, uint8_t chance) {
    if (chance & 1)
        world_late(w);
    w->late_create = false;
    return w->dir ? PDK__OK : PDK__NO_NODE;
}

static enum pdk__result execute(struct world *w, uint8_t chance, struct pdk__event *event, struct pdk__view *view) {
    switch (event->type) {
    case PDK__CREATED:
        return create(w, event);
    case PDK__PROVED:
        return barrier(w, chance);
    case PDK__LISTED:
        return list(w, chance, event, view);
    case PDK__MADE_DIR:
        return make_dir(w);
    case PDK__WATCHED:
        return find(w, w->c.watched) == WORLD_NODES ? PDK__NO_NODE : PDK__OK;
    case PDK__STATTED:
        return stat_own(w, event);
    case PDK__DELETED:
        return delete_own(w);
    default: /* PAUSED */
        return PDK__OK;
    }
}

/* A lost request: executed, or not at all; a create may also be executed later. Of a list nothing is known. */
static void lose(struct world *w, uint8_t chance, struct pdk__event *event, struct pdk__view *view) {
    if (event->type == PDK__CREATED && w->dir && chance & 1)
        w->late_create = true;
    else if (event->type != PDK__PROVED && chance & 2)
        execute(w, chance, event, view);
    w->may_grant = false;
}

void world_answer(struct world *w, enum world_fault fault, uint8_t chance, struct pdk__event *event) {
    static const enum pdk__event_type answers[] = {
        [PDK__DO_ENTER] = PDK__CREATED,  [PDK__DO_MKDIR] = PDK__MADE_DIR, [PDK__DO_LIST] = PDK__LISTED,
        [PDK__DO_WATCH] = PDK__WATCHED,  [PDK__DO_PROVE] = PDK__PROVED,   [PDK__DO_STAT] = PDK__STATTED,
        [PDK__DO_DELETE] = PDK__DELETED, [PDK__DO_PAUSE] = PDK__PAUSED,
    };
    static const enum pdk__result refusals[] = {PDK__NOT_ALLOWED, PDK__REFUSED, PDK__LIMITED, PDK__NODE_EXISTS};
    static struct pdk__view view;
    event->type = w->half ? PDK__LISTED : answers[w->doing];
    event->view = &view;
    if (event->type == PDK__PAUSED)
        return;
    if (fault == WORLD_NOT_NOW) {
        event->result = PDK__NOT_NOW;
    } else if (fault == WORLD_REFUSED) {
        event->result =
            refusals[chance % (event->type == PDK__CREATED ? 4 : 3)]; /* the counter may have reached its end */
        w->refused = true;
        if (event->type == PDK__PROVED && event->result == PDK__NOT_ALLOWED)
            barrier(w, chance); /* of a multi: committed all the same */
    } else if (fault == WORLD_LOST) {
        event->result = PDK__UNKNOWN;
        lose(w, chance, event, &view);
    } else {
        event->result = execute(w, chance, event, &view);
    }
}
