/* What the demo shows (demo/screen.c): lines in the order of their moments, each with its own, as wide as the terminal. */
#include "../../demo/screen.h"
#include "ts_check.h"

#include <glib.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 60, SECOND_NS = 1000000000 };

static int before = -1, ours = -1;
static char seen[4000];

/* Standard output is a terminal of COLUMNS columns, which changes no line end. */
static void begin(void) {
    struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
    struct termios plain = {0};
    int its;
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    ck_assert_int_eq(openpty(&ours, &its, NULL, &plain, &size), 0);
    dup2(its, STDOUT_FILENO);
    close(its);
}

/* What was printed since, without colours. */
static const char *end(void) {
    static const char over[] = "\4";
    char *to = seen;
    size_t count = 0;
    fputs(over, stdout);
    fflush(stdout);
    while (count == 0 || seen[count - 1] != over[0]) {
        ssize_t more = read(ours, seen + count, sizeof seen - count);
        ck_assert_int_gt(more, 0);
        count += (size_t)more;
    }
    seen[count - 1] = '\0';
    dup2(before, STDOUT_FILENO);
    close(before);
    close(ours);
    for (const char *from = seen; *from; from++) {
        if (*from == '\033')
            from = strchr(from, 'm');
        else
            *to++ = *from;
    }
    *to = '\0';
    return seen;
}

START_TEST(lines_come_in_the_order_of_their_moments) {
    begin();
    screen_start(10 * (int64_t)SECOND_NS);
    screen_strip(11 * (int64_t)SECOND_NS, "AAB", "two turns");
    screen_say(10 * (int64_t)SECOND_NS + SECOND_NS / 2, "reported late");
    screen_say(11 * (int64_t)SECOND_NS, "%s", "of the same moment");
    screen_say(13 * (int64_t)SECOND_NS, "later");
    screen_show(12 * (int64_t)SECOND_NS);
    screen_text("now");
    screen_show(INT64_MAX);
    ck_assert_str_eq(end(), "   0.5 s  * reported late\n"
                            "   1.0 s  AAB  two turns\n"
                            "   1.0 s  * of the same moment\n"
                            "now\n"
                            "   3.0 s  * later\n");
}
END_TEST

START_TEST(lines_are_as_wide_as_the_terminal) {
    begin();
    screen_start(0);
    ck_assert_int_eq(screen_cells(), SCREEN_CELLS_MOST / 2);
    screen_say(0, "123456789 123456789 123456789 123456789 12345678 no room here");
    screen_show(0);
    screen_verdict(true, "exclusion", "123456789 123456789 123456789 1234567 here neither");
    screen_end(false, "%s", "123456789 123456789 123456789 123456789 123456789 12");
    ck_assert_str_eq(end(), "   0.0 s  * 123456789 123456789 123456789 123456789 12345678\n"
                            "            no room here\n"
                            "    ok  exclusion      123456789 123456789 123456789 1234567\n"
                            "                       here neither\n"
                            "FAILED: 123456789 123456789 123456789 123456789 123456789 12\n");
}
END_TEST

int main(void) {
    return ts_run("demo_screen", NULL, NULL, lines_come_in_the_order_of_their_moments,
                  lines_are_as_wide_as_the_terminal, NULL);
}
