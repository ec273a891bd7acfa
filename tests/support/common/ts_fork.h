/* fork() for tests whose child goes on without exec, in any build. */
#ifndef TS_FORK_H
#define TS_FORK_H

#include <sys/types.h>

/* Forks, and returns as fork does. The allocator of AddressSanitizer (GCC 12) takes none of its locks for a fork. A child that
 * was forked while another thread had such a lock would hang in malloc. In builds with AddressSanitizer a new child therefore
 * tries the allocator first. A child that hangs there is ended, and another is forked. */
pid_t ts_fork(void);

/* Ends a forked child as _exit does. What it executed of the library is counted all the same, in a build that counts. */
_Noreturn void ts_end_child(int status);

#endif
