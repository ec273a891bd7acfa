/* The znode, the lock nodes, the requests on their way, and what must hold.
 *
 *     o  opens           p d  writes a payload, a tombstone        x  its lock node goes
 *     e  is executed     r    a read that shows an older state     a  is answered
 *     l  loses its answer, or the request for a while              L  a late request is executed
 *     g  gives up        A    somebody without a lock writes
 */
#include "guarded_model.h"

#include <string.h>

static struct guarded_content *present(struct guarded_world *w) { return &w->states[w->now]; }

static void begin(void *of, void *world) {
    const struct guarded_config *config = of;
    struct guarded_world *w = world;
    memset(w, 0, sizeof *w);
    w->newest = -1;
    w->losses = config->losses;
    w->stales = config->stales;
    w->aliens = config->aliens;
    w->gives_up = config->gives_up;
    w->shared = config->shared;
    w->states[0].exists = config->exists;
    w->states[0].stamp.absent = true;
    for (int i = 0; i < config->holders; i++) {
        bool handed = config->shared && i == 1;
        pdk__guarded_init(&w->holders[i].machine, handed ? 10 : 10 + i, handed ? 1 : 0);
        w->holders[i].stands = 1;
        w->holders[i].writes = config->writes;
    }
}

static bool is_granted(const struct guarded_world *w, int holder) {
    for (int i = 0; i < holder; i++)
        if (w->holders[i].stands)
            return false;
    return true;
}

/* ---- what may happen */

static bool is_busy(const struct guarded_holder *h) { return h->machine.step != PDK__GUARDED_IDLE; }

static bool is_over(const struct guarded_holder *h) { return h->machine.end != PDK__GUARDED_FINE; }

static int free_slot(const struct guarded_holder *h) {
    for (int i = 0; i < GUARDED_LATE; i++)
        if (h->late[i].step == PDK__GUARDED_IDLE)
            return i;
    return -1;
}

static int possible_calls(const struct guarded_holder *h, char kinds[3]) {
    if (is_busy(h) || is_over(h))
        return 0;
    int count = 0;
    if (!h->opened)
        kinds[count++] = 'o';
    if (h->opened && h->writes > 0) {
        kinds[count++] = 'p';
        kinds[count++] = 'd';
    }
    return count;
}

static int possible_of(const struct guarded_world *w, int i, char kinds[8]) {
    const struct guarded_holder *h = &w->holders[i];
    int count = is_granted(w, i) ? possible_calls(h, kinds) : 0;
    bool is_read = h->now.step == PDK__GUARDED_READ;
    if (h->stands && is_granted(w, i))
        kinds[count++] = 'x';
    if (!is_busy(h))
        return count;
    kinds[count++] = h->now.executed ? 'a' : 'e';
    if (!h->now.executed && is_read && w->stales > 0 && w->now > h->passed)
        kinds[count++] = 'r';
    if (w->losses > 0 && (h->now.executed || is_read || free_slot(h) >= 0))
        kinds[count++] = 'l';
    if (w->gives_up > 0 && (h->now.executed || is_read || free_slot(h) >= 0))
        kinds[count++] = 'g';
    return count;
}

static size_t possible(const void *of, const void *world, search_action actions[SEARCH_ACTIONS]) {
    const struct guarded_config *config = of;
    const struct guarded_world *w = world;
    size_t count = 0;
    if (w->now == GUARDED_STATES - 1)
        return 0;
    for (int i = 0; i < config->holders; i++) {
        char kinds[8];
        int of_holder = possible_of(w, i, kinds);
        for (int k = 0; k < of_holder; k++)
            actions[count++] = search_act(kinds[k], i, 0);
        for (int k = 0; k < GUARDED_LATE; k++)
            if (w->holders[i].late[k].step != PDK__GUARDED_IDLE)
                actions[count++] = search_act('L', i, k);
    }
    if (w->aliens > 0 && w->states[w->now].exists)
        actions[count++] = search_act('A', 0, 0);
    return count;
}

