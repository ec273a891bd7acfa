#include "session/path_stats.h"

#include "base/text.h"
#include "session/blocking.h"
#include "session/options.h"
#include "session/session.h"

static guint row_hash(gconstpointer key) {
    const struct pdk__path_stats *row = key;
    return g_str_hash(row->path) ^ g_str_hash(row->recipe);
}

static gboolean row_equal(gconstpointer a, gconstpointer b) {
    const struct pdk__path_stats *one = a, *other = b;
    return g_str_equal(one->path, other->path) & g_str_equal(one->recipe, other->recipe);
}

static void row_free(void *user) {
    struct pdk__path_stats *row = user;
    g_free(row->path);
    g_free(row);
}

void pdk__path_stats_init(struct pdk__stats *stats, int32_t most) {
    stats->paths_max = (guint)most;
    if (most == 0)
        return;
    stats->paths = g_ptr_array_new_with_free_func(row_free);
    stats->by_path = g_hash_table_new(row_hash, row_equal);
}

void pdk__path_stats_clear(struct pdk__stats *stats) {
    if (stats->paths_max == 0)
        return;
    g_hash_table_destroy(stats->by_path);
    g_ptr_array_unref(stats->paths);
}

static struct pdk__path_stats *make(struct pdk__stats *stats, const char *recipe, const char *path) {
    struct pdk__path_stats *row = g_new0(struct pdk__path_stats, 1);
    *row = (struct pdk__path_stats){PDK_STATS_INIT, recipe, g_strdup(path)};
    g_ptr_array_add(stats->paths, row);
    g_hash_table_add(stats->by_path, row);
    return row;
}

pdk_stats *pdk__path_stats_of(pdk_session *s, const char *recipe, const char *path) {
    pdk__assert_locked(s);
    struct pdk__stats *stats = &s->stats;
    struct pdk__path_stats key = {.recipe = recipe, .path = (char *)path};
    if (stats->paths_max == 0)
        return NULL;
    struct pdk__path_stats *row = g_hash_table_lookup(stats->by_path, &key);
    if (!row && stats->paths->len >= stats->paths_max) {
        key.path = (char *)"";
        row = g_hash_table_lookup(stats->by_path, &key);
    }
    if (!row)
        row = make(stats, recipe, key.path);
    return &row->counts;
}

/* ---- reading */

static size_t path_rows_count(pdk_session *s) {
    pdk__lock(s);
    size_t rows = s->stats.paths_max > 0 ? s->stats.paths->len : 0;
    pdk__unlock(s);
    return rows;
}

static void path_rows_read(void *user, size_t index, pdk_stats *stats, const char **recipe, const char **path) {
    pdk_session *s = user;
    pdk__lock(s);
    const struct pdk__path_stats *row = g_ptr_array_index(s->stats.paths, index);
    *stats = row->counts;
    pdk__unlock(s);
    *recipe = row->recipe;
    *path = row->path;
}

struct pdk__path_rows pdk__path_stats_rows(pdk_session *s) {
    return (struct pdk__path_rows){path_rows_count(s), path_rows_read, s};
}

size_t pdk_session_stats_paths(pdk_session *session) {
    return pdk__check_call(session, "pdk_session_stats_paths", 0) == PDK_OK ? path_rows_count(session) : 0;
}

pdk_status pdk_session_stats_path(pdk_session *session, size_t index, pdk_stats *stats, const char **recipe,
                                  const char **path) {
    static const char call[] = "pdk_session_stats_path";
    pdk_status status = pdk__check_call(session, call, 0);
    if (status != PDK_OK)
        return status;
    size_t rows = path_rows_count(session);
    if (index >= rows)
        return pdk__fail(PDK_INVALID, "%s: index is %zu; there are %zu paths (pdk_session_stats_paths)", call, index,
                         rows);
    pdk_stats all;
    const char *its_recipe, *its_path;
    path_rows_read(session, index, &all, &its_recipe, &its_path);
    status = pdk__stats_give(call, stats, &all);
    if (status != PDK_OK)
        return status;
    if (recipe)
        *recipe = its_recipe;
    if (path)
        *path = its_path;
    return PDK_OK;
}
