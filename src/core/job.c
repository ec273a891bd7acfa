#include "core/job.h"
#include "core/sequencer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char family[] = "paddock-job ", head[] = "paddock-job 1\n";

enum { LINE_SIZE = 512 };

/* ---- the text */

static size_t write_line(const struct pdk__job_run *run, char line[LINE_SIZE]) {
    char edge[24] = "";
    if (run->edge)
        snprintf(edge, sizeof edge, "@%" PRId64, run->edge);
    return (size_t)snprintf(
        line, LINE_SIZE,
        "%c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "%s %" PRId64 " %" PRId32 " %s %s\n", run->state,
        run->token, run->start, run->end, run->least, run->every, edge, run->most, run->outcome, run->node, run->who);
}

size_t pdk__job_write(const struct pdk__job_record *record, char text[PDK__JOB_SIZE]) {
    size_t length = sizeof head - 1;
    memcpy(text, head, length);
    for (int i = 0; i < record->count; i++)
        length += write_line(&record->runs[i], text + length);
    return length;
}

/* The next field of a line, without the space that ends it. */
static bool job_take(const char **at, const char *end, const char **field, size_t *length) {
    const char *space = memchr(*at, ' ', (size_t)(end - *at));
    *field = *at;
    *length = space ? (size_t)(space - *at) : 0;
    *at = space ? space + 1 : end;
    return space != NULL;
}

static bool take_number(const char **at, const char *end, int64_t most, int64_t *value) {
    const char *field;
    size_t length;
    uint64_t number;
    if (!job_take(at, end, &field, &length) || !pdk__number_parse(field, length, 0, (uint64_t)most, &number))
        return false;
    *value = (int64_t)number;
    return true;
}

/* EVERY, or EVERY@EDGE. */
static bool take_periods(const char **at, const char *end, struct pdk__job_run *run) {
    const char *field, *mark;
    size_t length;
    uint64_t every, edge = 0;
    if (!job_take(at, end, &field, &length))
        return false;
    mark = memchr(field, '@', length);
    size_t first = mark ? (size_t)(mark - field) : length;
    if (!pdk__number_parse(field, first, 0, PDK__JOB_LONGEST, &every) ||
        (mark && (every == 0 || !pdk__number_parse(mark + 1, length - first - 1, 1, PDK__JOB_LATEST, &edge))))
        return false;
    run->every = (int64_t)every;
    run->edge = (int64_t)edge;
    return true;
}

static bool take_text(const char *field, size_t length, size_t room, char *text) {
    if (length == 0 || length >= room)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)field[i] < ' ' || field[i] == 0x7f)
            return false;
    memcpy(text, field, length);
    text[length] = '\0';
    return true;
}

static bool is_sane(const struct pdk__job_run *run) {
    bool ended = run->state == 'F';
    struct pdk__name name;
    return (ended || run->state == 'R' || run->state == 'D') && run->token > 0 && run->start > 0 &&
           (ended ? run->end >= run->start : run->end == 0 && run->outcome == 0) && pdk__name_parse(run->node, &name) &&
           strchr(run->node, '/') == NULL;
}

/* A line without its end. It must be as this library writes it, to the byte. */
static bool parse_line(const char *at, const char *end, struct pdk__job_run *run) {
    const char *state, *node;
    char again[LINE_SIZE];
    size_t state_length, node_length, length = (size_t)(end - at);
    int64_t outcome;
    memset(run, 0, sizeof *run);
    if (length + 1 >= sizeof again || !job_take(&at, end, &state, &state_length) || state_length != 1 ||
        !take_number(&at, end, INT64_MAX, &run->token) || !take_number(&at, end, PDK__JOB_LATEST, &run->start) ||
        !take_number(&at, end, PDK__JOB_LATEST, &run->end) || !take_number(&at, end, PDK__JOB_LONGEST, &run->least) ||
        !take_periods(&at, end, run) || !take_number(&at, end, PDK__JOB_LONGEST, &run->most) ||
        !take_number(&at, end, INT32_MAX, &outcome) || !job_take(&at, end, &node, &node_length) ||
        !take_text(node, node_length, sizeof run->node, run->node) ||
        !take_text(at, (size_t)(end - at), sizeof run->who, run->who))
        return false;
    run->state = *state;
    run->outcome = (int32_t)outcome;
    return is_sane(run) && write_line(run, again) == length + 1; /* no number has more digits than it needs */
}

