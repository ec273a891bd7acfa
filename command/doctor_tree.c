/* The tree: faults that have to be mended before it is too late. */
#include "chroot.h"
#include "doctor.h"
#include "status.h"
#include "walk.h"
#include <string.h>

enum { AHEAD = 100, SPARE = 1 << 20, MAY_WRITE = 2 | 4 | 8 | 16 };

/* A transaction, and its moment at the leader. */
typedef struct {
    int64_t zxid, ms;
} event;

static int by_zxid(gconstpointer a, gconstpointer b) {
    int64_t one = ((const event *)a)->zxid, other = ((const event *)b)->zxid;
    return (one > other) - (one < other);
}

static void remember(GArray *events, const cmd_stat *stat) {
    event made = {stat->czxid, stat->ctime_ms}, written = {stat->mzxid, stat->mtime_ms};
    g_array_append_val(events, made);
    g_array_append_val(events, written);
}

/* How many children were ever made. The counter is shown as twice that, less the children that are there, in 32
 * bits. */
static uint32_t created(const cmd_stat *stat) { return ((uint32_t)stat->cversion + (uint32_t)stat->children) >> 1; }

static void judge_counter(cmd_doctor *d, const cmd_place *place) {
    uint32_t count = created(&place->stat);
    if (place->last_sequence >= 0 && (uint32_t)place->last_sequence > count)
        count = (uint32_t)place->last_sequence;
    if (count > (uint32_t)INT32_MAX - SPARE)
        cmd_doctor_find(d, "counter", place->path,
                        g_strdup_printf("its sequence numbers are at %u, and end at %d", count, INT32_MAX),
                        "let all leave and delete the directory, or move to another path: docs/operations.md");
}

/* Judge the oldest node of a queue, which has to be somebody's. */
static void judge_first(cmd_doctor *d, const cmd_place *place, const cmd_stat *stat) {
    if (stat->owner == 0)
        cmd_doctor_find(d, "orphan", place->first,
                        g_strdup("it stands in a queue, and is no client's: no session ends it"),
                        "find out who made it, and delete it");
}

static void ask_firsts(cmd_doctor *d, cmd_walk *walk, GArray *events) {
    guint asked = 0;
    for (guint i = 0; i < walk->places->len; i++) {
        for (; asked < walk->places->len && asked < i + AHEAD; asked++) {
            const cmd_place *next = g_ptr_array_index(walk->places, asked);
            if (next->first)
                cmd_wire_ask_data(&walk->wire, next->first);
        }
        const cmd_place *place = g_ptr_array_index(walk->places, i);
        g_autofree char *data = NULL;
        cmd_stat stat;
        if (!place->first || cmd_wire_data(&walk->wire, &data, &stat) != CMD_WIRE_OK)
            continue;
        remember(events, &stat);
        judge_first(d, place, &stat);
    }
}

/* The others that a list lets change a directory, beside the user that asks. */
typedef struct {
    char *own; /* as the server writes the user */
    char *first;
    int32_t others;
} strangers;

static void note_stranger(int32_t permissions, const char *scheme, const char *id, void *user) {
    strangers *found = user;
    bool own = strcmp(scheme, "digest") == 0 && strcmp(id, found->own) == 0;
    if (own || !(permissions & MAY_WRITE))
        return;
    found->others |= permissions;
    if (!found->first)
        found->first = strcmp(scheme, "world") == 0 ? g_strdup("everybody") : g_strdup_printf("%s:%s", scheme, id);
}

/* The user, and base64 of SHA-1 of "user:password". */
static char *own_id(const char *digest) {
    guint8 hash[20];
    gsize size = sizeof hash;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)digest, -1);
    g_checksum_get_digest(sum, hash, &size);
    g_autofree char *base64 = g_base64_encode(hash, size);
    return g_strdup_printf("%.*s:%s", (int)strcspn(digest, ":"), digest, base64);
}

/* Directories in which contenders stand. */
static void ask_acls(cmd_doctor *d, cmd_walk *walk) {
    g_autofree char *own = own_id(d->settings->digest);
    for (guint i = 0; i < walk->places->len; i++) {
        const cmd_place *place = g_ptr_array_index(walk->places, i);
        strangers found = {.own = own};
        cmd_stat stat;
        if (place->last_sequence < 0)
            continue;
        cmd_wire_ask_acl(&walk->wire, place->path);
        if (cmd_wire_acl(&walk->wire, note_stranger, &found, &stat) == CMD_WIRE_OK && found.others)
            cmd_doctor_find(
                d, "open", place->path, g_strdup_printf("%s may delete or make nodes in it", found.first),
                "set its access control list to this user's, and read for others; new ones are made so, and "
                "calls refuse this one (PDK_UNPROTECTED)");
        g_free(found.first);
    }
}

