/* The record of a job: any bytes, the last one also as the znode's moment. Oracles: a regular expression has the shape of a line; what is
 * accepted is written again as the same bytes; the rule against its words. */
#include "core/job.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

static struct pdk__job_record record, again;
static char text[PDK__JOB_SIZE];

static bool has_shape(const char *data, size_t size) {
    static GRegex *shape;
    if (!shape)
        shape =
            g_regex_new("\\A(?:paddock-job 1\\n(?:[RF](?: (?:0|[1-9][0-9]{0,18})){5}(?:@[1-9][0-9]{0,14})?(?: "
                        "(?:0|[1-9][0-9]{0,18})){2} [^ /\\x00-\\x1f\\x7f]{1,127} "
                        "[^\\x00-\\x1f\\x7f]{1,128}\\n(?:[FD](?: (?:0|[1-9][0-9]{0,18})){5}(?:@[1-9][0-9]{0,14})?(?: "
                        "(?:0|[1-9][0-9]{0,18})){2} [^ /\\x00-\\x1f\\x7f]{1,127} "
                        "[^\\x00-\\x1f\\x7f]{1,128}\\n)*)?)?\\z",
                        G_REGEX_RAW, 0, NULL);
    return g_regex_match_full(shape, data, (gssize)size, 0, 0, NULL, NULL);
}

/* The first line may have been given a later moment by the znode's. */
static void check_again(const char *data, size_t size) {
    size_t length = pdk__job_write(&record, text);
    FUZZ_REQUIRE(pdk__job_parse(text, length, 0, &again) == PDK__RECORD_FINE && again.count == record.count,
                 "what is written is read");
    for (int i = 1; i < record.count; i++)
        FUZZ_REQUIRE(record.runs[i].token < record.runs[i - 1].token, "the newest first");
    for (int i = 0; i < record.count; i++)
        FUZZ_REQUIRE(memcmp(&record.runs[i], &again.runs[i], sizeof again.runs[i]) == 0, "line %d", i);
    FUZZ_REQUIRE(pdk__job_parse(data, size, 0, &again) == PDK__RECORD_FINE, "without a moment");
    length = pdk__job_write(&again, text);
    FUZZ_REQUIRE(size == 0 || (length == size && memcmp(text, data, size) == 0), "the same bytes");
    FUZZ_REQUIRE(again.count == 0 || record.runs[0].start >= again.runs[0].start, "a moment makes it no earlier");
}

/* All that is before the edge is one period here: how long it is nobody knows. */
static int64_t period_of(const struct pdk__job_run *run, int64_t moment) {
    return moment < run->edge ? -1 : (moment - run->edge) / run->every;
}

static void check_rule(int64_t now) {
    const struct pdk__job_run *newest = &record.runs[0];
    int64_t next = pdk__job_next(newest, false), soon = pdk__job_next(newest, true);
    struct pdk__job_run run = *newest;
    FUZZ_REQUIRE(next >= newest->start + newest->least && soon <= next, "next");
    FUZZ_REQUIRE(newest->every == 0 || period_of(newest, next) > period_of(newest, newest->start), "the next period");
    FUZZ_REQUIRE(pdk__job_judge(&record, newest->token, now, false) == PDK__JOB_OURS, "ours");
    run.state = 'R';
    run.end = run.outcome = 0;
    if (newest->token == INT64_MAX)
        return;
    run.token++;
    FUZZ_REQUIRE((pdk__job_judge(&record, run.token, now, false) == PDK__JOB_START) == (now >= next), "start");
    pdk__job_start(&record, &run, PDK__JOB_RUNS);
    FUZZ_REQUIRE(pdk__job_parse(text, pdk__job_write(&record, text), 0, &again) == PDK__RECORD_FINE, "a start is read");
    FUZZ_REQUIRE(pdk__job_finish(&record, run.token, 3) == PDK__JOB_START, "a start finishes");
    FUZZ_REQUIRE(pdk__job_parse(text, pdk__job_write(&record, text), 0, &again) == PDK__RECORD_FINE, "an end is read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int64_t mtime = size > 0 ? (int64_t)(data[size - 1] * UINT64_C(0x0101010101010101)) : 0;
    if (pdk__job_parse((const char *)data, size, mtime, &record) != PDK__RECORD_FINE) {
        FUZZ_REQUIRE(record.count == 0, "nothing of what is refused");
        return 0;
    }
    FUZZ_REQUIRE(size == 0 || has_shape((const char *)data, size), "%.*s", (int)size, (const char *)data);
    check_again((const char *)data, size);
    if (record.count > 0)
        check_rule(mtime);
    return 0;
}
