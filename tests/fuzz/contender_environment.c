/* The directory, and the requests on it: executed, refused or lost. */
#include "contender_environment.h"
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#define MARK "_c_mine-lock-"

static const char *const prefixes[] = {[ENVIRONMENT_OURS] = MARK,
                                       [ENVIRONMENT_OLDER] = MARK,
                                       [ENVIRONMENT_OTHERS] = "_c_x-lock-",
                                       [ENVIRONMENT_EXCHANGED] = "_c_was-lock-"};

static void name_of(const struct environment *e, size_t i, char name[PDK__NAME_SIZE]) {
    snprintf(name, PDK__NAME_SIZE, "%s%010d", prefixes[e->nodes[i].owner], e->nodes[i].sequence);
}

/* Finds any name. ENVIRONMENT_NODES: there is none. */
static size_t find(const struct environment *e, const char *name) {
    char text[PDK__NAME_SIZE];
    for (size_t i = 0; i < ENVIRONMENT_NODES; i++) {
        if (e->nodes[i].owner == ENVIRONMENT_FREE)
            continue;
        name_of(e, i, text);
        if (strcmp(text, name) == 0)
            return i;
    }
    return ENVIRONMENT_NODES;
}

static size_t first_of(const struct environment *e, enum environment_owner owner) {
    size_t i = 0;
    while (i < ENVIRONMENT_NODES && e->nodes[i].owner != owner)
        i++;
    return i;
}

bool environment_own(const struct environment *e) { return first_of(e, ENVIRONMENT_OURS) != ENVIRONMENT_NODES; }

static size_t put(struct environment *e, enum environment_owner owner, int32_t sequence) {
    size_t i = first_of(e, ENVIRONMENT_FREE);
    if (i == ENVIRONMENT_NODES)
        i = first_of(e, ENVIRONMENT_OTHERS); /* somebody has to make room */
    e->nodes[i].owner = owner;
    e->nodes[i].sequence = sequence;
    return i;
}

static size_t add(struct environment *e, enum environment_owner owner) {
    size_t i = put(e, owner, e->counter);
    e->counter = e->counter == INT32_MAX ? INT32_MIN : e->counter + 1;
    return i;
}

void environment_begin(struct environment *e, uint8_t options) {
    memset(e, 0, sizeof *e);
    pdk__contender_init(&e->c, MARK);
    e->dir = options & 1;
    e->counter = options & 4 ? INT32_MAX - (options >> 4) : 0;
    if (e->dir && options & 2)
        add(e, ENVIRONMENT_OLDER);
    e->named = e->c.named = options & 8;
    e->position = e->counter;
    if (e->named && e->dir)
        add(e, ENVIRONMENT_EXCHANGED);
}

void environment_join(struct environment *e) {
    if (e->dir)
        add(e, ENVIRONMENT_OTHERS);
}

void environment_remove(struct environment *e, uint8_t which) {
    bool empty = true;
    for (size_t i = 0; i < ENVIRONMENT_NODES; i++)
        empty = empty && e->nodes[i].owner == ENVIRONMENT_FREE;
    if (which >= ENVIRONMENT_NODES && empty)
        e->dir = false;
    else if (which < ENVIRONMENT_NODES)
        e->nodes[which].owner = ENVIRONMENT_FREE;
}

void environment_expire(struct environment *e) {
    e->expired = true;
    e->late_create = false;
    for (size_t i = 0; i < ENVIRONMENT_NODES; i++)
        if (e->nodes[i].owner == ENVIRONMENT_OURS || e->nodes[i].owner == ENVIRONMENT_EXCHANGED)
            e->nodes[i].owner = ENVIRONMENT_FREE;
}

/* ---- requests */

static enum pdk__result create(struct environment *e, struct pdk__event *event) {
    static char name[PDK__NAME_SIZE];
    if (!e->dir)
        return PDK__NO_NODE;
    if (e->named && environment_own(e))
        return PDK__NODE_EXISTS;
    FUZZ_REQUIRE(!environment_own(e), "a second node");
    size_t i = e->named ? put(e, ENVIRONMENT_OURS, e->position) : add(e, ENVIRONMENT_OURS);
    name_of(e, i, name);
    event->name = name;
    event->token = e->own_token = (int64_t)e->nodes[i].sequence + (INT64_C(1) << 32);
    return PDK__OK;
}

void environment_late(struct environment *e) {
    struct pdk__event unheard;
    if (e->late_create)
        create(e, &unheard);
    e->late_create = false;
}

