/* Prints a line every half second, one for each notable event, and the verdict. Colours, and as wide as the terminal, on a
 * terminal only. */
#ifndef DEMO_SCREEN_H
#define DEMO_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

enum { SCREEN_CELLS_MOST = 50 };

/* The clock on the left starts at now_ns. */
void screen_start(int64_t now_ns);

/* How many letters stand for half a second: they and a note fit into a line. */
int screen_cells(void);

/* Prints a text that has no moment. */
void screen_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* These two note a line with the moment that it is about. "   0.5 s  AAABBBCCC…  312 turns, token 87": cells has screen_cells
 * letters, and note comes after them. The other is about a notable event. */
void screen_strip(int64_t at_ns, const char *cells, const char *note);
void screen_say(int64_t at_ns, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints what is noted about the time until then, in the order of the moments: reports of several processes come in any
 * order. */
void screen_show(int64_t until_ns);

/* Prints a line of the verdict. Returns good. */
bool screen_verdict(bool good, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prints the last line. */
void screen_end(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
