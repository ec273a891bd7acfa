/* paddock job: runs a command once per period across a fleet; --history shows the last runs. */
#include "clock.h"
#include "duration.h"
#include "job_times.h"
#include "looker.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "words.h"
#include "work.h"
#include <stdio.h>
#include <string.h>

enum { BEGIN_MS = 5000, FINISH_MS = 10000, KEEP_MOST = 100, DAY_MS = 86400000 };
#define LONGEST_MS INT64_C(315576000000) /* ten years: of each duration of a job */

typedef struct {
    char *every, *at_least, *at_most, *at, *zone;
    gboolean retry, history;
    int keep;
    pdk_job_options options;
} wanted;

static const char *const states[] = {"running", "finished", "died"};

/* ---- the history */

static void add_run(GString *out, const pdk_job_run *run) {
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "who", run->who);
    cmd_json_token(out, "token", run->token);
    cmd_json_text(out, "state", states[run->state]);
    cmd_json_number(out, "start_ms", run->start_ms);
    cmd_json_number(out, "end_ms", run->end_ms);
    cmd_json_number(out, "next_ms", run->next_ms);
    cmd_json_number(out, "until_ms", run->until_ms);
    cmd_json_number(out, "outcome", run->outcome);
    cmd_json_end_object(out);
}

static void print_json(const char *path, const pdk_job_runs *runs) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_begin_array(out, "runs");
    for (size_t i = 0; i < pdk_job_runs_count(runs); i++)
        add_run(out, pdk_job_runs_run(runs, i));
    cmd_json_end_array(out);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static void print_run(const pdk_job_run *run) {
    g_autofree char *start = cmd_when(run->start_ms), *who = cmd_escape(run->who);
    printf("%s  %-8s", start, states[run->state]);
    if (run->state == PDK_JOB_FINISHED)
        printf(" %3d  %.3f s", run->outcome, (double)(run->end_ms - run->start_ms) / 1000);
    else
        printf("   -  -");
    printf("  token %" G_GINT64_FORMAT "  %s\n", (gint64)run->token, who);
}

static int show_history(const cmd_settings *settings, const char *path) {
    cmd_looker looker;
    pdk_job_runs *runs = NULL;
    int status = cmd_looker_open(&looker, settings, NULL);
    if (status == CMD_OK) {
        pdk_status answer = pdk_job_history(looker.session, path, CMD_LOOK_MS, &runs);
        if (!answer && settings->json)
            print_json(path, runs);
        for (size_t i = 0; !settings->json && i < pdk_job_runs_count(runs); i++)
            print_run(pdk_job_runs_run(runs, i));
        status = answer ? cmd_explain(path, answer) : cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
    }
    pdk_job_runs_free(runs);
    cmd_looker_close(&looker);
    return status;
}

/* ---- a run */

/* Wait until a server has answered. */
static int await_server(cmd_keeper *k) {
    int64_t since = cmd_now_ms();
    int status = cmd_keeper_open(k);
    while (status == CMD_OK && !k->connected && !k->ended) {
        int number = 0;
        if (cmd_keeper_wait(k, NULL, 0, 100, &number) & CMD_SAW_SIGNAL)
            status = cmd_keeper_obey(number);
        if (status == CMD_OK)
            status = cmd_keeper_gives_up(k, since);
    }
    return status;
}

static int refused(const cmd_keeper *k, pdk_status answer, const pdk_job_runs *runs) {
    const pdk_job_run *newest = pdk_job_runs_run(runs, 0);
    if (answer == PDK_SKIPPED && newest) {
        g_autofree char *start = cmd_when(newest->start_ms), *next = cmd_when(newest->next_ms);
        cmd_answer("%s: skipped: %s, %s since %s; the next run may start at %s", k->path, newest->who,
                   states[newest->state], start, next);
        return CMD_SKIPPED;
    }
    int result = cmd_explain(k->path, answer);
    return answer == PDK_SKIPPED || answer == PDK_BUSY ? CMD_SKIPPED : result;
}

/* The command has ended, and the hold is valid: record that. CMD_OK once the record has it. */
static int finish(cmd_keeper *k, pdk_job *job, int outcome) {
    pdk_status answer = pdk_job_finish(job, k->hold, outcome, FINISH_MS);
    if (answer == PDK_OK) {
        k->hold = NULL;
        return CMD_OK;
    }
    g_autofree char *why = cmd_why(k->path, answer);
    cmd_error("the outcome is not recorded: %s", why);
    return cmd_status(answer);
}

