/* Shared by the records of callbacks (ts_answer, ts_lost, events): one mutex guards them all. The end of each record
 * wakes everybody who waits for one. */
#ifndef TS_RECORD_H
#define TS_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Around each record. Unlocking wakes all who wait. */
void ts_record_lock(void);
void ts_record_unlock(void);

/* Waits until *number is at least `least`; false after `timeout_ms`. */
bool ts_record_reaches(const int *number, int least, int64_t timeout_ms);
int ts_record_count(const int *number);
int64_t ts_record_number(const int64_t *number);

/* Lists of records. The first adds to one, and makes the list if need be. The second calls `each` for all. The third
 * does so and empties the list. */
void ts_record_keep(GPtrArray **all, void *what);
void ts_record_each(GPtrArray *all, GFunc each);
void ts_record_free_all(GPtrArray **all, GFunc each);

#endif
