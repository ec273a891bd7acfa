/* What witnesses share: one mutex guards what all of them record, and whoever waits for a record is woken by its end. */
#ifndef TS_WITNESS_H
#define TS_WITNESS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Around each record; unlocking tells all who wait. */
void ts_witness_lock(void);
void ts_witness_unlock(void);

/* Waits until *number is at least `least`; false after `timeout_ms`. */
bool ts_witness_reaches(const int *number, int least, int64_t timeout_ms);
int ts_witness_count(const int *number);
int64_t ts_witness_number(const int64_t *number);

/* Lists of what there is: adds to one, making it; calls `each` for all; the same and empties it. */
void ts_witness_keep(GPtrArray **all, void *what);
void ts_witness_each(GPtrArray *all, GFunc each);
void ts_witness_free_all(GPtrArray **all, GFunc each);

#endif
