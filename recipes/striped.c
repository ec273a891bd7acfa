/* The striped lock, a composition: n locks below one path, and a queue of claims for any of them.
 *
 *     <path>               data: the number of stripes, here 4 (striped_agreement.h)
 *       ├─ 0000            a lock: the keys of stripe 0
 *       ├─ 0001            a lock
 *       ├─ 0002
 *       ├─ 0003
 *       └─ any             a queue: its first takes the first of the stripes that is granted (striped_any.c)
 *
 * The rule is the lock's. core/stripes.h tells the stripe of a key.
 */
#include "striped.h"

#include "base/fork.h"
#include "base/text.h"
#include "core/paths.h"
#include "core/stripes.h"
#include "grant/claim.h"
#include "grant/hold.h"
#include "grant/recipe.h"
#include "queues.h"
#include "session/blocking.h"
#include "session/close.h"
#include "session/options.h"
#include "striped_agreement.h"

#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_striped_options, identity) + sizeof(char *))

struct pdk_striped {
    atomic_uint refs;
    pdk_session *s; /* a reference */
    char *path;     /* below the chroot */
    int32_t stripes;
    pdk_lock_options options; /* of each lock */
    struct pdk__agreement *agreement;
    struct pdk__queue *any;
    pthread_mutex_t making; /* the locks; it comes before the monitor */
    pdk_lock **locks;       /* references; NULL: not asked for yet */
};

int32_t pdk_striped_stripes_max(void) { return PDK_STRIPED_STRIPES_MAX; }

int32_t pdk_striped_stripe_of(const void *key, size_t size, int32_t stripes) {
    if ((!key && size > 0) || stripes < 1 || stripes > PDK_STRIPED_STRIPES_MAX) {
        pdk__fail(PDK_INVALID, "pdk_striped_stripe_of: key is NULL, or stripes is %d; from 1 to %d", stripes,
                  PDK_STRIPED_STRIPES_MAX);
        return -1;
    }
    return pdk__stripe_of(key, size, stripes);
}

pdk_status pdk_striped_options_init(pdk_striped_options *options, size_t size) {
    static const pdk_striped_options defaults = PDK_STRIPED_OPTIONS_INIT;
    return pdk__options_init("pdk_striped_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

char *pdk__stripe_path(const char *path, int32_t stripe) { return g_strdup_printf("%s/%04d", path, stripe); }

/* ---- its life */

/* Is there room in a path for the stripes? */
static pdk_status striped_check_room(const pdk_session *session, const char *path) {
    size_t room = PDK__PATH_MAX - strlen("/0000");
    if (strlen(session->hosts->chroot) + strlen(path) <= room)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "path: is longer than %zu bytes, chroot included: the stripes stand below it", room);
}

static pdk_status striped_read_options(const pdk_striped_options *given, pdk_striped_options *o,
                                       struct pdk__handovers *handovers) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_handovers(o->max_handovers, o->max_handover_ms, handovers);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_reentrant(o->reentrant);
    if (status != PDK_OK)
        return status;
    return pdk__recipe_check_identity(o->identity);
}

/* Bind a queue: it begins only once all clients agree about the number of stripes. Before its first claim. */
static void striped_agree_for(struct pdk_striped *striped, struct pdk__queue *queue) {
    pdk__lock(striped->s);
    pdk__agreement_bind(striped->agreement, queue);
    pdk__unlock(striped->s);
}

static pdk_striped *striped_make(pdk_session *session, const char *path, int32_t stripes, const pdk_striped_options *o,
                                 struct pdk__handovers handovers) {
    pdk_striped *striped = g_new0(pdk_striped, 1);
    char *full = g_strconcat(session->hosts->chroot, path, NULL);
    atomic_init(&striped->refs, 1);
    striped->s = pdk__session_ref(session);
    striped->path = g_strdup(path);
    striped->stripes = stripes;
    striped->options = (pdk_lock_options)PDK_LOCK_OPTIONS_INIT;
    striped->options.max_handovers = o->max_handovers;
    striped->options.max_handover_ms = o->max_handover_ms;
    striped->options.reentrant = o->reentrant;
    striped->options.identity = g_strdup(o->identity);
    striped->agreement = pdk__agreement_new(session, full, stripes);
    striped->any = pdk__any_queue(session, path, stripes, handovers);
    striped->any->data = g_strdup(o->identity);
    striped_agree_for(striped, striped->any);
    pthread_mutex_init(&striped->making, NULL);
    striped->locks = g_new0(pdk_lock *, (gsize)stripes);
    g_free(full);
    return striped;
}

