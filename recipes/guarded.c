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

/* ---- a call */

static void leave_call(void *user) {
    pdk_guarded *g = user;
    if (g->machine.step != PDK__GUARDED_IDLE)
        pdk__guarded_abandon(&g->machine);
    g_clear_pointer(&g->wanted, g_bytes_unref);
    g->busy = false;
    pdk__wake(&g->turns);
}

static bool await_turn(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    while (g->busy)
        if (!pdk__wait(g->s, &g->turns, c->deadline))
            return false;
    g->busy = true;
    return true;
}

static pdk_status run(pdk_guarded *g, const char *name, int64_t timeout_ms,
                      pdk_status (*work)(struct pdk__guarded_call *c, void *user), void *user) {
    struct pdk__guarded_call c = {.g = g, .name = name};
    if (!g)
        return pdk__fail(PDK_INVALID, "%s: guarded: NULL", name);
    pdk_status status = pdk__may_block(g->s, name, timeout_ms);
    if (status != PDK_OK)
        return status;
    c.deadline = pdk__deadline(g->s, timeout_ms);
    struct pdk__leave turn = {0}, leave = {.locked = leave_call, .user = g};
    pdk__lock(g->s);
    pdk__leave_push(&turn);
    bool ours = await_turn(&c);
    pdk__leave_pop();
    if (ours) {
        pdk__leave_push(&leave);
        if (pdk__guarded_has_ended(g))
            pdk__guarded_lose(&g->machine);
        if (!g->machine.confirmed || g->machine.end != PDK__GUARDED_FINE)
            status = pdk__guarded_settle(&c);
        if (status == PDK_OK)
            status = work(&c, user);
        pdk__leave_pop();
        leave_call(g);
    } else {
        status = pdk__fail(PDK_UNAVAILABLE, "%s: %s: another call was under way for timeout_ms", name, g->path);
    }
    pdk__unlock(g->s);
    return status;
}

static pdk_status only_open(struct pdk__guarded_call *c, void *user) {
    (void)user;
    return pdk__guarded_ended_how(c);
}

static void close_it(void *g) { pdk_guarded_close(g); }

/* Is it the directory of the hold's queue, or above it? What stands there is no guarded znode, and must not be deleted. */
static bool is_of_the_lock(const pdk_hold *hold, const char *path) {
    size_t chroot = strlen(hold->s->hosts->chroot), length = strlen(path);
    const char *dir = hold->queue->dir + chroot;
    return strncmp(dir, path, length) == 0 && (dir[length] == '\0' || dir[length] == '/');
}

pdk_status pdk_guarded_open(pdk_hold *hold, const char *path, int64_t timeout_ms, pdk_guarded **out) {
    static const char name[] = "pdk_guarded_open";
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
    pdk_guarded *g = g_new0(pdk_guarded, 1);
    g->hold = pdk_hold_ref(hold);
    g->s = hold->s;
    g->path = g_strconcat(hold->s->hosts->chroot, path, NULL);
    g->forks = pdk__forks();
    pdk__guarded_init(&g->machine, hold->token, hold->handover);
    struct pdk__leave leave = {.after = close_it, .user = g};
    pdk__leave_push(&leave);
    status = run(g, name, timeout_ms, only_open, NULL);
    pdk__leave_pop();
    if (status == PDK_OK)
        *out = g;
    else
        pdk_guarded_close(g);
    return status;
}

void pdk_guarded_close(pdk_guarded *g) {
    if (!g || g->forks != pdk__forks())
        return;
    g_clear_pointer(&g->seen, g_bytes_unref);
    pdk_hold_unref(g->hold);
    g_free(g->path);
    g_free(g);
}

/* ---- reading */

struct reading {
    void *buffer;
    size_t room, *size;
};

static pdk_status copy(const struct pdk__guarded_call *c, GBytes *data, const struct reading *r) {
    size_t size = 0;
    const char *bytes = g_bytes_get_data(data, &size);
    *r->size = size -= PDK__GUARDED_HEADER;
    if (size > r->room)
        return pdk__fail(PDK_LIMIT, "%s: room: %zu is less than the %zu bytes that are there", c->name, r->room, size);
    if (size > 0)
        memcpy(r->buffer, bytes + PDK__GUARDED_HEADER, size);
    return PDK_OK;
}

