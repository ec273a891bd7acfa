#include "group_truth.h"

#include "sim_ensemble.h"
#include "trouble.h"

#include <string.h>

/* A member came, changed its data, or went; or all of a session went. */
struct event {
    enum sim_txn_kind kind;
    int64_t zxid, session;
    char *node, *data;
};

struct known {
    int64_t token, changed, session;
    const char *data;
};

struct truth_told {
    uint64_t number;
    bool exact;
    GHashTable *view;   /* node: struct known, as it was told last */
    GHashTable *newest; /* node: int64_t, the newest of each that it was ever told; INT64_MAX: it has left */
    GHashTable *state;  /* node: struct known, after so many events: */
    guint at;
};

struct truth_count truth_count;

static char *directory;
static GPtrArray *events;
static GHashTable *now_state;
static void (*on_gone)(const char *path);

/* ---- what is committed */

static GHashTable *state_new(void) { return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free); }

static void event_free(void *of) {
    struct event *e = of;
    g_free(e->node);
    g_free(e->data);
    g_free(e);
}

static void put(GHashTable *state, const char *node, struct known known) {
    g_hash_table_insert(state, g_strdup(node), g_memdup2(&known, sizeof known));
}

static gboolean is_of(gpointer node, gpointer of, gpointer session) {
    (void)node;
    return ((const struct known *)of)->session == *(const int64_t *)session;
}

static void apply(GHashTable *state, const struct event *e) {
    struct known *known = e->node ? g_hash_table_lookup(state, e->node) : NULL;
    int64_t session = e->session;
    switch (e->kind) {
    case SIM_TXN_CREATE:
        put(state, e->node, (struct known){e->zxid, e->zxid, e->session, e->data});
        break;
    case SIM_TXN_SET:
        if (known) {
            known->changed = e->zxid;
            known->data = e->data;
        }
        break;
    case SIM_TXN_DELETE:
        g_hash_table_remove(state, e->node);
        break;
    default:
        g_hash_table_foreach_remove(state, is_of, &session);
        break;
    }
}

/* The name of a node in the directory that is, or may be, a member; or NULL. */
static const char *member_of(const char *path) {
    if (!path || !g_str_has_prefix(path, directory) || path[strlen(directory)] != '/')
        return NULL;
    return strstr(path, "-member-") ? path + strlen(directory) + 1 : NULL;
}

static void tell_gone(const struct event *e) {
    GHashTableIter all;
    gpointer node, of;
    g_hash_table_iter_init(&all, now_state);
    while (g_hash_table_iter_next(&all, &node, &of)) {
        const struct known *known = of;
        bool goes = e->kind == SIM_TXN_CLOSE ? known->session == e->session
                                             : e->kind == SIM_TXN_DELETE && strcmp(node, e->node) == 0;
        g_autofree char *path = g_strconcat(directory, "/", (const char *)node, NULL);
        if (goes)
            on_gone(path);
    }
}

/* Data are "member.write". */
static void judge_created(const struct event *e) {
    const char *write = strrchr(e->data, '.');
    g_autofree char *member = write ? g_strndup(e->data, (gsize)(write + 1 - e->data)) : NULL;
    must(!member || truth_members(member) == 1, "its member has two nodes", e->node);
}

static void on_committed(void *user, const struct sim_txn *txn) {
    const char *node = member_of(txn->path);
    bool is_member = txn->kind == SIM_TXN_CREATE ? txn->session != 0 : node && g_hash_table_contains(now_state, node);
    (void)user;
    if (txn->code != 0 || (txn->kind != SIM_TXN_CLOSE && (!node || !is_member)) ||
        (txn->kind == SIM_TXN_SET && txn->mode != SIM_SET_DATA) ||
        (txn->kind != SIM_TXN_CREATE && txn->kind != SIM_TXN_SET && txn->kind != SIM_TXN_DELETE &&
         txn->kind != SIM_TXN_CLOSE))
        return;
    struct event *e = g_new(struct event, 1);
    *e = (struct event){txn->kind, txn->zxid, txn->session, g_strdup(node), g_strdup(txn->data)};
    g_ptr_array_add(events, e);
    if (txn->kind != SIM_TXN_DELETE || txn->session != 0)
        tell_gone(e);
    apply(now_state, e);
    if (e->kind == SIM_TXN_CREATE)
        judge_created(e);
}

void truth_begin(const char *dir, void (*gone)(const char *path)) {
    directory = g_strdup(dir);
    events = g_ptr_array_new_with_free_func(event_free);
    now_state = state_new();
    on_gone = gone;
    truth_count = (struct truth_count){0};
    sim_observe(platform_ensemble, on_committed, NULL, NULL);
}

void truth_end(void) {
    sim_observe(platform_ensemble, NULL, NULL, NULL);
    g_hash_table_destroy(now_state);
    g_ptr_array_unref(events);
    g_free(directory);
}

