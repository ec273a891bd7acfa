/* A guarded znode. core/guarded.h has the rule and the order of the requests, guarded_steps.c sends them.
 *
 *     /state/orders     "paddock-guarded 1 <token> <hand-over> <number> P\n" and the payload
 */
#include "guarded.h"

#include "base/fork.h"
#include "base/text.h"
#include "grant/recipe.h"
#include "session/blocking.h"

#include <string.h>

enum { PAYLOAD_MAX = 1000000 };

static void guarded_unref(pdk_guarded *g) {
    if (atomic_fetch_sub(&g->refs, 1) != 1)
        return;
    g_clear_pointer(&g->seen, g_bytes_unref);
    pdk_hold_unref(g->hold);
    g_free(g->path);
    g_free(g);
}

/* ---- a call
 *
 *     TURN ──► SETTLES: it is confirmed, or not open to us ──► WORKS: the purpose of the call
 */

struct guarded_call;

struct work {
    pdk_status (*begin)(struct guarded_call *c); /* or NULL: to settle is all */
    pdk_status (*go_on)(struct guarded_call *c);
    void (*tell)(struct guarded_call *c, pdk_status status); /* or NULL */
};

struct guarded_call {
    struct pdk__guarded_call base;
    const struct work *work;
    enum { TURN, SETTLES, WORKS } at;
    bool ours; /* it is its turn */
    /* of a write */
    GBytes *data;
    bool absent; /* it leaves a tombstone */
    bool wants;  /* a payload before it */
    /* of a read, and of an open */
    GBytes *got; /* with the header */
    union {
        pdk_guarded_read_fn read;
        pdk_guarded_opened_fn opened;
    } fn;
};

static struct guarded_call *guarded_of(struct pdk__call *call) { return (struct guarded_call *)call; }

/* OK: it is our turn. UNAVAILABLE, PDK__WAITS; without a thread, the session's end. */
static pdk_status take_turn(struct guarded_call *c) {
    struct pdk__call *call = &c->base.call;
    pdk_guarded *g = c->base.g;
    pdk_status status = pdk__call_has_thread(call) ? PDK_OK : pdk__session_usable(g->s, call->name);
    if (status != PDK_OK)
        return status;
    if (g->busy && !pdk__call_is_late(call))
        return pdk__call_waits(call, &g->turns, INT64_MAX);
    if (g->busy)
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: another call was under way for timeout_ms", call->name, g->path);
    g->busy = c->ours = true;
    if (pdk__guarded_has_ended(g))
        pdk__guarded_lose(&g->machine);
    if (!g->machine.confirmed || g->machine.end != PDK__GUARDED_FINE)
        pdk__guarded_open(&g->machine);
    c->at = SETTLES;
    return PDK_OK;
}

/* Settle the machine: afterwards it knows the znode as it stands. */
static pdk_status guarded_settle(struct guarded_call *c) {
    pdk_status status = pdk__guarded_drive(&c->base);
    if (status != PDK_OK)
        return status;
    c->at = WORKS;
    return c->work->begin ? c->work->begin(c) : PDK_OK;
}

static pdk_status guarded_step(struct pdk__call *call) {
    struct guarded_call *c = guarded_of(call);
    pdk_status status = c->at == TURN ? take_turn(c) : PDK_OK;
    if (status == PDK_OK && c->at == SETTLES)
        status = guarded_settle(c);
    return status == PDK_OK && c->work->go_on ? c->work->go_on(c) : status;
}

static void guarded_leave(struct pdk__call *call) {
    struct guarded_call *c = guarded_of(call);
    pdk_guarded *g = c->base.g;
    pdk__guarded_forget(&c->base);
    if (!c->ours)
        return;
    if (g->machine.step != PDK__GUARDED_IDLE)
        pdk__guarded_abandon(&g->machine);
    g_clear_pointer(&g->wanted, g_bytes_unref);
    g->busy = c->ours = false;
    pdk__wake(&g->turns);
}

static void guarded_tell(struct pdk__call *call, pdk_status status) {
    struct guarded_call *c = guarded_of(call);
    if (c->work->tell)
        c->work->tell(c, status);
    else if (call->answered)
        call->answered(status, call->user);
}

static void guarded_free(struct pdk__call *call) {
    struct guarded_call *c = guarded_of(call);
    g_bytes_unref(c->data);
    g_bytes_unref(c->got);
    guarded_unref(c->base.g);
    g_free(c);
}

