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
 *
 * Numbers are written as integers, since what printf makes of a fraction depends on the locale. */
enum unit { NO_UNIT, SECONDS, BYTES };
enum { SAMPLES = 6, DOUBLINGS = 40 };

struct family {
    const char *name, *help;
    enum unit unit;
    bool counter;
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
    {"claims_waiting", "Claims that wait in a queue.", NO_UNIT, false, ONE(claims_waiting)},
    {"claims",
     "Claims that were decided, by what they came to.",
     NO_UNIT,
     true,
     "result",
     {{"granted", AT(claims_granted)},
      {"busy", AT(claims_busy)},
      {"timeout", AT(claims_timed_out)},
      {"unavailable", AT(claims_unavailable)},
      {"cancelled", AT(claims_cancelled)},
      {"failed", AT(claims_failed)}}},
    {"grants_lapsed", "Grants whose lease was over before the caller had the hold.", NO_UNIT, true, ONE(grants_lapsed)},
    {"holds", "Holds that are neither released nor lost.", NO_UNIT, false, ONE(holds)},
    {"handovers", "Grants that one thread gave to the next without a round trip.", NO_UNIT, true, ONE(handovers)},
    {"losses",
     "Holds that were lost, by the reason.",
     NO_UNIT,
     true,
     "reason",
     {{"expired", AT(lost_expired)},
      {"lease", AT(lost_lease)},
      {"node_gone", AT(lost_node_gone)},
      {"closed", AT(lost_closed)},
      {"overdue", AT(lost_overdue)}}},
    {"session_timeout_seconds", "The negotiated session timeout.", SECONDS, false, ONE(session_timeout_us)},
    {"lease_seconds", "What is left of the lease.", SECONDS, false, ONE(lease_us)},
    {"lease_least_seconds", "The least that was left of the lease while something was held, since the reset.", SECONDS,
     false, ONE(lease_least_us)},
    {"renewals_sent", "Writes to renew the lease that were sent.", NO_UNIT, true, ONE(renewals_sent)},
    {"renewals_answered", "Writes to renew the lease that a quorum has committed.", NO_UNIT, true,
     ONE(renewals_answered)},
    {"connected", "1 while there is a connection.", NO_UNIT, false, ONE(connected)},
    {"reconnects", "Connections of a ZooKeeper session after its first one.", NO_UNIT, true, ONE(reconnects)},
    {"server_moves",
     "Servers that the session left early, by what they did not do.",
     NO_UNIT,
     true,
     "silent",
     {{"commits", AT(server_leaves)}, {"handshake", AT(server_hurries)}}},
    {"sessions_lost", "ZooKeeper sessions that have ended, or were given up.", NO_UNIT, true, ONE(sessions_lost)},
    {"reopens", "ZooKeeper sessions that followed a lost one.", NO_UNIT, true, ONE(reopens)},
    {"deletes_pending", "Nodes whose deletion no server has confirmed yet.", NO_UNIT, false, ONE(deletes_pending)},
    {"ephemeral_bytes", "The paths of the session's nodes together.", BYTES, false, ONE(ephemeral_bytes)},
    {"ephemeral_max_bytes", "The most that they may take.", BYTES, false, ONE(ephemeral_bytes_max)},
    {"watched_bytes", "The paths that the session watches together.", BYTES, false, ONE(watched_bytes)},
    {"watched_max_bytes", "The most that they may take.", BYTES, false, ONE(watched_bytes_max)},
    {"callbacks_queued", "Callbacks that are due and have not begun.", NO_UNIT, false, ONE(callbacks_queued)},
    {"callback_delay_seconds", "The longest that a callback was due before it began, since the reset.", SECONDS, false,
     ONE(callback_delay_us)},
    {"log_lines_dropped", "Lines of the log that were not passed on.", NO_UNIT, true, ONE(log_lines_dropped)},
};

static const struct {
    const char *name, *help;
    size_t at;
} histograms[] = {
    {"claim_wait_seconds", "How long claims waited that were granted.", AT(wait_time)},
    {"hold_seconds", "How long holds lasted that have ended.", AT(hold_time)},
    {"renewal_seconds", "How long renewals of the lease took.", AT(renewal_time)},
};

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

static void put_metadata(struct text *t, const char *name, const char *type, enum unit unit, const char *help) {
    static const char *const units[] = {[SECONDS] = "seconds", [BYTES] = "bytes"};
    put(t, "# TYPE paddock_%s %s\n", name, type);
    if (unit != NO_UNIT)
        put(t, "# UNIT paddock_%s %s\n", name, units[unit]);
    put(t, "# HELP paddock_%s %s\n", name, help);
}

static void put_sample(struct text *t, const struct family *f, int i, const pdk_stats *stats) {
    uint64_t value;
    memcpy(&value, (const char *)stats + f->samples[i].at, sizeof value);
    if (value == UINT64_MAX)
        return; /* -1: there is none */
    put(t, "paddock_%s%s", f->name, f->counter ? "_total" : "");
    if (f->label)
        put(t, "{%s=\"%s\"}", f->label, f->samples[i].value);
    put(t, " ");
    if (f->unit == SECONDS)
        put_seconds(t, value);
    else
        put(t, "%" PRIu64, value);
    put(t, "\n");
}

static void put_histogram(struct text *t, const char *name, const pdk_histogram *h) {
    for (unsigned doubling = 0; doubling <= DOUBLINGS; doubling++) {
        uint64_t bound = UINT64_C(1) << doubling;
        put(t, "paddock_%s_bucket{le=\"", name);
        put_seconds(t, bound);
        put(t, "\"} %" PRIu64 "\n", pdk__histogram_within(h, bound));
    }
    put(t, "paddock_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, h->count);
    put(t, "paddock_%s_count %" PRIu64 "\npaddock_%s_sum ", name, h->count, name);
    put_seconds(t, h->sum_us);
    put(t, "\n");
}

size_t pdk__stats_text(const pdk_stats *stats, char *buffer, size_t size) {
    struct text t = {buffer, size, 0};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = &families[i];
        put_metadata(&t, f->name, f->counter ? "counter" : "gauge", f->unit, f->help);
        for (int k = 0; k < SAMPLES && f->samples[k].at != 0; k++)
            put_sample(&t, f, k, stats);
    }
    for (size_t i = 0; i < sizeof histograms / sizeof histograms[0]; i++) {
        put_metadata(&t, histograms[i].name, "histogram", SECONDS, histograms[i].help);
        put_histogram(&t, histograms[i].name, (const pdk_histogram *)((const char *)stats + histograms[i].at));
    }
    put(&t, "# EOF\n");
    return t.length;
}
