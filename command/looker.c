#include "looker.h"

#include "say.h"
#include "status.h"
#include "unanswered.h"
#include "walk.h"
#include "words.h"
#include <string.h>

/* The number of permits stands in the directory of the leases. */
static int32_t read_permits(cmd_walk *walk, const char *path) {
    g_autofree char *leases = cmd_below(path, "leases"), *text = NULL;
    cmd_stat stat;
    guint64 permits = PDK_SEMAPHORE_PERMITS_MAX;
    cmd_wire_ask_data(&walk->wire, leases);
    if (cmd_wire_data(&walk->wire, &text, &stat) == CMD_WIRE_OK)
        (void)g_ascii_string_to_unsigned(text, 10, 1, PDK_SEMAPHORE_PERMITS_MAX, &permits, NULL);
    return (int32_t)permits;
}

/* Find the recipe that works there. Sets looker->permits. CMD_OK, or a result. */
static int find_kind(cmd_looker *looker, const char *path, cmd_kind *kind) {
    cmd_walk walk;
    int code = cmd_walk_start(&walk, looker->settings, path, 0), status = CMD_OK;
    *kind = code == CMD_WIRE_OK ? ((const cmd_place *)g_ptr_array_index(walk.places, 0))->kind : CMD_KIND_NONE;
    if (*kind == CMD_KIND_SEMAPHORE)
        looker->permits = read_permits(&walk, path);
    if (code == CMD_WIRE_BROKEN) {
        cmd_error("%s: %s", path, walk.wire.error);
        status = CMD_UNAVAILABLE;
    }
    cmd_walk_end(&walk);
    return status;
}

int cmd_looker_exists(const cmd_looker *looker, const char *path, bool *exists) {
    cmd_walk walk;
    int code = cmd_walk_start(&walk, looker->settings, path, 0);
    *exists = code != CMD_WIRE_NONODE;
    if (code == CMD_WIRE_BROKEN)
        cmd_error("%s: %s", path, walk.wire.error);
    cmd_walk_end(&walk);
    return code == CMD_WIRE_BROKEN ? CMD_UNAVAILABLE : CMD_OK;
}

static pdk_status open_semaphore(cmd_looker *looker, const char *path) {
    g_autofree char *locks = cmd_below(path, "locks");
    pdk_status status = pdk_semaphore_new(looker->session, path, looker->permits, NULL, &looker->recipe.semaphore);
    return status ? status : pdk_lock_new(looker->session, locks, NULL, &looker->waiting);
}

static pdk_status open_kind(cmd_looker *looker, const char *path, cmd_kind kind) {
    if (kind == CMD_KIND_SEMAPHORE)
        return open_semaphore(looker, path);
    if (kind == CMD_KIND_RWLOCK)
        return pdk_rwlock_new(looker->session, path, NULL, &looker->recipe.rwlock);
    if (kind == CMD_KIND_ELECTION)
        return pdk_election_new(looker->session, path, NULL, &looker->election);
    return pdk_lock_new(looker->session, path, NULL, &looker->recipe.lock);
}

/* By the library's words: "…; why", or without a reason. */
static int say_unanswered(const char *servers) {
    const char *why = strstr(pdk_last_error(), "; ");
    return cmd_say_unanswered(servers, why ? why + strlen("; ") : NULL);
}

int cmd_looker_open(cmd_looker *looker, const cmd_settings *settings, const char *path) {
    pdk_session_options options = cmd_settings_session(settings);
    cmd_kind kind = settings->permits ? CMD_KIND_SEMAPHORE : settings->shared ? CMD_KIND_RWLOCK : CMD_KIND_NONE;
    *looker = (cmd_looker){.settings = settings, .permits = settings->permits};
    pdk_status status = pdk_session_open(settings->servers, &options, &looker->session);
    if (!status && path)
        status = open_kind(looker, path, kind);
    if (status == PDK_UNAVAILABLE && !looker->session)
        return say_unanswered(settings->servers);
    if (status)
        return cmd_explain(looker->session ? NULL : settings->servers, status);
    if (!path || kind != CMD_KIND_NONE)
        return CMD_OK;
    /* The path is fine, as there is a lock now. Does another recipe work there? */
    int found = find_kind(looker, path, &kind);
    if (found != CMD_OK || kind == CMD_KIND_NONE || kind == CMD_KIND_LOCK)
        return found;
    cmd_recipe_close(&looker->recipe);
    looker->recipe = (cmd_recipe){0};
    return cmd_explain(path, open_kind(looker, path, kind));
}

static size_t count_holders(const cmd_looker *looker, const pdk_contenders *list) {
    size_t count = pdk_contenders_count(list), readers = 0;
    if (looker->recipe.semaphore)
        return count;
    while (readers < count && pdk_contenders_is_shared(list, readers))
        readers++;
    return readers ? readers : MIN(count, 1);
}

pdk_status cmd_looker_look(const cmd_looker *looker, cmd_queue *queue) {
    pdk_status status;
    *queue = (cmd_queue){0};
    if (looker->election)
        status = pdk_election_list(looker->election, CMD_LOOK_MS, &queue->list);
    else if (looker->recipe.semaphore)
        status = pdk_semaphore_holders(looker->recipe.semaphore, CMD_LOOK_MS, &queue->list);
    else if (looker->recipe.rwlock)
        status = pdk_rwlock_list(looker->recipe.rwlock, CMD_LOOK_MS, &queue->list);
    else
        status = pdk_lock_list(looker->recipe.lock, CMD_LOOK_MS, &queue->list);
    if (!status && looker->waiting)
        status = pdk_lock_list(looker->waiting, CMD_LOOK_MS, &queue->waiting);
    queue->holders = count_holders(looker, queue->list);
    return status;
}

void cmd_queue_clear(cmd_queue *queue) {
    pdk_contenders_free(queue->list);
    pdk_contenders_free(queue->waiting);
    *queue = (cmd_queue){0};
}

void cmd_looker_close(cmd_looker *looker) {
    cmd_recipe_close(&looker->recipe);
    pdk_election_unref(looker->election);
    pdk_lock_unref(looker->waiting);
    if (looker->session)
        (void)pdk_session_close(looker->session, 2000);
    pdk_session_unref(looker->session);
}