/* A call on a guarded znode that is not NULL. */
static struct guarded_call *call_new(pdk_guarded *g, const struct work *work, const char *name, int64_t timeout_ms,
                                     void *user) {
    static const struct pdk__call_kind kind = {NULL, guarded_step, guarded_leave, guarded_tell, guarded_free};
    struct guarded_call *c = g_new0(struct guarded_call, 1);
    c->base.call = pdk__call_make(&kind, g->s, name, timeout_ms);
    c->base.call.user = user;
    c->base.g = g;
    c->work = work;
    atomic_fetch_add(&g->refs, 1);
    return c;
}

static pdk_status guarded_check(const pdk_guarded *g, const char *name) {
    return g ? PDK_OK : pdk__fail(PDK_INVALID, "%s: guarded: NULL", name);
}

/* ---- opening */

/* Is it the directory of the hold's queue, or above it? Nodes there are no guarded znodes, and must not be deleted. */
static bool is_of_the_lock(const pdk_hold *hold, const char *path) {
    size_t chroot = strlen(hold->s->hosts->chroot), length = strlen(path);
    const char *dir = hold->queue->dir + chroot;
    return strncmp(dir, path, length) == 0 && (dir[length] == '\0' || dir[length] == '/');
}

static pdk_status check_open(const pdk_hold *hold, const char *path, const void *out, const char *name) {
    if (!hold)
        return pdk__fail(PDK_INVALID, "%s: hold: NULL", name);
    pdk_status status = pdk__recipe_check(hold->s, path, out, name);
    if (status != PDK_OK)
        return status;
    if (is_of_the_lock(hold, path))
        return pdk__fail(
            PDK_INVALID,
            "%s: path: %s is where the lock's own nodes stand: guard a znode of another path, such as %s-data", name,
            path, path);
    const char *mode = hold->queue->kind.mode;
    if (strcmp(mode, "exclusive") != 0 && strcmp(mode, "leader") != 0)
        return pdk__fail(PDK_INVALID, "%s: hold: it is %s; only a hold that excludes everybody guards a znode", name,
                         mode);
    return PDK_OK;
}

/* The caller gets the znode, and the call's reference with it. */
static void tell_opened(struct guarded_call *c, pdk_status status) {
    pdk_guarded *g = NULL;
    if (status == PDK_OK) {
        g = c->base.g;
        atomic_fetch_add(&g->refs, 1);
    }
    c->fn.opened(status, g, c->base.call.user);
}

static struct pdk__call *opening_new(pdk_hold *hold, const char *path, const char *name, int64_t timeout_ms,
                                     pdk_guarded_opened_fn fn, void *user) {
    static const struct work work = {.tell = tell_opened};
    pdk_guarded *g = g_new0(pdk_guarded, 1);
    g->hold = pdk_hold_ref(hold);
    g->s = hold->s;
    g->path = g_strconcat(hold->s->hosts->chroot, path, NULL);
    g->forks = pdk__forks();
    pdk__guarded_init(&g->machine, hold->token, hold->handover);
    struct guarded_call *c = call_new(g, &work, name, timeout_ms, user); /* has the only reference */
    c->fn.opened = fn;
    return &c->base.call;
}

static void keep_opened(pdk_status status, pdk_guarded *guarded, void *out) {
    if (status == PDK_OK)
        *(pdk_guarded **)out = guarded;
}

pdk_status pdk_guarded_open(pdk_hold *hold, const char *path, int64_t timeout_ms, pdk_guarded **out) {
    static const char name[] = "pdk_guarded_open";
    pdk_status status = check_open(hold, path, out, name);
    return status == PDK_OK ? pdk__call_wait(opening_new(hold, path, name, timeout_ms, keep_opened, out)) : status;
}

pdk_status pdk_guarded_open_async(pdk_hold *hold, const char *path, int64_t timeout_ms, pdk_guarded_opened_fn fn,
                                  void *user) {
    static const char name[] = "pdk_guarded_open_async";
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status == PDK_OK)
        status = check_open(hold, path, path, name);
    return status == PDK_OK ? pdk__call_start(opening_new(hold, path, name, timeout_ms, fn, user)) : status;
}

void pdk_guarded_close(pdk_guarded *g) {
    if (g && g->forks == pdk__forks())
        guarded_unref(g);
}

/* ---- reading */

