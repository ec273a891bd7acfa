#include "spoken.h"

#include <check.h>
#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_support.h"

enum { PATIENCE_MS = 10000, ARGUMENTS = 8 };

static pid_t process;
static FILE *from;

void spoken_say(const char *word, int64_t number) {
    printf("%s %" PRId64 "\n", word, number);
    fflush(stdout);
}

pid_t spoken_start(const char *first, ...) {
    const char *argv[ARGUMENTS] = {"/proc/self/exe", first};
    int fd = -1;
    va_list rest;
    va_start(rest, first);
    for (int i = 2; i < ARGUMENTS && (argv[i] = va_arg(rest, const char *)) != NULL; i++)
        ;
    va_end(rest);
    process = ts_spawn(argv, &fd);
    ck_assert_int_gt(process, 0);
    from = fdopen(fd, "r");
    setvbuf(from, NULL, _IONBF, 0); /* so that the descriptor tells whether there is something to read */
    return process;
}

int64_t spoken_number(const char *word) {
    char line[128] = "";
    ck_assert_msg(ts_fd_readable(fileno(from), ts_patience(PATIENCE_MS)), "the process does not say %s", word);
    ck_assert_msg(fgets(line, sizeof line, from) != NULL, "the process has ended, before saying %s", word);
    ck_assert_msg(g_str_has_prefix(line, word), "not %s but %s", word, line);
    return g_ascii_strtoll(line + strlen(word) + 1, NULL, 10);
}

int spoken_status(void) {
    const int status = ts_wait(process, ts_patience(PATIENCE_MS));
    process = 0;
    return status;
}

void spoken_end(void) {
    if (process > 0)
        ts_kill(process);
    process = 0;
    if (from)
        fclose(from);
    from = NULL;
}