/* ---- the server */

static void change(struct guarded_world *w, const struct pdk__stamp *stamp) {
    struct guarded_content *before = present(w), *after = &w->states[++w->now];
    *after = *before;
    after->version = before->exists ? before->version + 1 : 0;
    after->exists = 1;
    after->stamp = *stamp;
}

static const char *check_write(struct guarded_world *w, int i, const struct pdk__stamp *stamp) {
    struct guarded_holder *h = &w->holders[i];
    int8_t bit = (int8_t)(1 << stamp->number);
    if (w->newest > i)
        return "no write of an older holder lands after a newer one has opened";
    if (!h->opened)
        return "content is changed by confirmed holders alone";
    if (w->alien > 0 && h->opened && w->alien > h->since)
        return "no write lands on what somebody else wrote meanwhile";
    if (h->written & bit)
        return "a write lands once";
    h->written |= bit;
    return NULL;
}

static const char *execute_set(struct guarded_world *w, int i, struct guarded_request *r) {
    struct guarded_content *node = present(w);
    if (!node->exists || node->version != r->version) {
        r->result = node->exists ? PDK__BAD_VERSION : PDK__NO_NODE;
        return NULL;
    }
    const char *broken = r->step == PDK__GUARDED_WRITE ? check_write(w, i, &r->stamp) : NULL;
    r->result = PDK__OK;
    change(w, &r->stamp);
    return broken;
}

/* A lock node that is handed over stands for either of the two. */
static bool lock_stands(const struct guarded_world *w, int i) {
    return w->holders[i].stands || (w->shared && i < 2 && w->holders[1 - i].stands);
}

static const char *execute(struct guarded_world *w, int i, struct guarded_request *r) {
    const struct pdk__stamp nobody = {.absent = true};
    r->executed = 1;
    r->result = PDK__OK;
    r->shown = w->now;
    if (r->step == PDK__GUARDED_CREATE) {
        if (!present(w)->exists)
            change(w, &nobody);
        else
            r->result = PDK__NODE_EXISTS;
    } else if (r->step == PDK__GUARDED_CHECK) {
        r->result = lock_stands(w, i) ? PDK__OK : PDK__NO_NODE;
    } else if (r->step == PDK__GUARDED_REWRITE || r->step == PDK__GUARDED_WRITE) {
        return execute_set(w, i, r);
    }
    return NULL;
}

/* ---- the holder */

static void send_next(struct guarded_holder *h) {
    const struct pdk__guarded *g = &h->machine;
    memset(&h->now, 0, sizeof h->now);
    h->now.step = (int8_t)g->step;
    h->now.version = g->version;
    if (g->step == PDK__GUARDED_REWRITE)
        h->now.stamp = g->seen;
    if (g->step == PDK__GUARDED_WRITE)
        h->now.stamp = g->wanted;
}

static bool same(const struct pdk__stamp *a, const struct pdk__stamp *b) {
    return a->token == b->token && a->number == b->number && a->handover == b->handover && a->absent == b->absent;
}

static const char *check_done(struct guarded_world *w, int i, bool writing, uint64_t *counts) {
    struct guarded_holder *h = &w->holders[i];
    const struct pdk__guarded *g = &h->machine;
    bool alien = w->alien > 0;
    if (g->end == PDK__GUARDED_LOST) {
        counts[GUARDED_LOST]++;
        return h->stands ? "a holder whose lock node stands is not told LOST" : NULL;
    }
    if (g->end != PDK__GUARDED_FINE) {
        counts[GUARDED_REPLACED]++;
        return alien ? NULL : "nobody is told that the node was replaced unless it was";
    }
    if (writing) {
        counts[GUARDED_WRITTEN]++;
        if (!(h->written & (1 << g->wanted.number)))
            return "a write that is told of has landed";
    } else {
        counts[GUARDED_OPENED]++;
    }
    if (!h->opened)
        h->since = w->now;
    h->opened = 1;
    if (w->newest < i)
        w->newest = (int8_t)i;
    if (w->newest == i && !alien && !same(&g->known, &present(w)->stamp))
        return "the newest holder knows the content";
    return NULL;
}