static pdk_status absent(const struct pdk__guarded_call *c) {
    return pdk__fail(PDK_ABSENT, "%s: %s: there is nothing; pdk_guarded_create", c->call.name, c->g->path);
}

/* Judge one answer. UNAVAILABLE: ask again. */
static pdk_status judge_read(struct guarded_call *call) {
    struct pdk__guarded_call *c = &call->base;
    pdk_guarded *g = c->g;
    const struct pdk__node_query *q = (const struct pdk__node_query *)c->query;
    pdk_status status = PDK_UNAVAILABLE;
    bool answered = q->base.in_flight == 0;
    if (pdk__guarded_has_ended(g)) {
        pdk__guarded_lose(&g->machine);
        status = pdk__guarded_ended_how(c);
    } else if (answered && q->result == PDK__NOT_ALLOWED) {
        g->machine.end = PDK__GUARDED_DENIED;
        status = pdk__guarded_ended_how(c);
    } else if (answered && (q->result == PDK__OK || q->result == PDK__NO_NODE)) {
        struct pdk__guarded_node node = pdk__guarded_node_of(q);
        pdk__guarded_got(&g->machine, &node);
        status = pdk__guarded_ended_how(c);
        if (status == PDK_OK)
            status = node.stamp.absent ? absent(c) : PDK_OK;
        if (status == PDK_OK)
            call->got = g_bytes_ref(q->data);
    }
    pdk__guarded_forget(c);
    return status;
}

static pdk_status read_on(struct guarded_call *call) {
    struct pdk__guarded_call *c = &call->base;
    for (;;) {
        if (!c->query)
            pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_GET, .path = c->g->path});
        if (pdk__guarded_await(c) != PDK_OK)
            return PDK__WAITS;
        pdk_status status = judge_read(call);
        if (status != PDK_UNAVAILABLE)
            return status;
        if (pdk__call_is_late(&c->call))
            return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no server answered within timeout_ms", c->call.name, c->g->path);
        if (pdk__guarded_pause(c, PDK__GUARDED_AGAIN) != PDK_OK)
            return PDK__WAITS;
    }
}

static const void *payload_of(GBytes *data, size_t *size) {
    const char *bytes = data ? g_bytes_get_data(data, size) : NULL;
    *size = bytes ? *size - PDK__GUARDED_HEADER : 0;
    return *size > 0 ? bytes + PDK__GUARDED_HEADER : NULL;
}

static void tell_read(struct guarded_call *c, pdk_status status) {
    size_t size = 0;
    const void *payload = payload_of(c->got, &size);
    c->fn.read(status, payload, size, c->base.call.user);
}

static struct pdk__call *reading_new(pdk_guarded *g, const char *name, int64_t timeout_ms, pdk_guarded_read_fn fn,
                                     void *user) {
    static const struct work work = {.go_on = read_on, .tell = tell_read};
    struct guarded_call *c = call_new(g, &work, name, timeout_ms, user);
    c->fn.read = fn;
    return &c->base.call;
}

/* The caller's room for the payload. */
struct room {
    void *buffer;
    size_t room, *size;
    bool is_enough;
};

static void keep_read(pdk_status status, const void *data, size_t size, void *user) {
    struct room *r = user;
    if (status != PDK_OK)
        return;
    *r->size = size;
    r->is_enough = size <= r->room;
    if (r->is_enough && size > 0)
        memcpy(r->buffer, data, size);
}

pdk_status pdk_guarded_read(pdk_guarded *g, void *buffer, size_t room, size_t *size, int64_t timeout_ms) {
    static const char name[] = "pdk_guarded_read";
    struct room r = {.buffer = buffer, .room = room, .size = size};
    if (!size || (!buffer && room > 0))
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, size ? "buffer" : "size");
    pdk_status status = guarded_check(g, name);
    if (status == PDK_OK)
        status = pdk__call_wait(reading_new(g, name, timeout_ms, keep_read, &r));
    if (status == PDK_OK && !r.is_enough)
        status = pdk__fail(PDK_LIMIT, "%s: room: %zu is less than the %zu bytes that are there", name, room, *size);
    return status;
}

pdk_status pdk_guarded_read_async(pdk_guarded *g, int64_t timeout_ms, pdk_guarded_read_fn fn, void *user) {
    static const char name[] = "pdk_guarded_read_async";
    pdk_status status = guarded_check(g, name);
    if (status == PDK_OK)
        status = pdk__call_check_fn(name, fn);
    return status == PDK_OK ? pdk__call_start(reading_new(g, name, timeout_ms, fn, user)) : status;
}

