/*
 * The demo: three processes of four threads share a lock in a real ZooKeeper. The lock guards a file, whose writer
 * checks tokens. One holder is killed. Another is stopped for longer than its session, and then writes as if nothing
 * had happened. The screen shows which process held when. The verdict at the end says whether every promise was kept.
 *
 *     demo [--quick] [--sabotage]
 *
 * --sabotage: the file's writer accepts any token. Then the verdict must be FAILED, otherwise it proves nothing.
 * Exit status: 0 passed, 1 failed, 2 could not run, 130 interrupted.
 */
#include "deployment.h"
#include "screen.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In milliseconds. */
struct pace {
    int session, calm, linger, beyond;
};
static const struct pace normal_pace = {4000, 3000, 700, 1500}, quick_pace = {2000, 1000, 300, 500};

/* A line about a moment is printed LATE_MS after it: until then reports about earlier moments may come. */
enum { TICK_MS = 500, LATE_MS = 200, PATIENCE_MS = 30000, FRESH_MS = 300, ATTEMPTS = 5 };

struct demo {
    struct deployment deployment;
    struct results results;
    struct pace pace;
    bool sabotage;
    struct report lingers; /* the hold that a thread keeps; kind 0: none */
    int64_t beat_ns;       /* when it was last known to be valid */
    bool lingerer_lost;
    int64_t tick_ns; /* the end of the half second that is drawn next */
};

static bool is_same_hold(const struct report *a, const struct report *b) {
    return a->token == b->token && a->handover == b->handover;
}

static void note_next(struct incident *incident, const struct report *report, const char *fate) {
    if (incident->fault_ns == 0 || incident->next.token != 0 || report->token <= incident->victim.token)
        return;
    incident->next = *report;
    incident->next_ns = report->from_ns;
    screen_say(report->from_ns, "%s has the lock now, token %" PRId64 ": %.1f s after %s was %s", report->who,
               report->token, (double)(report->from_ns - incident->fault_ns) / 1e9, incident->victim.who, fate);
}

static void on_grant(struct demo *demo, const struct report *report) {
    grant_log_note(&demo->results.grant_log, report);
    note_next(&demo->results.killed, report, "killed");
    note_next(&demo->results.paused, report, "stopped");
    if (report->kind == REPORT_LINGERS) {
        demo->lingers = *report;
        demo->lingerer_lost = false;
        demo->beat_ns = report->from_ns;
    }
}

static void on_lost(struct demo *demo, const struct report *report) {
    screen_say(report->at_ns, "%s was told: LOST (%s), token %" PRId64, report->who, report->word, report->token);
    if (is_same_hold(report, &demo->lingers))
        demo->lingerer_lost = true;
    if (demo->results.paused.fault_ns != 0 && is_same_hold(report, &demo->results.paused.victim)) {
        demo->results.lost = *report;
        demo->results.lost_count++;
    }
}

/* The stopped holder runs again. */
static void on_awake(struct demo *demo, const struct report *report) {
    struct results *results = &demo->results;

    if (results->paused.fault_ns == 0 || !is_same_hold(report, &results->paused.victim))
        return;
    if (report->kind == REPORT_WOKE && results->woke.kind == 0) {
        results->woke = *report;
        screen_say(report->at_ns, "%s slept for %.1f s; its first pdk_hold_is_valid after waking says: %s", report->who,
                   (double)report->number / 1e3, report->word);
    } else if (report->kind == REPORT_NAIVE) {
        results->naive = *report;
        screen_say(report->at_ns, "%s wrote with its old token %" PRId64 " without asking, and was told: %s",
                   report->who, report->token, report->word);
    } else if (report->kind == REPORT_REFUSED) {
        results->refused = *report;
        screen_say(report->at_ns, "the file REFUSES a write of %s: token %" PRId64 ", and it has seen %" PRId64,
                   report->who, report->token, report->number);
    }
}

static void on_report(const struct report *report, void *user) {
    struct demo *demo = user;

    switch ((enum report_kind)report->kind) {
    case REPORT_HELLO:
        break;
    case REPORT_HELD:
    case REPORT_LINGERS:
        on_grant(demo, report);
        break;
    case REPORT_BEAT:
        demo->beat_ns = report->until_ns;
        grant_log_note(&demo->results.grant_log, report);
        break;
    case REPORT_WOKE:
    case REPORT_NAIVE:
    case REPORT_REFUSED:
        on_awake(demo, report);
        break;
    case REPORT_LOST:
        on_lost(demo, report);
        break;
    case REPORT_SESSION:
        screen_say(report->at_ns, "%s's session has %s", report->who, report->word);
        break;
    case REPORT_TROUBLE:
        demo->results.troubles++;
        screen_say(report->at_ns, "%s has trouble: %s", report->who, report->word);
        break;
    }
}

