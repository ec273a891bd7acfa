#include "session/lists.h"

#include "session/chores.h"
#include "session/commands.h"
#include "session/mirrors.h"
#include "session/ops.h"
#include "session/predecessors.h"
#include "session/protect.h"
#include "session/reap.h"
#include "session/renew.h"
#include "session/unowned.h"

#include <string.h>

/* The pause after a list that could not be sent. */
#define RETRY_NS (20 * PDK__MS)

enum {
    NAMES_IN_FLIGHT = 2000, /* in the lists of one directory, unless one list alone has more */
    LISTS_IN_FLIGHT = 16,   /* of one directory */
    SEEN_AT_ONCE = 40000,   /* names, by as many entries, before other threads get the monitor */
};

/* A directory with waiting entries, or with lists in flight. */
struct directory {
    char *path;
    GPtrArray *waiting; /* entries, with a reference each */
    guint in_flight;
    size_t length; /* of the newest list; before it, the number of our entries, which may all be in it */
    bool renew;
    GList link; /* in s->lists.ready, while `ready` */
    bool ready; /* it has waiting entries, and a list of it may be sent */
};

/* A list in flight. */
struct list {
    char *path;
    GPtrArray *entries;
};

static void unref_entry(gpointer entry) { pdk__entry_unref(entry); }

static void directory_free(gpointer data) {
    struct directory *d = data;
    g_ptr_array_unref(d->waiting);
    g_free(d->path);
    g_free(d);
}

static void retry(pdk_session *s, void *user) {
    (void)user;
    pdk__lists_move(s);
}

void pdk__lists_init(pdk_session *s) {
    s->lists.directories = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, directory_free);
    g_queue_init(&s->lists.ready);
    s->lists.retry = (struct pdk__alarm){.ring = retry};
}

void pdk__lists_free(pdk_session *s) { g_hash_table_destroy(s->lists.directories); }

static struct directory *directory_of(pdk_session *s, const char *path) {
    struct directory *d = g_hash_table_lookup(s->lists.directories, path);
    if (d)
        return d;
    d = g_new0(struct directory, 1);
    d->path = g_strdup(path);
    d->waiting = g_ptr_array_new_with_free_func(unref_entry);
    d->length = s->entries.length;
    d->link.data = d;
    g_hash_table_insert(s->lists.directories, d->path, d);
    return d;
}

static void look_whether_ready(pdk_session *s, struct directory *d) {
    size_t most = 1 + MIN(NAMES_IN_FLIGHT / (d->length + 1), LISTS_IN_FLIGHT - 1);
    bool ready = d->waiting->len > 0 && d->in_flight < most;
    if (ready && !d->ready)
        g_queue_push_tail_link(&s->lists.ready, &d->link);
    else if (!ready && d->ready)
        g_queue_unlink(&s->lists.ready, &d->link);
    d->ready = ready;
}

/* ---- answers */

static void list_free(struct list *list) {
    g_ptr_array_unref(list->entries);
    g_free(list->path);
    g_free(list);
}

/* Count the list as answered. The directory may be forgotten. */
static void list_came(pdk_session *s, const struct list *list, const struct pdk__reply *reply) {
    struct directory *d = g_hash_table_lookup(s->lists.directories, list->path);
    d->in_flight--;
    if (reply->result == PDK__OK)
        d->length = reply->children_count;
    look_whether_ready(s, d);
    if (d->waiting->len == 0 && d->in_flight == 0)
        g_hash_table_remove(s->lists.directories, d->path);
}

static void serve(pdk_session *s, const struct list *list, const struct pdk__reply *reply) {
    size_t count = reply->result == PDK__OK ? reply->children_count : 0;
    struct pdk__child *children = g_new(struct pdk__child, count + 1);
    uint64_t generation = s->generation; /* the handle may go meanwhile */
    size_t slice = pdk__slice(s), at_once = 1 + MIN(SEEN_AT_ONCE / (count + 1), slice - 1);
    pdk__children_parse(children, reply->children, count);
    if (reply->result == PDK__OK || reply->result == PDK__NO_NODE)
        pdk__predecessors_forget_gone(s, list->path, children, count);
    pdk__unowned_leave_out(s, list->path, children, count);
    if (reply->result == PDK__OK)
        pdk__mirrors_listed(s, list->path, children, count);
    for (guint i = 0; i < list->entries->len && generation == s->generation; i++) {
        pdk__entry_listed(g_ptr_array_index(list->entries, i), reply, children);
        if (i % at_once == at_once - 1) /* other threads want the monitor, too */
            pdk__monitor_let_others(&s->monitor);
    }
    g_free(children);
    if (generation == s->generation && reply->result == PDK__OK)
        pdk__reap_orphans(s, list->path, "", reply->children, reply->children_count);
}

static void lists_on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct list *list = user;
    if (reply) {
        list_came(s, list, reply);
        pdk__lists_move(s); /* the server works at the next one meanwhile */
        serve(s, list, reply);
    }
    list_free(list);
}

/* ---- sending */

static bool send_list(pdk_session *s, struct directory *d) {
    struct list *list = g_new(struct list, 1);
    if (d->renew && !pdk__lease_fresh(&s->lease, pdk__now(s)))
        pdk__renew_ahead(s);
    *list = (struct list){d->path, d->waiting};
    struct pdk__request request = {.kind = PDK__OP_LIST, .path = d->path, .stat = pdk__protect_looks(s)};
    if (!pdk__send_now(s, PDK__LANE_OTHERS, request, lists_on_listed, list)) {
        g_free(list);
        return false;
    }
    list->path = g_strdup(d->path); /* its answer needs the monitor */
    d->waiting = g_ptr_array_new_with_free_func(unref_entry);
    d->renew = false;
    d->in_flight++;
    look_whether_ready(s, d);
    return true;
}

void pdk__lists_move(pdk_session *s) {
    pdk__assert_locked(s);
    while (s->link == PDK__LINK_CONNECTED && s->lists.ready.length > 0 && pdk__window_has_list_room(&s->window)) {
        if (!send_list(s, s->lists.ready.head->data)) {
            pdk__alarm_set(s, &s->lists.retry, pdk__now(s) + RETRY_NS);
            return;
        }
    }
}

void pdk__lists_want(struct pdk__entry *entry, bool renew) {
    pdk_session *s = entry->s;
    pdk__assert_locked(s);
    struct directory *d = directory_of(s, entry->dir);
    g_ptr_array_add(d->waiting, pdk__entry_ref(entry));
    d->renew |= renew;
    look_whether_ready(s, d);
    pdk__lists_move(s);
}

void pdk__lists_reset(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__alarm_off(&s->lists.retry);
    g_queue_init(&s->lists.ready);
    g_hash_table_remove_all(s->lists.directories);
}
