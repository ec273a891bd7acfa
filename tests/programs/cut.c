/*
 * Every server goes on answering, and every client stays connected to its own. Yet the lock is granted to another
 * client, because the links between the servers are silenced around the holder's. A client that trusts its server goes
 * on believing in a lock that another one has. See cut.h.
 *
 * The verdict asks two things. No Paddock hold may be valid at any instant after the next one was granted. And a
 * hand-written client must have held on in the same cuts, because otherwise they test nothing.
 */
#include "cut.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>
#include <ts_tempdir.h>

static int cuts = 5, session_ms = 4000, tick_ms = 2000, sync_limit = 5, seed;
static gboolean with_pauses, alone;
static char *holder_address, *record_path, *directory;
static const GOptionEntry entries[] = {
    {"cuts", 0, 0, G_OPTION_ARG_INT, &cuts, "of each kind (5)", "N"},
    {"session", 0, 0, G_OPTION_ARG_INT, &session_ms, "the clients' session timeout (4000)", "MS"},
    {"tick", 0, 0, G_OPTION_ARG_INT, &tick_ms, "the servers' tickTime (2000)", "MS"},
    {"sync-limit", 0, 0, G_OPTION_ARG_INT, &sync_limit, "the servers' syncLimit (5)", "TICKS"},
    {"pause", 0, 0, G_OPTION_ARG_NONE, &with_pauses, "cut also around a pause of the holder, before its grant", NULL},
    {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "for the random moments of the cuts (by the clock)", "N"},
    {"holder", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &holder_address, NULL, NULL},
    {"record", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &record_path, NULL, NULL},
    {"within", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &directory, NULL, NULL},
    {"alone", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &alone, NULL, NULL},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

struct tally {
    int cuts, failed, held, overlaps;
    double least_gap_ms, worst_lost_ms, most_overlap_ms;
};

static void print_head(void) {
    printf("kind: F the holder's follower cut from its leader; L the holder's leader cut from its followers, which "
           "notice and elect another%s\n",
           with_pauses ? "; P as F, as the holder wakes from a pause and takes the lock" : "");
    printf("%4s %5s %12s %15s %22s %20s %9s\n", "cut", "kind", "cut->LOST ms", "B granted at ms",
           "last valid->granted ms", "bare client overlaps", "whole ms");
}

static void print_row(int number, const struct cut_result *r) {
    printf("%4d %5c ", number, r->kind);
    if (r->held)
        printf("%12.0f %15.0f %22.1f ", r->lost_ms, r->granted_ms, r->gap_ms);
    else
        printf("%12s %15.0f %22s ", "-", r->granted_ms, "A got no lock");
    if (r->kind == CUT_PAUSED)
        printf("%20s ", "-");
    else
        printf("%17.0f ms ", r->overlap_ms);
    printf("%9.0f%s%s\n", r->whole_ms, r->failure[0] ? "  FAILED: " : "", r->failure);
    fflush(stdout);
}

static void count(struct tally *tally, const struct cut_result *r) {
    tally->least_gap_ms = tally->held == 0 ? r->gap_ms : MIN(tally->least_gap_ms, r->gap_ms);
    tally->worst_lost_ms = MAX(tally->worst_lost_ms, r->lost_ms);
    tally->most_overlap_ms = MAX(tally->most_overlap_ms, r->overlap_ms);
    tally->cuts++;
    tally->held += r->held;
    tally->failed += r->failure[0] != '\0';
    tally->overlaps += r->overlap_ms > 0;
}

/* True when this kind was tested and passed. */
static bool conclude(enum cut_kind kind, const struct tally *t) {
    bool vacuous = kind == CUT_PAUSED ? t->held == 0 : t->overlaps == 0;
    printf("%c: %d cuts, %d with the lock, LOST after at most %.0f ms, then at least %.1f ms until the next grant",
           kind, t->cuts, t->held, t->worst_lost_ms, t->least_gap_ms);
    if (kind != CUT_PAUSED)
        printf("; the bare client overlapped in %d, by up to %.0f ms", t->overlaps, t->most_overlap_ms);
    printf("%s\n", vacuous ? "; VACUOUS, nothing was put to the test" : "");
    return t->failed == 0 && !vacuous;
}

static bool run_all(const struct cut_plan *plan) {
    const enum cut_kind kinds[] = {CUT_FOLLOWER, CUT_LEADER, CUT_PAUSED};
    const int kinds_count = with_pauses ? 3 : 2;
    struct tally tallies[3] = {0};
    print_head();
    for (int number = 1; number <= cuts * kinds_count; number++) {
        int which = (number - 1) % kinds_count;
        struct cut_result result;
        cut_run(plan, kinds[which], number, &result);
        print_row(number, &result);
        count(&tallies[which], &result);
    }
    bool good = true;
    for (int which = 0; which < kinds_count; which++)
        good = conclude(kinds[which], &tallies[which]) && good;
    return good;
}

static int judge_all(void) {
    const ts_ensemble_options options = {.nodes = 3, .tick_ms = tick_ms, .sync_limit = sync_limit};
    int64_t begin = ts_now_ms();
    if (seed == 0)
        seed = (int)(begin & 0xffff);
    printf("session %d ms, tickTime %d ms, syncLimit %d, seed %d\n", session_ms, tick_ms, sync_limit, seed);
    ts_tempdir *folder = ts_tempdir_new();
    ts_ensemble *ensemble = ts_ensemble_start(&options);
    if (!folder || !ensemble)
        return EXIT_FAILURE;
    g_autofree char *record = g_strdup_printf("%s/record", ts_tempdir_path(folder));
    struct cut_plan plan = {ensemble, record, session_ms, tick_ms, g_rand_new_with_seed((guint32)seed)};
    bool good = run_all(&plan);
    g_rand_free(plan.chance);
    ts_ensemble_stop(ensemble);
    ts_tempdir_free(folder);
    printf("cut: %s, %.0f s\n", good ? "PASSED: no instant with two valid holds" : "FAILED",
           (double)(ts_now_ms() - begin) / 1000);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    g_autoptr(GOptionContext) context = g_option_context_new("- the links between servers, cut around the holder's");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || cuts < 1 ||
        (!holder_address && session_ms < 2 * tick_ms) || tick_ms < 100) {
        fprintf(stderr, "cut: %s\n", error ? error->message : "--cuts is 1 or more, --tick 100, --session two ticks");
        return 2;
    }
    return holder_address ? cut_hold(record_path, holder_address, directory, session_ms, !alone) : judge_all();
}
