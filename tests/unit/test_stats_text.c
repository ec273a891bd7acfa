/* The figures as OpenMetrics: a strict reader of the text, what it says of known figures, and its length. */
#include "session/stats.h"
#include "ts_check.h"

#include <glib.h>
#include <locale.h>
#include <string.h>

static char text[60000];

static const char *text_with(const pdk_stats *stats, const struct pdk__path_rows *rows) {
    size_t length = pdk__stats_text(stats, rows, text, sizeof text);
    ck_assert_uint_lt(length, sizeof text);
    ck_assert_uint_eq(strlen(text), length);
    return text;
}

static const struct pdk__path_rows no_rows;

static const char *text_of(const pdk_stats *stats) { return text_with(stats, &no_rows); }

/* ---- a strict reader of what OpenMetrics 1.0 allows us */

static struct {
    char name[100], type[20], unit[20], help[200];
    unsigned samples, buckets;
    double below; /* the bound of the last bucket */
    uint64_t within;
    bool count, sum;
    GHashTable *seen; /* families, and samples with their labels */
} reading;

static void once(const char *what) { ck_assert_msg(g_hash_table_add(reading.seen, g_strdup(what)), "twice: %s", what); }

static bool is_name(const char *name) {
    return g_regex_match_simple("^[a-z][a-z0-9_]*$", name, (GRegexCompileFlags)0, (GRegexMatchFlags)0);
}

static void end_family(void) {
    if (reading.name[0] == '\0')
        return;
    ck_assert_msg(reading.type[0] != '\0' && reading.help[0] != '\0', "%s: no type or help", reading.name);
    bool has_unit = g_str_has_suffix(reading.name, "_seconds") || g_str_has_suffix(reading.name, "_bytes");
    ck_assert_msg(has_unit == (reading.unit[0] != '\0'), "%s: unit %s", reading.name, reading.unit);
    if (has_unit)
        ck_assert_str_eq(strrchr(reading.name, '_') + 1, reading.unit);
    if (strcmp(reading.type, "histogram") == 0)
        ck_assert_msg(reading.buckets > 1 && reading.count && reading.sum, "%s: not whole", reading.name);
}

static void begin_family(const char *name) {
    end_family();
    ck_assert_msg(g_str_has_prefix(name, "paddock_") && is_name(name), "the name %s", name);
    once(name);
    GHashTable *seen = reading.seen;
    memset(&reading, 0, sizeof reading);
    reading.seen = seen;
    reading.below = -1;
    g_strlcpy(reading.name, name, sizeof reading.name);
}

/* "# TYPE name value" */
static void read_metadata(const char *line) {
    char **words = g_strsplit(line, " ", 4);
    ck_assert_msg(g_strv_length(words) == 4 && words[3][0] != '\0', "%s", line);
    if (strcmp(words[2], reading.name) != 0)
        begin_family(words[2]);
    ck_assert_msg(reading.samples == 0, "%s: behind samples", line);
    char *place = strcmp(words[1], "TYPE") == 0   ? reading.type
                  : strcmp(words[1], "UNIT") == 0 ? reading.unit
                  : strcmp(words[1], "HELP") == 0 ? reading.help
                                                  : NULL;
    ck_assert_msg(place && place[0] == '\0', "%s: unknown, or twice", line);
    g_strlcpy(place, words[3], place == reading.help ? sizeof reading.help : sizeof reading.type);
    g_strfreev(words);
}

static void read_bucket(const char *label, uint64_t value) {
    char *end;
    if (reading.count && reading.sum) { /* the next one of the family, with other labels */
        reading.below = -1;
        reading.within = 0;
        reading.count = reading.sum = false;
    }
    double bound = strcmp(label, "+Inf") == 0 ? G_MAXDOUBLE : g_ascii_strtod(label, &end);
    ck_assert_msg(bound > reading.below && value >= reading.within, "%s: bucket %s", reading.name, label);
    ck_assert_msg(!reading.count && !reading.sum, "%s: a bucket behind the sum", reading.name);
    reading.below = bound;
    reading.within = value;
    reading.buckets++;
}

static void read_histogram(const char *suffix, const char *label, const char *value) {
    uint64_t number = g_ascii_strtoull(value, NULL, 10);
    if (strcmp(suffix, "_bucket") == 0) {
        read_bucket(label, number);
    } else if (strcmp(suffix, "_count") == 0) {
        ck_assert_uint_eq(number, reading.within);
        ck_assert(reading.below == G_MAXDOUBLE);
        reading.count = true;
    } else {
        ck_assert_str_eq(suffix, "_sum");
        reading.sum = true;
    }
}

