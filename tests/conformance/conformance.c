/* The conformance test. `conformance` plays every script. `conformance NAME…` plays those whose names contain a NAME,
 * and prints what was received. `conformance --seed N [COUNT]` plays those generated from that seed on. `conformance
 * --list` prints the names. */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#define SCRIPTS_LEAST 200
#define PLAIN_SEEDS 130 /* seeds 1, 2, … */
#define WIDE_SEEDS 64
#define SHOWN_MOST 5     /* differences that are printed, per backend */
#define ENSEMBLE_EVERY 4 /* the ensemble plays one in so many of the generated scripts */

struct conformance {
    GPtrArray *scripts;
    GPtrArray *reference; /* one trace each, NULL where the real server could not play the script */
    struct backend *real;
    bool prints; /* print what was received */
    unsigned failures;
};

static bool read_file(const char *path, GPtrArray *scripts) {
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    if (g_file_get_contents(path, &text, NULL, &error))
        return script_read(text, path, scripts);
    fprintf(stderr, "%s\n", error->message);
    return false;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The hand-written scripts, from the files beside this one. */
static bool read_files(GPtrArray *scripts) {
    const char *source = g_getenv("PDK_SOURCE");
    g_autofree char *folder = g_build_filename(source ? source : ".", "tests", "conformance", NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    bool ok = dir != NULL;
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".script"))
            g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    if (dir)
        g_dir_close(dir);
    qsort(names->pdata, names->len, sizeof names->pdata[0], by_text);
    ok = ok && names->len > 0;
    for (guint i = 0; i < names->len; i++)
        ok = ok && read_file(names->pdata[i], scripts);
    if (!ok)
        fprintf(stderr, "conformance: no scripts in %s; PDK_SOURCE is the project's folder\n", folder);
    return ok;
}

static bool draw(guint32 seed, bool wide, GPtrArray *scripts) {
    g_autofree char *text = generate_script(seed, wide);
    g_autofree char *where = g_strdup_printf("seed %u", seed);
    bool ok = script_read(text, where, scripts);
    if (scripts->len > 0)
        ((struct script *)scripts->pdata[scripts->len - 1])->generated = true;
    return ok;
}

static bool read_all(GPtrArray *scripts) {
    bool ok = read_files(scripts);
    for (guint32 seed = 1; seed <= PLAIN_SEEDS; seed++)
        ok = ok && draw(seed, false, scripts);
    for (guint32 seed = 1; seed <= WIDE_SEEDS; seed++)
        ok = ok && draw(seed, true, scripts);
    return ok;
}

static bool names_are_unique(GPtrArray *scripts) {
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < scripts->len; i++) {
        char *name = ((struct script *)scripts->pdata[i])->name;
        if (!g_hash_table_add(names, name)) {
            fprintf(stderr, "conformance: two scripts are called %s\n", name);
            return false;
        }
    }
    return true;
}

static void keep_named(GPtrArray *scripts, char **names) {
    for (guint i = scripts->len; i-- > 0;) {
        const struct script *script = scripts->pdata[i];
        bool named = false;
        for (char **name = names; *name; name++)
            named = named || (script->generated ? g_str_equal(script->name, *name) : !!strstr(script->name, *name));
        if (!named)
            g_ptr_array_remove_index(scripts, i);
    }
}

/* --- playing */

static void print_trace(const struct script *script, const struct trace *trace, const struct backend *backend) {
    g_autoptr(GPtrArray) lines = trace_lines(trace, backend->shows);
    printf("== %s: %s, on %s\n", script->name, script->title, backend->name);
    for (guint i = 0; i < lines->len; i++)
        printf("  %s\n", (const char *)lines->pdata[i]);
}

