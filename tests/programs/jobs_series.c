/* Processes ask for a job, are killed and stopped, and their clocks are apart. The judge is the record, and what they wrote down. */
#include "jobs.h"

#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <string.h>
#include <ts_clock.h>
#include <ts_process.h>
#include <unistd.h>

enum { MOST = 16, APART_S = 3600, KILLS_A_STOP = 4 };

struct player {
    pid_t pid;
    int64_t resume_at; /* 0: it is not stopped */
};

static const char *const *play_role(const char *hosts, const char *log) {
    static const char *role[4];
    role[0] = "play";
    role[1] = hosts;
    role[2] = log;
    return role;
}

/* From an hour behind to an hour ahead. */
static int64_t ahead_of(int number, int processes) {
    return processes == 1 ? 0 : (int64_t)APART_S * (2 * number - (processes - 1)) / (processes - 1);
}

static void disturb(struct player *players, int processes, const char *const *role, int *kills, int *pauses) {
    int number = g_random_int_range(0, processes);
    bool one_stopped = false;
    for (int i = 0; i < processes; i++) {
        if (players[i].resume_at != 0 && ts_now_ms() >= players[i].resume_at) {
            ts_resume(players[i].pid);
            players[i].resume_at = 0;
        }
        one_stopped |= players[i].resume_at != 0;
    }
    if (g_random_int_range(0, 8) != 0 || players[number].resume_at != 0)
        return;
    if (g_random_boolean() && !one_stopped) {
        ts_pause(players[number].pid);
        players[number].resume_at = ts_now_ms() + g_random_int_range(100, 2 * JOBS_SESSION_MS);
        ++*pauses;
    } else {
        ts_kill(players[number].pid);
        players[number].pid = jobs_spawn(role, ahead_of(number, processes), NULL);
        ++*kills;
    }
}

/* How many lines of this kind name the token. */
static int named(const char *text, int64_t token) {
    g_autofree char *line = g_strdup_printf("R %" PRId64 "\n", token);
    int count = 0;
    for (const char *at = text; (at = strstr(at, line)); at++)
        count += at == text || at[-1] == '\n';
    return count;
}

static int judge_runs(const pdk_job_runs *runs, const char *text, int periods, int *died) {
    int wrong = 0;
    size_t count = pdk_job_runs_count(runs), noted = 0;
    for (size_t i = 0; i < count; i++) {
        const pdk_job_run *run = pdk_job_runs_run(runs, i), *older = pdk_job_runs_run(runs, i + 1);
        *died += run->state == PDK_JOB_DIED;
        noted += (size_t)named(text, run->token);
        bool ran = run->state != PDK_JOB_DIED; /* a dead one may have had no time to note it */
        if (named(text, run->token) > 1 || (ran && named(text, run->token) != 1)) {
            fprintf(stderr, "jobs: the run with token %" PRId64 " is noted %d times\n", run->token,
                    named(text, run->token));
            wrong++;
        }
        if (older && run->start_ms / JOBS_EVERY_MS != older->start_ms / JOBS_EVERY_MS + 1) {
            fprintf(stderr, "jobs: after a run at %" PRId64 " the next one is at %" PRId64 "\n", older->start_ms,
                    run->start_ms);
            wrong++;
        }
        if (older && run->start_ms - older->start_ms < JOBS_LEAST_MS)
            wrong++;
    }
    size_t lines = 0;
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        lines += at[0] == 'R';
    if (lines != noted || (int)count < periods) {
        fprintf(stderr, "jobs: %zu runs in the record, %zu of them noted; %zu are noted\n", count, noted, lines);
        wrong++;
    }
    return wrong;
}

