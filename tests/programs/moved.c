/*
 * moved: three servers that come back at other addresses under their names, for tests in other languages. It prints where their names
 * are (ts_names.h), and the connection string. Then it obeys lines of standard input, each answered with "ok" or "failed":
 *
 *     move I             server I, from 0 to 2, moves
 *     answers I [WORDS]  what a look-up of its name is answered, as ts_moving_answers has it
 */
#include <glib.h>
#include <stdio.h>
#include <ts_moving.h>

enum { TICK_MS = 500 };

static bool obey(ts_moving *servers, const char *line) {
    g_auto(GStrv) words = g_strsplit(line, " ", 3);
    if (g_strv_length(words) < 2)
        return false;
    int i = (int)g_ascii_strtoll(words[1], NULL, 10);
    if (g_str_equal(words[0], "move"))
        return ts_moving_move(servers, i);
    ts_moving_answers(servers, i, words[2] && words[2][0] ? words[2] : NULL);
    return g_str_equal(words[0], "answers");
}

int main(void) {
    char line[256];
    ts_moving *servers = ts_moving_start(TICK_MS);
    setlinebuf(stdout);
    printf("names %s\nhosts %s\n", g_getenv("TS_NAMES"), ts_moving_hosts(servers));
    while (fgets(line, sizeof line, stdin))
        puts(obey(servers, g_strchomp(line)) ? "ok" : "failed");
    ts_moving_stop(servers);
    return 0;
}