static void print_end(const struct backend *b, gint64 begun) {
    if (b->replayed)
        printf("; %u played again: a connection or a session ended by itself, or a step could not be done",
               b->replayed);
    printf(" (%.1f s)\n", (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC);
}

static void play_reference(struct conformance *test) {
    gint64 begun = g_get_monotonic_time();
    guint steps = 0;
    for (guint i = 0; i < test->scripts->len; i++) {
        const struct script *script = test->scripts->pdata[i];
        struct trace *trace = script->needs & ~test->real->can ? NULL : play(script, test->real);
        g_ptr_array_add(test->reference, trace);
        steps += script->steps->len;
        test->failures += trace == NULL;
        if (trace && test->prints)
            print_trace(script, trace, test->real);
    }
    printf("%-14s %4u scripts, %5u steps: the measure of the others", test->real->name, test->scripts->len, steps);
    print_end(test->real, begun);
}

struct result {
    unsigned scripts, steps, differences, skipped;
    unsigned lacks[CAPABILITIES];
    const char *first; /* the first script that differs */
};

static void skip(const struct script *script, const struct backend *b, struct result *r) {
    r->skipped++;
    for (int i = 0; i < CAPABILITIES; i++)
        r->lacks[i] += (script->needs & ~b->can & 1u << i) != 0;
}

static bool on_ensemble(const struct script *script, guint i) { return !script->generated || i % ENSEMBLE_EVERY == 0; }

/* Plays all scripts that the backend can play, and compares. The differences go to out, which may be NULL. */
static struct result compare_with(struct conformance *test, struct backend *b, bool thinned, FILE *out) {
    struct result r = {0};
    for (guint i = 0; i < test->scripts->len; i++) {
        const struct script *script = test->scripts->pdata[i];
        const struct trace *truth = test->reference->pdata[i];
        if (!truth || (thinned && !on_ensemble(script, i)))
            continue;
        if (script->needs & ~b->can) {
            skip(script, b, &r);
            continue;
        }
        struct trace *trace = play(script, b);
        r.scripts++;
        r.steps += script->steps->len;
        if (!trace || !traces_alike(script, truth, test->real, trace, b, r.differences < SHOWN_MOST ? out : NULL)) {
            if (out && r.differences >= SHOWN_MOST)
                printf("DIFFERENCE in %s, too\n", script->name);
            r.differences++;
            r.first = r.first ? r.first : script->name;
        }
        trace_free(trace);
    }
    return r;
}

static struct result run_backend(struct conformance *test, struct backend *b, bool thinned) {
    if (!b) {
        test->failures++;
        return (struct result){0};
    }
    gint64 begun = g_get_monotonic_time();
    struct result r = compare_with(test, b, thinned, stdout);
    printf("%-14s %4u scripts, %5u steps, %u differences", b->name, r.scripts, r.steps, r.differences);
    const char *before = "; skipped for want of";
    for (int i = 0; i < CAPABILITIES; i++)
        if (r.lacks[i]) {
            printf("%s %s %u", before, capability_names[i], r.lacks[i]);
            before = ",";
        }
    print_end(b, begun);
    test->failures += r.differences;
    b->free(b);
    return r;
}

/* --- does the test prove anything? */

static void check(struct conformance *test, bool ok, const char *what) {
    if (ok)
        return;
    printf("FAILED: %s\n", what);
    test->failures++;
}

static void check_wrong_fakes(struct conformance *test) {
    unsigned caught = 0;
    for (int way = 0; way < WRONG_WAYS; way++) {
        struct backend *b = backend_wrong(way);
        struct result r = compare_with(test, b, false, NULL);
        caught += r.differences > 0;
        printf("  wrong: %-60s %3u scripts differ%s%s\n", b->about, r.differences, r.first ? ", first " : "",
               r.first ? r.first : "");
        check(test, r.differences > 0, "a wrong fake was not noticed");
        b->free(b);
    }
    printf("%-14s %u of %d caught\n", "wrong fakes", caught, WRONG_WAYS);
}

static void run(struct conformance *test, bool all) {
    play_reference(test);
    struct result fake = run_backend(test, backend_fake(), false);
    struct result sim = run_backend(test, backend_sim(1), false);
    struct result sims = run_backend(test, backend_sim(3), false);
    run_backend(test, backend_real(3), all);
    if (!all)
        return;
    check(test, MIN(fake.scripts, MIN(sim.scripts, sims.scripts)) >= SCRIPTS_LEAST,
          "every fake has played 200 scripts");
    check_wrong_fakes(test);
}

static void trace_free_any(void *trace) { trace_free(trace); }
static void script_free_any(void *script) { script_free(script); }

/* NULL: *number stays. */
static bool take_number(const char *text, guint64 least, guint64 *number) {
    return !text || g_ascii_string_to_unsigned(text, 10, least, 1000000000, number, NULL);
}

/* The arguments are names of scripts, or an option. */
static bool load(struct conformance *test, char **arguments, bool *all) {
    bool ok = true;
    if (arguments[0] && g_str_equal(arguments[0], "--seed") && arguments[1]) {
        guint64 first = 0, count = 1;
        ok = take_number(arguments[1], 0, &first) && take_number(arguments[2], 1, &count);
        if (!ok)
            fprintf(stderr, "conformance: --seed FIRST [COUNT]: numbers up to 1000000000, COUNT from 1\n");
        for (guint64 seed = first; ok && seed < first + count; seed++)
            ok = draw((guint32)seed, false, test->scripts) && draw((guint32)seed, true, test->scripts);
        test->prints = count == 1;
        return ok;
    }
    ok = read_all(test->scripts) && names_are_unique(test->scripts);
    *all = !arguments[0];
    test->prints = arguments[0] && !g_str_equal(arguments[0], "--list");
    if (test->prints)
        keep_named(test->scripts, arguments);
    if (ok && test->scripts->len == 0)
        fprintf(stderr, "conformance: no script of that name; --list shows them\n");
    return ok && test->scripts->len > 0;
}

int main(int argc, char **argv) {
    struct conformance test = {.scripts = g_ptr_array_new_with_free_func(script_free_any),
                               .reference = g_ptr_array_new_with_free_func(trace_free_any)};
    bool all = false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!load(&test, argv + 1, &all)) {
        test.failures++;
    } else if (argc > 1 && g_str_equal(argv[1], "--list")) {
        for (guint i = 0; i < test.scripts->len; i++)
            printf("%-24s %s\n", ((struct script *)test.scripts->pdata[i])->name,
                   ((struct script *)test.scripts->pdata[i])->title);
    } else if ((test.real = backend_real(1)) == NULL) {
        test.failures++;
    } else {
        run(&test, all);
        test.real->free(test.real);
    }
    if (test.failures)
        printf("conformance: FAILED\n");
    g_ptr_array_unref(test.reference);
    g_ptr_array_unref(test.scripts);
    return test.failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
