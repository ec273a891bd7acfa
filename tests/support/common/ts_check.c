/*
 * Runs a Check suite in this process. Durations are not in Check's interface but in its XML report, which is written to
 * a temporary file and read back.
 */
#include "ts_check.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char *field; /* the element we are in */
    GHashTable *values;
} report;

static void element_begins(GMarkupParseContext *context, const char *name, const char **keys, const char **values,
                           void *user, GError **error) {
    report *r = user;

    (void)context;
    (void)error;
    g_free(r->field);
    r->field = g_strdup(name);
    if (strcmp(name, "test") == 0) {
        g_hash_table_remove_all(r->values);
        for (; *keys != NULL; keys++, values++) {
            g_hash_table_insert(r->values, g_strdup(*keys), g_strdup(*values));
        }
    }
}

static void text_seen(GMarkupParseContext *context, const char *text, gsize size, void *user, GError **error) {
    report *r = user;

    (void)context;
    (void)error;
    if (r->field != NULL) {
        g_hash_table_insert(r->values, g_strdup(r->field), g_strndup(text, size));
    }
}

static const char *value(const report *r, const char *name) {
    const char *found = g_hash_table_lookup(r->values, name);

    return found == NULL ? "?" : found;
}

static void element_ends(GMarkupParseContext *context, const char *name, void *user, GError **error) {
    report *r = user;

    (void)context;
    (void)error;
    g_clear_pointer(&r->field, g_free);
    if (strcmp(name, "test") == 0) {
        const char *result = value(r, "result");
        const double seconds = g_ascii_strtod(value(r, "duration"), NULL);

        printf("%-7s %8.3f s  %s / %s\n", strcmp(result, "success") == 0 ? "ok" : "FAILED", seconds,
               value(r, "description"), value(r, "id"));
    }
}

static void print_durations(const char *xml) {
    static const GMarkupParser parser = {element_begins, element_ends, text_seen, NULL, NULL};
    report r = {.values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &r, NULL);

    if (!g_markup_parse_context_parse(context, xml, (gssize)strlen(xml), NULL)) {
        printf("(durations unknown: the report cannot be read)\n");
    }
    g_markup_parse_context_free(context);
    g_hash_table_unref(r.values);
    g_free(r.field);
}

static void out_of_time(int signal_number) {
    static const char text[] = "test support: out of time (PDK_TEST_LIMIT)\n";

    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        _exit(3);
    }
    abort();
}

static unsigned number_from(const char *variable, unsigned otherwise) {
    const char *text = g_getenv(variable);
    const guint64 number = text == NULL ? 0 : g_ascii_strtoull(text, NULL, 10);

    return number > 0 && number < 100000 ? (unsigned)number : otherwise;
}

static void limit_time(void) {
    const unsigned slowness = number_from("CK_TIMEOUT_MULTIPLIER", 1); /* sanitizers take their time */

    signal(SIGALRM, out_of_time);
    alarm(number_from("PDK_TEST_LIMIT", 300 * slowness));
}

int ts_run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    g_autofree char *xml_path = NULL;
    g_autofree char *xml = NULL;
    const int file = g_file_open_tmp("paddock-check-XXXXXX", &xml_path, NULL);
    int ran, failed;

    setvbuf(stdout, NULL, _IOLBF, 0);
    limit_time();
    srunner_set_fork_status(runner, CK_NOFORK);
    if (file >= 0) {
        close(file);
        srunner_set_xml(runner, xml_path);
    }
    srunner_run(runner, NULL, g_getenv("PDK_TEST_FILTER"), CK_NORMAL);
    if (file >= 0 && g_file_get_contents(xml_path, &xml, NULL, NULL)) {
        print_durations(xml);
    }
    g_unlink(xml_path == NULL ? "" : xml_path);
    ran = srunner_ntests_run(runner);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    alarm(0);
    if (ran == 0) {
        fprintf(stderr, "test support: no test ran\n");
    }
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int ts_run(const char *name, SFun setup, SFun teardown, ...) {
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);
    va_list tests;

    tcase_add_checked_fixture(cases, setup, teardown);
    va_start(tests, teardown);
    for (const TTest *test = va_arg(tests, const TTest *); test; test = va_arg(tests, const TTest *)) {
        tcase_add_test(cases, test);
    }
    va_end(tests);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
