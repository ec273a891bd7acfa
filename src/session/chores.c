#include "session/chores.h"

/* A slice of so many takes less than a millisecond, also where each sends requests. */
#define SLICE 20

struct chore {
    pdk__chore_fn slice;
    void (*free)(void *user);
    void *user;
};

struct each {
    GPtrArray *items;
    guint done;
    void (*each)(pdk_session *s, void *item, void *user);
    void (*free)(void *user);
    void *user;
};

guint pdk__slice(const pdk_session *s) { return s->platform->slice ? s->platform->slice : SLICE; }

static void chores_end(struct chore *chore) {
    if (chore->free)
        chore->free(chore->user);
    g_free(chore);
}

void pdk__chore_add(pdk_session *s, pdk__chore_fn slice, void (*free)(void *user), void *user) {
    pdk__assert_locked(s);
    struct chore *chore = g_new(struct chore, 1);
    *chore = (struct chore){slice, free, user};
    bool first = g_queue_is_empty(&s->chores);
    g_queue_push_tail(&s->chores, chore);
    if (first && slice(s, user)) {
        g_queue_remove(&s->chores, chore); /* it is at the head: later chores are behind it */
        chores_end(chore);
    }
    if (!g_queue_is_empty(&s->chores) && !s->chores_alarm.position)
        pdk__alarm_set(s, &s->chores_alarm, pdk__now(s)); /* a caller's thread does not finish them */
}

static bool slice_of_each(pdk_session *s, void *user) {
    struct each *e = user;
    for (guint n = pdk__slice(s); n > 0 && e->done < e->items->len; n--)
        e->each(s, e->items->pdata[e->done++], e->user);
    return e->done == e->items->len;
}

static void free_each(void *user) {
    struct each *e = user;
    if (e->free)
        e->free(e->user);
    g_ptr_array_unref(e->items);
    g_free(e);
}

void pdk__chore_each(pdk_session *s, GPtrArray *items, void (*each)(pdk_session *s, void *item, void *user),
                     void (*free)(void *user), void *user) {
    struct each *e = g_new(struct each, 1);
    *e = (struct each){items, 0, each, free, user};
    pdk__chore_add(s, slice_of_each, free_each, e);
}

/* Only the chore at the head is ever worked on. It stays there meanwhile, so chores that it adds wait behind it. */
void pdk__chores_run(pdk_session *s) {
    pdk__assert_locked(s);
    for (struct chore *chore; (chore = g_queue_peek_head(&s->chores));) {
        if (chore->slice(s, chore->user)) {
            g_queue_pop_head(&s->chores);
            chores_end(chore);
        } else {
            pdk__monitor_let_others(&s->monitor);
        }
    }
    pdk__alarm_off(&s->chores_alarm);
}

void pdk__chores_run_and_unlock(pdk_session *s) {
    pdk__chores_run(s);
    pdk__unlock(s);
}

/* The tick finishes all chores on its way out. */
static void chores_on_alarm(pdk_session *s, void *user) {
    (void)s;
    (void)user;
}

void pdk__chores_init(pdk_session *s) {
    g_queue_init(&s->chores);
    s->chores_alarm = (struct pdk__alarm){.ring = chores_on_alarm};
}

void pdk__chores_clear(pdk_session *s) {
    assert(g_queue_is_empty(&s->chores));
    (void)s;
}
