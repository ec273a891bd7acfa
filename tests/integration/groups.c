#include "groups.h"

#include <pthread.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_support.h"

/* ---- members */

static void drop_member(void *member) { pdk_member_unref(member); }
static void drop_hold(void *hold) { pdk_hold_unref(hold); }

static pdk_member *join(const ts_client *client, const char *path, const char *text,
                        const pdk_member_callbacks *callbacks) {
    pdk_member *member = NULL;
    const pdk_status status = pdk_group_join(client->session, path, text, strlen(text), callbacks, &member);

    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(member, drop_member);
    return member;
}

pdk_member *member_join(const ts_client *client, const char *path, const char *text) {
    return join(client, path, text, NULL);
}

pdk_member *member_join_recorded(const ts_client *client, const char *path, const char *text, record *r) {
    pdk_election_callbacks recorded = PDK_ELECTION_CALLBACKS_INIT;
    pdk_member_callbacks callbacks = PDK_MEMBER_CALLBACKS_INIT;
    record_callbacks(r, &recorded);
    callbacks.joined = recorded.elected;
    callbacks.lost = recorded.deposed;
    callbacks.failed = recorded.failed;
    callbacks.user = recorded.user;
    callbacks.user_free = record_freed;
    return join(client, path, text, &callbacks);
}

pdk_hold *member_hold(pdk_member *member) {
    pdk_hold *hold = NULL;
    const pdk_status status = pdk_member_wait(member, ts_patience(8000), &hold);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ts_paddock_keep(hold, drop_hold);
    return hold;
}

pdk_member *member_joined(const ts_client *client, const char *path, const char *text) {
    pdk_member *member = member_join(client, path, text);
    member_hold(member);
    return member;
}

/* ---- watches */

struct watch {
    pthread_mutex_t mutex;      /* not GLib's, which ThreadSanitizer does not know */
    pdk_group_watcher *watcher; /* NULL: stopped */
    GPtrArray *views;
    GHashTable *left; /* tokens of those who were there and have left */
    char *problem;
    int freed;
    void (*act)(watch *w, void *user);
    void *act_user;
};

static void find(watch *w, const char *what, const pdk_group_view *view) {
    if (!w->problem)
        w->problem = g_strdup_printf("%s in view %" G_GUINT64_FORMAT, what, pdk_group_view_number(view));
}

static bool has(const pdk_group_view *view, const pdk_member_info *member) {
    for (size_t i = 0; i < pdk_group_view_count(view); i++)
        if (pdk_group_view_member(view, i) == member)
            return true;
    return false;
}

/* The differences take the view before to this one. */
static void judge_changes(watch *w, const pdk_group_view *before, const pdk_group_view *view) {
    const pdk_member_info *was, *is;
    size_t count = pdk_group_view_count(before);
    for (size_t i = 0; pdk_group_view_change(view, i, &was, &is); i++) {
        if ((!was && !is) || (was && !has(before, was)) || (is && !has(view, is)))
            find(w, "a change of somebody else", view);
        if (was && is && (was->token != is->token || is->changed <= was->changed))
            find(w, "older data", view);
        if (was && !is)
            g_hash_table_add(w->left, g_memdup2(&was->token, sizeof was->token));
        if (!was && is && is->token != 0 && g_hash_table_contains(w->left, &is->token))
            find(w, "a ghost", view);
        count = count + (was == NULL) - (is == NULL);
    }
    if (count != pdk_group_view_count(view))
        find(w, "a change that was not told", view);
}

static void judge(watch *w, const pdk_group_view *view) {
    const pdk_group_view *before = w->views->len > 0 ? g_ptr_array_index(w->views, w->views->len - 1) : NULL;
    if (pdk_group_view_number(view) != w->views->len + 1)
        find(w, "another number", view);
    for (size_t i = 1; i < pdk_group_view_count(view); i++)
        if (pdk_group_view_member(view, i)->token < pdk_group_view_member(view, i - 1)->token)
            find(w, "a member before an older one", view);
    judge_changes(w, before, view);
}