pdk_status pdk_striped_new(pdk_session *session, const char *path, int32_t stripes, const pdk_striped_options *options,
                           pdk_striped **out) {
    pdk_striped_options o = PDK_STRIPED_OPTIONS_INIT;
    struct pdk__handovers handovers;
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_striped_new");
    if (status != PDK_OK)
        return status;
    status = striped_check_room(session, path);
    if (status != PDK_OK)
        return status;
    if (stripes < 1 || stripes > PDK_STRIPED_STRIPES_MAX)
        return pdk__fail(PDK_INVALID, "pdk_striped_new: stripes is %d; from 1 to %d", stripes, PDK_STRIPED_STRIPES_MAX);
    status = striped_read_options(options, &o, &handovers);
    if (status != PDK_OK)
        return status;
    *out = striped_make(session, path, stripes, &o, handovers);
    return PDK_OK;
}

pdk_striped *pdk_striped_ref(pdk_striped *striped) {
    if (striped)
        atomic_fetch_add(&striped->refs, 1);
    return striped;
}

void pdk_striped_unref(pdk_striped *striped) {
    if (!striped || striped->s->forks != pdk__forks() || atomic_fetch_sub(&striped->refs, 1) != 1)
        return;
    pdk_session *s = striped->s;
    for (int32_t i = 0; i < striped->stripes; i++)
        pdk_lock_unref(striped->locks[i]);
    pdk__queue_close(striped->any, "the striped lock was dropped");
    pdk__lock(s);
    pdk__agreement_leave(striped->agreement);
    pdk__unlock(s);
    pthread_mutex_destroy(&striped->making);
    g_free((char *)striped->options.identity);
    g_free(striped->locks);
    g_free(striped->path);
    g_free(striped);
    pdk__session_unref(s);
}

/* ---- a stripe */