static pdk_status absent(const struct pdk__guarded_call *c) {
    return pdk__fail(PDK_ABSENT, "%s: %s: there is nothing; pdk_guarded_create", c->name, c->g->path);
}

/* What one answer says. UNAVAILABLE: ask again. */
static pdk_status read_once(struct pdk__guarded_call *c, const struct reading *r) {
    pdk_guarded *g = c->g;
    struct pdk__guarded_question *q = pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_GET, .path = g->path});
    pdk_status status = PDK_UNAVAILABLE;
    if (pdk__guarded_has_ended(g)) {
        pdk__guarded_lose(&g->machine);
        status = pdk__guarded_ended_how(c);
    } else if (q && q->result == PDK__NOT_ALLOWED) {
        g->machine.end = PDK__GUARDED_DENIED;
        status = pdk__guarded_ended_how(c);
    } else if (q && (q->result == PDK__OK || q->result == PDK__NO_NODE)) {
        pdk__guarded_got(&g->machine, &q->node);
        status = pdk__guarded_ended_how(c);
        if (status == PDK_OK)
            status = q->node.stamp.absent ? absent(c) : copy(c, q->data, r);
    }
    if (q)
        pdk__query_unref(&q->base);
    return status;
}

static pdk_status get(struct pdk__guarded_call *c, void *user) {
    for (;;) {
        pdk_status status = read_once(c, user);
        if (status != PDK_UNAVAILABLE)
            return status;
        if (pdk__now(c->g->s) >= c->deadline)
            return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no server answered within timeout_ms", c->name, c->g->path);
        pdk__guarded_pause(c);
    }
}

pdk_status pdk_guarded_read(pdk_guarded *g, void *buffer, size_t room, size_t *size, int64_t timeout_ms) {
    struct reading r = {buffer, room, size};
    if (!size || (!buffer && room > 0))
        return pdk__fail(PDK_INVALID, "pdk_guarded_read: %s: NULL", size ? "buffer" : "size");
    return run(g, "pdk_guarded_read", timeout_ms, get, &r);
}

/* ---- writing */

struct writing {
    const void *data;
    size_t size;
    bool absent; /* what it leaves */
    bool wants;  /* a payload before it */
};

static pdk_status write_it(struct pdk__guarded_call *c, void *user) {
    const struct writing *w = user;
    pdk_guarded *g = c->g;
    if (g->machine.known.absent && w->wants)
        return absent(c);
    if (!g->machine.known.absent && !w->wants)
        return pdk__fail(PDK_EXISTS, "%s: %s: there is a payload; pdk_guarded_write", c->name, g->path);
    pdk__guarded_write(&g->machine, w->absent, pdk__stamp_digest(w->data, w->size));
    g->wanted = pdk__guarded_data_of(&g->machine.wanted, w->data, w->size);
    return pdk__guarded_drive(c);
}

static pdk_status write_call(pdk_guarded *g, const char *name, struct writing w, int64_t timeout_ms) {
    if (!w.data && w.size > 0)
        return pdk__fail(PDK_INVALID, "%s: data: NULL, with a size of %zu", name, w.size);
    if (w.size > PAYLOAD_MAX)
        return pdk__fail(PDK_LIMIT, "%s: size: %zu bytes; at most %d", name, w.size, PAYLOAD_MAX);
    return run(g, name, timeout_ms, write_it, &w);
}

pdk_status pdk_guarded_write(pdk_guarded *g, const void *data, size_t size, int64_t timeout_ms) {
    return write_call(g, "pdk_guarded_write", (struct writing){data, size, .wants = true}, timeout_ms);
}

pdk_status pdk_guarded_create(pdk_guarded *g, const void *data, size_t size, int64_t timeout_ms) {
    return write_call(g, "pdk_guarded_create", (struct writing){data, size, .wants = false}, timeout_ms);
}

pdk_status pdk_guarded_delete(pdk_guarded *g, int64_t timeout_ms) {
    return write_call(g, "pdk_guarded_delete", (struct writing){.absent = true, .wants = true}, timeout_ms);
}