int jobs_series(const char *hosts, const char *folder, int periods, int processes) {
    struct player players[MOST] = {{0}};
    pdk_session *session = NULL;
    pdk_job_runs *runs = NULL;
    int kills = 0, pauses = 0, died = 0, wrong = 1;
    g_autofree char *log = g_strconcat(folder, "/jobs", NULL), *text = NULL;
    const char *const *role = play_role(hosts, log);
    for (int i = 0; i < processes; i++)
        players[i].pid = jobs_spawn(role, ahead_of(i, processes), NULL);
    int64_t end = ts_now_ms() + (int64_t)(periods + 1) * JOBS_EVERY_MS;
    while (ts_now_ms() < end) {
        ts_sleep_ms(100);
        disturb(players, processes, role, &kills, &pauses);
    }
    for (int i = 0; i < processes; i++)
        ts_kill(players[i].pid);
    if (pdk_session_open(hosts, NULL, &session) == PDK_OK &&
        pdk_job_history(session, JOBS_PATH, 10000, &runs) == PDK_OK && g_file_get_contents(log, &text, NULL, NULL))
        wrong = judge_runs(runs, text, periods, &died) + jobs_overlaps(log);
    printf("%d processes with clocks %d s apart, killed %d times, stopped %d times: %zu periods, %d of whose runs "
           "died, exactly one "
           "run each: %s\n",
           processes, processes > 1 ? 2 * APART_S : 0, kills, pauses, pdk_job_runs_count(runs), died,
           wrong ? "FAILED" : "ok");
    pdk_job_runs_free(runs);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
    return wrong;
}

/* ---- the lease lock */

/* The token that it says it holds with; 0: it said nothing in time. */
static int64_t await_token(FILE *out) {
    char line[64];
    return fgets(line, sizeof line, out) && line[0] == 'H' ? g_ascii_strtoll(line + 2, NULL, 10) : 0;
}

int jobs_lease_series(const char *hosts, const char *folder, int kills) {
    g_autofree char *log = g_strconcat(folder, "/lease", NULL), *others = g_strconcat(folder, "/others", NULL),
                    *text = NULL;
    const char *const role[] = {"hold", hosts, log, "the secret of the holder", NULL};
    const char *const other[] = {"hold", hosts, others, "other than the holder's", NULL};
    const int rounds = kills + kills / KILLS_A_STOP;
    int fd = -1, ignored = -1, killed = 0, back = 0, wrong = 0;
    int64_t token = 0;
    pid_t holder = jobs_spawn(role, 0, &fd), stopped = 0;
    FILE *out = fdopen(fd, "r");
    token = await_token(out);
    pid_t contender = jobs_spawn(other, 0, &ignored);
    for (int i = 0; i < rounds && token > 0; i++) {
        ts_sleep_ms(g_random_int_range(20, 600));
        if (i % (KILLS_A_STOP + 1) == KILLS_A_STOP) {
            stopped = holder; /* it sleeps until its restart holds: it must not believe in its hold then */
            ts_pause(stopped);
        } else {
            ts_kill(holder);
            killed++;
        }
        fclose(out);
        holder = jobs_spawn(role, 0, &fd);
        out = fdopen(fd, "r");
        int64_t next = await_token(out);
        back += next > token;
        token = next;
        if (stopped > 0) {
            ts_resume(stopped);
            ts_sleep_ms(200);
            ts_kill(stopped);
            stopped = 0;
        }
    }
    wrong += back != rounds || killed != kills;
    ts_kill(holder);
    fclose(out);
    if (g_file_get_contents(others, &text, NULL, NULL) && strchr(text, 'V')) {
        fprintf(stderr, "jobs: somebody else held it before its end\n");
        wrong++;
    }
    /* Now it ends, and the other one gets it. A short series does not wait for that. */
    bool waits = kills >= KILLS_A_STOP;
    int64_t until = ts_now_ms() + (waits ? (int64_t)3 * LEASE_MS : 0);
    while (ts_now_ms() < until && !(text && strchr(text, 'V'))) {
        ts_sleep_ms(100);
        g_free(g_steal_pointer(&text));
        g_file_get_contents(others, &text, NULL, NULL);
    }
    wrong += waits && (!text || !strchr(text, 'V'));
    ts_kill(contender);
    close(ignored);
    wrong += jobs_overlaps(log);
    printf("lease lock: holder killed %d times and stopped %d times, taken back %d times%s: %s\n", killed,
           rounds - kills, back, waits ? ", then ended" : "", wrong ? "FAILED" : "never overlapped");
    return wrong;
}