/* Only the newest line may be of a run that has not ended and is not known to have died. */
static bool fits(const struct pdk__job_record *record) {
    const struct pdk__job_run *run = &record->runs[record->count - 1];
    if (record->count == 1)
        return run->state != 'D';
    return run->state != 'R' && run->token < run[-1].token;
}

enum pdk__record_kind pdk__record_kind_of(const char *data, size_t size, const char *head_of) {
    size_t length = strlen(head_of);
    const char *number = data + length, *line_end = size > length ? memchr(number, '\n', size - length) : NULL;
    uint64_t version;
    if (!line_end || memcmp(data, head_of, length) != 0 || *number == '0' ||
        !pdk__number_parse(number, (size_t)(line_end - number), 1, INT32_MAX, &version))
        return PDK__RECORD_FOREIGN;
    return version == 1 ? PDK__RECORD_FINE : PDK__RECORD_NEWER;
}

/* The znode's moment is the last time of its newest line. */
static void date(struct pdk__job_run *run, int64_t mtime) {
    int64_t *last = run->state == 'F' ? &run->end : &run->start;
    if (mtime > *last)
        *last = mtime < PDK__JOB_LATEST ? mtime : PDK__JOB_LATEST;
}

enum pdk__record_kind pdk__job_parse(const char *data, size_t size, int64_t mtime, struct pdk__job_record *record) {
    record->count = 0;
    if (size == 0)
        return PDK__RECORD_FINE;
    enum pdk__record_kind kind = size <= PDK__JOB_SIZE ? pdk__record_kind_of(data, size, family) : PDK__RECORD_FOREIGN;
    if (kind != PDK__RECORD_FINE)
        return kind;
    const char *at = data + sizeof head - 1, *end = data + size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end || record->count == PDK__JOB_RUNS || !parse_line(at, line_end, &record->runs[record->count++]) ||
            !fits(record)) {
            record->count = 0;
            return PDK__RECORD_FOREIGN;
        }
        at = line_end + 1;
    }
    if (record->count > 0)
        date(&record->runs[0], mtime);
    return PDK__RECORD_FINE;
}

void pdk__job_name(const char *identity, char who[PDK__JOB_WHO]) {
    size_t length = strlen(identity);
    if (length >= PDK__JOB_WHO) { /* not within a character of UTF-8 */
        length = PDK__JOB_WHO - 1;
        while (length > 0 && ((unsigned char)identity[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++)
        who[i] = (unsigned char)identity[i] < ' ' || identity[i] == 0x7f ? '?' : identity[i];
    who[length] = '\0';
    if (length == 0)
        memcpy(who, "?", 2);
}

/* ---- the rule */

int64_t pdk__job_next(const struct pdk__job_run *run, bool at_once) {
    int64_t spaced = run->start + run->least;
    if (run->every == 0 || (at_once && run->state != 'F'))
        return spaced;
    int64_t period = run->edge;
    if (run->start >= period)
        period += ((run->start - period) / run->every + 1) * run->every;
    return period > spaced ? period : spaced;
}

enum pdk__job_verdict pdk__job_judge(const struct pdk__job_record *record, int64_t token, int64_t now, bool at_once) {
    const struct pdk__job_run *newest = &record->runs[0];
    if (record->count == 0)
        return PDK__JOB_START;
    if (newest->token == token)
        return PDK__JOB_OURS;
    if (newest->token > token)
        return PDK__JOB_OVERTAKEN;
    return now >= pdk__job_next(newest, at_once) ? PDK__JOB_START : PDK__JOB_SKIP;
}

void pdk__job_start(struct pdk__job_record *record, const struct pdk__job_run *run, int keep) {
    if (record->count > 0 && record->runs[0].state == 'R')
        record->runs[0].state = 'D'; /* we have the lock, so it has it no more */
    if (record->count > keep - 1)
        record->count = keep - 1;
    memmove(&record->runs[1], &record->runs[0], (size_t)record->count * sizeof *run);
    record->runs[0] = *run;
    record->count++;
}

enum pdk__job_verdict pdk__job_finish(struct pdk__job_record *record, int64_t token, int32_t outcome) {
    struct pdk__job_run *newest = &record->runs[0];
    if (record->count == 0 || newest->token != token)
        return PDK__JOB_OVERTAKEN;
    if (newest->state == 'F')
        return PDK__JOB_OURS;
    newest->state = 'F';
    newest->outcome = outcome;
    newest->end = newest->start; /* at least; the moment of the write is its end */
    return PDK__JOB_START;
}
