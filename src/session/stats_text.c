#include "core/histogram.h"
#include "session/stats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* OpenMetrics 1.0: the metadata of a family, then its samples.
 *
 *     # TYPE paddock_losses counter        gauge, counter or histogram
 *     # UNIT …                             only where the name ends in a unit
 *     # HELP paddock_losses …
 *     paddock_losses_total{reason="lease"} 3
 *     paddock_path_losses_total{recipe="lock",path="/jobs",reason="lease"} 3        where figures by path are asked for
 *
 * Numbers are written as integers, since printf writes fractions by the locale. */
enum unit { NO_UNIT, SECONDS, BYTES };
enum { SAMPLES = 6, DOUBLINGS = 40 };

struct family {
    const char *name, *help;
    enum unit unit;
    bool counter, by_path;
    const char *label; /* of its samples; or NULL */
    struct {
        const char *value;
        size_t at; /* in pdk_stats; 0: no sample */
    } samples[SAMPLES];
};

#define AT(field) offsetof(pdk_stats, field)
#define ONE(field)                                                                                                     \
    NULL, {                                                                                                            \
        {                                                                                                              \
            NULL, AT(field)                                                                                            \
        }                                                                                                              \
    }

static const struct family families[] = {
    {"claims_waiting", "Claims that wait in a queue.", NO_UNIT, false, true, ONE(claims_waiting)},
    {"claims",
     "Claims that were decided, by what they came to.",
     NO_UNIT,
     true,
     true,
     "result",
     {{"granted", AT(claims_granted)},
      {"busy", AT(claims_busy)},
      {"timeout", AT(claims_timed_out)},
      {"unavailable", AT(claims_unavailable)},
      {"cancelled", AT(claims_cancelled)},
      {"failed", AT(claims_failed)}}},
    {"grants_lapsed", "Grants whose lease was over before the caller had the hold.", NO_UNIT, true, true,
     ONE(grants_lapsed)},
    {"holds", "Holds that are neither released nor lost.", NO_UNIT, false, true, ONE(holds)},
    {"handovers", "Grants that one thread gave to the next without a round trip.", NO_UNIT, true, true, ONE(handovers)},
    {"losses",
     "Holds that were lost, by the reason.",
     NO_UNIT,
     true,
     true,
     "reason",
     {{"expired", AT(lost_expired)},
      {"lease", AT(lost_lease)},
      {"node_gone", AT(lost_node_gone)},
      {"closed", AT(lost_closed)},
      {"overdue", AT(lost_overdue)}}},
    {"session_timeout_seconds", "The negotiated session timeout.", SECONDS, false, false, ONE(session_timeout_us)},
    {"lease_seconds", "What is left of the lease.", SECONDS, false, false, ONE(lease_us)},
    {"lease_least_seconds", "The least that was left of the lease while something was held, since the reset.", SECONDS,
     false, false, ONE(lease_least_us)},
    {"renewals_sent", "Writes to renew the lease that were sent.", NO_UNIT, true, false, ONE(renewals_sent)},
    {"renewals_answered", "Writes to renew the lease that a quorum has committed.", NO_UNIT, true, false,
     ONE(renewals_answered)},
    {"connected", "1 while there is a connection.", NO_UNIT, false, false, ONE(connected)},
    {"reconnects", "Connections of a ZooKeeper session after its first one.", NO_UNIT, true, false, ONE(reconnects)},
    {"server_moves",
     "Servers that the session left early, by what they did not do.",
     NO_UNIT,
     true,
     false,
     "silent",
     {{"commits", AT(server_leaves)}, {"handshake", AT(server_hurries)}}},
    {"sessions_lost", "ZooKeeper sessions that have ended, or were given up.", NO_UNIT, true, false,
     ONE(sessions_lost)},
    {"reopens", "ZooKeeper sessions that followed a lost one.", NO_UNIT, true, false, ONE(reopens)},
    {"deletes_pending", "Nodes whose deletion no server has confirmed yet.", NO_UNIT, false, false,
     ONE(deletes_pending)},
    {"ephemeral_bytes", "The paths of the session's nodes together.", BYTES, false, false, ONE(ephemeral_bytes)},
    {"ephemeral_max_bytes", "The most that they may take.", BYTES, false, false, ONE(ephemeral_bytes_max)},
    {"watched_bytes", "The paths that the session watches together.", BYTES, false, false, ONE(watched_bytes)},
    {"watched_max_bytes", "The most that they may take.", BYTES, false, false, ONE(watched_bytes_max)},
    {"callbacks_queued", "Callbacks that are due and have not begun.", NO_UNIT, false, false, ONE(callbacks_queued)},
    {"callback_delay_seconds", "The longest that a callback was due before it began, since the reset.", SECONDS, false,
     false, ONE(callback_delay_us)},
    {"answers_malformed", "Answers and events of servers that were not well-formed.", NO_UNIT, true, false,
     ONE(answers_malformed)},
    {"log_lines_dropped", "Lines of the log that were not passed on.", NO_UNIT, true, false, ONE(log_lines_dropped)},
};