/* name{label="value",…} number */
static void read_sample(const char *line) {
    GMatchInfo *match;
    GRegex *regex = g_regex_new("^([a-z_]+)(?:\\{(?:[a-z]+=\"(?:[^\"\\\\]|\\\\[\\\\\"n])*\",)*"
                                "([a-z]+)=\"((?:[^\"\\\\]|\\\\[\\\\\"n])*)\"\\})? ([0-9]+(?:\\.[0-9]+)?)$",
                                (GRegexCompileFlags)0, (GRegexMatchFlags)0, NULL);
    ck_assert_msg(g_regex_match(regex, line, (GRegexMatchFlags)0, &match), "not a sample: %s", line);
    char *name = g_match_info_fetch(match, 1), *label = g_match_info_fetch(match, 2),
         *labelled = g_match_info_fetch(match, 3), *value = g_match_info_fetch(match, 4);
    ck_assert_msg(g_str_has_prefix(name, reading.name), "%s: not of the family %s", line, reading.name);
    const char *suffix = name + strlen(reading.name);
    char *key = g_strdup_printf("sample %.*s", (int)(strrchr(line, ' ') - line), line);
    once(key);
    g_free(key);
    reading.samples++;
    if (strcmp(reading.type, "histogram") == 0) {
        ck_assert((strcmp(label, "le") == 0) == (strcmp(suffix, "_bucket") == 0));
        read_histogram(suffix, labelled, value);
    } else {
        ck_assert(strcmp(reading.type, "gauge") == 0 || strcmp(reading.type, "counter") == 0);
        ck_assert_str_eq(suffix, strcmp(reading.type, "counter") == 0 ? "_total" : "");
    }
    g_free(name);
    g_free(label);
    g_free(labelled);
    g_free(value);
    g_match_info_free(match);
    g_regex_unref(regex);
}

/* Fails the test where the text is not as it has to be. The number of families. */
static guint read_text(const char *all) {
    memset(&reading, 0, sizeof reading);
    reading.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    ck_assert(g_str_has_suffix(all, "\n# EOF\n"));
    char **lines = g_strsplit(all, "\n", -1);
    guint count = g_strv_length(lines), families = 0;
    for (guint i = 0; i + 2 < count; i++) {
        ck_assert_str_ne(lines[i], "# EOF");
        families += g_str_has_prefix(lines[i], "# TYPE ") ? 1 : 0;
        if (lines[i][0] == '#')
            read_metadata(lines[i]);
        else
            read_sample(lines[i]);
    }
    end_family();
    g_strfreev(lines);
    g_hash_table_destroy(reading.seen);
    return families;
}

/* ---- the tests */

static void has(const char *all, const char *line) {
    char *whole = g_strconcat("\n", line, "\n", NULL);
    ck_assert_msg(strstr(all, whole) != NULL, "no line %s", line);
    g_free(whole);
}

static pdk_stats known(void) {
    pdk_stats stats = PDK_STATS_INIT;
    stats.claims_granted = 12;
    stats.claims_timed_out = 3;
    stats.lost_lease = 2;
    stats.lease_us = 3712345;
    stats.lease_least_us = 1000007;
    stats.server_hurries = 4;
    stats.watched_bytes_max = 900000;
    stats.wait_time.count = 3;
    stats.wait_time.sum_us = 5000012;
    stats.wait_time.buckets[0] = 1;
    stats.wait_time.buckets[8] = 1; /* up to 10 µs */
    stats.wait_time.buckets[PDK_HISTOGRAM_BUCKETS - 1] = 1;
    return stats;
}

START_TEST(known_figures) {
    const pdk_stats stats = known();
    const char *all = text_of(&stats);
    ck_assert_uint_eq(read_text(all), 28);
    has(all, "# TYPE paddock_claims counter");
    has(all, "paddock_claims_total{result=\"granted\"} 12");
    has(all, "paddock_claims_total{result=\"timeout\"} 3");
    has(all, "paddock_claims_total{result=\"failed\"} 0");
    has(all, "paddock_losses_total{reason=\"lease\"} 2");
    has(all, "# UNIT paddock_lease_seconds seconds");
    has(all, "paddock_lease_seconds 3.712345");
    has(all, "paddock_lease_least_seconds 1.000007");
    has(all, "paddock_server_moves_total{silent=\"handshake\"} 4");
    has(all, "paddock_watched_max_bytes 900000");
    has(all, "paddock_claim_wait_seconds_bucket{le=\"0.000001\"} 1");
    has(all, "paddock_claim_wait_seconds_bucket{le=\"0.000008\"} 1");
    has(all, "paddock_claim_wait_seconds_bucket{le=\"0.000016\"} 2");
    has(all, "paddock_claim_wait_seconds_bucket{le=\"1099511.627776\"} 2");
    has(all, "paddock_claim_wait_seconds_bucket{le=\"+Inf\"} 3");
    has(all, "paddock_claim_wait_seconds_count 3");
    has(all, "paddock_claim_wait_seconds_sum 5.000012");
}
END_TEST

