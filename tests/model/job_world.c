/* The record, the lock nodes, the clock, the writes on their way, and what must hold.
 *
 *     q  makes its lock node     g  looks     r  looks, and sees an older state     e  its write is executed     a  is answered
 *     l  loses its answer, or the write for a while     L  a late write is executed     f  finishes its run
 *     x  its lock node goes      t  the clock ticks     b  a new leader, whose clock is behind
 */
#include "job_model.h"

#include <string.h>

#define NODE "_c_00000000-0000-8000-8000-000000000001-lock-0000000007"

static int8_t token_of(int ask) { return (int8_t)(10 + ask); }

static void begin(void *of, void *world) {
    const struct job_config *config = of;
    struct job_world *w = world;
    memset(w, 0, sizeof *w);
    w->clock = 4;
    w->ticks = config->ticks;
    w->backs = config->backs;
    w->losses = config->losses;
    w->stales = config->stales;
}

/* ---- periods of several lengths, as days are in a time zone */

static int8_t next_edge(int64_t moment) {
    static const int8_t edges[] = {2, 5, 9, 11, 12, 16, 18, 21, 22, 26};
    int i = 0;
    while (edges[i] <= moment)
        i++;
    return edges[i];
}

static int64_t period_of(const struct job_config *config, int64_t moment) {
    return config->zoned ? next_edge(moment) : moment / config->every;
}

/* ---- records, through the text */

static struct pdk__job_record record;

static void load(const struct job_config *config, const struct job_content *content) {
    static char text[PDK__JOB_SIZE];
    record.count = content->count;
    for (int i = 0; i < content->count; i++) {
        const struct job_line *line = &content->lines[i];
        record.runs[i] = (struct pdk__job_run){.token = line->token,
                                               .start = line->start,
                                               .end = line->end,
                                               .state = (char)line->state,
                                               .least = config->least,
                                               .every = line->every,
                                               .edge = line->edge,
                                               .node = NODE,
                                               .who = "w"};
    }
    size_t length = pdk__job_write(&record, text);
    pdk__job_parse(text, length, content->mtime, &record);
}

static struct job_content unload(void) {
    struct job_content content = {.count = (int8_t)record.count};
    for (int i = 0; i < record.count; i++)
        content.lines[i] =
            (struct job_line){(int8_t)record.runs[i].token, (int8_t)record.runs[i].start, (int8_t)record.runs[i].end,
                              (int8_t)record.runs[i].state, (int8_t)record.runs[i].edge,  (int8_t)record.runs[i].every};
    return content;
}

/* ---- what may happen */

static bool is_granted(const struct job_world *w, int ask) {
    for (int i = 0; i < ask; i++)
        if (w->asks[i].stands || w->asks[i].phase == JOB_OUT)
            return false;
    return true;
}

static int free_slot(const struct job_ask *a) {
    for (int i = 0; i < JOB_LATE; i++)
        if (!a->late[i].pending)
            return i;
    return -1;
}

static int possible_of(const struct job_world *w, int i, char kinds[8]) {
    const struct job_ask *a = &w->asks[i];
    int count = 0;
    if (a->phase == JOB_OUT) {
        if (i == 0 || w->asks[i - 1].phase != JOB_OUT)
            kinds[count++] = 'q';
        return count;
    }
    if (!is_granted(w, i))
        return count;
    if (a->stands)
        kinds[count++] = 'x';
    if (a->phase == JOB_ASKED || a->phase == JOB_ENDING) {
        kinds[count++] = 'g';
        if (w->stales > 0 && a->passed < w->now)
            kinds[count++] = 'r';
    }
    if (a->phase == JOB_RUNS)
        kinds[count++] = 'f';
    if (a->phase == JOB_STARTING || a->phase == JOB_FINISHING) {
        kinds[count++] = a->now.executed ? 'a' : 'e';
        if (w->losses > 0 && (a->now.executed || free_slot(a) >= 0))
            kinds[count++] = 'l';
    }
    return count;
}

