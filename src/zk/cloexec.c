#include "zk/cloexec.h"

#include "zk/descriptors.h"

#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *before; /* descriptors that were open */

/* Call visit for each open descriptor that lacks close-on-exec. */
static void each_inherited(void (*visit)(int fd, void *user), void *user) {
    GArray *all = pdk__descriptors();
    for (guint i = 0; all && i < all->len; i++) {
        int fd = g_array_index(all, int, i);
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            visit(fd, user);
    }
    if (all)
        g_array_free(all, TRUE);
}

static void note(int fd, void *set) { g_hash_table_add(set, GINT_TO_POINTER(fd)); }

/* We ask /proc, not the descriptor: another thread may be about to make or close it. */
static bool is_pipe(int fd) {
    char link[32], target[32] = "";
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, target, sizeof target - 1) > 0 && g_str_has_prefix(target, "pipe:");
}

static void collect_new_pipe(int fd, void *ends) {
    if (!g_hash_table_contains(before, GINT_TO_POINTER(fd)) && is_pipe(fd))
        g_array_append_val((GArray *)ends, fd);
}

void pdk__cloexec_begin(void) {
    pthread_mutex_lock(&one_at_a_time);
    before = g_hash_table_new(NULL, NULL);
    each_inherited(note, before);
}

void pdk__cloexec_end(void) {
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(int));
    each_inherited(collect_new_pipe, ends);
    if (ends->len == 2)
        for (guint i = 0; i < 2; i++)
            fcntl(g_array_index(ends, int, i), F_SETFD, FD_CLOEXEC);
    g_array_free(ends, TRUE);
    g_hash_table_destroy(before);
    before = NULL;
    pthread_mutex_unlock(&one_at_a_time);
}

void pdk__cloexec_fork(bool begins) {
    if (begins)
        pthread_mutex_lock(&one_at_a_time);
    else
        pthread_mutex_unlock(&one_at_a_time);
}
