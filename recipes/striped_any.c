/* The first of <path>/any takes the stripe that is granted first.
 *
 *     enter ──► STAND in one stripe, drawn ──granted──────────────────────────► grant; other nodes go; next admission
 *                 │    ▲                                                          ▲
 *                 │    └── as many again, while somebody is ahead in all that ────┤ the first that is granted
 *                 │        it stands in, and there are more                       │
 *                 └── a try: nobody waits; when all stripes were looked at: BUSY  │
 *                                                         waits in all of them ───┘
 *
 * Rule: in the queue `any` everybody ahead blocks, and in a stripe everybody ahead blocks. So of all claims for any
 * stripe, one at a time stands in the stripes: at most n nodes, for one grant. A stripe that becomes free wakes the
 * next contender of that stripe, which may be this claim, and nobody else. It is ahead of all claims that come later
 * for a key, so it is not overtaken.
 */
#include "striped.h"

#include "grant/claim.h"
#include "grant/grant.h"

struct any {
    struct pdk__entry_owner owner; /* of the entries */
    struct pdk__queue *queue;
    char **dirs; /* of the stripes, absolute, in the order in which they are drawn */
    int32_t stripes;
    /* References, while a claim is admitted: in the order of dirs, the first `asked`; otherwise NULLs. */
    struct pdk__entry **entries;
    int32_t asked;
    bool standing; /* a claim is admitted */
    bool asking;   /* it is asking for more */
};

static struct any *any_of(struct pdk__entry_owner *owner) { return (struct any *)owner; }

static void give_up(struct any *any) {
    any->standing = false;
    for (int32_t i = 0; i < any->asked; i++)
        pdk__entry_drop(g_steal_pointer(&any->entries[i]));
    any->asked = 0;
}

/* The claim is admitted, and may be decided before this returns. */
static void any_ask(struct any *any, int32_t i) {
    static const struct pdk__entry_kind kind = {PDK__CURATOR, PDK__LABEL_LOCK, {pdk__blocks_always, 0}, false};
    if (pdk__entry_new(any->queue->s, &any->owner, any->dirs[i], &kind,
                       (struct pdk__node_data){.bytes = any->queue->data}, &any->entries[i]) != PDK_OK)
        pdk__queue_refuse(any->queue, PDK_LIMIT, PDK__NODES_LIMIT);
}

/* Ask for as many again, so that the cost follows the number of stripes that are taken. */
static void ask_more(struct any *any) {
    const struct pdk_claim *claim = any->queue->admitting; /* if it is refused, the next one is admitted at once */
    int32_t until = MIN(MAX(2 * any->asked, 1), any->stripes);
    any->asking = true;
    while (any->standing && any->queue->admitting == claim && any->asked < until)
        any_ask(any, any->asked++);
    any->asking = false;
}

static void any_take(struct any *any, int32_t i) {
    struct pdk__entry *entry = g_steal_pointer(&any->entries[i]);
    pdk__queue_admit(any->queue, pdk__grant_new(any->queue, &entry, 1, 0));
}

/* Is somebody ahead in all that were asked? */
static bool all_are_taken(const struct any *any) {
    for (int32_t i = 0; i < any->asked; i++)
        if (any->entries[i] && !pdk__entry_is_blocked(any->entries[i]))
            return false;
    return true;
}

static void any_go_on(struct any *any) {
    if (any->asking || !all_are_taken(any))
        return;
    if (any->asked < any->stripes)
        ask_more(any);
    else if (any->queue->admitting->is_try)
        pdk__queue_refuse(any->queue, PDK_BUSY, "somebody is ahead in every stripe");
}

static void any_moved(struct pdk__entry_owner *owner, struct pdk__entry *entry) {
    struct any *any = any_of(owner);
    int32_t i = 0;
    pdk__assert_locked(any->queue->s);
    while (any->entries[i] != entry)
        i++;
    if (entry->c.failure != PDK_OK) {
        char *why = pdk__entry_failure(entry);
        pdk__queue_refuse(any->queue, entry->c.failure, why);
        g_free(why);
    } else if (entry->c.phase == PDK__HELD) {
        any_take(any, i);
    } else if (entry->c.leaving || entry->c.phase == PDK__GONE) {
        /* A try, with somebody ahead. Or the session has expired, and the queue hears of that, too. */
        pdk__entry_drop(g_steal_pointer(&any->entries[i]));
        any_go_on(any);
    } else {
        any_go_on(any);
    }
}

static bool any_never_waits(const struct pdk__entry_owner *owner) {
    const struct any *any = (const struct any *)owner;
    return any->queue->admitting && any->queue->admitting->is_try;
}

/* ---- the gate of the queue */

/* Draw the order, for each claim, so that claims that come at once begin with different stripes. */
static void draw(struct any *any) {
    const pdk_session *s = any->queue->s;
    for (int32_t i = any->stripes - 1; i > 0; i--) {
        uint32_t dice;
        s->platform->random(&dice, sizeof dice);
        int32_t other = (int32_t)(dice % (uint32_t)(i + 1));
        char *dir = any->dirs[i];
        any->dirs[i] = any->dirs[other];
        any->dirs[other] = dir;
    }
}

static void enter(struct pdk__queue *queue, struct pdk_claim *claim) {
    struct any *any = queue->user;
    (void)claim;
    pdk__assert_locked(queue->s);
    draw(any);
    any->standing = true;
    ask_more(any);
}

static void any_leave(struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    give_up(queue->user);
}

static void any_free(void *user) {
    struct any *any = user;
    for (int32_t i = 0; i < any->stripes; i++)
        g_free(any->dirs[i]);
    g_free(any->dirs);
    g_free(any->entries);
    g_free(any);
}

struct pdk__queue *pdk__any_queue(pdk_session *session, const char *path, int32_t stripes,
                                  struct pdk__handovers handovers) {
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_LOCK, {pdk__blocks_always, 0}, false},
        .recipe = "striped",
        .mode = "exclusive",
        .reacquire = PDK__REACQUIRE_QUEUES,
        .grants_elsewhere = true,
    };
    static const struct pdk__gate gate = {.enter = enter, .leave = any_leave};
    char *front = g_strconcat(path, "/any", NULL);
    struct pdk__queue *queue = pdk__queue_new(session, front, &kind, handovers);
    struct any *any = g_new0(struct any, 1);
    *any = (struct any){.owner = {.moved = any_moved, .never_waits = any_never_waits, .looks = true},
                        .queue = queue,
                        .stripes = stripes};
    any->dirs = g_new0(char *, (gsize)stripes);
    any->entries = g_new0(struct pdk__entry *, (gsize)stripes);
    for (int32_t i = 0; i < stripes; i++) {
        char *dir = pdk__stripe_path(path, i);
        any->dirs[i] = g_strconcat(session->hosts->chroot, dir, NULL);
        g_free(dir);
    }
    queue->gate = &gate;
    queue->user = any;
    queue->user_free = any_free;
    g_free(front);
    return queue;
}
