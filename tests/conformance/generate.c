/* Scripts generated from a seed. A model of the tree keeps track of the script so far, so that most requests and all
 * changes of the administrator meet an existing node. The servers decide what really happens. */
#include "conformance.h"

#include <string.h>

#define STEPS_LEAST 14
#define STEPS_MOST 26
#define NODES_MOST 9   /* what the small fake can hold, with room to spare */
#define WATCHES_MOST 7 /* likewise, for each session */

enum state { CLOSED, UP, DOWN, DEAD };

struct node {
    char *path;
    int owner;   /* a slot; −1: none */
    int counter; /* of all its children so far */
    int refuses;
    bool watched; /* a session has watched it at some time */
};

struct draw {
    GRand *chance;
    bool wide;
    int sessions;
    enum state state[SLOTS];
    bool ended[SLOTS]; /* it expired while it was not connected */
    int watches[SLOTS];
    GPtrArray *nodes;
    GString *out;
};

static int below(struct draw *d, int limit) { return g_rand_int_range(d->chance, 0, limit); }

/* True with a chance of n in a hundred. */
static bool percent(struct draw *d, int n) { return below(d, 100) < n; }

/* --- the model of the tree */

static void node_free(void *at) {
    g_free(((struct node *)at)->path);
    g_free(at);
}

static struct node *find(struct draw *d, const char *path) {
    for (guint i = 0; i < d->nodes->len; i++)
        if (g_str_equal(((struct node *)d->nodes->pdata[i])->path, path))
            return d->nodes->pdata[i];
    return NULL;
}

static struct node *parent_of(struct draw *d, const char *path) {
    g_autofree char *parent = g_path_get_dirname(path);
    return find(d, parent);
}

static bool has_children(struct draw *d, const struct node *node) {
    for (guint i = 0; i < d->nodes->len; i++)
        if (node->path[1] && parent_of(d, ((struct node *)d->nodes->pdata[i])->path) == node)
            return true;
    return false;
}

/* Adds a child of an existing node. False when the servers would refuse it. */
static bool add(struct draw *d, const char *path, int owner) {
    struct node *parent = parent_of(d, path);
    if (!parent || parent->owner >= 0 || parent->refuses & NO_CREATE || find(d, path))
        return false;
    struct node *node = g_new0(struct node, 1);
    node->path = g_strdup(path);
    node->owner = owner;
    parent->counter++;
    g_ptr_array_add(d->nodes, node);
    return true;
}

static void drop(struct draw *d, const char *path) {
    struct node *node = find(d, path);
    if (node && !has_children(d, node) && !(parent_of(d, path)->refuses & NO_DELETE))
        g_ptr_array_remove(d->nodes, node);
}

static void drop_owned(struct draw *d, int slot) {
    for (guint i = d->nodes->len; i-- > 0;)
        if (((struct node *)d->nodes->pdata[i])->owner == slot)
            g_ptr_array_remove_index(d->nodes, i);
}

/* --- choosing names */

static const char *some_directory(struct draw *d) {
    static const char *const names[] = {"/d", "/d", "/d", "/e", "/d/f"};
    return d->wide ? names[below(d, G_N_ELEMENTS(names))] : names[0];
}

/* NULL: there is none. */
static const char *some_watched(struct draw *d) {
    guint from = (guint)below(d, (int)d->nodes->len);
    for (guint i = 0; i < d->nodes->len; i++) {
        const struct node *node = d->nodes->pdata[(from + i) % d->nodes->len];
        if (node->watched)
            return node->path;
    }
    return NULL;
}

static bool is_directory(const char *path) { return !strchr(path, '#'); }

/* Mostly an existing node. The small fake shows nothing of directories. NULL: there is none. */
static const char *some_node(struct draw *d, bool surely) {
    static const char *const strangers[] = {"/d/x-#99", "/d/y-#0", "/d/z-#1"};
    guint from = d->wide ? 1 : 2; /* "/", "/d" */
    if (!surely && (percent(d, 15) || d->nodes->len <= from))
        return strangers[below(d, G_N_ELEMENTS(strangers))];
    if (d->nodes->len <= from)
        return NULL;
    const struct node *node = d->nodes->pdata[from + (guint)below(d, (int)(d->nodes->len - from))];
    return !d->wide && is_directory(node->path) ? NULL : node->path;
}

/* --- requests */

static void draw_data(struct draw *d, int chance) {
    if (d->wide && percent(d, chance))
        g_string_append_printf(d->out, " =text%d", below(d, 10));
}

