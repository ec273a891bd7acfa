/* The record, the lock nodes, the clock, the writes on their way, and what must hold.
 *
 *     q  makes its lock node     g  looks     r  looks, and sees an older state     e  its write is executed     a  is answered
 *     l  loses its answer, or the write for a while     L  a late write is executed
 *     n  renews     v  gives up     x  its lock node goes     t  the clock ticks
 */
#include "lease_lock_model.h"

#include <string.h>

static int8_t token_of(int claim) { return (int8_t)(10 + claim); }
static char secret_of(int token) { return token == 11 ? 'b' : 'a'; }

static void begin(void *of, void *world) {
    const struct lease_lock_config *config = of;
    struct lease_lock_world *w = world;
    memset(w, 0, sizeof *w);
    w->clock = 4;
    w->ticks = config->ticks;
    w->losses = config->losses;
    w->stales = config->stales;
}

/* ---- records, through the text */

static struct pdk__lease_record record_of(const struct lease_lock_config *config, int token, int state) {
    struct pdk__lease_record record = {.state = (char)state, .token = token, .duration = config->duration, .who = "w"};
    memset(record.digest, secret_of(token), PDK__LEASE_LOCK_DIGEST - 1);
    return record;
}

static enum pdk__lease_verdict judge(const struct lease_lock_config *config, const struct lease_lock_world *w,
                                     int shown, int claim, struct pdk__lease_record *found) {
    const struct lease_content *content = &w->states[shown];
    struct pdk__lease_record mine = record_of(config, token_of(claim), 'H'), other = {0};
    char text[PDK__LEASE_LOCK_SIZE];
    size_t length = 0;
    if (content->state != 0) {
        other = record_of(config, content->token, content->state);
        length = pdk__lease_record_write(&other, text);
    }
    pdk__lease_record_parse(text, length, found);
    return pdk__lease_judge(found, content->mtime, w->claims[claim].claimed, &mine);
}

/* ---- what may happen */

static bool is_granted(const struct lease_lock_world *w, int claim) {
    for (int i = 0; i < claim; i++)
        if (w->claims[i].stands || w->claims[i].phase == LEASE_OUT)
            return false;
    return true;
}

static int free_slot(const struct lease_claim *c) {
    for (int i = 0; i < LEASE_LATE; i++)
        if (!c->late[i].pending)
            return i;
    return -1;
}

static bool looks(const struct lease_claim *c) {
    return c->phase == LEASE_CLAIMED || c->phase == LEASE_RENEWS || c->phase == LEASE_LEAVES;
}

static bool writes(const struct lease_claim *c) {
    return c->phase == LEASE_TAKING || c->phase == LEASE_RENEWING || c->phase == LEASE_LEAVING;
}

static int possible_of(const struct lease_lock_config *config, const struct lease_lock_world *w, int i, char kinds[8]) {
    const struct lease_claim *c = &w->claims[i];
    int count = 0;
    if (c->phase == LEASE_OUT) {
        if (i == 0 || w->claims[i - 1].phase != LEASE_OUT)
            kinds[count++] = 'q';
        return count;
    }
    if (!is_granted(w, i))
        return count;
    if (c->stands)
        kinds[count++] = 'x';
    if (c->phase == LEASE_HOLDS && c->renewals > 0)
        kinds[count++] = 'n';
    if (c->phase == LEASE_HOLDS && config->gives_up)
        kinds[count++] = 'v';
    if (looks(c)) {
        kinds[count++] = 'g';
        if (w->stales > 0 && c->passed < w->now)
            kinds[count++] = 'r';
    }
    if (writes(c)) {
        kinds[count++] = c->now.executed ? 'a' : 'e';
        if (w->losses > 0 && (c->now.executed || free_slot(c) >= 0))
            kinds[count++] = 'l';
    }
    return count;
}

