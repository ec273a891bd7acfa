/* Records what a hold is told when it is asked to let go. */
#ifndef ASKED_H
#define ASKED_H

#include <paddock/paddock.h>

typedef struct asked asked;

/* Sets the hold's callback, and fails the test when that is refused. The support owns the record. */
asked *asked_watch(pdk_hold *hold);
/* The same; the callback releases the hold, once. */
asked *asked_watch_and_let_go(pdk_hold *hold);
/* Until it was told so often; false after `timeout_ms`. */
bool asked_wait(asked *a, int count, int64_t timeout_ms);
int asked_count(asked *a);
/* Of the last one. who: a copy (g_free). */
char *asked_who(asked *a);
int64_t asked_until_ms(asked *a);
/* The number of calls of user_free; and until there was one: a callback that has just run may have the last reference. */
int asked_freed(asked *a);
bool asked_wait_freed(asked *a, int64_t timeout_ms);

#endif