static void on_view(pdk_group_view *view, void *user) {
    watch *w = user;
    pthread_mutex_lock(&w->mutex);
    judge(w, view);
    g_ptr_array_add(w->views, pdk_group_view_ref(view));
    void (*act)(watch *, void *) = w->act;
    void *act_user = w->act_user;
    pthread_mutex_unlock(&w->mutex);
    if (act)
        act(w, act_user);
}

static void on_free(void *user) {
    watch *w = user;
    pthread_mutex_lock(&w->mutex);
    w->freed++;
    pthread_mutex_unlock(&w->mutex);
}

static void watch_free(void *what) {
    watch *w = what;
    g_ptr_array_unref(w->views);
    g_hash_table_destroy(w->left);
    g_free(w->problem);
    pthread_mutex_destroy(&w->mutex);
    g_free(w);
}

static void stop_kept(void *w) {
    watch_stop(w);
    watch_free(w);
}

static void drop_view(void *view) { pdk_group_view_unref(view); }

watch *watch_begin(const ts_client *client, const char *path) {
    watch *w = g_new0(watch, 1);
    pthread_mutex_init(&w->mutex, NULL);
    w->views = g_ptr_array_new_with_free_func(drop_view);
    w->left = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    ts_paddock_keep(w, stop_kept);
    ck_assert_int_eq(pdk_group_watch(client->session, path, on_view, w, on_free, &w->watcher), PDK_OK);
    return w;
}

void watch_act(watch *w, void (*act)(watch *w, void *user), void *user) {
    pthread_mutex_lock(&w->mutex);
    w->act_user = user;
    w->act = act;
    pthread_mutex_unlock(&w->mutex);
}

void watch_stop(watch *w) { pdk_group_watcher_close(g_steal_pointer(&w->watcher)); }

int watch_views(watch *w) {
    pthread_mutex_lock(&w->mutex);
    const int views = (int)w->views->len;
    pthread_mutex_unlock(&w->mutex);
    return views;
}

int watch_freed(watch *w) {
    pthread_mutex_lock(&w->mutex);
    const int freed = w->freed;
    pthread_mutex_unlock(&w->mutex);
    return freed;
}

pdk_group_view *watch_newest(watch *w) {
    pthread_mutex_lock(&w->mutex);
    pdk_group_view *view = w->views->len > 0 ? g_ptr_array_index(w->views, w->views->len - 1) : NULL;
    pthread_mutex_unlock(&w->mutex);
    return view;
}

const char *watch_problem(watch *w) {
    pthread_mutex_lock(&w->mutex);
    const char *problem = w->problem ? w->problem : "";
    pthread_mutex_unlock(&w->mutex);
    return problem;
}

char *watch_text(watch *w) {
    const pdk_group_view *view = watch_newest(w);
    GString *text = g_string_new(view ? NULL : "-");
    for (size_t i = 0; i < pdk_group_view_count(view); i++) {
        const pdk_member_info *member = pdk_group_view_member(view, i);
        if (i > 0)
            g_string_append_c(text, ',');
        if (member->status == PDK_OK)
            g_string_append_len(text, member->data, (gssize)member->size);
        else
            g_string_append_printf(text, "!%s", pdk_status_name(member->status) + strlen("PDK_"));
    }
    return g_string_free(text, FALSE);
}

struct awaited {
    watch *w;
    const char *text;
    size_t count;
};

static bool has_text(void *user) {
    const struct awaited *awaited = user;
    g_autofree char *text = watch_text(awaited->w);
    return strcmp(text, awaited->text) == 0 && pdk_group_view_is_exact(watch_newest(awaited->w));
}

static bool has_count(void *user) {
    const struct awaited *awaited = user;
    const pdk_group_view *view = watch_newest(awaited->w);
    return view && pdk_group_view_count(view) == awaited->count;
}

bool watch_wait(watch *w, const char *text, int64_t timeout_ms) {
    return ts_wait_until(has_text, &(struct awaited){.w = w, .text = text}, timeout_ms);
}

bool watch_wait_count(watch *w, size_t count, int64_t timeout_ms) {
    return ts_wait_until(has_count, &(struct awaited){.w = w, .count = count}, timeout_ms);
}