/* Some of the named ones have a number that existed before, or will exist. */
static void draw_create(struct draw *d, int slot, bool happens) {
    const char *directory = some_directory(d);
    const struct node *node = find(d, directory);
    char mark = (char)('x' + below(d, 3));
    bool named = percent(d, 25);
    int number = (node ? node->counter : 0) - (named ? below(d, 5) - 1 : 0);
    g_autofree char *path = g_strdup_printf("%s/%c-#%d", directory, mark, MAX(number, 0));
    if (named)
        g_string_append_printf(d->out, "create %s named", path);
    else
        g_string_append_printf(d->out, "create %s/%c-", directory, mark);
    draw_data(d, 30);
    if (happens)
        add(d, path, slot);
}

static bool is_about_directory(enum pdk__op_kind kind) { return kind == PDK__OP_MKDIR || kind == PDK__OP_LIST; }

static char *draw_path(struct draw *d, enum pdk__op_kind kind) {
    bool directory = is_about_directory(kind) || (kind == PDK__OP_SET && percent(d, 20)) ||
                     (kind == PDK__OP_DELETE && percent(d, 5));
    const char *path = directory ? some_directory(d) : some_node(d, false);
    return g_strdup(path ? path : "/d/x-#77");
}

static void draw_ask(struct draw *d, int slot, bool happens) {
    static const enum pdk__op_kind kinds[] = {
        PDK__OP_CREATE, PDK__OP_CREATE, PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_LIST,    PDK__OP_WATCH,  PDK__OP_WATCH,
        PDK__OP_WATCH,  PDK__OP_WATCH,  PDK__OP_GET,    PDK__OP_STAT, PDK__OP_BARRIER, PDK__OP_DELETE, PDK__OP_DELETE,
        PDK__OP_MKDIR,  PDK__OP_LIST,   PDK__OP_SET,    PDK__OP_SET,  PDK__OP_SYNC,
    };
    enum pdk__op_kind kind = kinds[below(d, G_N_ELEMENTS(kinds))];
    if (d->nodes->len <= 2 && find(d, "/d") && percent(d, 60))
        kind = PDK__OP_CREATE;
    if (kind == PDK__OP_CREATE && d->nodes->len >= NODES_MOST)
        kind = PDK__OP_DELETE;
    if (kind == PDK__OP_WATCH && ++d->watches[slot] > WATCHES_MOST)
        kind = PDK__OP_STAT;
    if (kind == PDK__OP_CREATE) {
        draw_create(d, slot, happens);
        return;
    }
    g_autofree char *path = draw_path(d, kind);
    g_string_append_printf(d->out, "%s %s", op_name(kind), path);
    if (kind == PDK__OP_LIST && percent(d, 60))
        g_string_append(d->out, " watch");
    if (kind == PDK__OP_SET || kind == PDK__OP_MKDIR)
        draw_data(d, 50);
    if (!happens)
        return;
    if (kind == PDK__OP_MKDIR)
        add(d, path, -1);
    if (kind == PDK__OP_DELETE)
        drop(d, path);
    if (kind == PDK__OP_WATCH && find(d, path))
        find(d, path)->watched = true;
}

static void draw_requests(struct draw *d, int slot, bool happens) {
    g_string_append_printf(d->out, "%c ", 'A' + slot);
    for (int left = percent(d, 60) ? 1 : 2 + below(d, 3); left > 0; left--) {
        draw_ask(d, slot, happens);
        g_string_append(d->out, left > 1 ? " & " : "\n");
    }
}

static void draw_loss(struct draw *d, int slot) {
    static const char *const losses[] = {"request", "request", "reply", "reply", "all"};
    int i = below(d, G_N_ELEMENTS(losses));
    g_string_append_printf(d->out, "lose %s %c ", losses[i], 'A' + slot);
    draw_ask(d, slot, i >= 2);
    g_string_append_c(d->out, '\n');
}

/* --- all other steps */

static void say(struct draw *d, const char *what, int slot) {
    g_string_append_printf(d->out, "%s %c\n", what, 'A' + slot);
}

/* The administrator changes an existing node. */
static void draw_change(struct draw *d, const char *path) {
    struct node *node = find(d, path);
    bool may = !(parent_of(d, path)->refuses & NO_DELETE) && !has_children(d, node);
    if (d->wide && percent(d, 30)) {
        static const char *const words[] = {"no-read", "no-create", "no-delete", "no-read,no-create", "free"};
        static const int values[] = {NO_READ, NO_CREATE, NO_DELETE, NO_READ | NO_CREATE, 0};
        int i = node->refuses ? 4 : below(d, 5);
        node->refuses = values[i];
        g_string_append_printf(d->out, "admin acl %s %s\n", path, words[i]);
    } else if (percent(d, 50) && may) {
        g_string_append_printf(d->out, "admin delete %s\n", path);
        drop(d, path);
    } else {
        g_string_append_printf(d->out, "admin set %s", path);
        g_string_append(d->out, d->wide ? " =new\n" : "\n");
    }
}