static const char *answer(struct guarded_world *w, int i, enum pdk__result result, uint64_t *counts) {
    struct guarded_holder *h = &w->holders[i];
    bool writing = h->machine.writing;
    /* The driver sees that its own hold was released. */
    bool released = w->shared && h->now.step == PDK__GUARDED_CHECK && !h->stands;
    if (released) {
        pdk__guarded_lose(&h->machine);
    } else if (h->now.step == PDK__GUARDED_READ && result == PDK__OK) {
        const struct guarded_content *shown = &w->states[h->now.shown];
        struct pdk__guarded_node node = {.exists = shown->exists,
                                         .guarded = shown->exists,
                                         .version = shown->version,
                                         .czxid = 1,
                                         .stamp = shown->stamp};
        h->passed = h->now.shown;
        pdk__guarded_read(&h->machine, &node);
    } else {
        if (h->now.executed && result != PDK__UNKNOWN)
            h->passed = h->now.shown > h->passed ? h->now.shown : h->passed;
        pdk__guarded_answered(&h->machine, result);
    }
    send_next(h);
    return h->machine.step == PDK__GUARDED_IDLE ? check_done(w, i, writing, counts) : NULL;
}

/* The request is on its way, and nobody waits for its answer. */
static void leave_behind(struct guarded_holder *h) {
    if (!h->now.executed && h->now.step != PDK__GUARDED_READ && h->now.step != PDK__GUARDED_CHECK)
        h->late[free_slot(h)] = h->now;
}

static void call(struct guarded_world *w, int i, char kind) {
    struct guarded_holder *h = &w->holders[i];
    if (kind == 'o') {
        pdk__guarded_open(&h->machine);
    } else {
        pdk__guarded_write(&h->machine, kind == 'd', 0);
        h->writes--;
    }
    send_next(h);
}

static const char *apply(void *of, void *world, search_action action) {
    struct guarded_config *config = of;
    struct guarded_world *w = world;
    int who = search_whose(action);
    struct guarded_holder *h = &w->holders[who];
    const char *broken = NULL;
    switch (search_kind(action)) {
    case 'x':
        h->stands = 0;
        break;
    case 'e':
        return execute(w, who, &h->now);
    case 'r':
        w->stales--;
        h->now.executed = 1;
        h->now.shown = h->passed;
        break;
    case 'a':
        return answer(w, who, (enum pdk__result)h->now.result, config->counts);
    case 'l':
        w->losses--;
        leave_behind(h);
        return answer(w, who, PDK__UNKNOWN, config->counts);
    case 'L':
        broken = execute(w, who, &h->late[search_which(action)]);
        memset(&h->late[search_which(action)], 0, sizeof h->late[search_which(action)]);
        break;
    case 'g':
        w->gives_up--;
        leave_behind(h);
        pdk__guarded_abandon(&h->machine);
        send_next(h);
        break;
    case 'A': {
        const struct pdk__stamp foreign = {.digest = 99};
        w->aliens--;
        change(w, &foreign);
        w->alien = w->now;
        break;
    }
    default:
        call(w, who, (char)search_kind(action));
        break;
    }
    return broken;
}

static void tell(const void *world, search_action action, FILE *out) {
    const struct guarded_world *w = world;
    static const char *const steps[] = {"idle", "read", "create", "rewrite", "check", "write"};
    const struct guarded_holder *h = &w->holders[search_whose(action)];
    fprintf(out, "%c holder %d (now: %s, version %d)  node: version %d, token %d, number %d\n", search_kind(action),
            search_whose(action), steps[h->machine.step], h->machine.version, w->states[w->now].version,
            (int)w->states[w->now].stamp.token, (int)w->states[w->now].stamp.number);
}

/* ---- states as bytes */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ (hash >> 32);
}