/* Was the lock nobody's at that moment, since the holder was killed or stopped? */
static bool is_pending(const struct incident *incident, int64_t at_ns) {
    return incident->fault_ns != 0 && incident->fault_ns <= at_ns &&
           (incident->next.token == 0 || incident->next_ns > at_ns);
}

/* The text about the half second before tick_ns. */
static void note_of(const struct demo *demo, bool held, char *note, size_t size) {
    const struct results *results = &demo->results;
    int64_t token = 0;
    const int turns =
        grant_log_turns(&results->grant_log, demo->tick_ns - TICK_MS * INT64_C(1000000), demo->tick_ns, &token);

    if (is_pending(&results->killed, demo->tick_ns))
        snprintf(note, size, "nobody: %c's session must expire", results->killed.victim.who[0]);
    else if (is_pending(&results->paused, demo->tick_ns))
        snprintf(note, size, "nobody: %c's session must expire", results->paused.victim.who[0]);
    else if (turns > 0)
        snprintf(note, size, "%3d turns, token %" PRId64, turns, token);
    else if (held && demo->lingers.kind != 0)
        snprintf(note, size, "%s holds", demo->lingers.who);
    else
        snprintf(note, size, "no turn");
}

static void draw(struct demo *demo) {
    char cells[SCREEN_CELLS_MOST + 1], note[64];
    const int64_t tick_ns = TICK_MS * INT64_C(1000000);
    const int count = screen_cells();

    grant_log_strip(&demo->results.grant_log, demo->tick_ns - tick_ns, tick_ns / count, cells, count);
    note_of(demo, strspn(cells, ".") < (size_t)count, note, sizeof note);
    screen_strip(demo->tick_ns, cells, note);
    demo->tick_ns += tick_ns;
}

/* Waits for reports until then. What was reported about the time until LATE_MS ago is on the screen then. */
static void follow(struct demo *demo, int64_t until_ns) {
    const int64_t late_ns = LATE_MS * INT64_C(1000000), begun_ns = demo_now();

    deployment_wait(&demo->deployment, MIN(until_ns, demo->tick_ns + late_ns), on_report, demo);
    while (begun_ns >= demo->tick_ns + late_ns)
        draw(demo);
    screen_show(begun_ns - late_ns);
}

/* Runs until the condition is true, or the time is over. False when it is not true, or when it was interrupted. */
static bool run_until(struct demo *demo, bool (*is_so)(const struct demo *demo), int64_t limit_ms) {
    const int64_t limit_ns = demo_now() + limit_ms * 1000000;

    while (demo_now() < limit_ns && !deployment_interrupted()) {
        if (is_so && is_so(demo))
            return true;
        follow(demo, limit_ns);
    }
    return !is_so && !deployment_interrupted();
}

static bool run_for(struct demo *demo, int64_t ms) { return run_until(demo, NULL, ms); }

static bool somebody_lingers(const struct demo *demo) { return demo->lingers.kind != 0; }
static bool has_next_after_kill(const struct demo *demo) { return demo->results.killed.next.token != 0; }
static bool has_next_after_pause(const struct demo *demo) { return demo->results.paused.next.token != 0; }
static bool has_D(const struct demo *demo) { return demo->deployment.processes[demo->deployment.count - 1].fd >= 0; }

static bool pause_is_over(const struct demo *demo) {
    const struct results *results = &demo->results;

    return results->woke.kind != 0 && results->naive.kind != 0 && results->lost_count > 0 &&
           (results->refused.kind != 0 || demo->sabotage);
}

/* Makes a thread of this process keep the lock. On a very slow machine it may lose the lock before the time. Then try
 * again. */
static struct process *linger(struct demo *demo, const char *name) {
    struct process *process = deployment_find(&demo->deployment, name);

    for (int attempt = 0; attempt < ATTEMPTS && !deployment_interrupted(); attempt++) {
        demo->lingers.kind = 0;
        if (!deployment_command(process, COMMAND_LINGER) || !run_until(demo, somebody_lingers, PATIENCE_MS))
            return NULL;
        screen_say(demo->lingers.from_ns, "%s holds on to the lock, token %" PRId64, demo->lingers.who,
                   demo->lingers.token);
        if (!run_for(demo, demo->pace.linger))
            return NULL;
        if (!demo->lingerer_lost && demo_now() - demo->beat_ns < FRESH_MS * INT64_C(1000000))
            return process;
        deployment_command(process, COMMAND_RELEASE);
    }
    return NULL;
}

