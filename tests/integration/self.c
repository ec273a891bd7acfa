/* See self.h. */
#include "self.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ts_clock.h"

static GHashTable *numbers_in(const char *directory) {
    GHashTable *found = g_hash_table_new(NULL, NULL);
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
            g_hash_table_add(found, GINT_TO_POINTER(atoi(entry->d_name)));
    if (dir)
        closedir(dir);
    return found;
}

GHashTable *self_threads(void) { return numbers_in("/proc/self/task"); }

int self_thread_count(void) {
    GHashTable *threads = self_threads();
    int count = (int)g_hash_table_size(threads);
    g_hash_table_unref(threads);
    return count;
}

static bool few_enough(void *count) { return self_thread_count() <= *(int *)count; }

bool self_wait_threads(int count, int64_t timeout_ms) { return ts_wait_until(few_enough, &count, timeout_ms); }

/* Every signal but those that cannot be blocked, those of a fault, and the two that the C library uses itself. */
static uint64_t from_outside(void) {
    static const char of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, 0};
    uint64_t all = 0;
    for (int number = 1; number <= SIGRTMAX; number++)
        if (number != SIGKILL && number != SIGSTOP && !strchr(of_faults, number) && (number < 32 || number >= SIGRTMIN))
            all |= UINT64_C(1) << (number - 1);
    return all;
}

static char *field_of(const char *status, const char *name) {
    const char *at = strstr(status, name);
    return at ? g_strndup(at + strlen(name), strcspn(at + strlen(name), "\n")) : g_strdup("");
}

char *self_threads_open_to_signals(GHashTable *before, int *found) {
    GString *open = g_string_new(NULL);
    GHashTable *now = self_threads();
    GHashTableIter iter;
    gpointer id;
    *found = 0;
    g_hash_table_iter_init(&iter, now);
    while (g_hash_table_iter_next(&iter, &id, NULL)) {
        g_autofree char *path = g_strdup_printf("/proc/self/task/%d/status", GPOINTER_TO_INT(id));
        g_autofree char *status = NULL;
        if (g_hash_table_contains(before, id) || !g_file_get_contents(path, &status, NULL, NULL))
            continue;
        g_autofree char *name = field_of(status, "Name:\t");
        g_autofree char *mask = field_of(status, "SigBlk:\t");
        (*found)++;
        if ((from_outside() & ~g_ascii_strtoull(mask, NULL, 16)) != 0)
            g_string_append_printf(open, "%s: %s ", name, mask);
    }
    g_hash_table_unref(now);
    return g_string_free(open, FALSE);
}

int self_descriptor_count(void) {
    GHashTable *open = numbers_in("/proc/self/fd");
    int count = (int)g_hash_table_size(open);
    g_hash_table_unref(open);
    return count;
}

static gboolean is_closed_on_exec(gpointer fd, gpointer value, gpointer user) {
    int flags = fcntl(GPOINTER_TO_INT(fd), F_GETFD);
    (void)value;
    (void)user;
    return flags < 0 || (flags & FD_CLOEXEC) != 0;
}

GHashTable *self_inheritable(void) {
    GHashTable *found = numbers_in("/proc/self/fd");
    g_hash_table_foreach_remove(found, is_closed_on_exec, NULL);
    return found;
}

char *self_new_inheritable(GHashTable *before) {
    GString *fresh = g_string_new(NULL);
    GHashTable *now = self_inheritable();
    GHashTableIter iter;
    gpointer fd;
    g_hash_table_iter_init(&iter, now);
    while (g_hash_table_iter_next(&iter, &fd, NULL)) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", GPOINTER_TO_INT(fd));
        char target[256] = "";
        if (!g_hash_table_contains(before, fd) && readlink(path, target, sizeof target - 1) > 0)
            g_string_append_printf(fresh, "%d: %s ", GPOINTER_TO_INT(fd), target);
    }
    g_hash_table_unref(now);
    return g_string_free(fresh, FALSE);
}