static size_t possible(const void *of, const void *world, search_action actions[SEARCH_ACTIONS]) {
    const struct lease_lock_config *config = of;
    const struct lease_lock_world *w = world;
    size_t count = 0;
    if (w->now == LEASE_STATES - 1)
        return 0;
    for (int i = 0; i < config->claims; i++) {
        char kinds[8];
        int of_claim = possible_of(config, w, i, kinds);
        for (int k = 0; k < of_claim; k++)
            actions[count++] = search_act(kinds[k], i, 0);
        for (int k = 0; k < LEASE_LATE; k++)
            if (w->claims[i].late[k].pending)
                actions[count++] = search_act('L', i, k);
    }
    if (w->ticks > 0)
        actions[count++] = search_act('t', 0, 0);
    return count;
}

/* ---- the server */

static const char *check_state(const struct lease_lock_config *config, const struct lease_lock_world *w, int writer) {
    const struct lease_content *before = &w->states[w->now - 1], *after = &w->states[w->now];
    if (before->state == 0 || before->token == after->token)
        return before->state == 'N' ? "what was given up stays so, for that hold" : NULL;
    if (after->token < before->token)
        return "takings come in the order of the grants";
    if (w->claims[before->token - 10].stands)
        return "nobody takes it while its holder stands";
    if (before->state == 'N' || secret_of(before->token) == secret_of(token_of(writer)))
        return NULL;
    return w->clock - before->mtime < config->duration ? "nobody else takes it before its end" : NULL;
}

static const char *execute(const struct lease_lock_config *config, struct lease_lock_world *w, int claim,
                           struct lease_write *write) {
    write->executed = 1;
    write->landed = write->version == w->now;
    if (!write->landed)
        return NULL;
    w->states[++w->now] = (struct lease_content){w->clock, write->state, token_of(claim)};
    return check_state(config, w, claim);
}

/* ---- the claims */

/* Its write has landed for certain. */
static const char *confirmed(struct lease_lock_world *w, int i, uint64_t *counts) {
    struct lease_claim *c = &w->claims[i];
    bool was_free = c->phase == LEASE_CLAIMED || c->phase == LEASE_TAKING;
    bool leaves = c->phase == LEASE_LEAVES || c->phase == LEASE_LEAVING;
    counts[leaves ? LEASE_GIVEN_UP : was_free ? LEASE_HELD : LEASE_RENEWED]++;
    if (leaves) {
        c->phase = LEASE_OVER;
        return w->states[w->now].token > token_of(i) || w->states[w->now].state == 'N' ? NULL
                                                                                       : "what is given up is nobody's";
    }
    c->phase = c->stands ? LEASE_HOLDS : LEASE_OVER;
    counts[LEASE_LOST] += !c->stands;
    for (int k = 0; c->stands && k < LEASE_CLAIMS; k++)
        if (k != i && w->claims[k].stands && w->claims[k].phase >= LEASE_HOLDS && w->claims[k].phase <= LEASE_LEAVING)
            return "two holds overlap";
    if (c->stands && w->states[w->now].token != token_of(i))
        return "who holds is in the record";
    return NULL;
}

static void propose(struct lease_claim *c, int version, char state, enum lease_phase phase) {
    c->now = (struct lease_write){.pending = 1, .version = (int8_t)version, .state = state};
    c->phase = (int8_t)phase;
}

