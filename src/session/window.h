/* The requests that wait for their turn. The window bounds how many are in flight at a time, so that a renewal never
 * stands behind many of them: not in the client library, on the link, or in the server.
 *
 *     renewals ────────────────────────────────────► submit     never wait (pdk__send_now)
 *     deletes ──► waiting, 128 in flight ──────────► submit     a release goes ahead of all claims
 *     the others ──► waiting, `size` in flight ────► submit     each answer lets the next few out
 *
 * The window begins with 128. While others wait for it, it grows by one with four answers that came within T/20. It is
 * 128 again as soon as an answer took longer than T/10, or nothing was in flight. Under the monitor. */
#ifndef PDK_SESSION_WINDOW_H
#define PDK_SESSION_WINDOW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { PDK__WINDOW_LEAST = 128, PDK__WINDOW_MOST = 4096 };

enum pdk__lane { PDK__LANE_DELETES, PDK__LANE_OTHERS, PDK__LANE_NONE };

struct pdk__window {
    GQueue waiting[PDK__LANE_NONE]; /* of ops: ops.c */
    guint in_flight[PDK__LANE_NONE];
    guint size, quick; /* how many answers were quick */
};

void pdk__window_init(struct pdk__window *w);
/* May one more request of the lane be sent? */
bool pdk__window_has_room(struct pdk__window *w, enum pdk__lane lane);
/* May a list be sent? It has room of its own, so that one goes out right behind each create. */
bool pdk__window_has_list_room(const struct pdk__window *w);
void pdk__window_sent(struct pdk__window *w, enum pdk__lane lane);
/* A request of the lane came back after `took`. timeout: the session's. */
void pdk__window_answered(struct pdk__window *w, enum pdk__lane lane, int64_t took, int64_t timeout);

#endif