static size_t possible(const void *of, const void *world, search_action actions[SEARCH_ACTIONS]) {
    const struct job_config *config = of;
    const struct job_world *w = world;
    size_t count = 0;
    if (w->now == JOB_STATES - 1)
        return 0;
    for (int i = 0; i < config->asks; i++) {
        char kinds[8];
        int of_ask = possible_of(w, i, kinds);
        for (int k = 0; k < of_ask; k++)
            actions[count++] = search_act(kinds[k], i, 0);
        for (int k = 0; k < JOB_LATE; k++)
            if (w->asks[i].late[k].pending)
                actions[count++] = search_act('L', i, k);
    }
    if (w->ticks > 0)
        actions[count++] = search_act('t', 0, 0);
    if (w->backs > 0 && w->clock > 2)
        actions[count++] = search_act('b', 0, 0);
    return count;
}

/* ---- the server */

/* What a state that follows another one must not do. The newest start counts from the later of its ask and its write. */
static const char *check_state(const struct job_config *config, const struct job_world *w, int writer) {
    const struct job_content *before = &w->states[w->now - 1], *after = &w->states[w->now];
    const struct job_line *old = before->lines, *new = after->lines;
    if (after->count == before->count) {
        if (new->token != old->token || new->token != token_of(writer))
            return "a run is finished by its own holder alone";
        return old->state == 'R' && new->state == 'F' ? NULL : "a run finishes once";
    }
    if (after->count != before->count + 1 || new->token != token_of(writer) || new->state != 'R')
        return "a write is a start or an end";
    if (before->count == 0)
        return NULL;
    if (new->token <= old->token)
        return "starts come in the order of the grants";
    if (old->state == 'R' && w->asks[old->token - 10].stands)
        return "nobody starts while a run stands";
    load(config, before);
    int64_t start = record.runs[0].start, end = record.runs[0].end;
    load(config, after);
    if (record.runs[1].start != start || (old->state == 'F' ? record.runs[1].end != end : record.runs[1].state != 'D'))
        return "what is known of a run stays";
    bool died = old->state == 'R';
    if (config->every > 0 && !(died && config->at_once) &&
        period_of(config, record.runs[0].start) <= period_of(config, start))
        return "a period has one start";
    int gap = config->backs > 0 ? (int)(record.runs[0].start - start) : after->mtime - before->mtime;
    if (config->backs == 0 && old->state == 'F')
        gap = after->mtime - (int)start; /* the mtime before was that of the end */
    return gap < config->least ? "at least for" : NULL;
}

static const char *execute(const struct job_config *config, struct job_world *w, int ask, struct job_write *write) {
    write->executed = 1;
    write->landed = write->version == w->now;
    if (!write->landed)
        return NULL;
    w->states[++w->now] = write->next;
    w->states[w->now].mtime = w->clock;
    return check_state(config, w, ask);
}

/* ---- the asks */

static const char *confirmed(struct job_world *w, int i, uint64_t *counts) {
    struct job_ask *a = &w->asks[i];
    if (a->phase == JOB_FINISHING || a->phase == JOB_ENDING) {
        bool found = false;
        for (int k = 0; k < w->states[w->now].count; k++)
            found |= w->states[w->now].lines[k].token == token_of(i) && w->states[w->now].lines[k].state == 'F';
        a->phase = JOB_OVER;
        counts[JOB_FINISHED]++;
        return found ? NULL : "an end that is told of is in the record";
    }
    a->phase = JOB_OVER;
    if (!a->stands) { /* the driver sees that the hold is not valid */
        counts[JOB_LOST]++;
        return NULL;
    }
    for (int k = 0; k < JOB_ASKS; k++)
        if (w->asks[k].phase == JOB_RUNS && w->asks[k].stands)
            return "two runs overlap";
    if (w->states[w->now].count == 0 || w->states[w->now].lines[0].token != token_of(i))
        return "a run is in the record before it begins";
    a->phase = JOB_RUNS;
    a->ran = 1;
    counts[JOB_RAN]++;
    return NULL;
}

static void propose(struct job_ask *a, int version, enum job_phase phase) {
    a->now = (struct job_write){.pending = 1, .version = (int8_t)version, .next = unload()};
    a->phase = (int8_t)phase;
}

