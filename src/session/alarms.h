/* The alarms of a session, in one list that is sorted by time. Under the monitor. */
#ifndef PDK_SESSION_ALARMS_H
#define PDK_SESSION_ALARMS_H

#include <glib.h>
#include <stdint.h>

struct pdk_session;

struct pdk__alarm {
    int64_t at;
    void (*ring)(struct pdk_session *s, void *user); /* under the monitor; the alarm is off by then */
    void *user;
    GSequenceIter *position; /* NULL: off */
};

/* Ring at `at`; INT64_MAX: never. It replaces an earlier setting. */
void pdk__alarm_set(struct pdk_session *s, struct pdk__alarm *alarm, int64_t at);
void pdk__alarm_off(struct pdk__alarm *alarm);

/* The platform's timer calls this: ring the alarms that are due. Takes the monitor. */
void pdk__tick(struct pdk_session *s);

#endif
