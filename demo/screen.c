/* Printing. A line waits until its moment is past for all processes, so that lines come in the order of their moments. */
#include "screen.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDE = 94, NEVER = 100000, CLOCK = 10, MARK = 2, VERDICT = 23 };

struct line {
    int64_t at_ns;
    char *text;
};

static int64_t start_ns;
static GQueue lines = G_QUEUE_INIT;

static const char *const bold = "1", *const red = "1;31", *const green = "1;32";
/* The colours of the processes A, B, C, D. */
static const char *const hues[] = {"36", "33", "35", "32"};

static int width(void) {
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40)
        return NEVER;
    return size.ws_col;
}

static void paint(GString *text, const char *colour) {
    if (isatty(STDOUT_FILENO))
        g_string_append_printf(text, "\033[%sm", colour);
}

static void add_time(GString *text, int64_t at_ns) {
    g_string_append_printf(text, "%6.1f s  ", (double)(at_ns - start_ns) / 1e9);
}

/* Appends words, from that column on; further lines begin there, too. */
static void add_words(GString *text, const char *words, int column) {
    g_auto(GStrv) split = g_strsplit(words, " ", -1);
    const int most = width();
    int at = column;

    for (char **word = split; *word; word++) {
        const int length = (int)strlen(*word);

        if (at > column && at + 1 + length > most) {
            g_string_append_printf(text, "\n%*s", column, "");
            at = column;
        } else if (word != split) {
            g_string_append_c(text, ' ');
            at++;
        }
        g_string_append(text, *word);
        at += length;
    }
}

static int earlier(gconstpointer a, gconstpointer b, gpointer unused) {
    const struct line *left = a, *right = b;

    (void)unused;
    return left->at_ns <= right->at_ns ? -1 : 1; /* of two with the same moment, the first stays the first */
}

static void note(int64_t at_ns, GString *text) {
    struct line *line = g_new(struct line, 1);

    *line = (struct line){at_ns, g_string_free(text, FALSE)};
    g_queue_insert_sorted(&lines, line, earlier, NULL);
}

void screen_start(int64_t now_ns) { start_ns = now_ns; }

int screen_cells(void) { return width() >= WIDE ? SCREEN_CELLS_MOST : SCREEN_CELLS_MOST / 2; }

void screen_text(const char *format, ...) {
    g_autoptr(GString) text = g_string_new(NULL);
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *words = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    add_words(text, words, 0);
    puts(text->str);
}

void screen_strip(int64_t at_ns, const char *cells, const char *words) {
    GString *text = g_string_new(NULL);

    add_time(text, at_ns);
    for (const char *cell = cells; *cell; cell++) {
        if (cell == cells || cell[-1] != *cell)
            paint(text, *cell >= 'A' && *cell <= 'D' ? hues[*cell - 'A'] : "0");
        g_string_append_c(text, *cell);
    }
    paint(text, "0");
    g_string_append_printf(text, "  %s", words);
    note(at_ns, text);
}

void screen_say(int64_t at_ns, const char *format, ...) {
    GString *text = g_string_new(NULL);
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *words = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    add_time(text, at_ns);
    paint(text, bold);
    g_string_append(text, "* ");
    add_words(text, words, CLOCK + MARK);
    paint(text, "0");
    note(at_ns, text);
}

void screen_show(int64_t until_ns) {
    struct line *line;

    while ((line = g_queue_peek_head(&lines)) != NULL && line->at_ns <= until_ns) {
        puts(line->text);
        g_queue_pop_head(&lines);
        g_free(line->text);
        g_free(line);
    }
}

bool screen_verdict(bool good, const char *what, const char *format, ...) {
    g_autoptr(GString) text = g_string_new(NULL);
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *words = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    paint(text, good ? green : red);
    g_string_append(text, good ? "    ok  " : "  FAIL  ");
    paint(text, "0");
    g_string_append_printf(text, "%-14s ", what);
    add_words(text, words, VERDICT);
    puts(text->str);
    return good;
}

void screen_end(bool good, const char *format, ...) {
    g_autoptr(GString) text = g_string_new(NULL);
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *words = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    paint(text, good ? green : red);
    g_string_append(text, good ? "PASSED: " : "FAILED: ");
    add_words(text, words, (int)strlen("PASSED: "));
    paint(text, "0");
    puts(text->str);
}
