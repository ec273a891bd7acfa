#include "session/alarms.h"

#include "session/chores.h"
#include "session/session.h"

static gint earlier(gconstpointer a, gconstpointer b, gpointer user) {
    const struct pdk__alarm *x = a, *y = b;
    (void)user;
    return (x->at > y->at) - (x->at < y->at);
}

/* The timer is only ever set earlier. Nearly all alarms are taken back before they ring, and a tick that finds nothing
 * due costs less than to set the timer for each of them. */
static void arm(pdk_session *s) {
    GSequenceIter *first = g_sequence_get_begin_iter(s->alarms);
    if (g_sequence_iter_is_end(first))
        return;
    const struct pdk__alarm *alarm = g_sequence_get(first);
    if (alarm->at >= s->armed)
        return;
    s->armed = alarm->at;
    s->platform->arm(s, alarm->at);
}

void pdk__alarm_set(pdk_session *s, struct pdk__alarm *alarm, int64_t at) {
    pdk__assert_locked(s);
    pdk__alarm_off(alarm);
    alarm->at = at;
    if (at == INT64_MAX)
        return;
    alarm->position = g_sequence_insert_sorted(s->alarms, alarm, earlier, NULL);
    arm(s);
}

void pdk__alarm_off(struct pdk__alarm *alarm) {
    if (alarm->position)
        g_sequence_remove(alarm->position);
    alarm->position = NULL;
}

void pdk__tick(pdk_session *s) {
    pdk__lock_again(s);
    s->armed = INT64_MAX;
    int64_t now = pdk__now(s);
    for (guint rung = 0;; rung++) {
        if (rung > 0 && rung % pdk__slice(s) == 0)
            pdk__monitor_let_others(&s->monitor);
        GSequenceIter *first = g_sequence_get_begin_iter(s->alarms);
        if (g_sequence_iter_is_end(first))
            break;
        struct pdk__alarm *alarm = g_sequence_get(first);
        if (alarm->at > now)
            break;
        pdk__alarm_off(alarm);
        alarm->ring(s, alarm->user);
    }
    pdk__chores_run(s);
    arm(s);
    pdk__unlock(s);
}