static bool kill_a_holder(struct demo *demo) {
    struct incident *incident = &demo->results.killed;
    struct process *process = linger(demo, "C");

    if (!process)
        return false;
    incident->victim = demo->lingers;
    incident->fault_ns = demo_now();
    screen_say(incident->fault_ns, "%s is killed: SIGKILL for process C. Its session of %d s has to expire",
               incident->victim.who, demo->pace.session / 1000);
    deployment_kill(&demo->deployment, process, on_report, demo);
    if (!run_until(demo, has_next_after_kill, PATIENCE_MS) || !deployment_add_worker(&demo->deployment, "D"))
        return false;
    screen_say(demo_now(), "a new process D takes the place of C");
    return run_until(demo, has_D, PATIENCE_MS);
}

static bool stop_a_holder(struct demo *demo) {
    struct incident *incident = &demo->results.paused;
    struct process *process = linger(demo, "B");

    if (!process)
        return false;
    incident->victim = demo->lingers;
    incident->fault_ns = demo_now();
    screen_say(incident->fault_ns, "%s is stopped: SIGSTOP for process B, for longer than its session",
               incident->victim.who);
    if (!ts_pause(process->pid) || !run_until(demo, has_next_after_pause, PATIENCE_MS) ||
        !run_for(demo, demo->pace.beyond))
        return false;
    screen_say(demo_now(), "B runs again: SIGCONT");
    return deployment_command(process, COMMAND_WRITE) && ts_resume(process->pid) &&
           run_until(demo, pause_is_over, PATIENCE_MS);
}

static bool run_demo(struct demo *demo) {
    const int64_t begun_ns = demo_now();
    const char *names[] = {"A", "B", "C"};

    if (!deployment_open(&demo->deployment, demo->pace.session, demo->sabotage))
        return false;
    screen_text("3 processes, A, B and C, of 4 threads each share one lock. ZooKeeper %s, sessions of %d s.",
                ts_ensemble_hosts(demo->deployment.servers), demo->pace.session / 1000);
    screen_text("The lock guards a file; its writer %s.", demo->sabotage
                                                              ? "has been SABOTAGED and trusts any token"
                                                              : "refuses a token smaller than the largest seen");
    screen_text("Below, a letter is %d ms of the process that held the lock; a dot: nobody did.\n",
                TICK_MS / screen_cells());
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (!deployment_add_worker(&demo->deployment, names[i]))
            return false;
    const int64_t started_ns = demo_now();
    screen_start(started_ns);
    demo->tick_ns = started_ns + TICK_MS * INT64_C(1000000);
    bool completed = run_for(demo, demo->pace.calm) && kill_a_holder(demo) && run_for(demo, demo->pace.calm) &&
                     stop_a_holder(demo) && run_for(demo, demo->pace.calm);
    if (!deployment_interrupted())
        demo->results.bad_ends = deployment_quit(&demo->deployment, on_report, demo);
    const int64_t ended_ns = demo_now();
    demo->results.ran_ns = ended_ns - begun_ns;
    while (demo->tick_ns <= ended_ns)
        draw(demo);
    screen_show(INT64_MAX);
    return completed;
}

int main(int argc, char **argv) {
    gboolean quick = FALSE, sabotage = FALSE;
    const GOptionEntry entries[] = {
        {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "shorter: sessions of 2 s", NULL},
        {"sabotage", 0, 0, G_OPTION_ARG_NONE, &sabotage, "the file's writer trusts any token: must fail", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    struct demo demo = {.deployment.listener = -1};
    int status = 2;

    ts_fill_standard();
    setvbuf(stdout, NULL, _IOLBF, 0); /* before anything is printed: later it may have no effect */
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
        fprintf(stderr, "demo: %s\n", error ? error->message : "it takes no arguments, see --help");
        return 2;
    }
    demo.pace = quick ? quick_pace : normal_pace;
    demo.sabotage = sabotage;
    grant_log_init(&demo.results.grant_log);
    bool completed = run_demo(&demo);
    if (deployment_interrupted()) {
        puts("interrupted, without a verdict");
        status = 130;
    } else if (demo.deployment.file) {
        putchar('\n');
        status = verdict(&demo.results, demo.deployment.file) && completed ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    deployment_close(&demo.deployment);
    grant_log_clear(&demo.results.grant_log);
    return status;
}