/* The first of the sorted events after this transaction; NULL: there is none. */
static const event *event_after(const GArray *events, int64_t zxid) {
    guint from = 0, to = events->len;
    while (from < to) {
        guint middle = from + (to - from) / 2;
        if (g_array_index(events, event, middle).zxid <= zxid)
            from = middle + 1;
        else
            to = middle;
    }
    return from < events->len ? &g_array_index(events, event, from) : NULL;
}

/* Judge an empty directory by the first transaction after the last child went: when that is long ago, the directory has
 * been empty for even longer. */
static void judge_empty(cmd_doctor *d, const cmd_place *place, const GArray *events) {
    const event *later = event_after(events, place->stat.pzxid);
    if (place->stat.children || place->stat.cversion == 0 || place->stat.owner || strcmp(place->path, "/") == 0)
        return;
    int64_t empty_ms = later ? d->server_now_ms - later->ms : 0;
    if (empty_ms > d->idle_ms)
        cmd_doctor_find(d, "container", place->path,
                        g_strdup_printf("it had children, has been empty for %" G_GINT64_FORMAT
                                        " s, and is still there",
                                        (gint64)(empty_ms / 1000)),
                        "if it is a lock's, it is no container: delete it, and the next lock makes it anew as one");
}

static void judge_recipes(cmd_doctor *d, const cmd_place *place) {
    if (place->mixed)
        cmd_doctor_find(d, "mixed", place->path,
                        g_strdup_printf("%s stand here, and do not exclude each other", place->mixed),
                        "give a lock, permits and an election paths of their own");
    if (place->curator && place->kazoo)
        cmd_doctor_find(
            d, "names", place->path,
            g_strdup("nodes with Curator's names and with kazoo's stand in one queue: stock kazoo and stock "
                     "Curator do not wait for each other"),
            "choose one for the path: --naming, or the option naming");
}

/* Directories that may not be listed hide what is below them. One line tells of all. */
static void judge_hidden(cmd_doctor *d, const cmd_walk *walk) {
    const char *first = NULL;
    guint more = 0;
    for (guint i = 0; i < walk->places->len; i++) {
        const cmd_place *place = g_ptr_array_index(walk->places, i);
        if (place->code != CMD_WIRE_NOAUTH)
            continue;
        more += first != NULL;
        first = first ? first : place->path;
    }
    if (!first)
        return;
    g_autofree char *others = more ? g_strdup_printf(", and so may %u more", more) : g_strdup("");
    cmd_doctor_find(d, "hidden", first, g_strdup_printf("it may not be listed%s: nothing below was looked at", others),
                    "ask with the credentials of its user: --digest-file");
}

bool cmd_doctor_chroot(cmd_doctor *d) {
    g_autofree char *error = NULL;
    if (cmd_chroot_look(d->settings, &d->names, &error) != CMD_WIRE_NONODE)
        return true;
    g_autofree char *fix = g_strdup_printf(
        "look at -s, since locks of a mistyped chroot exclude nobody; or make it once: zkCli.sh create %s",
        d->names.chroot);
    cmd_doctor_find(d, "chroot", d->names.chroot,
                    g_strdup("the chroot is missing: nothing is below it, and no clock was looked at"), fix);
    return false;
}

void cmd_doctor_tree(cmd_doctor *d) {
    cmd_walk walk;
    int code = cmd_walk_start(&walk, d->settings, d->path, CMD_WALK_ALL);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(event));
    if (code == CMD_WIRE_OK) {
        ask_firsts(d, &walk, events);
        if (d->settings->digest)
            ask_acls(d, &walk);
        for (guint i = 0; i < walk.places->len; i++)
            remember(events, &((cmd_place *)g_ptr_array_index(walk.places, i))->stat);
        g_array_sort(events, by_zxid);
        for (guint i = 0; i < walk.places->len; i++) {
            const cmd_place *place = g_ptr_array_index(walk.places, i);
            if (place->code)
                continue;
            judge_counter(d, place);
            judge_recipes(d, place);
            if (d->timed)
                judge_empty(d, place, events);
        }
        judge_hidden(d, &walk);
        if (!walk.complete)
            cmd_doctor_find(d, "large", d->path,
                            g_strdup_printf("more than %d nodes; the rest was not looked at", CMD_WALK_MOST),
                            "ask for a longer path");
    } else {
        cmd_doctor_find(d, "path", d->path, g_strdup(walk.wire.error), "look at the path, and at the credentials");
    }
    cmd_walk_end(&walk);
}