static const struct {
    const char *name, *help;
    size_t at;
    bool by_path;
} histograms[] = {
    {"claim_wait_seconds", "How long claims waited that were granted.", AT(wait_time), true},
    {"hold_seconds", "How long holds lasted that have ended.", AT(hold_time), true},
    {"renewal_seconds", "How long renewals of the lease took.", AT(renewal_time), false},
};

#define FAMILIES (sizeof families / sizeof families[0])
#define HISTOGRAMS (sizeof histograms / sizeof histograms[0])

struct text {
    char *buffer;
    size_t size, length; /* length: of the whole, also where it has no room */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...) {
    bool room = t->length < t->size;
    va_list arguments;
    va_start(arguments, format);
    t->length +=
        (size_t)vsnprintf(room ? t->buffer + t->length : NULL, room ? t->size - t->length : 0, format, arguments);
    va_end(arguments);
}

static void put_seconds(struct text *t, uint64_t us) { put(t, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000); }

/* Escaped as a label needs it. */
static void put_escaped(struct text *t, const char *value) {
    for (; *value; value++) {
        if (*value == '\n')
            put(t, "\\n");
        else
            put(t, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    }
}

/* The subject of a sample: the session, or a path. */
struct subject {
    const char *prefix, *recipe, *path; /* recipe: NULL for the session */
};

/* {recipe="…",path="…",label="value"}, as far as there are any; "" where there is none. */
static void put_labels(struct text *t, const struct subject *of, const char *label, const char *value) {
    if (!of->recipe && !label)
        return;
    put(t, "{");
    if (of->recipe) {
        put(t, "recipe=\"%s\",path=\"", of->recipe);
        put_escaped(t, of->path);
        put(t, label ? "\"," : "\"");
    }
    if (label)
        put(t, "%s=\"%s\"", label, value);
    put(t, "}");
}

static void put_metadata(struct text *t, const char *prefix, const char *name, const char *type, enum unit unit,
                         const char *help) {
    static const char *const units[] = {[SECONDS] = "seconds", [BYTES] = "bytes"};
    put(t, "# TYPE %s%s %s\n", prefix, name, type);
    if (unit != NO_UNIT)
        put(t, "# UNIT %s%s %s\n", prefix, name, units[unit]);
    put(t, "# HELP %s%s %s\n", prefix, name, help);
}

static void put_sample(struct text *t, const struct family *f, int i, const struct subject *of,
                       const pdk_stats *stats) {
    uint64_t value;
    memcpy(&value, (const char *)stats + f->samples[i].at, sizeof value);
    if (value == UINT64_MAX)
        return; /* -1: there is none */
    put(t, "%s%s%s", of->prefix, f->name, f->counter ? "_total" : "");
    put_labels(t, of, f->label, f->samples[i].value);
    put(t, " ");
    if (f->unit == SECONDS)
        put_seconds(t, value);
    else
        put(t, "%" PRIu64, value);
    put(t, "\n");
}

static void put_samples(struct text *t, const struct family *f, const struct subject *of, const pdk_stats *stats) {
    for (int k = 0; k < SAMPLES && f->samples[k].at != 0; k++)
        put_sample(t, f, k, of, stats);
}

static void put_bucket(struct text *t, const char *name, const struct subject *of, const char *bound, uint64_t within) {
    put(t, "%s%s_bucket", of->prefix, name);
    put_labels(t, of, "le", bound);
    put(t, " %" PRIu64 "\n", within);
}

/* There is a bucket for each doubling; for a path, of which there may be many, for every second one. */
static void put_histogram(struct text *t, const char *name, const struct subject *of, const pdk_histogram *h) {
    for (unsigned doubling = 0; doubling <= DOUBLINGS; doubling += of->recipe ? 2 : 1) {
        char bound[32];
        struct text number = {bound, sizeof bound, 0};
        put_seconds(&number, UINT64_C(1) << doubling);
        put_bucket(t, name, of, bound, pdk__histogram_within(h, UINT64_C(1) << doubling));
    }
    put_bucket(t, name, of, "+Inf", h->count);
    put(t, "%s%s_count", of->prefix, name);
    put_labels(t, of, NULL, NULL);
    put(t, " %" PRIu64 "\n%s%s_sum", h->count, of->prefix, name);
    put_labels(t, of, NULL, NULL);
    put(t, " ");
    put_seconds(t, h->sum_us);
    put(t, "\n");
}

static const pdk_histogram *histogram_of(const pdk_stats *stats, size_t i) {
    return (const pdk_histogram *)((const char *)stats + histograms[i].at);
}

static void put_session(struct text *t, const pdk_stats *stats) {
    const struct subject session = {.prefix = "paddock_"};
    for (size_t i = 0; i < FAMILIES; i++) {
        const struct family *f = &families[i];
        put_metadata(t, session.prefix, f->name, f->counter ? "counter" : "gauge", f->unit, f->help);
        put_samples(t, f, &session, stats);
    }
    for (size_t i = 0; i < HISTOGRAMS; i++) {
        put_metadata(t, session.prefix, histograms[i].name, "histogram", SECONDS, histograms[i].help);
        put_histogram(t, histograms[i].name, &session, histogram_of(stats, i));
    }
}

/* A family's samples come together, so each family reads all rows: a row for a moment, rather than all at once. */
static void put_paths(struct text *t, const struct pdk__path_rows *rows) {
    struct subject of = {.prefix = "paddock_path_"};
    pdk_stats stats;
    for (size_t i = 0; i < FAMILIES; i++) {
        const struct family *f = &families[i];
        if (!f->by_path)
            continue;
        put_metadata(t, of.prefix, f->name, f->counter ? "counter" : "gauge", f->unit, f->help);
        for (size_t row = 0; row < rows->count; row++) {
            rows->read(rows->user, row, &stats, &of.recipe, &of.path);
            put_samples(t, f, &of, &stats);
        }
    }
    for (size_t i = 0; i < HISTOGRAMS; i++) {
        if (!histograms[i].by_path)
            continue;
        put_metadata(t, of.prefix, histograms[i].name, "histogram", SECONDS, histograms[i].help);
        for (size_t row = 0; row < rows->count; row++) {
            rows->read(rows->user, row, &stats, &of.recipe, &of.path);
            put_histogram(t, histograms[i].name, &of, histogram_of(&stats, i));
        }
    }
}

size_t pdk__stats_text(const pdk_stats *stats, const struct pdk__path_rows *rows, char *buffer, size_t size) {
    struct text t = {buffer, size, 0};
    put_session(&t, stats);
    if (rows->count > 0)
        put_paths(&t, rows);
    put(&t, "# EOF\n");
    return t.length;
}
