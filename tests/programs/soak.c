/*
 * Many acquisitions of every kind in one process. At the end nothing has grown: memory, descriptors, threads, and what
 * the server keeps for us. The work is done in 20 equal slices after a warm-up. A sample is taken after each, at rest.
 *
 * The rule: descriptors, threads and ephemeral nodes are the same in every sample. No watch is left but those on
 * directories, which go with the directories. The largest memory of the last quarter exceeds the largest of the first by no more than 1 MiB, resident, and by no more than 40 KiB, allocated.
 */
#include "soak.h"

#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>
#include <ts_ensemble.h>

enum { SLICES = 20, QUARTER = SLICES / 4, WARM_UP = 2, RESIDENT_KIB = 1024, ALLOCATED_KIB = 40 };

static int cycles = 100000, handovers = 1000000;
static gboolean quick;
static const GOptionEntry entries[] = {
    {"cycles", 0, 0, G_OPTION_ARG_INT, &cycles, "acquisitions with a znode of their own (100000)", "N"},
    {"handovers", 0, 0, G_OPTION_ARG_INT, &handovers, "hand-overs between threads (1000000)", "N"},
    {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "4000 and 40000", NULL},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

static void print_sample(int slice, const struct soak_work *work, const struct soak_sample *s) {
    if (slice == 0)
        printf("%5s %9s %10s %12s %13s %5s %8s %8s %11s %7s\n", "slice", "cycles", "hand-overs", "resident KiB",
               "allocated KiB", "fds", "threads", "watches", "ephemerals", "s");
    printf("%5d %9ld %10ld %12ld %13ld %5d %8d %8d %11d %7.1f\n", slice, work->cycles, work->handovers, s->resident_kib,
           s->allocated_kib, s->descriptors, s->threads, s->watches, s->ephemerals, s->seconds);
    fflush(stdout);
}

static long largest(const struct soak_sample *samples, bool resident) {
    long most = 0;
    for (int i = 0; i < QUARTER; i++)
        most = MAX(most, resident ? samples[i].resident_kib : samples[i].allocated_kib);
    return most;
}

static bool grew(const struct soak_sample samples[SLICES], bool resident, long allowed_kib) {
    long growth = largest(samples + SLICES - QUARTER, resident) - largest(samples, resident);
    printf("%s memory, last quarter's largest against the first's: %+ld KiB of %ld allowed\n",
           resident ? "resident" : "allocated", growth, allowed_kib);
    return growth > allowed_kib;
}

static bool is_flat(const struct soak_sample samples[SLICES]) {
    bool flat = true;
    for (int i = 1; i < SLICES; i++) {
        const struct soak_sample *a = &samples[0], *b = &samples[i];
        bool same = a->descriptors == b->descriptors && a->threads == b->threads && a->ephemerals == b->ephemerals &&
                    b->watches <= SOAK_DIRECTORIES;
        if (!same)
            printf("slice %d: descriptors, threads or ephemerals are not what they were, or watches too many\n", i);
        flat = flat && same;
    }
    if (samples[0].watches > SOAK_DIRECTORIES || samples[0].ephemerals != 0) {
        printf("watches or ephemerals of ours are left at the server\n");
        flat = false;
    }
    return flat;
}

static bool soak(ts_ensemble *ensemble) {
    struct soak_work work = {.address = ts_ensemble_host(ensemble, 0)};
    struct soak_sample samples[SLICES];
    soak_open(&work);
    for (int i = 0; i < WARM_UP; i++)
        soak_slice(&work, cycles / SLICES, handovers / SLICES);
    work.cycles = work.handovers = 0;
    for (int i = 0; i < SLICES; i++) {
        int64_t begin = ts_now_ms();
        soak_slice(&work, cycles / SLICES, handovers / SLICES);
        soak_sample(&work, &samples[i]);
        samples[i].seconds = (double)(ts_now_ms() - begin) / 1000;
        print_sample(i, &work, &samples[i]);
    }
    printf("in all, warm-up aside: %ld cycles (of them %ld cancelled, %ld timed out, %ld dropped with their lock), %ld "
           "tries "
           "that found it busy, %ld hand-overs\n",
           work.cycles, work.cancelled, work.timed_out, work.dropped, work.busy, work.handovers);
    soak_close(&work);
    bool flat = is_flat(samples);
    bool resident = grew(samples, true, RESIDENT_KIB);
    return !grew(samples, false, ALLOCATED_KIB) && !resident && flat;
}

int main(int argc, char **argv) {
    g_autoptr(GOptionContext) context = g_option_context_new("- many acquisitions in one process, and nothing grows");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || cycles < SLICES || handovers < SLICES) {
        fprintf(stderr, "soak: %s\n", error ? error->message : "--cycles and --handovers are 20 or more");
        return 2;
    }
    if (quick) {
        cycles = 4000;
        handovers = 40000;
    }
    int64_t begin = ts_now_ms();
    ts_ensemble *ensemble = ts_ensemble_start(NULL);
    if (!ensemble)
        return EXIT_FAILURE;
    bool flat = soak(ensemble);
    ts_ensemble_stop(ensemble);
    printf("soak: %s, %.0f s\n", flat ? "PASSED, all flat" : "FAILED", (double)(ts_now_ms() - begin) / 1000);
    return flat ? EXIT_SUCCESS : EXIT_FAILURE;
}