static int run_it(cmd_keeper *k, cmd_work *work, pdk_job *job, int64_t at_most_ms, const char *name) {
    pdk_job_runs *runs = NULL;
    pdk_status answer = pdk_job_acquire(job, BEGIN_MS, &k->hold, &runs);
    int status = answer ? refused(k, answer, runs) : CMD_OK;
    k->until = at_most_ms ? cmd_now_ms() + at_most_ms : 0;
    pdk_job_runs_free(runs);
    if (status == CMD_OK) {
        cmd_keeper_listen(k);
        status = cmd_work_run(work, 0);
    }
    if (status != CMD_OK || answer)
        return status;
    status = cmd_work_status(work, name);
    int recorded = work->lost ? CMD_OK : finish(k, job, status);
    return recorded == CMD_OK ? status : recorded;
}

static int run_command(cmd_work *work, cmd_keeper *k, const pdk_job_options *options, char **command) {
    pdk_job *job = NULL;
    char **const commands[] = {command};
    int status = cmd_work_open(work, k, commands);
    if (status == CMD_OK)
        status = await_server(k);
    if (status == CMD_OK) {
        pdk_status answer = pdk_job_new(k->session, k->path, options, &job);
        status = answer ? cmd_explain(NULL, answer) : run_it(k, work, job, options->at_most_ms, command[0]);
    }
    pdk_job_unref(job);
    cmd_work_dismiss(work);
    return status;
}

/* ---- the command line */

static bool read_options(wanted *j) {
    j->options = (pdk_job_options)PDK_JOB_OPTIONS_INIT;
    if (j->keep < 1 || j->keep > KEEP_MOST) {
        cmd_error("--keep %d: a number from 1 to %d is needed", j->keep, KEEP_MOST);
        return false;
    }
    j->options.history = j->keep;
    j->options.retry = j->retry ? PDK_JOB_RETRY_AT_ONCE : PDK_JOB_RETRY_NEXT_PERIOD;
    j->options.zone = j->zone;
    if (cmd_job_is_schedule(j->every)) {
        if (j->at) {
            cmd_error("--at: --every names the times already, as cron does");
            return false;
        }
        j->options.schedule = j->every;
    } else {
        if (j->at || j->zone)
            j->options.every_ms = DAY_MS;
        if (!cmd_duration("--every", j->every, 0, LONGEST_MS, &j->options.every_ms))
            return false;
    }
    return cmd_job_clock("--at", j->at, &j->options.at_ms) &&
           cmd_duration("--at-least", j->at_least, 0, LONGEST_MS, &j->options.at_least_ms) &&
           cmd_duration("--at-most", j->at_most, 0, LONGEST_MS, &j->options.at_most_ms);
}

static int act(const cmd_settings *settings, wanted *j, int argc, char **argv, char **command) {
    cmd_keeper keeper = {.settings = settings, .signals = -1, .path = argc == 2 ? argv[1] : NULL};
    bool history = j->history;
    if (!keeper.path || (history ? command && *command : !command || !*command)) {
        cmd_error("job: a path and a command are needed: paddock job /path [option…] -- command [argument…]; or a "
                  "path: paddock job --history /path");
        return CMD_USAGE;
    }
    if (!read_options(j))
        return CMD_USAGE;
    if (history)
        return show_history(settings, keeper.path);
    cmd_work work = {0};
    int status = run_command(&work, &keeper, &j->options, command);
    cmd_keeper_close(&keeper);
    cmd_work_close(&work);
    return status;
}

int cmd_job(int argc, char **argv) {
    cmd_settings settings;
    wanted j = {.keep = 16};
    const GOptionEntry entries[] = {
        {"every", 0, 0, G_OPTION_ARG_STRING, &j.every, "the period: 90s, 15m, 1h, 7d; or cron's five fields", "TIME"},
        {"at", 0, 0, G_OPTION_ARG_STRING, &j.at, "when a period ends and the next begins; 00:00", "HH:MM[:SS]"},
        {"tz", 0, 0, G_OPTION_ARG_STRING, &j.zone, "days of this time zone: Europe/Berlin; UTC", "ZONE"},
        {"at-least", 0, 0, G_OPTION_ARG_STRING, &j.at_least, "no other run so soon after the start of one", "TIME"},
        {"at-most", 0, 0, G_OPTION_ARG_STRING, &j.at_most, "end the command then", "TIME"},
        {"retry", 0, 0, G_OPTION_ARG_NONE, &j.retry, "run in a period again whose run died", NULL},
        {"keep", 0, 0, G_OPTION_ARG_INT, &j.keep, "how many runs the record keeps", "N"},
        {"history", 0, 0, G_OPTION_ARG_NONE, &j.history, "print the last runs, and run nothing", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    char **command = cmd_split_command(&argc, argv);
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path -- command [argument…]",
                           CMD_OPTIONS_RUN | CMD_OPTIONS_COMMAND | CMD_OPTIONS_JSON, entries) &&
        cmd_settings_command(&settings, &command))
        status = act(&settings, &j, argc, argv, command);
    g_free(j.every);
    g_free(j.at);
    g_free(j.zone);
    g_free(j.at_least);
    g_free(j.at_most);
    return cmd_settings_end(&settings, status);
}
