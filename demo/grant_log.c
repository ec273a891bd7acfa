/* The grants, and the checks on them. */
#include "grant_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct grant *at(const struct grant_log *grant_log, guint index) {
    return &g_array_index(grant_log->grants, struct grant, index);
}

/* (token, hand-over) as one number: tokens stay far below 2^40 on a throw-away server. */
static gint64 key_of(int64_t token, uint32_t handover) { return token << 20 | handover; }

void grant_log_init(struct grant_log *grant_log) {
    grant_log->grants = g_array_new(FALSE, FALSE, sizeof(struct grant));
    grant_log->by_token = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

void grant_log_clear(struct grant_log *grant_log) {
    g_array_unref(grant_log->grants);
    g_hash_table_unref(grant_log->by_token);
}

static void add(struct grant_log *grant_log, const struct report *report) {
    struct grant grant = {report->token, report->handover, report->from_ns, report->until_ns, ""};
    gint64 *key = g_new(gint64, 1);

    g_strlcpy(grant.who, report->who, sizeof grant.who);
    g_array_append_val(grant_log->grants, grant);
    *key = key_of(grant.token, grant.handover);
    g_hash_table_replace(grant_log->by_token, key, g_strdup(grant.who));
}

/* A BEAT report extends one of the latest grants. */
static void extend(struct grant_log *grant_log, const struct report *report) {
    for (guint i = grant_log->grants->len; i-- > 0;) {
        struct grant *grant = at(grant_log, i);

        if (grant->token == report->token && grant->handover == report->handover) {
            grant->until_ns = MAX(grant->until_ns, report->until_ns);
            return;
        }
    }
}

void grant_log_note(struct grant_log *grant_log, const struct report *report) {
    if (report->kind == REPORT_BEAT)
        extend(grant_log, report);
    else
        add(grant_log, report);
}

static int64_t overlap(const struct grant *grant, int64_t from_ns, int64_t until_ns) {
    return MIN(grant->until_ns, until_ns) - MAX(grant->from_ns, from_ns);
}

void grant_log_strip(const struct grant_log *grant_log, int64_t from_ns, int64_t cell_ns, char *cells, int count) {
    memset(cells, '.', (size_t)count);
    cells[count] = '\0';
    for (int cell = 0; cell < count; cell++) {
        const int64_t begin = from_ns + cell * cell_ns;
        int64_t most = 0;

        /* Reports come in the order of time, except for small differences between processes. */
        for (guint i = grant_log->grants->len; i-- > 0;) {
            const struct grant *grant = at(grant_log, i);
            const int64_t share = overlap(grant, begin, begin + cell_ns);

            if (share > most) {
                most = share;
                cells[cell] = grant->who[0];
            }
            if (grant->until_ns < from_ns - 1000000000)
                break;
        }
    }
}

int grant_log_turns(const struct grant_log *grant_log, int64_t from_ns, int64_t until_ns, int64_t *token) {
    int turns = 0;

    for (guint i = grant_log->grants->len; i-- > 0;) {
        const struct grant *grant = at(grant_log, i);

        if (grant->from_ns >= until_ns)
            continue;
        *token = MAX(*token, grant->token);
        turns += grant->from_ns >= from_ns;
        if (grant->until_ns < from_ns - 1000000000)
            break;
    }
    return turns;
}

int grant_log_threads(const struct grant_log *grant_log, const char *letters) {
    g_autoptr(GHashTable) threads = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < grant_log->grants->len; i++)
        if (strchr(letters, at(grant_log, i)->who[0]))
            g_hash_table_add(threads, at(grant_log, i)->who);
    return (int)g_hash_table_size(threads);
}

static int earlier(gconstpointer a, gconstpointer b) {
    const struct grant *left = a, *right = b;

    return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

void grant_log_check_exclusion(struct grant_log *grant_log, struct finding *finding) {
    const struct grant *last = NULL; /* of the grants so far, the one that was valid longest */

    *finding = (struct finding){.count = grant_log->grants->len, .closest_ns = INT64_MAX};
    g_array_sort(grant_log->grants, earlier);
    for (guint i = 0; i < grant_log->grants->len; i++) {
        const struct grant *grant = at(grant_log, i);

        if (last && grant->from_ns <= last->until_ns && finding->problem[0] == '\0')
            snprintf(finding->problem, sizeof finding->problem,
                     "%s (token %" PRId64 ") and %s (token %" PRId64 ") both held, for %.3f ms", last->who, last->token,
                     grant->who, grant->token, (double)(MIN(last->until_ns, grant->until_ns) - grant->from_ns) / 1e6);
        if (last && last->who[0] != grant->who[0])
            finding->closest_ns = MIN(finding->closest_ns, grant->from_ns - last->until_ns);
        if (!last || grant->until_ns > last->until_ns)
            last = grant;
    }
}

void grant_log_check_tokens(const struct grant_log *grant_log, struct finding *finding) {
    *finding = (struct finding){.count = grant_log->grants->len};
    for (guint i = 1; i < grant_log->grants->len; i++) {
        const struct grant *before = at(grant_log, i - 1), *grant = at(grant_log, i);

        if (key_of(grant->token, grant->handover) > key_of(before->token, before->handover))
            continue;
        snprintf(finding->problem, sizeof finding->problem,
                 "%s got token %" PRId64 " hand-over %" PRIu32 " after %s had %" PRId64 " hand-over %" PRIu32,
                 grant->who, grant->token, grant->handover, before->who, before->token, before->handover);
        return;
    }
}

/* One line of the file. *largest is the key of the largest (token, hand-over) so far. */
static void check_line(const struct grant_log *grant_log, const char *line, gint64 *largest, struct finding *finding) {
    int64_t token, seq;
    uint32_t handover;
    char who[8];

    finding->count++;
    if (sscanf(line, "%" SCNd64 " %" SCNu32 " %7s %" SCNd64, &token, &handover, who, &seq) != 4) {
        snprintf(finding->problem, sizeof finding->problem, "line %" PRId64 " is not a write", finding->count);
        return;
    }
    const gint64 key = key_of(token, handover);
    const char *holder = g_hash_table_lookup(grant_log->by_token, &key);

    if (!holder || !g_str_equal(holder, who))
        snprintf(finding->problem, sizeof finding->problem,
                 "line %" PRId64 ": %s wrote with token %" PRId64 ", which %s was granted", finding->count, who, token,
                 holder ? holder : "nobody");
    else if (key < *largest)
        snprintf(finding->problem, sizeof finding->problem,
                 "line %" PRId64 ": %s wrote with token %" PRId64 " after a holder with token %" PRId64, finding->count,
                 who, token, *largest >> 20);
    *largest = MAX(*largest, key);
}

void grant_log_check_file(const struct grant_log *grant_log, const char *path, struct finding *finding) {
    g_autofree char *text = NULL;
    gint64 largest = 0;

    *finding = (struct finding){0};
    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        snprintf(finding->problem, sizeof finding->problem, "it cannot be read");
        return;
    }
    for (char *rest = text, *end; finding->problem[0] == '\0' && (end = strchr(rest, '\n')); rest = end + 1) {
        *end = '\0';
        check_line(grant_log, rest, &largest, finding);
    }
}
