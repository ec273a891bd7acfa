/* The parts of the series of jobs: a process that plays, and what it writes down. */
#ifndef JOBS_H
#define JOBS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define JOBS_PATH "/jobs/series"
#define LEASE_PATH "/locks/series"

enum { JOBS_TICK_MS = 200, JOBS_SESSION_MS = 2000, JOBS_EVERY_MS = 4000, JOBS_LEAST_MS = 500, LEASE_MS = 8000 };

/* Plays in this process until it is killed, and appends lines to the log: "R token" for a run that began, and "V token from until"
 * for the time in which its hold is known to have been valid, in ns of CLOCK_BOOTTIME. */
int jobs_play(const char *hosts, const char *log);
/* Acquires the lease lock and holds it, until it is killed; "V" likewise, and "H token" on standard output. With the secret "other…" it
 * only tries, and says so if it gets it. */
int jobs_hold(const char *hosts, const char *log, const char *secret);

/* Starts this program again as `role`, with so many seconds on its wall clock. *out: its standard output, or NULL. */
pid_t jobs_spawn(const char *const role[], int64_t ahead_s, int *out);

/* What a log says: the number of tokens whose valid times overlap another's. */
int jobs_overlaps(const char *log);

/* The series. How often something was wrong. */
int jobs_series(const char *hosts, const char *folder, int periods, int processes);
int jobs_lease_series(const char *hosts, const char *folder, int kills);

#endif
