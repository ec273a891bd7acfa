/*
 * The demo: three processes of four threads take turns on a lock in a real ZooKeeper. The lock guards a file, whose
 * writer checks tokens. One holder is killed; one is stopped for longer than its session and then writes as if nothing
 * had happened. The screen shows who held when; the verdict at the end says whether every promise was kept.
 *
 *     demo [--quick] [--sabotage]
 *
 * --sabotage: the file's writer trusts everybody. The verdict must then be FAILED, or it would prove nothing.
 * Exit status: 0 passed, 1 failed, 2 could not be played, 130 interrupted.
 */
#include "screen.h"
#include "stage.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* In milliseconds. */
struct pace {
    int session, calm, linger, beyond;
};
static const struct pace normal_pace = {4000, 3000, 700, 1500}, quick_pace = {2000, 1000, 300, 500};

enum { TICK_MS = 500, PATIENCE_MS = 30000, FRESH_MS = 300, ATTEMPTS = 5 };

struct demo {
    struct stage stage;
    struct story story;
    struct pace pace;
    bool sabotage;
    struct report lingers; /* the holder that lingers; kind 0: none */
    int64_t beat_ns;       /* when it was last known to be valid */
    bool lingerer_lost;
    int64_t tick_ns; /* when the half second ends */
    int turns;       /* in this half second */
    int64_t token;   /* the latest */
};

static bool is_same_hold(const struct report *a, const struct report *b) {
    return a->token == b->token && a->handover == b->handover;
}

static void note_next(struct scene *scene, const struct report *report, const char *fate) {
    if (scene->struck_ns == 0 || scene->next.token != 0 || report->token <= scene->victim.token)
        return;
    scene->next = *report;
    scene->next_ns = report->from_ns;
    screen_say("%s has the lock now, token %" PRId64 ": %.1f s after %s was %s", report->who, report->token,
               (double)(report->from_ns - scene->struck_ns) / 1e9, scene->victim.who, fate);
}

static void on_grant(struct demo *demo, const struct report *report) {
    ledger_note(&demo->story.ledger, report);
    demo->turns += report->kind == REPORT_HELD;
    demo->token = report->token;
    note_next(&demo->story.killed, report, "killed");
    note_next(&demo->story.paused, report, "stopped");
    if (report->kind == REPORT_LINGERS) {
        demo->lingers = *report;
        demo->lingerer_lost = false;
        demo->beat_ns = report->from_ns;
    }
}

static void on_lost(struct demo *demo, const struct report *report) {
    screen_say("%s was told: LOST (%s), token %" PRId64, report->who, report->word, report->token);
    if (is_same_hold(report, &demo->lingers))
        demo->lingerer_lost = true;
    if (demo->story.paused.struck_ns != 0 && is_same_hold(report, &demo->story.paused.victim)) {
        demo->story.lost = *report;
        demo->story.lost_count++;
    }
}

/* The stopped holder runs again. */
static void on_awake(struct demo *demo, const struct report *report) {
    struct story *story = &demo->story;

    if (story->paused.struck_ns == 0 || !is_same_hold(report, &story->paused.victim))
        return;
    if (report->kind == REPORT_WOKE && story->woke.kind == 0) {
        story->woke = *report;
        screen_say("%s slept for %.1f s; its first pdk_hold_valid after waking says: %s", report->who,
                   (double)report->number / 1e3, report->word);
    } else if (report->kind == REPORT_NAIVE) {
        story->naive = *report;
        screen_say("%s wrote with its old token %" PRId64 " without asking, and was told: %s", report->who,
                   report->token, report->word);
    } else if (report->kind == REPORT_REFUSED) {
        story->refused = *report;
        screen_say("the file REFUSES a write of %s: token %" PRId64 ", and it has seen %" PRId64, report->who,
                   report->token, report->number);
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
        ledger_note(&demo->story.ledger, report);
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
        screen_say("%s's session has %s", report->who, report->word);
        break;
    case REPORT_TROUBLE:
        demo->story.troubles++;
        screen_say("%s has trouble: %s", report->who, report->word);
        break;
    }
}

/* What to say of the half second that is over. */
static void note_of(const struct demo *demo, char *note, size_t size) {
    const struct scene *scene = demo->story.paused.struck_ns ? &demo->story.paused : &demo->story.killed;

    if (scene->struck_ns != 0 && scene->next.token == 0)
        snprintf(note, size, "nobody: %c's session must expire", scene->victim.who[0]);
    else if (demo->turns == 0)
        snprintf(note, size, "%s holds", demo->lingers.who);
    else
        snprintf(note, size, "%3d turns, token %" PRId64, demo->turns, demo->token);
}

static void draw(struct demo *demo) {
    char cells[SCREEN_CELLS + 1], note[64];
    const int64_t tick_ns = TICK_MS * INT64_C(1000000);

    ledger_strip(&demo->story.ledger, demo->tick_ns - tick_ns, tick_ns / SCREEN_CELLS, cells, SCREEN_CELLS);
    note_of(demo, note, sizeof note);
    screen_strip(cells, note);
    demo->turns = 0;
    demo->tick_ns += tick_ns;
}

