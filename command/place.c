#include "place.h"

#include <string.h>

/* The names of nodes, as other clients write them, too: docs/recipes. */
static const struct {
    const char *token;
    cmd_kind kind;
    bool shared, kazoo;
} tokens[] = {
    {"lock-", CMD_KIND_LOCK, false, false},      {"__lock__", CMD_KIND_LOCK, false, true},
    {"__WRIT__", CMD_KIND_RWLOCK, false, false}, {"__READ__", CMD_KIND_RWLOCK, true, false},
    {"__rlock__", CMD_KIND_RWLOCK, true, true},  {"latch-", CMD_KIND_ELECTION, false, false},
    {"lease-", CMD_KIND_SEMAPHORE, true, false},
};

typedef struct {
    cmd_kind kind;
    bool shared, kazoo;
    int32_t sequence;
} contender;

cmd_place *cmd_place_new(const char *path, guint depth) {
    cmd_place *place = g_new0(cmd_place, 1);
    place->path = g_strdup(path);
    place->depth = depth;
    place->last_sequence = -1;
    return place;
}

void cmd_place_free(gpointer data) {
    cmd_place *place = data;
    g_free(place->path);
    g_free(place->first);
    g_free(place);
}

/* The number is ten characters, a minus included. Eleven come of a counter that ran past its end. */
static bool read_name(const char *name, contender *found) {
    size_t length = strlen(name);
    for (size_t digits = 11; digits >= 10; digits--) {
        if (length < digits || (digits == 11 && name[length - digits] != '-'))
            continue;
        const char *number = name + length - digits;
        gint64 value;
        if (strspn(number + 1, "0123456789") != digits - 1 || (*number != '-' && !g_ascii_isdigit(*number)))
            continue;
        value = g_ascii_strtoll(number, NULL, 10);
        for (size_t i = 0; i < G_N_ELEMENTS(tokens); i++) {
            size_t size = strlen(tokens[i].token);
            if (length < digits + size || memcmp(number - size, tokens[i].token, size) != 0)
                continue;
            *found = (contender){tokens[i].kind, tokens[i].shared, tokens[i].kazoo, (int32_t)value};
            return value >= G_MININT32 && value <= G_MAXINT32;
        }
    }
    return false;
}

bool cmd_is_contender(const char *name) {
    contender found;
    return read_name(name, &found);
}

/* The counter wraps, so numbers are compared by their difference. */
static bool is_before(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b) < 0; }

typedef struct {
    const char *oldest;
    contender first, last;
    guint all, shared;
    bool any, any_exclusive;
    int32_t exclusive; /* the oldest of these */
} tally;

static void count(tally *t, const char *name, const contender *c) {
    if (!t->any || is_before(c->sequence, t->first.sequence)) {
        t->first = *c;
        t->oldest = name;
    }
    if (!t->any || is_before(t->last.sequence, c->sequence))
        t->last = *c;
    t->any = true;
    t->all++;
    t->shared += c->shared;
    if (!c->shared && (!t->any_exclusive || is_before(c->sequence, t->exclusive))) {
        t->any_exclusive = true;
        t->exclusive = c->sequence;
    }
}

/* Readers hold together, up to the first writer. */
static guint count_readers_ahead(const GPtrArray *names, int32_t writer) {
    contender c;
    guint ahead = 0;
    for (guint i = 0; i < names->len; i++)
        ahead += read_name(g_ptr_array_index(names, i), &c) && c.shared && is_before(c.sequence, writer);
    return ahead;
}

/* A lock and a read/write lock are one queue. */
static void note_recipe(cmd_place *place, const contender *c, bool *candidates) {
    bool locks = c->kind == CMD_KIND_LOCK || c->kind == CMD_KIND_RWLOCK;
    *candidates |= c->kind == CMD_KIND_ELECTION;
    place->kazoo |= locks && c->kazoo;
    place->curator |= locks && !c->kazoo;
    if (*candidates && (place->kazoo || place->curator))
        place->mixed = "contenders for a lock and candidates of an election";
}

void cmd_place_judge(cmd_place *place, const GPtrArray *names) {
    tally t = {0};
    contender c;
    bool candidates = false;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (!read_name(name, &c)) {
            place->nodes++;
            continue;
        }
        count(&t, name, &c);
        note_recipe(place, &c, &candidates);
        if (c.kind != CMD_KIND_LOCK || place->kind == CMD_KIND_NONE) /* a reader makes a kazoo lock a read/write lock */
            place->kind = c.kind;
    }
    if (!t.any)
        return;
    place->first = cmd_below(place->path, t.oldest);
    place->last_sequence = t.last.sequence;
    place->holders = t.shared == t.all ? t.all : count_readers_ahead(names, t.exclusive);
    place->holders = MAX(place->holders, 1);
    place->waiters = t.all - place->holders;
}

const char *cmd_kind_name(cmd_kind kind) {
    static const char *const names[] = {"directory", "lock", "rwlock", "semaphore", "election"};
    return names[kind];
}

char *cmd_below(const char *path, const char *name) {
    return strcmp(path, "/") == 0 ? g_strconcat("/", name, NULL) : g_strconcat(path, "/", name, NULL);
}
