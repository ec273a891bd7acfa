/* Three servers that restart at other addresses under their old names, as pods do: "zk1", "zk2" and "zk3" (ts_names.h). While a server
 * is away its name has no address. */
#ifndef TS_MOVING_H
#define TS_MOVING_H

#include "ts_ensemble.h"

typedef struct ts_moving ts_moving;

/* Three servers, with this tickTime. Ends the program when they do not start. */
ts_moving *ts_moving_start(int tick_ms);
void ts_moving_stop(ts_moving *moving);

/* "zk1:port,zk2:port,zk3:port". */
const char *ts_moving_hosts(const ts_moving *moving);

/* Words before the address in the line of server i: "late=1000 ", "never", … NULL: none. */
void ts_moving_answers(ts_moving *moving, int i, const char *words);

/* From now on an address that a server leaves answers nothing, not even with a refusal, as that of a pod that is gone; or refuses. */
void ts_moving_leave_silence(ts_moving *moving, bool silence);

/* Server i goes, and comes back at an address that it never had. Returns once it serves, with the others; false: it does not within
 * 30 s. */
bool ts_moving_move(ts_moving *moving, int i);

#endif