static uint64_t mix_stamp(uint64_t hash, const struct pdk__stamp *s) {
    return mix(mix(hash, (uint64_t)s->token), s->number * 4 + s->digest * 64 + (s->absent ? 1 : 0));
}

static uint64_t mix_request(uint64_t hash, const struct guarded_request *r) {
    hash = mix(hash, (uint64_t)(r->step + 8 * (r->executed + 2 * (r->result + 16 * r->shown))));
    return mix_stamp(mix(hash, (uint64_t)r->version), &r->stamp);
}

static uint64_t mix_machine(uint64_t hash, const struct pdk__guarded *g) {
    unsigned flags = (g->opened ? 1u : 0) + (g->confirmed ? 2u : 0) + (g->is_pending ? 4u : 0) + (g->writing ? 8u : 0) +
                     (g->czxid != 0 ? 16u : 0);
    hash = mix(hash, (uint64_t)g->step + 8 * (uint64_t)g->end + 64 * (uint64_t)flags);
    hash = mix(mix(hash, (uint64_t)g->version), g->number);
    hash = mix_stamp(mix_stamp(hash, &g->known), &g->seen);
    return mix_stamp(mix_stamp(hash, &g->pending), &g->wanted);
}

/* Field by field: a struct has bytes between its fields. */
static uint64_t hash_of(const void *world) {
    const struct guarded_world *w = world;
    uint64_t hash = mix(1, (uint64_t)(w->now + 64 * (w->newest + 1 + 4 * w->alien)));
    hash = mix(hash, (uint64_t)(w->losses + 8 * (w->stales + 8 * (w->aliens + 8 * w->gives_up))));
    for (int i = 0; i <= w->now; i++)
        hash = mix(mix_stamp(hash, &w->states[i].stamp),
                   (uint64_t)w->states[i].version * 2 + (uint64_t)w->states[i].exists);
    for (int i = 0; i < GUARDED_HOLDERS; i++) {
        const struct guarded_holder *h = &w->holders[i];
        hash = mix_request(mix_machine(hash, &h->machine), &h->now);
        for (int k = 0; k < GUARDED_LATE; k++)
            hash = mix_request(hash, &h->late[k]);
        hash = mix(
            hash, (uint64_t)(h->stands +
                             2 * (h->opened + 2 * (h->writes + 8 * (h->passed + 64 * (h->written + 128 * h->since))))));
    }
    return hash;
}

/* Most words are 0: of the others each has its place ahead of it. */
static size_t pack(void *of, void *world, uint8_t bytes[SEARCH_PACKED]) {
    const struct guarded_world *w = world;
    size_t size = offsetof(struct guarded_world, states) + (size_t)(w->now + 1) * sizeof w->states[0];
    uint8_t *end = bytes;
    uint64_t word;
    (void)of;
    for (uint16_t at = 0; at < size; at = (uint16_t)(at + sizeof word)) {
        memcpy(&word, (const uint8_t *)world + at, sizeof word);
        if (word == 0)
            continue;
        memcpy(end, &at, sizeof at);
        memcpy(end + sizeof at, &word, sizeof word);
        end += sizeof at + sizeof word;
    }
    return (size_t)(end - bytes);
}

static void unpack(void *of, void *world, const uint8_t *bytes, size_t size) {
    uint16_t at;
    (void)of;
    memset(world, 0, sizeof(struct guarded_world));
    for (const uint8_t *end = bytes + size; bytes != end; bytes += sizeof at + sizeof(uint64_t)) {
        memcpy(&at, bytes, sizeof at);
        memcpy((uint8_t *)world + at, bytes + sizeof at, sizeof(uint64_t));
    }
}

struct search_model guarded_model(struct guarded_config *config) {
    return (struct search_model){.of = config,
                                 .size = sizeof(struct guarded_world),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .tell = tell,
                                 .pack = pack,
                                 .unpack = unpack,
                                 .hash = hash_of};
}
