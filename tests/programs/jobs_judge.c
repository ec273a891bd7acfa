/* What the processes of the series have written down. */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>

struct valid {
    int64_t token, from, until;
};

static int by_token(gconstpointer a, gconstpointer b) {
    const struct valid *x = a, *y = b;
    return x->token < y->token ? -1 : x->token > y->token;
}

/* The longest time of each token. */
static GArray *read_times(const char *log) {
    GArray *times = g_array_new(FALSE, FALSE, sizeof(struct valid));
    g_autofree char *text = NULL;
    if (!g_file_get_contents(log, &text, NULL, NULL))
        return times;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        struct valid v;
        if (sscanf(*line, "V %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, &v.token, &v.from,
                   &v.until) == 3)
            g_array_append_val(times, v);
    }
    g_array_sort(times, by_token);
    return times;
}

int jobs_overlaps(const char *log) {
    g_autoptr(GArray) times = read_times(log);
    int overlaps = 0;
    int64_t token = 0, until = 0, before = 0; /* of the token, and of all before it */
    for (guint i = 0; i < times->len; i++) {
        const struct valid *v = &g_array_index(times, struct valid, i);
        if (v->token != token)
            before = MAX(before, until);
        token = v->token;
        until = MAX(until, v->until);
        if (v->from < before) {
            fprintf(stderr, "jobs: the hold with token %" G_GINT64_FORMAT " was valid beside an older one\n", token);
            overlaps++;
        }
    }
    return overlaps;
}
