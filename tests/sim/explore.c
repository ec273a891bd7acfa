/* The jobs: each runs its share of the seeds and sends its result through a pipe. A job that dies has found something
 * too. */
#include "explore.h"

#include <glib.h>

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 64
/* A run that takes so long, in s, hangs. */
#define PATIENCE 60

/* One message; small enough to be written in one piece. */
struct report {
    struct tally tally;
    struct finding finding;
    bool last;
};

struct job {
    pid_t pid;
    int fd;
    bool open;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct finding finding_of(const struct deployment *d, const struct verdict *v, uint64_t seed) {
    struct finding finding = {.broken = v->broken, .seed = seed, .at = v->at};
    finding.healed_ms = (int32_t)((d->checker.healed_at == INT64_MAX ? d->horizon : d->checker.healed_at) / SIM_MS -
                                  d->started / SIM_MS);
    if (v->broken) {
        g_strlcpy(finding.what, check_words(v->check), sizeof finding.what);
        g_strlcpy(finding.detail, v->detail, sizeof finding.detail);
    }
    return finding;
}

static void died(struct finding *finding, int status) {
    finding->broken = finding->fatal = true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        g_strlcpy(finding->what, "the run hangs", sizeof finding->what);
    else
        g_snprintf(finding->what, sizeof finding->what, "the run dies of %s",
                   WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an exit");
    finding->detail[0] = '\0';
}

static void send_report(int fd, struct report *report) {
    const char *bytes = (const char *)report;
    for (size_t sent = 0; sent < sizeof *report;) {
        ssize_t n = write(fd, bytes + sent, sizeof *report - sent);
        if (n < 0)
            _exit(1);
        sent += (size_t)n;
    }
    memset(&report->tally, 0, sizeof report->tally);
}

/* false: the end, for any reason. */
static bool read_report(int fd, struct report *report) {
    char *bytes = (char *)report;
    for (size_t got = 0; got < sizeof *report;) {
        ssize_t n = read(fd, bytes + got, sizeof *report - got);
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* ---- one run */

struct finding explore_one(const struct plan *plan, struct tally *tally) {
    struct report report = {0};
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        g_error("pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        g_error("fork");
    if (pid == 0) {
        struct deployment *d = deployment_new();
        close(ends[0]);
        alarm(PATIENCE);
        if (!freopen("/dev/null", "w", stderr)) /* its last words were printed when it died first */
            _exit(1);
        struct verdict v = deployment_run(d, plan, NULL);
        report.finding = finding_of(d, &v, plan->seed);
        report.tally = d->tally;
        send_report(ends[1], &report);
        _exit(0);
    }
    close(ends[1]);
    bool whole = read_report(ends[0], &report);
    close(ends[0]);
    waitpid(pid, &status, 0);
    report.finding.seed = plan->seed;
    if (!whole)
        died(&report.finding, status);
    if (tally)
        *tally = report.tally;
    return report.finding;
}

/* ---- many */

static void work(const struct exploration *x, int32_t number, int fd, volatile uint64_t *current) {
    static struct plan plan;
    struct deployment *d = deployment_new();
    struct report report = {0};
    double begun = now(), sent = begun;
    for (uint64_t i = (uint64_t)number; x->schedules == 0 || i < x->schedules; i += (uint64_t)x->jobs) {
        *current = x->first + i;
        alarm(PATIENCE);
        plan_draw(&plan, x->first + i);
        struct verdict v = deployment_run(d, &plan, NULL);
        tally_add(&report.tally, &d->tally);
        if (v.broken) {
            report.finding = finding_of(d, &v, plan.seed);
            break;
        }
        double time = now();
        if (x->seconds > 0 && time - begun >= x->seconds)
            break;
        if (time - sent >= 0.5) {
            send_report(fd, &report);
            sent = time;
        }
    }
    report.last = true;
    send_report(fd, &report);
    deployment_free(d);
}

static void start_job(const struct exploration *x, struct job *job, int32_t number, volatile uint64_t *current) {
    int ends[2];
    if (pipe(ends) != 0)
        g_error("pipe");
    fflush(NULL);
    job->pid = fork();
    if (job->pid < 0)
        g_error("fork");
    if (job->pid == 0) {
        close(ends[0]);
        work(x, number, ends[1], current);
        _exit(0);
    }
    close(ends[1]);
    job->fd = ends[0];
    job->open = true;
}

/* The job has ended: well, or not. */
static void end_job(struct job *job, bool well, uint64_t seed, struct finding *finding) {
    int status = 0;
    close(job->fd);
    job->open = false;
    waitpid(job->pid, &status, 0);
    if (well || finding->broken)
        return;
    finding->seed = seed;
    died(finding, status);
}

static void listen(struct job *jobs, int32_t count, const volatile uint64_t *seeds, struct exploration_result *r) {
    struct pollfd polled[JOBS_MAX];
    for (int32_t i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = jobs[i].open ? jobs[i].fd : -1, .events = POLLIN};
    poll(polled, (nfds_t)count, 1000);
    for (int32_t i = 0; i < count; i++) {
        struct report report;
        if (!jobs[i].open || polled[i].revents == 0)
            continue;
        bool whole = read_report(jobs[i].fd, &report);
        if (whole)
            tally_add(&r->tally, &report.tally);
        if (whole && report.finding.broken && !r->finding.broken)
            r->finding = report.finding;
        if (!whole || report.last)
            end_job(&jobs[i], whole, seeds[i], &r->finding);
    }
}

static int32_t count_open(const struct job *jobs, int32_t count) {
    int32_t open = 0;
    for (int32_t i = 0; i < count; i++)
        open += jobs[i].open;
    return open;
}

struct exploration_result explore(const struct exploration *x, FILE *out) {
    struct exploration_result r = {0};
    struct job jobs[JOBS_MAX] = {0};
    int32_t count = CLAMP(x->jobs, 1, JOBS_MAX);
    struct exploration mine = *x;
    mine.jobs = count;
    double begun = now(), reported = begun;
    volatile uint64_t *seeds =
        mmap(NULL, JOBS_MAX * sizeof *seeds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seeds == MAP_FAILED)
        g_error("mmap");
    for (int32_t i = 0; i < count; i++)
        start_job(&mine, &jobs[i], i, &seeds[i]);
    while (count_open(jobs, count) > 0) {
        listen(jobs, count, seeds, &r);
        if (r.finding.broken)
            for (int32_t i = 0; i < count; i++)
                if (jobs[i].open) {
                    kill(jobs[i].pid, SIGKILL);
                    end_job(&jobs[i], true, 0, &r.finding);
                }
        if (x->report_every > 0 && now() - reported >= x->report_every) {
            reported = now();
            explore_print(&r.tally, reported - begun, count, out);
        }
    }
    munmap((void *)seeds, JOBS_MAX * sizeof *seeds);
    r.seconds = now() - begun;
    return r;
}
