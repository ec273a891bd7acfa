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

void guarded_begin(const struct guarded_config *config, struct guarded_world *w) {
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

int guarded_possible(const struct guarded_config *config, const struct guarded_world *w,
                     struct guarded_action actions[GUARDED_ACTIONS]) {
    int count = 0;
    if (w->now == GUARDED_STATES - 1)
        return 0;
    for (int i = 0; i < config->holders; i++) {
        char kinds[8];
        int of_holder = possible_of(w, i, kinds);
        for (int k = 0; k < of_holder; k++)
            actions[count++] = (struct guarded_action){kinds[k], (int8_t)i, 0};
        for (int k = 0; k < GUARDED_LATE; k++)
            if (w->holders[i].late[k].step != PDK__GUARDED_IDLE)
                actions[count++] = (struct guarded_action){'L', (int8_t)i, (int8_t)k};
    }
    if (w->aliens > 0 && w->states[w->now].exists)
        actions[count++] = (struct guarded_action){'A', 0, 0};
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

static const char *check_done(struct guarded_world *w, int i, bool writing, struct guarded_result *counts) {
    struct guarded_holder *h = &w->holders[i];
    const struct pdk__guarded *g = &h->machine;
    bool alien = w->alien > 0;
    if (g->end == PDK__GUARDED_LOST) {
        counts->lost++;
        return h->stands ? "a holder whose lock node stands is not told LOST" : NULL;
    }
    if (g->end != PDK__GUARDED_FINE) {
        counts->replaced++;
        return alien ? NULL : "nobody is told that the node was replaced unless it was";
    }
    if (writing) {
        counts->written++;
        if (!(h->written & (1 << g->wanted.number)))
            return "a write that is told of has landed";
    } else {
        counts->opened++;
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

static const char *answer(struct guarded_world *w, int i, enum pdk__result result, struct guarded_result *counts) {
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

const char *guarded_apply(struct guarded_world *w, struct guarded_action action, struct guarded_result *counts) {
    struct guarded_holder *h = &w->holders[action.holder];
    const char *broken = NULL;
    switch (action.kind) {
    case 'x':
        h->stands = 0;
        break;
    case 'e':
        return execute(w, action.holder, &h->now);
    case 'r':
        w->stales--;
        h->now.executed = 1;
        h->now.shown = h->passed;
        break;
    case 'a':
        return answer(w, action.holder, (enum pdk__result)h->now.result, counts);
    case 'l':
        w->losses--;
        leave_behind(h);
        return answer(w, action.holder, PDK__UNKNOWN, counts);
    case 'L':
        broken = execute(w, action.holder, &h->late[action.which]);
        memset(&h->late[action.which], 0, sizeof h->late[action.which]);
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
        call(w, action.holder, action.kind);
        break;
    }
    return broken;
}

void guarded_tell(const struct guarded_world *w, struct guarded_action action, FILE *out) {
    static const char *const steps[] = {"idle", "read", "create", "rewrite", "check", "write"};
    const struct guarded_holder *h = &w->holders[action.holder];
    fprintf(out, "%c holder %d (now: %s, version %d)  node: version %d, token %d, number %d\n", action.kind,
            action.holder, steps[h->machine.step], h->machine.version, w->states[w->now].version,
            (int)w->states[w->now].stamp.token, (int)w->states[w->now].stamp.number);
}