/* Let it run until it is so, or the time is over. False when it is not so, or when it was interrupted. */
static bool run_until(struct demo *demo, bool (*is_so)(const struct demo *demo), int64_t limit_ms) {
    const int64_t limit_ns = demo_now() + limit_ms * 1000000;

    while (demo_now() < limit_ns && !stage_interrupted()) {
        if (is_so && is_so(demo))
            return true;
        stage_wait(&demo->stage, MIN(limit_ns, demo->tick_ns), on_report, demo);
        if (demo_now() >= demo->tick_ns)
            draw(demo);
    }
    return !is_so && !stage_interrupted();
}

static bool run_for(struct demo *demo, int64_t ms) { return run_until(demo, NULL, ms); }

static bool somebody_lingers(const struct demo *demo) { return demo->lingers.kind != 0; }
static bool has_next_after_kill(const struct demo *demo) { return demo->story.killed.next.token != 0; }
static bool has_next_after_pause(const struct demo *demo) { return demo->story.paused.next.token != 0; }
static bool has_D(const struct demo *demo) { return demo->stage.processes[demo->stage.count - 1].fd >= 0; }

static bool has_come_to_terms(const struct demo *demo) {
    const struct story *story = &demo->story;

    return story->woke.kind != 0 && story->naive.kind != 0 && story->lost_count > 0 &&
           (story->refused.kind != 0 || demo->sabotage);
}

/* Have a thread of this process hold on to the lock. On a machine that is very slow it may lose it before its time. */
static struct process *linger(struct demo *demo, const char *name) {
    struct process *process = stage_find(&demo->stage, name);

    for (int attempt = 0; attempt < ATTEMPTS && !stage_interrupted(); attempt++) {
        demo->lingers.kind = 0;
        if (!stage_cue(process, CUE_LINGER) || !run_until(demo, somebody_lingers, PATIENCE_MS))
            return NULL;
        screen_say("%s holds on to the lock, token %" PRId64, demo->lingers.who, demo->lingers.token);
        if (!run_for(demo, demo->pace.linger))
            return NULL;
        if (!demo->lingerer_lost && demo_now() - demo->beat_ns < FRESH_MS * INT64_C(1000000))
            return process;
        stage_cue(process, CUE_RELEASE);
    }
    return NULL;
}

static bool kill_a_holder(struct demo *demo) {
    struct scene *scene = &demo->story.killed;
    struct process *process = linger(demo, "C");

    if (!process)
        return false;
    scene->victim = demo->lingers;
    scene->struck_ns = demo_now();
    screen_say("%s is killed: SIGKILL for process C. Its session of %d s has to expire", scene->victim.who,
               demo->pace.session / 1000);
    stage_kill(&demo->stage, process, on_report, demo);
    if (!run_until(demo, has_next_after_kill, PATIENCE_MS) || !stage_add_worker(&demo->stage, "D"))
        return false;
    screen_say("a new process D takes the place of C");
    return run_until(demo, has_D, PATIENCE_MS);
}

static bool stop_a_holder(struct demo *demo) {
    struct scene *scene = &demo->story.paused;
    struct process *process = linger(demo, "B");

    if (!process)
        return false;
    scene->victim = demo->lingers;
    scene->struck_ns = demo_now();
    screen_say("%s is stopped: SIGSTOP for process B, for longer than its session", scene->victim.who);
    if (!ts_pause(process->pid) || !run_until(demo, has_next_after_pause, PATIENCE_MS) ||
        !run_for(demo, demo->pace.beyond))
        return false;
    screen_say("B runs again: SIGCONT");
    return stage_cue(process, CUE_WRITE) && ts_resume(process->pid) && run_until(demo, has_come_to_terms, PATIENCE_MS);
}

static bool play(struct demo *demo) {
    const int64_t begun_ns = demo_now();
    const char *names[] = {"A", "B", "C"};

    if (!stage_open(&demo->stage, demo->pace.session, demo->sabotage))
        return false;
    printf("3 processes, A, B and C, of 4 threads each share one lock. ZooKeeper %s, sessions of %d s.\n",
           ts_ensemble_hosts(demo->stage.servers), demo->pace.session / 1000);
    printf("The lock guards a file; its writer %s.\nBelow, a letter is 10 ms of the process that held the lock; "
           "a dot: nobody did.\n\n",
           demo->sabotage ? "has been SABOTAGED and trusts any token"
                          : "refuses a token smaller than the largest seen");
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (!stage_add_worker(&demo->stage, names[i]))
            return false;
    screen_start(demo_now());
    demo->tick_ns = demo_now() + TICK_MS * INT64_C(1000000);
    bool played = run_for(demo, demo->pace.calm) && kill_a_holder(demo) && run_for(demo, demo->pace.calm) &&
                  stop_a_holder(demo) && run_for(demo, demo->pace.calm);
    if (!stage_interrupted())
        demo->story.bad_ends = stage_quit(&demo->stage, on_report, demo);
    demo->story.ran_ns = demo_now() - begun_ns;
    return played;
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
    struct demo demo = {.stage.listener = -1};
    int status = 2;

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
        fprintf(stderr, "demo: %s\n", error ? error->message : "it takes no arguments, see --help");
        return 2;
    }
    demo.pace = quick ? quick_pace : normal_pace;
    demo.sabotage = sabotage;
    ledger_init(&demo.story.ledger);
    bool played = play(&demo);
    if (stage_interrupted()) {
        puts("interrupted, without a verdict");
        status = 130;
    } else if (demo.stage.file) {
        putchar('\n');
        status = verdict(&demo.story, demo.stage.file) && played ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    stage_close(&demo.stage);
    ledger_clear(&demo.story.ledger);
    return status;
}
