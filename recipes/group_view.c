/* Views of a group: pure data.
 *
 *     told:    a b c d        both by (token, node): oldest first
 *     records: a   c'd e      ──► b left, c changed, e joined
 *
 * A member that was not read again has the same record in both, so a difference is another pointer.
 */
#include "group.h"

#include <string.h>

struct change {
    struct pdk__record *before, *after; /* `before` is a reference: the view of the records may not have it */
};

struct pdk_group_view {
    atomic_uint refs;
    uint64_t number;
    bool exact;
    GPtrArray *records;
    GArray *changes;
};

/* ---- records */

struct pdk__record *pdk__record_new(const char *node, const pdk_member_info *shown) {
    struct pdk__record *record = g_new0(struct pdk__record, 1);
    atomic_init(&record->refs, 1);
    record->shown = *shown;
    record->shown.node = record->node = g_strdup(node);
    record->data = g_memdup2(shown->data, shown->size);
    record->shown.data = shown->size > 0 ? record->data : "";
    return record;
}

struct pdk__record *pdk__record_ref(struct pdk__record *record) {
    atomic_fetch_add(&record->refs, 1);
    return record;
}

void pdk__record_unref(void *of) {
    struct pdk__record *record = of;
    if (!record || atomic_fetch_sub(&record->refs, 1) != 1)
        return;
    g_free(record->node);
    g_free(record->data);
    g_free(record);
}

/* ---- views */

static int compare(const struct pdk__record *a, const struct pdk__record *b) {
    if (a->shown.token != b->shown.token)
        return a->shown.token < b->shown.token ? -1 : 1;
    return strcmp(a->node, b->node);
}

static int compare_in_array(gconstpointer a, gconstpointer b) {
    return compare(*(struct pdk__record *const *)a, *(struct pdk__record *const *)b);
}

static struct pdk__record *at(const GPtrArray *records, guint i) {
    return i < records->len ? g_ptr_array_index(records, i) : NULL;
}

static void note(pdk_group_view *view, struct pdk__record *before, struct pdk__record *after) {
    const struct change change = {before ? pdk__record_ref(before) : NULL, after};
    g_array_append_val(view->changes, change);
}

static void compare_views(pdk_group_view *view, const GPtrArray *old) {
    guint i = 0, j = 0;
    while (i < old->len || j < view->records->len) {
        struct pdk__record *before = at(old, i), *after = at(view->records, j);
        int order = !before ? 1 : !after ? -1 : compare(before, after);
        if (order < 0)
            note(view, before, NULL);
        else if (order > 0)
            note(view, NULL, after);
        else if (before != after)
            note(view, before, after);
        i += order <= 0;
        j += order >= 0;
    }
}

static void clear_change(gpointer of) { pdk__record_unref(((struct change *)of)->before); }

pdk_group_view *pdk__group_view_new(const pdk_group_view *told, GPtrArray *records, bool exact) {
    pdk_group_view *view = g_new0(pdk_group_view, 1);
    GPtrArray *none = g_ptr_array_new();
    atomic_init(&view->refs, 1);
    view->number = told ? told->number + 1 : 1;
    view->exact = exact;
    view->records = records;
    view->changes = g_array_new(FALSE, FALSE, sizeof(struct change));
    g_array_set_clear_func(view->changes, clear_change);
    g_ptr_array_sort(records, compare_in_array);
    compare_views(view, told ? told->records : none);
    g_ptr_array_unref(none);
    if (!told || view->changes->len > 0 || exact != told->exact)
        return view;
    pdk_group_view_unref(view);
    return NULL;
}

pdk_group_view *pdk_group_view_ref(pdk_group_view *view) {
    if (view)
        atomic_fetch_add(&view->refs, 1);
    return view;
}

void pdk_group_view_unref(pdk_group_view *view) {
    if (!view || atomic_fetch_sub(&view->refs, 1) != 1)
        return;
    g_array_unref(view->changes);
    g_ptr_array_unref(view->records);
    g_free(view);
}

uint64_t pdk_group_view_number(const pdk_group_view *view) { return view ? view->number : 0; }
bool pdk_group_view_is_exact(const pdk_group_view *view) { return view && view->exact; }
size_t pdk_group_view_count(const pdk_group_view *view) { return view ? view->records->len : 0; }
size_t pdk_group_view_changes(const pdk_group_view *view) { return view ? view->changes->len : 0; }

const pdk_member_info *pdk_group_view_member(const pdk_group_view *view, size_t index) {
    if (index >= pdk_group_view_count(view))
        return NULL;
    const struct pdk__record *record = g_ptr_array_index(view->records, index);
    return &record->shown;
}

bool pdk_group_view_change(const pdk_group_view *view, size_t index, const pdk_member_info **before,
                           const pdk_member_info **after) {
    if (!before || !after || index >= pdk_group_view_changes(view))
        return false;
    const struct change *change = &g_array_index(view->changes, struct change, index);
    *before = change->before ? &change->before->shown : NULL;
    *after = change->after ? &change->after->shown : NULL;
    return true;
}

size_t pdk_group_data_max(void) { return PDK_GROUP_DATA_MAX; }
