#include "waiting.h"

#include "clock.h"
#include "place.h"
#include "say.h"
#include "words.h"
#include <string.h>
#include <unistd.h>

enum { SILENT_MS = 2000, LOOK_AGAIN_MS = 2000, LOOK_AGAIN_PER_NODE_MS = 20, DRAW_MS = 1000, LOOK_MS = 5000 };

/* The news in one answer. */
typedef struct {
    size_t nodes, holders;
    char *who; /* the first holder that is not this program, or NULL */
    int64_t token, since_ms;
    int32_t ahead; /* of our own node; -1: it is not there */
    int64_t own_since_ms;
} sight;

struct cmd_waiting {
    const cmd_keeper *k;
    int64_t begun, look_at, draw_at;
    size_t which;     /* of several paths, the one that is looked at */
    int due;          /* answers */
    bool ended;       /* nothing is drawn any more */
    bool long_queue;  /* too long to be listed: the holder alone is asked for */
    pdk_lock *queue;  /* of a semaphore */
    int64_t begun_at; /* the real time at which the servers could be asked, in ms; 0: not yet */
    int64_t skew_ms;  /* the servers' clock is so far ahead of ours */
    bool knows_skew;
    /* By the newest answers. */
    bool looked;
    char *who;
    size_t more;
    int64_t token, held_from; /* by cmd_now_ms */
    int32_t ahead;
};

static int64_t real_ms(void) { return g_get_real_time() / 1000; }

cmd_waiting *cmd_waiting_begin(const cmd_keeper *k) {
    if (!cmd_can_draw())
        return NULL;
    cmd_waiting *w = g_new0(cmd_waiting, 1);
    w->k = k;
    w->begun = cmd_now_ms();
    w->look_at = w->draw_at = w->begun + SILENT_MS;
    w->ahead = -1;
    return w;
}

/* ---- answers */

/* Readers hold together, up to the first writer. All of a list of permits hold. */
static size_t count_holders(const cmd_recipe *recipe, const pdk_contenders *list) {
    size_t count = pdk_contenders_count(list), readers = 0;
    if (recipe->semaphore)
        return count;
    while (readers < count && pdk_contenders_is_shared(list, readers))
        readers++;
    return readers ? readers : MIN(count, 1);
}

static sight look_at(const cmd_waiting *w, const pdk_contenders *list) {
    int64_t session = pdk_session_id(w->k->session);
    sight seen = {.nodes = pdk_contenders_count(list), .ahead = -1};
    size_t holders = count_holders(&w->k->recipes[w->which], list);
    for (size_t i = 0; i < seen.nodes; i++) {
        bool ours = pdk_contenders_session(list, i) == session;
        if (ours && seen.ahead < 0) {
            seen.ahead = (int32_t)i;
            seen.own_since_ms = pdk_contenders_since_ms(list, i);
        }
        if (ours || i >= holders)
            continue;
        if (seen.holders++ == 0) {
            seen.who = g_strdup(pdk_contenders_identity(list, i));
            seen.token = pdk_contenders_token(list, i);
            seen.since_ms = pdk_contenders_since_ms(list, i);
        }
    }
    return seen;
}

/* Our own node was made when the claim began, by the servers' clock. Of several paths it is made when its turn comes. */
static void compare_clocks(cmd_waiting *w, const sight *seen) {
    if (w->knows_skew || w->k->count > 1 || seen->ahead < 0 || !w->begun_at)
        return;
    w->knows_skew = true;
    w->skew_ms = seen->own_since_ms - w->begun_at;
}

/* A node is there since its owner queues. A holder that we saw come holds since then. */
static void note_holder(cmd_waiting *w, sight *seen) {
    int64_t now = cmd_now_ms(), age = real_ms() + w->skew_ms - seen->since_ms;
    if (!seen->who || (w->looked && seen->token != w->token))
        w->held_from = now;
    else if (!w->looked)
        w->held_from = now - MAX(age, 0);
    g_free(w->who);
    w->who = g_steal_pointer(&seen->who);
    w->token = seen->token;
    w->more = seen->holders > 1 ? seen->holders - 1 : 0;
    w->looked = true;
}

static void answered(cmd_waiting *w, size_t nodes) {
    w->due--;
    w->draw_at = 0;
    w->look_at = cmd_now_ms() + LOOK_AGAIN_MS + (int64_t)nodes * LOOK_AGAIN_PER_NODE_MS;
}

/* Of several paths one is waited for: the first where somebody else holds. */
static void look_elsewhere(cmd_waiting *w) {
    w->which = (w->which + 1) % w->k->count;
    w->looked = false;
    if (w->which)
        w->look_at = 0;
}

