#include "walk.h"

#include "say.h"
#include "status.h"
#include "unanswered.h"
#include <string.h>

enum { AHEAD = 100 }; /* questions that are in flight */
/* The longest path that is looked at: a server could go deeper and deeper. */
enum { PATH_MOST = 2048 };

int cmd_walk_check_path(const char *verb, const char *path) {
    size_t length = strlen(path);
    bool good = path[0] == '/' && (length == 1 || path[length - 1] != '/') && !strstr(path, "//") &&
                g_utf8_validate(path, -1, NULL);
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    for (char **part = parts; *part; part++)
        good = good && strcmp(*part, ".") != 0 && strcmp(*part, "..") != 0;
    for (const char *c = path; *c; c++)
        good = good && (guchar)*c >= 0x20 && *c != 0x7f;
    if (!good)
        cmd_error("%s: %s: an absolute path is needed, as /locks/orders, with no empty, \".\" or \"..\" part", verb,
                  path);
    return good ? CMD_OK : CMD_USAGE;
}

static cmd_place *add(cmd_walk *walk, const char *path, const char *name, guint depth) {
    g_autofree char *below = cmd_below(path, name);
    cmd_place *place = cmd_place_new(below, depth);
    g_ptr_array_add(walk->places, place);
    return place;
}

static bool has_name(const GPtrArray *names, const char *wanted) {
    for (guint i = 0; i < names->len; i++)
        if (strcmp(g_ptr_array_index(names, i), wanted) == 0)
            return true;
    return false;
}

/* Look at its directories, too; at the directories of a possible semaphore in any case. */
static void descend(cmd_walk *walk, guint index, const GPtrArray *names, guint depth) {
    cmd_place *place = g_ptr_array_index(walk->places, index);
    bool semaphore = has_name(names, "leases") && has_name(names, "locks");
    bool root = strcmp(place->path, "/") == 0 && !*walk->servers.chroot;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        bool leases = semaphore && strcmp(name, "leases") == 0, locks = semaphore && strcmp(name, "locks") == 0;
        if (cmd_is_contender(name) || (root && strcmp(name, "zookeeper") == 0))
            continue;
        if (place->depth >= depth && !leases && !locks)
            continue;
        if (walk->places->len >= CMD_WALK_MOST || strlen(place->path) + 1 + strlen(name) > PATH_MOST) {
            walk->complete = false;
            return;
        }
        if (leases)
            place->leases = walk->places->len;
        if (locks)
            place->locks = walk->places->len;
        cmd_place *child = add(walk, place->path, name, place->depth + 1);
        child->part = place->depth >= depth; /* unless it turns out to be the half of a semaphore */
    }
}

/* Two directories that make a semaphore become one place. */
static void join(const cmd_walk *walk, cmd_place *place) {
    cmd_place *leases = g_ptr_array_index(walk->places, place->leases);
    cmd_place *locks = g_ptr_array_index(walk->places, place->locks);
    bool fits = place->kind == CMD_KIND_NONE && leases->nodes == 0 && locks->nodes == 0 &&
                (leases->kind == CMD_KIND_SEMAPHORE || leases->kind == CMD_KIND_NONE) &&
                (locks->kind == CMD_KIND_LOCK || locks->kind == CMD_KIND_NONE) && leases->kind + locks->kind > 0;
    if (place->kind != CMD_KIND_NONE && leases->kind == CMD_KIND_SEMAPHORE)
        place->mixed = "holders of permits and contenders for something else";
    if (!fits)
        return;
    place->kind = CMD_KIND_SEMAPHORE;
    place->holders = leases->holders;
    place->waiters = locks->holders + locks->waiters;
    place->first = g_steal_pointer(&leases->first);
    leases->part = locks->part = true;
}