static void draw_admin(struct draw *d) {
    const char *watched = percent(d, 60) ? some_watched(d) : NULL;
    g_autofree char *path = g_strdup(watched ? watched : some_node(d, true));
    if (path)
        draw_change(d, path);
}

/* Changes that a watcher misses while it has no connection. */
static void draw_missed(struct draw *d, int slot) {
    g_autofree char *path = g_strdup(some_node(d, true));
    if (!path || ++d->watches[slot] > WATCHES_MOST)
        return;
    g_autofree char *directory = g_path_get_dirname(path);
    int what = g_str_equal(directory, "/") ? 0 : below(d, 3); /* the root does not belong to the script */
    if (what < 2)
        g_string_append_printf(d->out, "%c watch %s\n", 'A' + slot, path);
    if (what > 0)
        g_string_append_printf(d->out, "%c list %s watch\n", 'A' + slot, directory);
    say(d, "cut", slot);
    for (int left = 1 + below(d, 2); left > 0 && find(d, path); left--)
        draw_change(d, path);
    say(d, "restore", slot);
}

static void expire(struct draw *d, int slot) {
    say(d, "expire", slot);
    drop_owned(d, slot);
    d->ended[slot] = true;
    if (d->state[slot] == UP)
        d->state[slot] = DEAD;
}

static void draw_when_up(struct draw *d, int slot) {
    int what = below(d, 100);
    if (what < 62)
        draw_requests(d, slot, true);
    else if (what < 68)
        draw_missed(d, slot);
    else if (what < 78)
        draw_loss(d, slot);
    else if (what < 88) {
        say(d, "cut", slot);
        d->state[slot] = DOWN;
    } else if (what < 95)
        expire(d, slot);
    else {
        say(d, "close", slot);
        drop_owned(d, slot);
        d->state[slot] = CLOSED;
    }
}

static void draw_when_down(struct draw *d, int slot) {
    if (percent(d, 35)) {
        say(d, "restore", slot);
        d->state[slot] = d->ended[slot] ? DEAD : UP;
    } else if (d->wide && percent(d, 40))
        draw_requests(d, slot, false);
    else if (!d->ended[slot] && percent(d, 15))
        expire(d, slot);
}

static void draw_step(struct draw *d) {
    int slot = below(d, d->sessions);
    if (percent(d, 15)) {
        draw_admin(d);
        return;
    }
    switch (d->state[slot]) {
    case UP:
        draw_when_up(d, slot);
        break;
    case DOWN:
        draw_when_down(d, slot);
        break;
    case DEAD:
        if (percent(d, 30))
            draw_requests(d, slot, false);
        say(d, "close", slot);
        d->state[slot] = CLOSED;
        break;
    case CLOSED:
        say(d, "open", slot);
        d->state[slot] = UP;
        d->ended[slot] = false;
        d->watches[slot] = 0;
        break;
    }
}

static void begin(struct draw *d, guint32 seed) {
    d->sessions = 2 + below(d, 2);
    g_string_append_printf(d->out, "== %s-%u: drawn from seed %u\n", d->wide ? "wide" : "plain", seed, seed);
    if (d->wide)
        g_string_append(d->out, "needs tree acl offline\n");
    for (int i = 0; i < d->sessions; i++) {
        say(d, "open", i);
        d->state[i] = UP;
    }
    struct node *root = g_new0(struct node, 1);
    *root = (struct node){.path = g_strdup("/"), .owner = -1};
    g_ptr_array_add(d->nodes, root);
    g_string_append(d->out, percent(d, 20) ? "A create /d/x- & list /d\nA mkdir /d\n" : "A mkdir /d\n");
    add(d, "/d", -1);
}

char *generate_script(guint32 seed, bool wide) {
    struct draw d = {.chance = g_rand_new_with_seed(seed * 2 + wide), .wide = wide, .out = g_string_new(NULL)};
    d.nodes = g_ptr_array_new_with_free_func(node_free);
    begin(&d, seed);
    for (int left = STEPS_LEAST + below(&d, STEPS_MOST - STEPS_LEAST + 1); left > 0; left--)
        draw_step(&d);
    g_ptr_array_unref(d.nodes);
    g_rand_free(d.chance);
    return g_string_free(d.out, FALSE);
}