static const char *look(const struct lease_lock_config *config, struct lease_lock_world *w, int i, int shown,
                        uint64_t *counts) {
    struct lease_claim *c = &w->claims[i];
    struct pdk__lease_record found;
    c->passed = (int8_t)shown;
    enum pdk__lease_verdict verdict = judge(config, w, shown, i, &found);
    bool ours = found.state == 'H' && found.token == token_of(i);
    if (c->phase == LEASE_CLAIMED && verdict == PDK__LEASE_TAKE) {
        counts[LEASE_BACK] += found.state == 'H' && c->claimed - w->states[shown].mtime < config->duration;
        propose(c, shown, 'H', LEASE_TAKING);
    } else if (c->phase == LEASE_CLAIMED && verdict == PDK__LEASE_OURS) {
        return confirmed(w, i, counts);
    } else if (c->phase == LEASE_CLAIMED) {
        counts[verdict == PDK__LEASE_STANDS ? LEASE_STOOD : LEASE_TOO_LATE]++;
        c->phase = LEASE_OVER;
    } else if (c->phase == LEASE_LEAVES && found.state == 'N' && found.token == token_of(i)) {
        return confirmed(w, i, counts);
    } else if (ours) {
        propose(c, shown, c->phase == LEASE_RENEWS ? 'H' : 'N',
                c->phase == LEASE_RENEWS ? LEASE_RENEWING : LEASE_LEAVING);
    } else {
        c->phase = LEASE_OVER;
    }
    return NULL;
}

static void look_again(struct lease_claim *c) {
    memset(&c->now, 0, sizeof c->now);
    c->phase = c->phase == LEASE_TAKING ? LEASE_CLAIMED : c->phase == LEASE_RENEWING ? LEASE_RENEWS : LEASE_LEAVES;
}

static const char *answered(struct lease_lock_world *w, int i, uint64_t *counts) {
    struct lease_claim *c = &w->claims[i];
    bool landed = c->now.landed;
    if (!landed) {
        look_again(c);
        return NULL;
    }
    c->passed = w->now;
    memset(&c->now, 0, sizeof c->now);
    return confirmed(w, i, counts);
}

static const char *apply(void *of, void *world, search_action action) {
    struct lease_lock_config *config = of;
    uint64_t *counts = config->counts;
    struct lease_lock_world *w = world;
    int who = search_whose(action);
    struct lease_claim *c = &w->claims[who];
    const char *broken = NULL;
    switch (search_kind(action)) {
    case 'q':
        *c = (struct lease_claim){
            .phase = LEASE_CLAIMED, .stands = 1, .claimed = w->clock, .renewals = config->renewals};
        break;
    case 'g':
        return look(config, w, who, w->now, counts);
    case 'r':
        w->stales--;
        return look(config, w, who, w->now - 1 > c->passed ? w->now - 1 : c->passed, counts);
    case 'e':
        return execute(config, w, who, &c->now);
    case 'a':
        return answered(w, who, counts);
    case 'l':
        w->losses--;
        if (!c->now.executed)
            c->late[free_slot(c)] = c->now;
        look_again(c);
        break;
    case 'L':
        broken = execute(config, w, who, &c->late[search_which(action)]);
        memset(&c->late[search_which(action)], 0, sizeof c->late[0]);
        break;
    case 'n':
        c->renewals--;
        c->phase = LEASE_RENEWS;
        break;
    case 'v':
        c->phase = LEASE_LEAVES;
        break;
    case 'x':
        c->stands = 0;
        c->phase = c->phase == LEASE_HOLDS ? LEASE_OVER : c->phase;
        break;
    default:
        w->ticks--;
        w->clock++;
        break;
    }
    return broken;
}

static void tell(const void *world, search_action action, FILE *out) {
    const struct lease_lock_world *w = world;
    const struct lease_content *now = &w->states[w->now];
    fprintf(out, "%c %d  clock %d, version %d: %c %d, written at %d\n", search_kind(action), search_whose(action),
            w->clock, w->now, now->state ? now->state : '-', now->token, now->mtime);
}

struct search_model lease_lock_model(struct lease_lock_config *config) {
    _Static_assert(sizeof(struct lease_lock_world) ==
                       LEASE_STATES * sizeof(struct lease_content) + LEASE_CLAIMS * sizeof(struct lease_claim) + 5,
                   "no bytes between members");
    return (struct search_model){.of = config,
                                 .size = sizeof(struct lease_lock_world),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .tell = tell};
}
