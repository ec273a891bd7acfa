/* Compares two traces of one script: they have equal text, or both are printed side by side. */
#include "conformance.h"

#include <string.h>

#define WIDTH 72

/* Steps are never indented, the lines received in them are. */
static bool is_step(const char *line) { return line[0] != ' '; }

/* The lines from `at` to the next step. */
static guint part(const GPtrArray *lines, guint at) {
    guint end = at;
    while (end < lines->len && !is_step(lines->pdata[end]))
        end++;
    return end - at;
}

static bool equal(const GPtrArray *a, const GPtrArray *b) {
    if (a->len != b->len)
        return false;
    for (guint i = 0; i < a->len; i++)
        if (!g_str_equal(a->pdata[i], b->pdata[i]))
            return false;
    return true;
}

/* Both have the same steps. The lines received in each step are printed side by side, with ! where they differ. */
static void side_by_side(const GPtrArray *a, const GPtrArray *b, FILE *out) {
    for (guint i = 0, k = 0; i < a->len && k < b->len;) {
        fprintf(out, "  %s\n", (const char *)a->pdata[i]);
        guint left = part(a, ++i), right = part(b, ++k);
        for (guint n = 0; n < MAX(left, right); n++) {
            const char *l = n < left ? a->pdata[i + n] : "", *r = n < right ? b->pdata[k + n] : "";
            fprintf(out, "%c %-*s | %s\n", g_str_equal(l, r) ? ' ' : '!', WIDTH, l, r + strspn(r, " "));
        }
        i += left;
        k += right;
    }
}

bool traces_alike(const struct script *script, const struct trace *left, const struct backend *left_backend,
                  const struct trace *right, const struct backend *right_backend, FILE *out) {
    unsigned shows = left_backend->shows & right_backend->shows;
    g_autoptr(GPtrArray) a = trace_lines(left, shows);
    g_autoptr(GPtrArray) b = trace_lines(right, shows);
    bool same = equal(a, b);
    if (!same && out) {
        fprintf(out, "DIFFERENCE in %s: %s\n  %-*s | %s\n", script->name, script->title, WIDTH, left_backend->name,
                right_backend->name);
        side_by_side(a, b, out);
    }
    return same;
}
