#include "session/window.h"

/* Parts of the session timeout: an answer within the first lets the window grow, one after the second closes it. */
enum { QUICK = 20, SLOW = 10 };
/* So many quick answers make room for one more. Answers tell of the past, so the window grows by no more than a quarter
 * in a round trip. */
enum { QUICK_FOR_ONE = 4 };

void pdk__window_init(struct pdk__window *w) {
    *w = (struct pdk__window){.size = PDK__WINDOW_LEAST};
    for (int lane = 0; lane < PDK__LANE_NONE; lane++)
        g_queue_init(&w->waiting[lane]);
}

bool pdk__window_has_room(struct pdk__window *w, enum pdk__lane lane) {
    if (lane == PDK__LANE_DELETES)
        return w->in_flight[lane] < PDK__WINDOW_LEAST;
    if (w->in_flight[lane] == 0)
        w->size = PDK__WINDOW_LEAST; /* how fast answers come now is not known */
    return w->in_flight[lane] < w->size;
}

bool pdk__window_has_list_room(const struct pdk__window *w) { return w->in_flight[PDK__LANE_OTHERS] < 2 * w->size; }

void pdk__window_sent(struct pdk__window *w, enum pdk__lane lane) {
    if (lane != PDK__LANE_NONE)
        w->in_flight[lane]++;
}

void pdk__window_answered(struct pdk__window *w, enum pdk__lane lane, int64_t took, int64_t timeout) {
    if (lane == PDK__LANE_NONE)
        return;
    w->in_flight[lane]--;
    if (took > timeout / SLOW)
        w->size = PDK__WINDOW_LEAST;
    else if (took <= timeout / QUICK && w->waiting[PDK__LANE_OTHERS].length > 0 && w->size < PDK__WINDOW_MOST &&
             ++w->quick % QUICK_FOR_ONE == 0)
        w->size++;
}
