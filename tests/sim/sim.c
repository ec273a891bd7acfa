/* The simulation as a program: see usage. */
#include "explore.h"

#include <glib.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct arguments {
    struct exploration x;
    const char *replay;
    bool seeded, many, trace, history, no_shrink, no_vacuity;
};

static int usage(FILE *out) {
    fprintf(
        out,
        "usage: sim --minutes M [--jobs J] [--seed FIRST]     explore, by default with a job for each core\n"
        "       sim --schedules N [--jobs J] [--seed FIRST]   explore so many; one job, from seed 1\n"
        "       sim --seed N [--trace] [--history]            replay one\n"
        "       sim --replay FILE [--trace] [--history]       replay a plan\n"
        "\n"
        "Whole deployments in simulated time, with faults, then without, until nothing is left to be done. A "
        "schedule that\n"
        "breaks a promise is made small, printed, shown and saved (--no-shrink: only named). --no-vacuity: a run in "
        "which\n"
        "some kind of fault did not happen is good as well. Exit status 1: a promise is broken.\n");
    return out == stdout ? 0 : 2;
}

/* ---- one schedule, here */

static int judge(const struct deployment *d, const struct verdict *v) {
    printf("%llu events, %llu grants, history %016llx%s\n", (unsigned long long)d->tally.events,
           (unsigned long long)d->tally.grants, (unsigned long long)v->hash,
           v->counted ? "" : "; fewer than 200 events, it does not count");
    if (v->broken)
        printf("verdict: BROKEN: %s — %s, at %.6f s\n", check_words(v->check), v->detail, v->at);
    else
        printf("verdict: all promises kept\n");
    return v->broken;
}

static int play(const struct plan *plan, bool trace, bool history) {
    struct deployment *d = deployment_new();
    struct verdict v = deployment_run(d, plan, trace ? stdout : NULL);
    for (int32_t i = 0; history && i < d->history.count; i++)
        history_print(&d->history.events[i], stdout);
    int status = judge(d, &v);
    deployment_free(d);
    return status;
}

static int replay(const char *name, bool trace, bool history) {
    static struct plan plan;
    FILE *in = fopen(name, "r");
    if (!in) {
        perror(name);
        return 2;
    }
    bool good = plan_read(&plan, in, name);
    fclose(in);
    return good ? play(&plan, trace, history) : 2;
}

/* ---- many */

#define LINES_FIRST 160
#define LINES_LAST 40

/* A transcript without end is shown at its beginning and its end. */
static void print_shortened(FILE *in) {
    char line[512];
    int count = 0;
    while (fgets(line, sizeof line, in))
        count++;
    rewind(in);
    for (int i = 0; fgets(line, sizeof line, in); i++) {
        if (i < LINES_FIRST || i >= count - LINES_LAST)
            fputs(line, stdout);
        else if (i == LINES_FIRST)
            printf("  … (%d lines: --replay … --trace shows them all)\n", count - LINES_FIRST - LINES_LAST);
    }
}

static void tell(const struct plan *plan) {
    struct deployment *d = deployment_new();
    FILE *transcript = tmpfile();
    if (transcript) {
        deployment_run(d, plan, transcript);
        rewind(transcript);
        print_shortened(transcript);
        fclose(transcript);
    }
    deployment_free(d);
}

static void save(const struct plan *plan, uint64_t seed) {
    const char *folder = getenv("PDK_BUILD");
    char *name = g_strdup_printf("%s/sim-%llu.plan", folder ? folder : ".", (unsigned long long)seed);
    FILE *out = fopen(name, "w");
    if (out) {
        plan_print(plan, out);
        fclose(out);
        printf("saved as %s\n", name);
    }
    g_free(name);
}

static void show(struct finding *finding) {
    static struct plan plan;
    uint64_t seed = finding->seed;
    plan_draw(&plan, seed);
    plan_shrink(&plan, finding, 4000, stdout);
    plan_print(&plan, stdout);
    save(&plan, seed);
    fflush(stdout);
    if (!finding->fatal) /* else it would be so here, too */
        tell(&plan);
}

static int run_many(struct arguments *a) {
    if (!a->seeded)
        a->x.first = a->x.schedules ? 1 : (uint64_t)time(NULL) << 24;
    printf("from seed %llu, %d job%s\n", (unsigned long long)a->x.first, a->x.jobs, a->x.jobs == 1 ? "" : "s");
    fflush(stdout);
    struct exploration_result r = explore(&a->x, stdout);
    const char *missing = a->no_vacuity ? NULL : explore_vacuous(&r.tally);
    if (r.finding.broken) {
        struct finding finding = r.finding;
        printf("seed %llu: %s — %s, at %.6f s\n", (unsigned long long)finding.seed, finding.what, finding.detail,
               finding.at);
        if (!a->no_shrink)
            show(&finding);
    }
    explore_print(&r.tally, r.seconds, a->x.jobs, stdout);
    if (r.finding.broken)
        printf("verdict: BROKEN: %s — %s\n", r.finding.what, r.finding.detail);
    else if (missing)
        printf("verdict: BROKEN: not vacuous — %s\n", missing);
    else
        printf("verdict: all promises kept\n");
    return r.finding.broken || missing;
}

/* ---- arguments */

static bool take_flag(struct arguments *a, const char *option) {
    bool *flag = strcmp(option, "--trace") == 0        ? &a->trace
                 : strcmp(option, "--history") == 0    ? &a->history
                 : strcmp(option, "--no-shrink") == 0  ? &a->no_shrink
                 : strcmp(option, "--no-vacuity") == 0 ? &a->no_vacuity
                                                       : NULL;
    if (flag)
        *flag = true;
    return flag != NULL;
}

static bool take_value(struct arguments *a, const char *option, const char *text) {
    char *end;
    if (strcmp(option, "--replay") == 0) {
        a->replay = text;
        return true;
    }
    if (strcmp(option, "--minutes") == 0) {
        a->x.seconds = 60 * strtod(text, &end);
        a->many = true;
        return end != text && *end == '\0' && a->x.seconds > 0 && a->x.seconds <= 1e9;
    }
    guint64 number;
    if (!g_ascii_string_to_unsigned(text, 10, 0, UINT64_MAX, &number, NULL))
        return false;
    if (strcmp(option, "--seed") == 0) {
        a->x.first = number;
        a->seeded = true;
    } else if (strcmp(option, "--schedules") == 0 && number > 0) {
        a->x.schedules = number;
        a->many = true;
    } else if (strcmp(option, "--jobs") == 0 && number > 0 && number <= 64) {
        a->x.jobs = (int32_t)number;
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    static struct plan plan;
    struct arguments a = {.x = {.report_every = 10}};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        if (take_flag(&a, argv[i]))
            continue;
        if (i + 1 == argc || !take_value(&a, argv[i], argv[i + 1]))
            return usage(stderr);
        i++;
    }
    if (a.x.jobs == 0)
        a.x.jobs = a.x.schedules ? 1 : (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (a.replay)
        return replay(a.replay, a.trace, a.history);
    if (a.many)
        return run_many(&a);
    if (!a.seeded)
        return usage(stderr);
    plan_draw(&plan, a.x.first);
    plan_print(&plan, stdout);
    return play(&plan, a.trace, a.history);
}