static pdk_status striped_check(const pdk_striped *striped, const char *call) {
    if (!striped)
        return pdk__fail(PDK_INVALID, "%s: striped: NULL", call);
    if (striped->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the striped lock belongs to the parent process", call);
    return PDK_OK;
}

/* The lock of a stripe, which is made when it is first asked for, and stays the striped lock's. CLOSED, AUTH. */
static pdk_status striped_lock_of(pdk_striped *striped, int32_t stripe, pdk_lock **out) {
    pdk_status status = PDK_OK;
    pthread_mutex_lock(&striped->making);
    if (!striped->locks[stripe]) {
        char *path = pdk__stripe_path(striped->path, stripe);
        status = pdk_lock_new(striped->s, path, &striped->options, &striped->locks[stripe]);
        if (status == PDK_OK)
            striped_agree_for(striped, pdk__lock_queue(striped->locks[stripe]));
        g_free(path);
    }
    *out = striped->locks[stripe];
    pthread_mutex_unlock(&striped->making);
    return status;
}

pdk_status pdk_striped_lock(pdk_striped *striped, int32_t stripe, pdk_lock **out) {
    static const char call[] = "pdk_striped_lock";
    pdk_lock *lock;
    pdk_status status = striped_check(striped, call);
    if (status != PDK_OK)
        return status;
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", call);
    if (stripe < 0 || stripe >= striped->stripes)
        return pdk__fail(PDK_INVALID, "%s: stripe is %d; from 0 to %d", call, stripe, striped->stripes - 1);
    pdk__lock(striped->s);
    status = pdk__session_usable(striped->s, call); /* the lock may have been made before the session's end */
    pdk__unlock(striped->s);
    if (status != PDK_OK)
        return status;
    status = striped_lock_of(striped, stripe, &lock);
    if (status == PDK_OK)
        *out = pdk_lock_ref(lock);
    return status;
}

int32_t pdk_striped_stripe(const pdk_striped *striped, const pdk_hold *hold) {
    if (!striped || striped->s->forks != pdk__forks() || !hold || hold->s != striped->s)
        return -1;
    const char *dir = striped->agreement->path;
    size_t length = strlen(dir);
    if (strncmp(hold->node, dir, length) != 0 || hold->node[length] != '/')
        return -1;
    const char *digits = hold->node + length + 1;
    if (strspn(digits, "0123456789") != 4 || digits[4] != '/')
        return -1;
    gint64 stripe = g_ascii_strtoll(digits, NULL, 10);
    return stripe < striped->stripes ? (int32_t)stripe : -1;
}

/* ---- the calls */

pdk_status pdk_striped_acquire(pdk_striped *striped, const char *key, int64_t timeout_ms, pdk_hold **out) {
    static const char call[] = "pdk_striped_acquire";
    pdk_lock *lock = NULL;
    pdk_status status = striped_check(striped, call);
    if (status != PDK_OK)
        return status;
    if (!key || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, key ? "out" : "key");
    status = striped_lock_of(striped, pdk__stripe_of(key, strlen(key), striped->stripes), &lock);
    return status == PDK_OK ? pdk__claim_wait(pdk__lock_queue(lock), 1, timeout_ms, call, out) : status;
}

pdk_status pdk_striped_acquire_any(pdk_striped *striped, int64_t timeout_ms, pdk_hold **out) {
    static const char call[] = "pdk_striped_acquire_any";
    pdk_status status = striped_check(striped, call);
    if (status != PDK_OK)
        return status;
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", call);
    return pdk__claim_wait(striped->any, 1, timeout_ms, call, out);
}

pdk_status pdk_striped_acquire_any_async(pdk_striped *striped, int64_t timeout_ms, pdk_acquired_fn fn, void *user,
                                         pdk_claim **out) {
    static const char call[] = "pdk_striped_acquire_any_async";
    pdk_status status = striped_check(striped, call);
    if (status != PDK_OK)
        return status;
    if (!fn)
        return pdk__fail(PDK_INVALID, "%s: fn: NULL", call);
    return pdk__claim_start(striped->any, 1, timeout_ms, call, fn, user, out);
}

/* The rights of the stripes that the keys have, each once, in the order of the keys. */
struct wanted {
    size_t count;
    pdk_right rights[PDK_SET_RIGHTS_MAX];
    size_t keys[PDK_SET_RIGHTS_MAX];   /* the first key of each stripe */
    int32_t parts[PDK_SET_RIGHTS_MAX]; /* the part of each key */
};

static pdk_status striped_rights_of(pdk_striped *striped, const char *const *keys, size_t count, const char *call,
                                    struct wanted *wanted) {
    int32_t stripes[PDK_SET_RIGHTS_MAX] = {0};
    wanted->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!keys[i])
            return pdk__fail(PDK_INVALID, "%s: keys[%zu]: NULL", call, i);
        int32_t stripe = pdk__stripe_of(keys[i], strlen(keys[i]), striped->stripes);
        size_t part = 0;
        while (part < wanted->count && stripes[part] != stripe)
            part++;
        if (part == wanted->count) {
            pdk_lock *lock;
            pdk_status status = striped_lock_of(striped, stripe, &lock);
            if (status != PDK_OK)
                return status;
            stripes[part] = stripe;
            wanted->rights[part] = pdk_right_lock(lock);
            wanted->keys[part] = i;
            wanted->count++;
        }
        wanted->parts[i] = (int32_t)part;
    }
    return PDK_OK;
}

pdk_status pdk_striped_acquire_keys(pdk_striped *striped, const char *const *keys, size_t count, int64_t timeout_ms,
                                    int32_t *parts, pdk_set **out) {
    static const char call[] = "pdk_striped_acquire_keys";
    struct wanted wanted;
    pdk_status status = striped_check(striped, call);
    if (status != PDK_OK)
        return status;
    if (!keys || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, keys ? "out" : "keys");
    if (count < 1 || count > PDK_SET_RIGHTS_MAX)
        return pdk__fail(PDK_INVALID, "%s: count is %zu; from 1 to %d", call, count, PDK_SET_RIGHTS_MAX);
    status = striped_rights_of(striped, keys, count, call, &wanted);
    if (status != PDK_OK)
        return status;
    status = pdk__set_acquire_for_keys(wanted.rights, wanted.keys, wanted.count, timeout_ms, call, out);
    if (status == PDK_OK && parts)
        memcpy(parts, wanted.parts, count * sizeof parts[0]);
    return status;
}
