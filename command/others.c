#include "others.h"

#include "say.h"
#include "status.h"

enum { OTHERS_MS = 5000 };

static void found(cmd_keeper *k, pdk_status status, pdk_contenders *list, const char *what) {
    k->looks--;
    if (status == PDK_OK && pdk_contenders_count(list) > 0 && !k->others) {
        const char *who = pdk_contenders_identity(list, 0);
        k->others = g_strdup_printf("%s holds %s", *who ? who : "somebody", what);
    }
    pdk_contenders_free(list);
}

static void on_lock(pdk_status status, pdk_contenders *list, void *user) { found(user, status, list, "a lock"); }
static void on_permits(pdk_status status, pdk_contenders *list, void *user) {
    found(user, status, list, "permits (--slots)");
}
static void on_leader(pdk_status status, pdk_contenders *list, void *user) {
    found(user, status, list, "the leadership (elect)");
}

static void look_for_lock(cmd_keeper *k, const char *path) {
    pdk_lock *lock = NULL;
    if (pdk_lock_new(k->session, path, NULL, &lock) == PDK_OK)
        k->looks += pdk_lock_holder_async(lock, OTHERS_MS, on_lock, k) == PDK_OK;
    pdk_lock_unref(lock);
}

static void look_for_permits(cmd_keeper *k, const char *path) {
    pdk_semaphore *semaphore = NULL;
    if (pdk_semaphore_new(k->session, path, 1, NULL, &semaphore) == PDK_OK)
        k->looks += pdk_semaphore_holders_async(semaphore, OTHERS_MS, on_permits, k) == PDK_OK;
    pdk_semaphore_unref(semaphore);
}

static void look_for_leader(cmd_keeper *k, const char *path) {
    pdk_election *election = NULL;
    if (pdk_election_new(k->session, path, NULL, &election) == PDK_OK)
        k->looks += pdk_election_leader_async(election, OTHERS_MS, on_leader, k) == PDK_OK;
    pdk_election_unref(election);
}

/* kazoo's candidates are contenders for a lock. */
static void look(cmd_keeper *k, const char *path) {
    bool kazoo = k->settings->names == PDK_NAMING_KAZOO;
    if (k->settings->permits || (k->elects && !kazoo))
        look_for_lock(k, path);
    if (!k->settings->permits)
        look_for_permits(k, path);
    if (!k->elects || kazoo)
        look_for_leader(k, path);
}

int cmd_others_refuse(cmd_keeper *k) {
    g_clear_pointer(&k->others, g_free);
    for (size_t i = 0; i < cmd_keeper_parts(k); i++)
        if (pdk_hold_is_mixed(cmd_keeper_part(k, i)))
            look(k, cmd_keeper_part_path(k, i));
    while (k->looks > 0 && cmd_keeper_is_valid(k)) {
        int number = 0;
        unsigned saw = cmd_keeper_wait(k, NULL, 0, OTHERS_MS, &number);
        int status = saw & CMD_SAW_SIGNAL ? cmd_keeper_obey(number) : CMD_OK;
        if (status)
            return status;
    }
    if (!k->others)
        return CMD_OK;
    cmd_error("%s: %s there, and that excludes nobody here: give a lock, permits and an election paths of their own",
              k->path, k->others);
    return CMD_UNAVAILABLE; /* the other one may be gone when a unit starts us again */
}
