/* Prints a line every half second, one for each notable event, and the verdict. Colours on a terminal only. */
#ifndef DEMO_SCREEN_H
#define DEMO_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

enum { SCREEN_CELLS = 50 };

/* The clock on the left starts at now_ns. */
void screen_start(int64_t now_ns);

/* "   0.5 s  AAABBBCCC…  312 turns, token 87": cells has SCREEN_CELLS letters, note comes after them. */
void screen_strip(const char *cells, const char *note);

/* Prints a notable event. */
void screen_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line of the verdict. Returns good. */
bool screen_verdict(bool good, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prints the last line. */
void screen_end(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
