#include "others.h"

#include "place.h"
#include "say.h"
#include "status.h"
#include <signal.h>

enum { OTHERS_MS = 5000 };

/* ---- the answers
 *
 * Of two at least one sees the other, since each makes its node first, and looks then. A lock and a leader have
 * one node. Permits have a place in line first, and leave it once they have their own nodes: so a look goes to the line,
 * and then to the permits. */

static void found(cmd_keeper *k, pdk_status status, pdk_contenders *list, const char *what) {
    k->looks--;
    if (status != PDK_OK)
        k->looked = false;
    k->unanswered = k->unanswered || status == PDK_UNAVAILABLE || status == PDK_TIMEOUT;
    if (status == PDK_OK && pdk_contenders_count(list) > 0 && !k->others) {
        const char *who = pdk_contenders_identity(list, 0);
        k->others = g_strdup_printf("%s holds %s", *who ? who : "somebody", what);
    }
    /* The list behind our own node has shown others then. A claim for permits takes no list of the path. So there it may
     * be the list that is refused, which says nothing of others. */
    if (status == PDK_NO_PERMISSION && !k->settings->permits && !k->others)
        k->others =
            g_strdup_printf("somebody, who may not be seen (an access control list forbids it), holds %s", what);
    pdk_contenders_free(list);
}

static void on_lock(pdk_status status, pdk_contenders *list, void *user) { found(user, status, list, "a lock"); }
static void on_permits(pdk_status status, pdk_contenders *list, void *user) {
    found(user, status, list, "permits (--slots)");
}
static void on_leader(pdk_status status, pdk_contenders *list, void *user) {
    found(user, status, list, "the leadership (elect)");
}

/* ---- the questions */

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

typedef struct {
    cmd_keeper *k;
    char *path;
} line;

static void on_line(pdk_status status, pdk_contenders *list, void *user) {
    g_autofree line *l = user;
    g_autofree char *path = l->path;
    bool empty = pdk_contenders_count(list) == 0;
    if (empty)
        look_for_permits(l->k, path);
    found(l->k, status, list, "a place in line for permits (--slots)");
}

static void look_for_line(cmd_keeper *k, const char *path) {
    g_autofree char *locks = cmd_below(path, "locks");
    pdk_lock *lock = NULL;
    line *l = g_new(line, 1);
    *l = (line){k, g_strdup(path)};
    bool asked = pdk_lock_new(k->session, locks, NULL, &lock) == PDK_OK &&
                 pdk_lock_holder_async(lock, OTHERS_MS, on_line, l) == PDK_OK;
    k->looks += asked;
    if (!asked) {
        g_free(l->path);
        g_free(l);
    }
    pdk_lock_unref(lock);
}

/* kazoo's candidates are contenders for a lock. */
static void look(cmd_keeper *k, const char *path) {
    bool kazoo = k->settings->names == PDK_NAMING_KAZOO;
    if (k->settings->permits || (k->elects && !kazoo))
        look_for_lock(k, path);
    if (!k->settings->permits)
        look_for_line(k, path);
    if (!k->elects || kazoo)
        look_for_leader(k, path);
}

/* ---- when */

static void look_everywhere(cmd_keeper *k) {
    g_clear_pointer(&k->others, g_free);
    k->unanswered = false;
    for (size_t i = 0; i < cmd_keeper_parts(k); i++)
        if (pdk_hold_is_mixed(cmd_keeper_part(k, i)))
            look(k, cmd_keeper_part_path(k, i));
}

/* A stop would keep what is held from everybody. */
static int obey_holding(const cmd_keeper *k, int number) {
    if (number != SIGTSTP)
        return cmd_keeper_obey(number);
    cmd_error("Ctrl-Z is refused: %s is held, and a program that stands still cannot keep it; Ctrl-C releases it",
              k->path);
    return CMD_OK;
}

/* CMD_OK, or the result of a signal. */
static int await_looks(cmd_keeper *k) {
    while (k->looks > 0 && cmd_keeper_is_valid(k)) {
        int number = 0;
        unsigned saw = cmd_keeper_wait(k, NULL, 0, OTHERS_MS, &number);
        int status = saw & CMD_SAW_SIGNAL ? obey_holding(k, number) : CMD_OK;
        if (status)
            return status;
    }
    return CMD_OK;
}

/* No answer does not mean that nobody is there. So it is asked again, for as long as the hold stands. */
static int look_until_answered(cmd_keeper *k) {
    int status;
    do {
        look_everywhere(k);
        status = await_looks(k);
    } while (status == CMD_OK && k->unanswered && !k->others && cmd_keeper_is_valid(k));
    return status;
}

void cmd_others_look_ahead(cmd_keeper *k) {
    if (!k->settings->permits || k->count != 1)
        return;
    k->looked = true;
    look(k, k->path);
}

int cmd_others_refuse(cmd_keeper *k) {
    bool ahead = k->looked;
    int status = ahead ? await_looks(k) : look_until_answered(k);
    if (status == CMD_OK && ahead && (k->others || !k->looked)) /* they may have gone while we waited */
        status = look_until_answered(k);
    if (status || !k->others)
        return status;
    cmd_error("%s: %s there, and that excludes nobody here: give a lock, permits and an election paths of their own",
              k->path, k->others);
    return CMD_UNAVAILABLE; /* the other one may be gone when a unit starts us again */
}
