/* How a row is played: what is wrong is kept in words, so a row that fails does not hide the next one. */
#ifndef PLAYED_H
#define PLAYED_H

#include <glib.h>

#include "world.h"

/* All that is wrong. played_begin, the first step of a test, empties it. */
extern GString *wrong;
void played_begin(void);

bool promises(const struct row *row, pdk_status status);
const struct row *row_of(const char *name);

/* Good arguments, and no error text; false, and wrong, where there are none. */
bool begin(const struct row *row, union value *values);
void complain(const struct row *row, const char *when, const char *what);
/* Calls it, and looks whether it was refused as it must be: the status, a text with these words, no output. */
void assert_refused(const struct row *row, const union value *values, pdk_status wanted, const char *when,
                    const char *words);
/* What a call without a status returned is nothing; if it tells why, in these words. */
void assert_nothing(const struct row *row, int64_t got, const char *when, const char *words);

/* The n-th way to call it rightly: with the arguments of begin, with NULL where it is allowed, with no time, with all the time,
 * with a struct of a later version, with the longest path. False: there is no such way. */
bool vary(const struct row *row, size_t way, union value *values);

/* Makes a struct of that size: what is in `good`, or the defaults where that is NULL. */
void struct_fill(const struct parameter *p, const void *good, unsigned char *bytes, size_t size);

/* A path of that many bytes. The next call has the memory. */
char *path_of(size_t length);

/* Ends the test when anything is wrong. */
void assert_none_wrong(void);

#endif
