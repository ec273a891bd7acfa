/* Every recipe side by side, with a path and two clients of its own: for tests that wait for leases, timeouts and links. */
#ifndef SIDES_H
#define SIDES_H

#include "recipes.h"

enum { SIDES_SCHEDULING_MS = 250 };

extern struct side {
    struct pair p;
    ts_answer *held, *waiter; /* one client's, and the other's */
    ts_lost *lost;            /* of what is held */
    int64_t token, cut, last_valid;
    int64_t until; /* from the cut on nothing makes the hold valid for longer */
} sides[RECIPES];
#define each_side(s)                                                                                                   \
    struct side *s = sides;                                                                                            \
    (s) < sides + RECIPES;                                                                                             \
    (s)++

/* Nothing is held; or the first client holds; and then a claim of the second one may wait for it, without end. */
void sides_begin(int session_ms);
void sides_hold(int session_ms);
void sides_follow(void);
/* The first client holds what keeps the second one's claim of the recipe waiting. */
void sides_wait(int session_ms, int64_t timeout_ms);

/* Of that client's links, all of them: heals them, or the mode. */
void sides_links(int client, ts_proxy_mode mode);
/* The first clients hear of that event, so often. */
void sides_await_events(pdk_session_event event, int count);

/* All that is held is valid, and nobody has heard of a loss. */
void sides_assert_kept(void);
/* All is released, and nobody has heard or will hear of a loss. */
void sides_release(void);
/* All is lost within that time, once, for that reason. The release tells nothing more. */
void sides_assert_lost(pdk_reason reason, int64_t within_ms);
/* Those who followed are granted: after the loss, if a lease has ended. They give back, and nothing is left. */
void sides_assert_followed(void);

#endif
