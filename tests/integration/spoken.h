/* A process that says lines of a word and a number: this program, run again with arguments. */
#ifndef SPOKEN_H
#define SPOKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the process. */
void spoken_say(const char *word, int64_t number);

/* There is one at a time. The last argument is NULL. */
pid_t spoken_start(const char *first, ...) __attribute__((sentinel));
/* The number of the next line, which must begin with that word. */
int64_t spoken_number(const char *word);
/* Waits for its end, and returns its status. */
int spoken_status(void);
/* Kills it, if it is there. For teardown. */
void spoken_end(void);

#endif