static const char *look(const struct job_config *config, struct job_world *w, int i, int shown, uint64_t *counts) {
    struct job_ask *a = &w->asks[i];
    a->passed = (int8_t)shown;
    load(config, &w->states[shown]);
    if (a->phase == JOB_ENDING) {
        enum pdk__job_verdict verdict = pdk__job_finish(&record, token_of(i), 0);
        if (verdict == PDK__JOB_START)
            propose(a, shown, JOB_FINISHING);
        else if (verdict == PDK__JOB_OURS)
            return confirmed(w, i, counts);
        else
            a->phase = JOB_OVER;
        return NULL;
    }
    struct pdk__job_run run = {
        .token = token_of(i), .start = a->asked, .state = 'R', .every = config->every, .least = config->least};
    if (config->zoned) {
        run.edge = next_edge(a->asked);
        run.every = next_edge(run.edge) - run.edge;
    }
    strcpy(run.node, NODE);
    strcpy(run.who, "w");
    enum pdk__job_verdict verdict = pdk__job_judge(&record, run.token, run.start, config->at_once);
    if (verdict == PDK__JOB_OURS)
        return confirmed(w, i, counts);
    if (verdict == PDK__JOB_START) {
        pdk__job_start(&record, &run, JOB_ASKS);
        propose(a, shown, JOB_STARTING);
        return NULL;
    }
    counts[JOB_SKIPPED] += verdict == PDK__JOB_SKIP;
    counts[JOB_OVERTAKEN] += verdict == PDK__JOB_OVERTAKEN;
    a->phase = JOB_OVER;
    return record.count > 0 && record.runs[0].token == run.token ? "nobody is turned away by their own run" : NULL;
}

static const char *answered(struct job_world *w, int i, uint64_t *counts) {
    struct job_ask *a = &w->asks[i];
    bool landed = a->now.landed;
    if (landed)
        a->passed = w->now;
    memset(&a->now, 0, sizeof a->now);
    if (landed)
        return confirmed(w, i, counts);
    a->phase = a->phase == JOB_STARTING ? JOB_ASKED : JOB_ENDING;
    return NULL;
}

static void lose_answer(struct job_world *w, int i) {
    struct job_ask *a = &w->asks[i];
    w->losses--;
    if (!a->now.executed)
        a->late[free_slot(a)] = a->now;
    memset(&a->now, 0, sizeof a->now);
    a->phase = a->phase == JOB_STARTING ? JOB_ASKED : JOB_ENDING;
}

static void node_goes(struct job_world *w, int i, uint64_t *counts) {
    struct job_ask *a = &w->asks[i];
    a->stands = 0;
    counts[JOB_DIED] += a->phase == JOB_RUNS;
    if (a->phase == JOB_RUNS)
        a->phase = JOB_OVER;
}

static const char *apply(void *of, void *world, search_action action) {
    struct job_config *config = of;
    uint64_t *counts = config->counts;
    struct job_world *w = world;
    int who = search_whose(action);
    struct job_ask *a = &w->asks[who];
    const char *broken = NULL;
    switch (search_kind(action)) {
    case 'q':
        a->phase = JOB_ASKED;
        a->stands = 1;
        a->asked = w->clock;
        return NULL;
    case 'g':
        return look(config, w, who, w->now, counts);
    case 'r':
        w->stales--;
        return look(config, w, who, w->now - 1 > a->passed ? w->now - 1 : a->passed, counts);
    case 'e':
        return execute(config, w, who, &a->now);
    case 'a':
        return answered(w, who, counts);
    case 'l':
        lose_answer(w, who);
        return NULL;
    case 'L':
        broken = execute(config, w, who, &a->late[search_which(action)]);
        memset(&a->late[search_which(action)], 0, sizeof a->late[0]);
        return broken;
    case 'f':
        a->phase = JOB_ENDING;
        return NULL;
    case 'x':
        node_goes(w, who, counts);
        return NULL;
    case 't':
        w->ticks--;
        w->clock++;
        return NULL;
    default:
        w->backs--;
        w->clock = (int8_t)(w->clock - 2);
        return NULL;
    }
}

static void tell(const void *world, search_action action, FILE *out) {
    const struct job_world *w = world;
    const struct job_content *now = &w->states[w->now];
    fprintf(out, "%c %d  clock %d, version %d:", search_kind(action), search_whose(action), w->clock, w->now);
    for (int i = 0; i < now->count; i++)
        fprintf(out, " %c%d from %d", now->lines[i].state, now->lines[i].token, now->lines[i].start);
    fprintf(out, ", written at %d\n", now->mtime);
}

struct search_model job_model(struct job_config *config) {
    _Static_assert(sizeof(struct job_world) ==
                       JOB_STATES * sizeof(struct job_content) + JOB_ASKS * sizeof(struct job_ask) + 6,
                   "no bytes between members");
    return (struct search_model){.of = config,
                                 .size = sizeof(struct job_world),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .tell = tell};
}
