/* The use of a guarded znode: a thread opens it with a hold, and reads and writes it. The calls block, so the thread is one of
 * sim_thread.h. It has a reference of its own, and may go on when the hold is over: then it writes late.
 *
 * Each payload is a number that no other has. */
#include "deployment.h"

#include "sim_thread.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

struct guarding {
    struct client *client;
    pdk_hold *hold;
    pdk_guarded *node;
    int32_t id, path, hold_ms;
    bool there; /* it found a payload, or wrote one */
};

static struct deployment *deployment_of(const struct guarding *g) { return g->client->player->d; }

static int32_t draw(const struct guarding *g, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&deployment_of(g)->agenda.chance, least, most);
}

/* One call of three has hardly the time for its requests. */
static int32_t draw_timeout(const struct guarding *g) {
    return draw(g, 0, 2) == 0 ? draw(g, 0, 12) : deployment_of(g)->plan->guarded_ms;
}

static void note_call(const struct guarding *g, enum history_call call, int64_t begun, int32_t timeout,
                      pdk_status status, int32_t payload) {
    struct deployment *d = deployment_of(g);
    struct history_event *event = g->client->process->dead ? NULL : note(d, HISTORY_GUARDED, g->id, g->client);
    if (!event)
        return;
    event->path = (int8_t)g->path;
    event->a = status;
    event->b = payload;
    event->count = (int16_t)call;
    event->extra = begun;
    event->passed = timeout;
}

static pdk_status open_it(struct guarding *g) {
    struct deployment *d = deployment_of(g);
    int64_t begun = d->agenda.now;
    pdk_status status = pdk_guarded_open(g->hold, plan_guarded(g->path), d->plan->guarded_ms, &g->node);
    note_call(g, CALL_OPEN, begun, d->plan->guarded_ms, status, 0);
    return status;
}

static pdk_status get(struct guarding *g) {
    char text[16] = "";
    size_t size = 0;
    int64_t begun = deployment_of(g)->agenda.now;
    int32_t timeout = draw_timeout(g);
    pdk_status status = pdk_guarded_read(g->node, text, sizeof text - 1, &size, timeout);
    note_call(g, CALL_GET, begun, timeout, status, status == PDK_OK ? atoi(text) : 0);
    if (status == PDK_OK || status == PDK_ABSENT)
        g->there = status == PDK_OK;
    return status;
}

/* Mostly what fits what it knows, now and then the other. */
static enum history_call choose(const struct guarding *g) {
    bool there = draw(g, 0, 9) == 0 ? !g->there : g->there;
    return !there ? CALL_CREATE : draw(g, 0, 4) == 0 ? CALL_DELETE : CALL_SET;
}

static pdk_status put(struct guarding *g) {
    struct deployment *d = deployment_of(g);
    enum history_call call = choose(g);
    int32_t payload = call == CALL_DELETE ? 0 : ++d->payloads, ms = draw_timeout(g);
    int64_t begun = d->agenda.now;
    g_autofree char *text = g_strdup_printf("%d", payload);
    size_t size = strlen(text);
    pdk_status status = call == CALL_DELETE   ? pdk_guarded_delete(g->node, ms)
                        : call == CALL_CREATE ? pdk_guarded_create(g->node, text, size, ms)
                                              : pdk_guarded_write(g->node, text, size, ms);
    note_call(g, call, begun, ms, status, payload);
    if (status == PDK_OK)
        g->there = call != CALL_DELETE;
    else if (status == PDK_ABSENT || status == PDK_EXISTS)
        g->there = status == PDK_EXISTS;
    return status;
}

static void think(const struct guarding *g) {
    if (draw(g, 0, 1))
        sim_thread_pause(draw(g, 0, 2 * g->hold_ms / deployment_of(g)->plan->guarded + 1) * SIM_MS);
}

/* The last call comes after the hold was given back, or was lost, in many cases. */
static void use(struct guarding *g) {
    struct deployment *d = deployment_of(g);
    int32_t calls = d->plan->guarded, refused = 0;
    think(g);
    for (int32_t i = 0; i < calls && refused < 2 && !g->client->process->dead && !d->healed; i++) {
        pdk_status status = draw(g, 0, 3) == 0 ? get(g) : put(g);
        refused += status != PDK_OK && status != PDK_UNAVAILABLE && status != PDK_ABSENT && status != PDK_EXISTS;
        think(g);
    }
}

static void run(void *user) {
    struct guarding *g = user;
    if (open_it(g) == PDK_OK)
        use(g);
    pdk_guarded_close(g->node);
    pdk_hold_unref(g->hold);
    deployment_of(g)->guarding--;
}

static void begin_in(void *subject, void *what) {
    struct guarding *g = subject;
    const struct holding *h = what;
    if (!h->hold)
        return;
    g->hold = pdk_hold_ref(h->hold);
    deployment_of(g)->guarding++;
    sim_thread_start(g->client->process, run, g);
}

/* One that is given back by dropping the last reference has no thread that uses it meanwhile. */
void guarding_begin(struct holding *h) {
    struct deployment *d = h->client->player->d;
    enum plan_recipe recipe = plan_recipe(d->plan, h->path);
    bool alone = recipe != PLAN_RECIPE_SEMAPHORE && recipe < PLAN_RECIPE_JOB && h->path < PLAN_PATHS && !h->shared;
    if (d->plan->guarded == 0 || d->healed || !alone || h->client->closed ||
        (!h->candidate && h->end != PLAN_END_RELEASE))
        return;
    struct guarding *g = sim_alloc(&d->agenda, sizeof *g);
    *g = (struct guarding){.client = h->client, .id = h->id, .path = h->path, .hold_ms = h->value[PLAN_HOLD]};
    sim_run_in(h->client->process, d->agenda.now, true, begin_in, g, h);
}
