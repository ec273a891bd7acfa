/* The group. Each thread is a member, and the process is a watcher. A registration is a claim of kind=member. Beside that:
 *
 *     set n=K data=D status=S           its data, NAME/COUNTER, were to be changed. Each join has a name of its own
 *     view w=W number=N exact=E all=TOKEN:CHANGED:SESSION:D,… joined=TOKEN,… left=TOKEN,… altered=TOKEN,…
 *                                       what the W-th watcher of the process was told; - for none
 */
#include "plays.h"

#include <string.h>

enum { SET_PERCENT = 8, SET_MS = 500, LIVES_MS = 10000, NEW_WATCHER_PERCENT = 25, NAME_MAX_BYTES = 128 };

/* All fields but the first three are under the player's mutex. */
typedef struct member {
    actor *c;
    pdk_member *member;
    int thread, joins, counter;  /* counter: of the data, in this join */
    bool leaving, gone;          /* gone: no callback can come any more */
    claim_record *asking, *held; /* being registered; registered */
} member;

struct group {
    member *members; /* one for each thread */
    pdk_group_watcher *watcher;
    int watchers; /* so far */
};

/* ---- the watcher */

typedef struct seen {
    actor *c;
    int number;
} seen;

static void append(GString *line, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void append(GString *line, const char *format, ...) {
    va_list arguments;
    if (line->len > 0)
        g_string_append_c(line, ',');
    va_start(arguments, format);
    g_string_append_vprintf(line, format, arguments);
    va_end(arguments);
}

static const char *or_none(const GString *line) { return line->len > 0 ? line->str : "-"; }

static void on_view(pdk_group_view *view, void *user) {
    const seen *s = user;
    g_autoptr(GString) all = g_string_new(NULL), joined = g_string_new(NULL), left = g_string_new(NULL),
                       altered = g_string_new(NULL);
    for (size_t i = 0; i < pdk_group_view_count(view); i++) {
        const pdk_member_info *one = pdk_group_view_member(view, i);
        g_autofree char *data = g_strndup(one->data, one->size);
        append(all, "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT ":%s", (gint64)one->token,
               (gint64)one->changed, (gint64)one->session, one->status == PDK_OK ? data : pdk_status_name(one->status));
    }
    const pdk_member_info *before, *after;
    for (size_t i = 0; pdk_group_view_change(view, i, &before, &after); i++)
        append(!before  ? joined
               : !after ? left
                        : altered,
               "%" G_GINT64_FORMAT, (gint64)(after ? after->token : before->token));
    event_log_note(s->c->player.log,
                   "view w=%d number=%" G_GUINT64_FORMAT " exact=%d all=%s joined=%s left=%s altered=%s", s->number,
                   (guint64)pdk_group_view_number(view), pdk_group_view_is_exact(view), or_none(all), or_none(joined),
                   or_none(left), or_none(altered));
}

static void watch(actor *c) {
    seen *s = g_new0(seen, 1);
    s->c = c;
    s->number = ++c->group->watchers;
    actor_expect(c, "watch", pdk_group_watch(c->player.session, c->player.path, on_view, s, g_free, &c->group->watcher),
                 PDK_OK);
}

/* ---- the members */

static void on_joined(pdk_hold *hold, void *user) {
    member *one = user;
    actor *c = one->c;
    pthread_mutex_lock(&c->mutex);
    claim_record *record = one->held = record_answered(c, &one->asking, "member");
    pthread_mutex_unlock(&c->mutex);
    record_granted(record, hold);
}

static void on_lost(pdk_reason reason, void *user) {
    member *one = user;
    actor *c = one->c;
    record_over(one->held, reason != PDK_REASON_NONE);
    pthread_mutex_lock(&c->mutex);
    one->held = NULL;
    /* It registers anew when this has returned. */
    one->asking = one->leaving ? NULL : record_new(c, "member", 0, PDK_FOREVER);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static void on_failed(pdk_status status, void *user) {
    const member *one = user;
    actor_expect(one->c, "member", status, PDK_OK);
}

static void on_gone(void *user) {
    member *one = user;
    pthread_mutex_lock(&one->c->mutex);
    one->gone = true;
    pthread_cond_broadcast(&one->c->changed);
    pthread_mutex_unlock(&one->c->mutex);
}

static void next_data(member *one, char data[NAME_MAX_BYTES]) {
    g_snprintf(data, NAME_MAX_BYTES, "%s/%d.%d/%d", one->c->player.identity, one->thread, one->joins, ++one->counter);
}

static void join(member *one) {
    actor *c = one->c;
    char data[NAME_MAX_BYTES];
    pdk_member_callbacks callbacks = PDK_MEMBER_CALLBACKS_INIT;
    callbacks.joined = on_joined;
    callbacks.lost = on_lost;
    callbacks.failed = on_failed;
    callbacks.user = one;
    callbacks.user_free = on_gone;
    pthread_mutex_lock(&c->mutex);
    one->leaving = one->gone = false;
    one->asking = record_new(c, "member", 0, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
    one->joins++;
    one->counter = 0;
    next_data(one, data);
    actor_expect(c, "join",
                 pdk_group_join(c->player.session, c->player.path, data, strlen(data), &callbacks, &one->member),
                 PDK_OK);
}

static void set(member *one, int number) {
    char data[NAME_MAX_BYTES];
    next_data(one, data);
    pdk_status status = pdk_member_set_data(one->member, data, strlen(data), SET_MS);
    event_log_note(one->c->player.log, "set n=%d data=%s status=%s", number, data, pdk_status_name(status));
    actor_expect(one->c, "set", status, PDK_UNAVAILABLE);
}

/* Is there until the order to yield or to rest, or until its time is over. */
static void stay(member *one) {
    actor *c = one->c;
    int most = g_random_int_range(1, LIVES_MS / USE_EVERY_MS);
    pthread_mutex_lock(&c->mutex);
    unsigned yields = c->yields;
    for (int turn = 0; turn < most && !c->resting && c->yields == yields; turn++) {
        int number = one->held ? record_number(one->held) : 0;
        actor_wait(c, USE_EVERY_MS);
        pthread_mutex_unlock(&c->mutex);
        if (number && player_chance(SET_PERCENT))
            set(one, number);
        pthread_mutex_lock(&c->mutex);
    }
    one->leaving = true;
    pthread_mutex_unlock(&c->mutex);
}

static void leave(member *one) {
    actor *c = one->c;
    actor_expect(c, "leave", pdk_member_leave(one->member), PDK_OK);
    pthread_mutex_lock(&c->mutex);
    claim_record *withdrawn = g_steal_pointer(&one->asking);
    pthread_mutex_unlock(&c->mutex);
    if (withdrawn)
        record_failed(withdrawn, PDK_CANCELED);
    pdk_member_unref(one->member);
    pthread_mutex_lock(&c->mutex);
    while (!one->gone)
        actor_wait(c, PDK_FOREVER);
    pthread_mutex_unlock(&c->mutex);
}

/* Another watcher: the first view that it is told stands for all of the views before. */
static void change_watcher(actor *c) {
    pdk_group_watcher_close(c->group->watcher);
    watch(c);
}

bool group_turn(player *p, int thread, void *user) {
    actor *c = user;
    member *one = &c->group->members[thread];
    (void)p;
    join(one);
    stay(one);
    leave(one);
    if (thread == 0 && player_chance(NEW_WATCHER_PERCENT))
        change_watcher(c);
    return true;
}

void group_open(actor *c) {
    c->group = g_new0(struct group, 1);
    c->group->members = g_new0(member, (gsize)c->options.threads);
    for (int i = 0; i < c->options.threads; i++) {
        c->group->members[i].c = c;
        c->group->members[i].thread = i;
    }
    watch(c);
}

void group_close(actor *c) { pdk_group_watcher_close(c->group->watcher); }

void group_free(actor *c) {
    if (c->group)
        g_free(c->group->members);
    g_free(c->group);
}