static const struct {
    const char *recipe, *path;
} places[] = {{"lock", "/jobs/a"}, {"rwlock_read", "/quote\"back\\slash\nline"}, {"lock", ""}};

static void read_place(void *user, size_t index, pdk_stats *stats, const char **recipe, const char **path) {
    ck_assert(user == places);
    *stats = known();
    stats->claims_granted += index;
    *recipe = places[index].recipe;
    *path = places[index].path;
}

static const struct pdk__path_rows three_rows = {G_N_ELEMENTS(places), read_place, (void *)places};

START_TEST(figures_by_path) {
    const pdk_stats stats = known();
    const char *all = text_with(&stats, &three_rows);
    ck_assert_uint_eq(read_text(all), 28 + 8);
    has(all, "paddock_claims_total{result=\"granted\"} 12");
    has(all, "# TYPE paddock_path_claims counter");
    has(all, "paddock_path_claims_total{recipe=\"lock\",path=\"/jobs/a\",result=\"granted\"} 12");
    has(all, "paddock_path_claims_total{recipe=\"rwlock_read\",path=\"/"
             "quote\\\"back\\\\slash\\nline\",result=\"granted\"} 13");
    has(all, "paddock_path_claims_total{recipe=\"lock\",path=\"\",result=\"granted\"} 14");
    has(all, "paddock_path_losses_total{recipe=\"lock\",path=\"/jobs/a\",reason=\"lease\"} 2");
    has(all, "paddock_path_holds{recipe=\"lock\",path=\"/jobs/a\"} 0");
    has(all, "paddock_path_claim_wait_seconds_bucket{recipe=\"lock\",path=\"/jobs/a\",le=\"0.000004\"} 1");
    has(all, "paddock_path_claim_wait_seconds_bucket{recipe=\"lock\",path=\"/jobs/a\",le=\"0.000016\"} 2");
    has(all, "paddock_path_claim_wait_seconds_bucket{recipe=\"lock\",path=\"/jobs/a\",le=\"+Inf\"} 3");
    has(all, "paddock_path_claim_wait_seconds_sum{recipe=\"lock\",path=\"/jobs/a\"} 5.000012");
    ck_assert_ptr_null(strstr(all, "paddock_path_renewal"));
    ck_assert_ptr_null(strstr(all, "paddock_path_lease"));
}
END_TEST

/* The table of the guide for operators names each family, and nothing else that begins so. */
START_TEST(the_guide_names_each_metric) {
    const pdk_stats stats = known();
    char *path = g_build_filename(g_getenv("PDK_SOURCE"), "docs", "operations.md", NULL), *guide = NULL;
    ck_assert(g_file_get_contents(path, &guide, NULL, NULL));
    const char *all = text_with(&stats, &three_rows);
    char **lines = g_strsplit(all, "\n", -1);
    for (char **line = lines; *line; line++) {
        char **words = g_strsplit(*line, " ", 4);
        if (g_str_has_prefix(*line, "# TYPE ")) {
            char *name = g_strdup_printf("`%s%s`", words[2], strcmp(words[3], "counter") == 0 ? "_total" : "");
            ck_assert_msg(strstr(guide, name) != NULL, "docs/operations.md does not name %s", name);
            g_free(name);
        }
        g_strfreev(words);
    }
    g_strfreev(lines);
    char **parts = g_strsplit(guide, "`paddock_", -1);
    for (char **part = parts + 1; *part; part++) {
        char *name = g_strndup(*part, strspn(*part, "abcdefghijklmnopqrstuvwxyz_"));
        if (g_str_has_suffix(name, "_total"))
            name[strlen(name) - strlen("_total")] = '\0';
        char *type = g_strdup_printf("# TYPE paddock_%s ", name);
        ck_assert_msg(strstr(all, type) != NULL, "docs/operations.md names paddock_%s, and there is none", name);
        g_free(type);
        g_free(name);
    }
    g_strfreev(parts);
    g_free(guide);
    g_free(path);
}
END_TEST