static void on_holders(pdk_status status, pdk_contenders *list, void *user) {
    cmd_waiting *w = user;
    answered(w, pdk_contenders_count(list));
    w->long_queue = w->long_queue || status == PDK_LIMIT;
    if (status == PDK_OK) {
        sight seen = look_at(w, list);
        compare_clocks(w, &seen);
        if (!w->k->settings->permits)
            w->ahead = seen.ahead;
        note_holder(w, &seen);
        if (!w->who && w->k->count > 1)
            look_elsewhere(w);
    }
    pdk_contenders_free(list);
}

/* The queue of a semaphore. */
static void on_queue(pdk_status status, pdk_contenders *list, void *user) {
    cmd_waiting *w = user;
    answered(w, pdk_contenders_count(list));
    if (status == PDK_OK) {
        sight seen = look_at(w, list);
        compare_clocks(w, &seen);
        w->ahead = seen.ahead;
        g_free(seen.who);
    }
    pdk_contenders_free(list);
}

/* ---- questions */

static pdk_status ask_holders(cmd_waiting *w, const cmd_recipe *recipe) {
    if (recipe->semaphore)
        return pdk_semaphore_holders_async(recipe->semaphore, LOOK_MS, on_holders, w);
    if (recipe->rwlock)
        return pdk_rwlock_list_async(recipe->rwlock, LOOK_MS, on_holders, w);
    return w->long_queue ? pdk_lock_holder_async(recipe->lock, LOOK_MS, on_holders, w)
                         : pdk_lock_list_async(recipe->lock, LOOK_MS, on_holders, w);
}

static void ask(cmd_waiting *w) {
    const cmd_keeper *k = w->k;
    const cmd_recipe *recipe = &k->recipes[w->which];
    w->look_at = cmd_now_ms() + LOOK_AGAIN_MS;
    w->due += ask_holders(w, recipe) == PDK_OK;
    if (!recipe->semaphore || w->long_queue)
        return;
    g_autofree char *queue = cmd_below(k->paths[w->which], "locks");
    if (w->queue || pdk_lock_new(k->session, queue, NULL, &w->queue) == PDK_OK)
        w->due += pdk_lock_list_async(w->queue, LOOK_MS, on_queue, w) == PDK_OK;
}

/* ---- the line */

static int32_t ahead(const cmd_waiting *w) {
    int32_t by_claim = -1;
    const cmd_keeper *k = w->k;
    if (w->ahead >= 0)
        return w->ahead;
    pdk_status status =
        k->set_claim ? pdk_set_claim_position(k->set_claim, &by_claim) : pdk_claim_position(k->claim, &by_claim);
    return status == PDK_OK ? by_claim : -1;
}

static void draw(cmd_waiting *w) {
    const cmd_keeper *k = w->k;
    g_autofree char *trouble = k->trouble && !k->connected ? cmd_words(k->trouble) : NULL;
    g_autofree char *unanswered = k->connected ? NULL
                                               : g_strdup_printf("no server answers%s%s%s", trouble ? " (" : "",
                                                                 trouble ? trouble : "", trouble ? ")" : "");
    cmd_waiting_state state = {.path = k->path,
                               .part = k->count > 1 && w->who ? k->paths[w->which] : NULL,
                               .trouble = unanswered ? unanswered
                                          : k->away  ? "the connection to the servers is lost"
                                                     : NULL,
                               .who = w->who,
                               .more = w->more,
                               .held_ms = cmd_now_ms() - w->held_from,
                               .ahead = ahead(w),
                               .looked = w->looked,
                               .delayed = k->settings->lock_delay_ms > 0};
    g_autofree char *line = cmd_waiting_words(&state);
    cmd_draw(line);
}

int64_t cmd_waiting_go_on(cmd_waiting *w) {
    int64_t now = cmd_now_ms();
    if (!w || w->ended)
        return G_MAXINT64;
    if (w->k->connected && !w->begun_at)
        w->begun_at = real_ms();
    if (now < w->begun + SILENT_MS)
        return w->begun + SILENT_MS - now;
    if (now >= w->look_at && w->due == 0 && w->k->connected && !w->k->away)
        ask(w);
    if (now >= w->draw_at && cmd_can_draw()) {
        draw(w);
        w->draw_at = now + DRAW_MS;
    }
    return w->draw_at > now ? w->draw_at - now : DRAW_MS;
}

void cmd_waiting_end(cmd_waiting *w) {
    if (!w || w->ended)
        return;
    w->ended = true;
    cmd_draw(NULL);
}

const char *cmd_waiting_holder(const cmd_waiting *w) { return w ? w->who : NULL; }

void cmd_waiting_free(cmd_waiting *w) {
    if (!w)
        return;
    pdk_lock_unref(w->queue);
    g_free(w->who);
    g_free(w);
}