/* As the driver does it, and checks what a grant would need. */
static enum pdk__result list(struct environment *e, uint8_t chance, struct pdk__event *event, struct pdk__view *view) {
    char texts[ENVIRONMENT_NODES][PDK__NAME_SIZE];
    const char *names[ENVIRONMENT_NODES];
    size_t count = 0, own = first_of(e, ENVIRONMENT_OURS);
    size_t exchanged = e->named ? first_of(e, ENVIRONMENT_EXCHANGED) : ENVIRONMENT_NODES;
    char earlier[PDK__NAME_SIZE] = "";
    bool ahead = false;
    if (!e->dir)
        return PDK__NO_NODE;
    for (size_t i = 0; i < ENVIRONMENT_NODES; i++) {
        if (e->nodes[i].owner == ENVIRONMENT_FREE)
            continue;
        name_of(e, i, texts[count]);
        names[count] = texts[count];
        count++;
        ahead = ahead || (own != ENVIRONMENT_NODES && i != own && i != exchanged &&
                          (int32_t)((uint32_t)e->nodes[i].sequence - (uint32_t)e->nodes[own].sequence) < 0);
    }
    if (e->named)
        snprintf(earlier, sizeof earlier, "%s%010d", prefixes[ENVIRONMENT_EXCHANGED], e->position);
    pdk__view_make(view, names, count, &(struct pdk__viewer){e->c.mark, e->c.own, earlier, {pdk__blocks_always, 0}});
    event->fresh = !(chance & 1);
    event->never_waits = chance & 2;
    e->may_grant = event->fresh && own != ENVIRONMENT_NODES && !ahead && find(e, e->c.own) == own &&
                   (!e->named || exchanged != ENVIRONMENT_NODES);
    if ((chance & 12) == 12) {
        view->beyond_limits = e->refused = true;
        e->may_grant = false;
    }
    return PDK__OK;
}

static enum pdk__result make_dir(struct environment *e) {
    enum pdk__result result = e->dir ? PDK__NODE_EXISTS : PDK__OK;
    e->dir = true;
    return result;
}

static enum pdk__result stat_own(struct environment *e, struct pdk__event *event) {
    size_t i = find(e, e->c.own);
    if (i == ENVIRONMENT_NODES)
        return PDK__NO_NODE;
    event->ours = e->nodes[i].owner == ENVIRONMENT_OURS;
    event->token = (int64_t)e->nodes[i].sequence + (INT64_C(1) << 32);
    return PDK__OK;
}

static enum pdk__result delete_own(struct environment *e) {
    size_t i = find(e, e->c.own);
    if (i == ENVIRONMENT_NODES)
        return PDK__NO_NODE;
    FUZZ_REQUIRE(e->nodes[i].owner == ENVIRONMENT_OURS, "deletes %s, of owner %d", e->c.own, e->nodes[i].owner);
    e->nodes[i].owner = ENVIRONMENT_FREE;
    return PDK__OK;
}

/* After it no earlier create can be executed any more: it has been, or will never be. */
static enum pdk__result barrier(struct environment *e, uint8_t chance) {
    if (chance & 1)
        environment_late(e);
    e->late_create = false;
    return e->dir ? PDK__OK : PDK__NO_NODE;
}

static enum pdk__result execute(struct environment *e, uint8_t chance, struct pdk__event *event,
                                struct pdk__view *view) {
    switch (event->type) {
    case PDK__CREATED:
        return create(e, event);
    case PDK__PROVED:
        return barrier(e, chance);
    case PDK__LISTED:
        return list(e, chance, event, view);
    case PDK__MADE_DIR:
        return make_dir(e);
    case PDK__WATCHED:
        return find(e, e->c.watched) == ENVIRONMENT_NODES ? PDK__NO_NODE : PDK__OK;
    case PDK__STATTED:
        return stat_own(e, event);
    case PDK__DELETED:
        return delete_own(e);
    default: /* PAUSED */
        return PDK__OK;
    }
}

/* A lost request: executed, or not at all; a create may also be executed later. Nothing is known of a list. */
static void lose(struct environment *e, uint8_t chance, struct pdk__event *event, struct pdk__view *view) {
    if (event->type == PDK__CREATED && e->dir && chance & 1)
        e->late_create = true;
    else if (event->type != PDK__PROVED && chance & 2)
        execute(e, chance, event, view);
    e->may_grant = false;
}

void environment_answer(struct environment *e, enum environment_fault fault, uint8_t chance, struct pdk__event *event) {
    static const enum pdk__event_type answers[] = {
        [PDK__DO_ENTER] = PDK__CREATED,  [PDK__DO_MKDIR] = PDK__MADE_DIR, [PDK__DO_LIST] = PDK__LISTED,
        [PDK__DO_WATCH] = PDK__WATCHED,  [PDK__DO_PROVE] = PDK__PROVED,   [PDK__DO_STAT] = PDK__STATTED,
        [PDK__DO_DELETE] = PDK__DELETED, [PDK__DO_PAUSE] = PDK__PAUSED,   [PDK__DO_LOOK] = PDK__LISTED,
    };
    static const enum pdk__result refusals[] = {PDK__NOT_ALLOWED, PDK__REFUSED, PDK__LIMITED, PDK__NODE_EXISTS};
    static struct pdk__view view;
    event->type = e->half ? PDK__LISTED : answers[e->doing];
    event->view = &view;
    if (event->type == PDK__PAUSED)
        return;
    if (fault == ENVIRONMENT_NOT_NOW) {
        event->result = PDK__NOT_NOW;
    } else if (fault == ENVIRONMENT_REFUSED) {
        event->result =
            refusals[chance % (event->type == PDK__CREATED ? 4 : 3)]; /* the counter may have reached its end */
        e->refused = true;
        if (event->type == PDK__PROVED && event->result == PDK__NOT_ALLOWED)
            barrier(e, chance); /* of a multi: committed all the same */
    } else if (fault == ENVIRONMENT_LOST) {
        event->result = PDK__UNKNOWN;
        lose(e, chance, event, &view);
    } else {
        event->result = execute(e, chance, event, &view);
    }
}