size_t truth_members(const char *data) {
    GHashTableIter all;
    gpointer of;
    size_t count = 0;
    g_hash_table_iter_init(&all, now_state);
    while (g_hash_table_iter_next(&all, NULL, &of))
        if (g_str_has_prefix(((const struct known *)of)->data, data))
            count++;
    return count;
}

const char *truth_data(const char *path) {
    const char *node = member_of(path);
    const struct known *known = node ? g_hash_table_lookup(now_state, node) : NULL;
    return known ? known->data : NULL;
}

bool truth_has_had(const char *data) {
    for (guint i = events->len; i > 0; i--) {
        const struct event *e = events->pdata[i - 1];
        if (e->data && strcmp(e->data, data) == 0)
            return true;
    }
    return false;
}

/* ---- what is told */

struct truth_told *truth_told_new(void) {
    struct truth_told *told = g_new0(struct truth_told, 1);
    told->view = state_new();
    told->newest = state_new();
    told->state = state_new();
    for (; told->at < events->len; told->at++)
        apply(told->state, events->pdata[told->at]);
    return told;
}

void truth_told_free(struct truth_told *told) {
    g_hash_table_destroy(told->view);
    g_hash_table_destroy(told->newest);
    g_hash_table_destroy(told->state);
    g_free(told);
}

static bool same(GHashTable *one, GHashTable *two) {
    GHashTableIter all;
    gpointer node, of;
    if (g_hash_table_size(one) != g_hash_table_size(two))
        return false;
    g_hash_table_iter_init(&all, one);
    while (g_hash_table_iter_next(&all, &node, &of)) {
        const struct known *a = of, *b = g_hash_table_lookup(two, node);
        if (!b || a->token != b->token || a->changed != b->changed || a->session != b->session ||
            strcmp(a->data, b->data) != 0)
            return false;
    }
    return true;
}

/* What the servers had of that node after its change. */
static struct known committed(const pdk_member_info *m) {
    const struct event *found = NULL;
    must(m->status == PDK_OK && m->session != 0, "it is told, and is no member", m->node);
    for (guint i = events->len; i > 0 && !found; i--) {
        const struct event *e = events->pdata[i - 1];
        if (e->zxid == m->changed && e->node && strcmp(e->node, m->node) == 0)
            found = e;
    }
    must(found && m->size == strlen(found->data) && memcmp(m->data, found->data, m->size) == 0,
         "it is told, and never had such a state", m->node);
    return (struct known){m->token, m->changed, m->session, found->data};
}

/* What was told of the node before is older, and it has not left. */
static void remember(struct truth_told *told, const char *node, int64_t changed) {
    const struct known *before = g_hash_table_lookup(told->newest, node);
    must(!before || before->changed < changed, "an older state is told after a newer one", node);
    put(told->newest, node, (struct known){.changed = changed});
}

/* Each difference from the view before is told, once. */
static void take_change(struct truth_told *told, const pdk_member_info *before, const pdk_member_info *after) {
    must(before || after, "a change is told that is none", directory);
    if (before) {
        const struct known *known = g_hash_table_lookup(told->view, before->node);
        must(known && known->changed == before->changed, "it has changed from what it was not", before->node);
        g_hash_table_remove(told->view, before->node);
    }
    if (after) {
        must(!g_hash_table_contains(told->view, after->node), "it joins twice", after->node);
        put(told->view, after->node, committed(after));
    }
    remember(told, after ? after->node : before->node, after ? after->changed : INT64_MAX);
    truth_count.joined += !before;
    truth_count.left += !after;
    truth_count.changed += before && after;
}

void truth_judge(struct truth_told *told, pdk_group_view *view) {
    const pdk_member_info *before, *after;
    g_autoptr(GHashTable) members = state_new();
    must(pdk_group_view_number(view) == ++told->number, "a view has the wrong number", directory);
    for (size_t i = 0; i < pdk_group_view_changes(view); i++) {
        must(pdk_group_view_change(view, i, &before, &after), "a change cannot be read", directory);
        take_change(told, before, after);
    }
    for (size_t i = 0; i < pdk_group_view_count(view); i++) {
        const pdk_member_info *m = pdk_group_view_member(view, i);
        must(i == 0 || pdk_group_view_member(view, i - 1)->token < m->token, "it is not in order", m->node);
        put(members, m->node, committed(m));
    }
    must(same(members, told->view), "the changes do not lead to the view", directory);
    told->exact = pdk_group_view_is_exact(view);
    while (told->exact && !same(told->state, told->view)) {
        must(told->at < events->len, "an exact view is told, which never stood since the one before", directory);
        apply(told->state, events->pdata[told->at++]);
    }
    truth_count.views++;
    truth_count.inexact += !told->exact;
}

bool truth_is_told(const struct truth_told *told) { return told->exact && same(told->view, now_state); }
