/* How much this process and its server use. */
#include "soak.h"

#include <malloc.h>
#include <stdio.h>
#include <ts_clock.h>
#include <ts_fourletter.h>
#include <unistd.h>

enum { REST_MS = 10000 };

static long resident_kib(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    long pages = 0;
    g_assert(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int entries_of(const char *path) {
    GDir *folder = g_dir_open(path, 0, NULL);
    int count = 0;
    g_assert(folder);
    while (g_dir_read_name(folder))
        count++;
    g_dir_close(folder);
    return count;
}

/* The server may still be working on requests that the client knows to be done. */
static bool at_rest(void *user) {
    const struct soak_work *w = user;
    return ts_watch_count(w->address) <= SOAK_DIRECTORIES && ts_ephemeral_count(w->address) == 0;
}

void soak_sample(struct soak_work *w, struct soak_sample *s) {
    pdk_session_flush(w->session, REST_MS);
    pdk_session_flush(w->rival, REST_MS);
    ts_wait_until(at_rest, w, REST_MS);
    struct mallinfo2 heap = mallinfo2();
    *s = (struct soak_sample){
        .resident_kib = resident_kib(),
        .allocated_kib = (long)((heap.uordblks + heap.hblkhd) / 1024),
        .descriptors = entries_of("/proc/self/fd"),
        .threads = entries_of("/proc/self/task"),
        .watches = (int)ts_watch_count(w->address),
        .ephemerals = (int)ts_ephemeral_count(w->address),
    };
}
