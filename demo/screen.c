/* Printing. */
#include "screen.h"

#include "channel.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int64_t start_ns;
static bool coloured;

static const char *const bold = "1", *const red = "1;31", *const green = "1;32";
/* The colours of the processes A, B, C, D. */
static const char *const hues[] = {"36", "33", "35", "32"};

static void paint(const char *colour) {
    if (coloured)
        printf("\033[%sm", colour);
}

static void print_time(void) { printf("%6.1f s  ", (double)(demo_now() - start_ns) / 1e9); }

void screen_start(int64_t now_ns) {
    start_ns = now_ns;
    coloured = isatty(STDOUT_FILENO);
}

void screen_strip(const char *cells, const char *note) {
    print_time();
    for (const char *cell = cells; *cell; cell++) {
        if (cell == cells || cell[-1] != *cell)
            paint(*cell >= 'A' && *cell <= 'D' ? hues[*cell - 'A'] : "0");
        putchar(*cell);
    }
    paint("0");
    printf("  %s\n", note);
}

void screen_say(const char *format, ...) {
    va_list arguments;

    print_time();
    paint(bold);
    fputs("* ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    paint("0");
    putchar('\n');
}

bool screen_verdict(bool good, const char *what, const char *format, ...) {
    va_list arguments;

    paint(good ? green : red);
    fputs(good ? "    ok  " : "  FAIL  ", stdout);
    paint("0");
    printf("%-14s ", what);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    return good;
}

void screen_end(bool good, const char *format, ...) {
    va_list arguments;

    paint(good ? green : red);
    fputs(good ? "PASSED: " : "FAILED: ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    paint("0");
    putchar('\n');
}