/* ---- writing */

static pdk_status write_begin(struct guarded_call *call) {
    struct pdk__guarded_call *c = &call->base;
    pdk_guarded *g = c->g;
    size_t size = 0;
    const void *data = call->data ? g_bytes_get_data(call->data, &size) : NULL;
    if (g->machine.known.absent && call->wants)
        return absent(c);
    if (!g->machine.known.absent && !call->wants)
        return pdk__fail(PDK_EXISTS, "%s: %s: there is a payload; pdk_guarded_write", c->call.name, g->path);
    pdk__guarded_write(&g->machine, call->absent, pdk__stamp_digest(data, size));
    g->wanted = pdk__guarded_data_of(&g->machine.wanted, data, size);
    return PDK_OK;
}

static pdk_status write_on(struct guarded_call *c) { return pdk__guarded_drive(&c->base); }

/* The data to write, and the state that it replaces. */
struct writing {
    const void *data;
    size_t size;
    bool absent, wants;
};

static pdk_status check_write(const pdk_guarded *g, const char *name, const struct writing *w) {
    if (!w->data && w->size > 0)
        return pdk__fail(PDK_INVALID, "%s: data: NULL, with a size of %zu", name, w->size);
    if (w->size > PAYLOAD_MAX)
        return pdk__fail(PDK_LIMIT, "%s: size: %zu bytes; at most %d", name, w->size, PAYLOAD_MAX);
    return guarded_check(g, name);
}

/* Takes over data; NULL is allowed. */
static struct pdk__call *writing_new(pdk_guarded *g, const char *name, const struct writing *w, GBytes *data,
                                     int64_t timeout_ms) {
    static const struct work work = {.begin = write_begin, .go_on = write_on};
    struct guarded_call *c = call_new(g, &work, name, timeout_ms, NULL);
    c->data = data;
    c->absent = w->absent;
    c->wants = w->wants;
    return &c->base.call;
}

static pdk_status write_now(pdk_guarded *g, const char *name, struct writing w, int64_t timeout_ms) {
    pdk_status status = check_write(g, name, &w);
    if (status != PDK_OK)
        return status;
    return pdk__call_wait(writing_new(g, name, &w, g_bytes_new_static(w.data, w.size), timeout_ms));
}

static pdk_status write_later(pdk_guarded *g, const char *name, struct writing w, int64_t timeout_ms,
                              pdk_answered_fn fn, void *user) {
    pdk_status status = check_write(g, name, &w);
    if (status == PDK_OK)
        status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = writing_new(g, name, &w, g_bytes_new(w.data, w.size), timeout_ms);
    c->answered = fn;
    c->user = user;
    return pdk__call_start(c);
}

pdk_status pdk_guarded_write(pdk_guarded *g, const void *data, size_t size, int64_t timeout_ms) {
    return write_now(g, "pdk_guarded_write", (struct writing){data, size, .wants = true}, timeout_ms);
}

pdk_status pdk_guarded_write_async(pdk_guarded *g, const void *data, size_t size, int64_t timeout_ms,
                                   pdk_answered_fn fn, void *user) {
    const struct writing w = {data, size, .wants = true};
    return write_later(g, "pdk_guarded_write_async", w, timeout_ms, fn, user);
}

pdk_status pdk_guarded_create(pdk_guarded *g, const void *data, size_t size, int64_t timeout_ms) {
    return write_now(g, "pdk_guarded_create", (struct writing){data, size, .wants = false}, timeout_ms);
}

pdk_status pdk_guarded_create_async(pdk_guarded *g, const void *data, size_t size, int64_t timeout_ms,
                                    pdk_answered_fn fn, void *user) {
    const struct writing w = {data, size, .wants = false};
    return write_later(g, "pdk_guarded_create_async", w, timeout_ms, fn, user);
}

pdk_status pdk_guarded_delete(pdk_guarded *g, int64_t timeout_ms) {
    return write_now(g, "pdk_guarded_delete", (struct writing){.absent = true, .wants = true}, timeout_ms);
}

pdk_status pdk_guarded_delete_async(pdk_guarded *g, int64_t timeout_ms, pdk_answered_fn fn, void *user) {
    const struct writing w = {.absent = true, .wants = true};
    return write_later(g, "pdk_guarded_delete_async", w, timeout_ms, fn, user);
}