static int walk_all(cmd_walk *walk, guint depth) {
    guint asked = 0;
    for (guint i = 0; i < walk->places->len; i++) {
        for (; asked < walk->places->len && asked < i + AHEAD; asked++)
            cmd_wire_ask_children(&walk->wire, ((cmd_place *)g_ptr_array_index(walk->places, asked))->path);
        g_autoptr(GPtrArray) names = NULL;
        cmd_place *place = g_ptr_array_index(walk->places, i);
        place->code = cmd_wire_children(&walk->wire, &names, &place->stat);
        if (place->code == CMD_WIRE_BROKEN)
            return CMD_WIRE_BROKEN;
        walk->unread += place->code != CMD_WIRE_OK && place->code != CMD_WIRE_NONODE;
        cmd_place_judge(place, names);
        descend(walk, i, names, depth);
    }
    for (guint i = 0; i < walk->places->len; i++) {
        cmd_place *place = g_ptr_array_index(walk->places, i);
        if (place->leases && place->locks)
            join(walk, place);
    }
    return ((cmd_place *)g_ptr_array_index(walk->places, 0))->code;
}

static int walk_from(cmd_walk *walk, const char *path, guint depth) {
    g_ptr_array_add(walk->places, cmd_place_new(path, 0));
    return walk_all(walk, depth);
}

bool cmd_walk_saw_all(const cmd_walk *walk) { return walk->complete && walk->unread == 0; }

int cmd_walk_start(cmd_walk *walk, const cmd_settings *settings, const char *path, guint depth) {
    *walk = (cmd_walk){
        .places = g_ptr_array_new_with_free_func(cmd_place_free), .token_base = settings->token_base, .complete = true};
    cmd_servers_parse(&walk->servers, settings->servers);
    int code = cmd_wire_open_any(&walk->wire, &walk->servers, settings->digest, settings->connect_timeout_ms);
    return code == CMD_WIRE_OK ? walk_from(walk, path, depth) : code;
}

int cmd_walk_again(cmd_walk *walk, const cmd_settings *settings, const char *path, guint depth) {
    g_ptr_array_set_size(walk->places, 0);
    walk->complete = true;
    walk->unread = 0;
    int code = walk->wire.socket >= 0 ? walk_from(walk, path, depth) : CMD_WIRE_BROKEN;
    if (code != CMD_WIRE_BROKEN)
        return code;
    cmd_walk_end(walk); /* the server has gone, or has ended a session that was silent for long */
    return cmd_walk_start(walk, settings, path, depth);
}

int cmd_walk_begin(cmd_walk *walk, const cmd_settings *settings, const char *path, guint depth) {
    int code = cmd_walk_start(walk, settings, path, depth);
    if (code == CMD_WIRE_OK) {
        if (!walk->complete)
            cmd_error("%s: more than %d nodes; the rest is not shown: give a longer path", path, CMD_WALK_MOST);
        if (walk->unread > 0)
            cmd_error("%s: %u of the nodes may not be listed, and what is below them is not shown: give the "
                      "credentials (--digest-file)",
                      path, walk->unread);
        return CMD_OK;
    }
    if (code == CMD_WIRE_NONODE) {
        cmd_error("%s: there is no such node; look at the path, and at the chroot of -s", path);
        return CMD_NOT;
    }
    if (code == CMD_WIRE_BROKEN && walk->places->len == 0)
        return cmd_say_unanswered(settings->servers, walk->wire.error);
    bool denied = code == CMD_WIRE_NOAUTH || code == CMD_WIRE_DEMANDS_AUTH;
    cmd_error("%s: %s%s", walk->places->len ? path : settings->servers, denied ? "permission denied: " : "",
              walk->wire.error);
    return denied ? CMD_DENIED : CMD_UNAVAILABLE;
}

void cmd_walk_end(cmd_walk *walk) {
    cmd_wire_close(&walk->wire);
    cmd_servers_clear(&walk->servers);
    g_ptr_array_unref(walk->places);
}

bool cmd_walk_shows(const cmd_place *place) { return !place->part && place->code != CMD_WIRE_NONODE; }