/* Every `label="value"` of these labels, also with the quotes of JSON. */
static void labels_exist(const char *file, const char *words, const char *all) {
    GMatchInfo *match;
    GRegex *regex =
        g_regex_new("\\b(result|reason|silent)!?=\\\\?\"([a-z_]+)", (GRegexCompileFlags)0, (GRegexMatchFlags)0, NULL);
    for (g_regex_match(regex, words, (GRegexMatchFlags)0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        char *label = g_match_info_fetch(match, 1), *value = g_match_info_fetch(match, 2);
        char *sample = g_strdup_printf("%s=\"%s\"", label, value);
        ck_assert_msg(strstr(all, sample) != NULL, "%s: there is no %s", file, sample);
        g_free(sample);
        g_free(value);
        g_free(label);
    }
    g_match_info_free(match);
    g_regex_unref(regex);
}

/* What the alerts, their test and the dashboard ask for is what a scraper is given. */
START_TEST(alerts_and_dashboard_name_samples) {
    static const char *const files[] = {"alerts.yml", "alerts_test.yml", "grafana.json"};
    const pdk_stats stats = known();
    const char *all = text_with(&stats, &three_rows);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        char *path = g_build_filename(g_getenv("PDK_SOURCE"), "docs", "monitoring", files[i], NULL), *words = NULL;
        ck_assert(g_file_get_contents(path, &words, NULL, NULL));
        char **parts = g_strsplit(words, "paddock_", -1);
        ck_assert_uint_gt(g_strv_length(parts), 10);
        for (char **part = parts + 1; *part; part++) {
            int length = (int)strspn(*part, "abcdefghijklmnopqrstuvwxyz_");
            char *bare = g_strdup_printf("\npaddock_%.*s ", length, *part);
            char *labelled = g_strdup_printf("\npaddock_%.*s{", length, *part);
            ck_assert_msg(strstr(all, bare) || strstr(all, labelled), "%s: there is no figure paddock_%.*s", files[i],
                          length, *part);
            g_free(labelled);
            g_free(bare);
        }
        labels_exist(files[i], words, all);
        g_strfreev(parts);
        g_free(words);
        g_free(path);
    }
}
END_TEST

/* A family without a sample: nothing was held, so nothing is the least. */
START_TEST(what_there_is_none_of_has_no_sample) {
    pdk_stats stats = known();
    stats.lease_least_us = -1;
    const char *all = text_of(&stats);
    ck_assert_uint_eq(read_text(all), 28);
    ck_assert_ptr_null(strstr(all, "\npaddock_lease_least_seconds"));
}
END_TEST

/* printf writes a comma there, where it writes fractions. */
START_TEST(the_locale_does_not_matter) {
    const pdk_stats stats = known();
    char *before = g_strdup(text_of(&stats));
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is not installed, this test shows nothing more */
    ck_assert_str_eq(text_of(&stats), before);
    setlocale(LC_ALL, "C");
    g_free(before);
}
END_TEST

START_TEST(the_longest_text_is_no_longer_than_documented) {
    pdk_stats stats;
    uint64_t *numbers = (uint64_t *)&stats;
    for (size_t i = 0; i < sizeof stats / sizeof *numbers; i++)
        numbers[i] = UINT64_MAX - 1;
    ck_assert_uint_le(strlen(text_of(&stats)), 16000);
}
END_TEST

/* As snprintf: what fits, an end, and the length of the whole. */
START_TEST(a_short_buffer_is_not_overrun) {
    const pdk_stats stats = known();
    const size_t length = strlen(text_of(&stats));
    char *whole = g_strdup(text);
    ck_assert_uint_eq(pdk__stats_text(&stats, &no_rows, NULL, 0), length);
    for (size_t size = 1; size <= length + 1; size += size < 300 || size > length - 300 ? 1 : 97) {
        char *part = g_malloc(size + 1);
        part[size] = '!';
        ck_assert_uint_eq(pdk__stats_text(&stats, &no_rows, part, size), length);
        ck_assert_int_eq(part[size], '!');
        ck_assert_uint_eq(strlen(part), size - 1);
        ck_assert_int_eq(strncmp(part, whole, size - 1), 0);
        g_free(part);
    }
    g_free(whole);
}
END_TEST

int main(void) {
    return ts_run("stats_text", NULL, NULL, known_figures, figures_by_path, the_guide_names_each_metric,
                  alerts_and_dashboard_name_samples, what_there_is_none_of_has_no_sample, the_locale_does_not_matter,
                  the_longest_text_is_no_longer_than_documented, a_short_buffer_is_not_overrun, NULL);
}
