/* Several rights at once, and stripes. A grant is of one place below the path, or has a part at each of several.
 *
 *     all       a random set of: orders, stock (locks), prices (a side of a read/write lock), slots (permits), in a random order;
 *               on two sessions
 *     striped   the stripe of a key, those of several keys, or any
 */
#include "plays.h"

#include <string.h>

enum { PLACES = 4, KEYS = 16, TRY_PERCENT = 5, SHORT_PERCENT = 20, SHORT_MS = 300, WRITE_PERCENT = 50 };
enum { ANY_PERCENT = 30, KEYS_PERCENT = 30, SHARES = 3 };

/* A place below the path, with one of the three. */
typedef struct place {
    char at[16];
    resource *resource;
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
} place;

struct places {
    place place[PLACES];
    pdk_striped *striped; /* or NULL */
};

typedef struct right {
    int place;
    const char *kind;
    int count;
} right;

typedef struct request {
    pending its;
    enum { OF_SET, OF_KEY, OF_KEYS, OF_ANY } of;
    right rights[PLACES]; /* of each place at most one */
    int count;
    char keys[PLACES][8]; /* key i has the stripe of rights[i]; of keys, two may have one stripe */
    int key_count;
} request;

/* ---- the places */

static void open_all(actor *c) {
    static const char *const names[PLACES] = {"orders", "stock", "prices", "slots"};
    if (!player_open_another(&c->player))
        actor_fail(c, "another session", "cannot be opened");
    for (int i = 0; i < PLACES; i++) {
        place *one = &c->places->place[i];
        pdk_session *session = i % 2 ? c->player.another : c->player.session;
        g_strlcpy(one->at, names[i], sizeof one->at);
        g_autofree char *path = g_strconcat(c->player.path, "/", one->at, NULL);
        if (i < 2)
            actor_expect(c, path, pdk_lock_new(session, path, NULL, &one->lock), PDK_OK);
        else if (i == 2)
            actor_expect(c, path, pdk_rwlock_new(session, path, NULL, &one->rwlock), PDK_OK);
        else
            actor_expect(c, path, pdk_semaphore_new(session, path, PERMITS, NULL, &one->semaphore), PDK_OK);
    }
}

static void open_striped(actor *c) {
    struct places *all = c->places;
    actor_expect(c, "striped", pdk_striped_new(c->player.session, c->player.path, PLACES, NULL, &all->striped), PDK_OK);
    for (int i = 0; i < PLACES; i++) {
        g_snprintf(all->place[i].at, sizeof all->place[i].at, "%04d", i);
        actor_expect(c, "stripe", pdk_striped_lock(all->striped, i, &all->place[i].lock), PDK_OK);
    }
}

void sets_open(actor *c) {
    c->places = g_new0(struct places, 1);
    if (strcmp(c->options.recipe, "all") == 0)
        open_all(c);
    else
        open_striped(c);
    for (int i = 0; i < PLACES; i++) {
        g_autofree char *path = g_strconcat(c->player.path, "/", c->places->place[i].at, NULL);
        c->places->place[i].resource = resource_open(c->options.folder, path);
        if (!c->places->place[i].resource)
            actor_fail(c, c->options.folder, "a resource cannot be opened");
    }
}

void sets_close(actor *c) {
    for (int i = 0; i < PLACES; i++) {
        place *one = &c->places->place[i];
        resource_close(one->resource);
        pdk_lock_unref(one->lock);
        pdk_rwlock_unref(one->rwlock);
        pdk_semaphore_unref(one->semaphore);
    }
    pdk_striped_unref(c->places->striped);
    g_clear_pointer(&c->places, g_free);
}

/* ---- what is asked for */

static right right_at(const actor *c, int at) {
    const place *one = &c->places->place[at];
    if (one->semaphore)
        return (right){at, "permit", g_random_int_range(1, PERMITS)};
    if (one->rwlock)
        return (right){at, player_chance(WRITE_PERCENT) ? "write" : "read", 1};
    return (right){at, "lock", 1};
}

/* Two of the places or more, in a random order. */
static void choose_places(request *r) {
    int order[PLACES];
    for (int i = 0; i < PLACES; i++) {
        int other = g_random_int_range(0, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    r->count = g_random_int_range(2, PLACES + 1);
    for (int i = 0; i < r->count; i++)
        r->rights[i] = right_at(r->its.c, order[i]);
}

static void choose_keys(request *r, int count) {
    r->key_count = count;
    for (int i = 0; i < count; i++) {
        g_snprintf(r->keys[i], sizeof r->keys[i], "key%d", g_random_int_range(0, KEYS));
        int stripe = pdk_striped_stripe_of(r->keys[i], strlen(r->keys[i]), PLACES);
        bool there = false;
        for (int j = 0; j < r->count; j++)
            there |= r->rights[j].place == stripe;
        if (!there)
            r->rights[r->count++] = right_at(r->its.c, stripe);
    }
}

static request make_request(actor *c) {
    request r = {.its = {.c = c, .timeout_ms = player_patience(TRY_PERCENT, SHORT_PERCENT, SHORT_MS)}};
    if (!c->places->striped) {
        choose_places(&r);
    } else if (player_chance(ANY_PERCENT)) {
        r.of = OF_ANY;
    } else if (player_chance(KEYS_PERCENT)) {
        r.of = OF_KEYS;
        choose_keys(&r, g_random_int_range(2, SHARES + 1));
    } else {
        r.of = OF_KEY;
        choose_keys(&r, 1);
    }
    return r;
}

static bool is_set(const request *r) { return r->of == OF_SET || r->of == OF_KEYS; }

static claim_record *note_claim(const request *r) {
    static const char *const names[] = {"set", "key", "keys", "any"};
    const actor *c = r->its.c;
    g_autoptr(GString) more = g_string_new(NULL);
    g_string_append_printf(more, "of=%s", names[r->of]);
    for (int i = 0; i < r->count; i++)
        g_string_append_printf(more, "%s%s:%s:%d", i ? "," : " rights=", c->places->place[r->rights[i].place].at,
                               r->rights[i].kind, r->rights[i].count);
    bool several = is_set(r);
    pthread_mutex_lock(&r->its.c->mutex);
    claim_record *record = record_new_with(r->its.c, several ? "all" : "lock", 0, r->its.timeout_ms, more->str);
    pthread_mutex_unlock(&r->its.c->mutex);
    return record;
}

/* ---- acquiring */

static size_t rights_of(const request *r, pdk_right rights[PLACES]) {
    for (int i = 0; i < r->count; i++) {
        const right *its = &r->rights[i];
        const place *one = &r->its.c->places->place[its->place];
        if (one->semaphore)
            rights[i] = pdk_right_permits(one->semaphore, its->count);
        else if (one->rwlock)
            rights[i] = strcmp(its->kind, "write") == 0 ? pdk_right_write(one->rwlock) : pdk_right_read(one->rwlock);
        else
            rights[i] = pdk_right_lock(one->lock);
    }
    return (size_t)r->count;
}

static pdk_status block(request *r) {
    pdk_striped *striped = r->its.c->places->striped;
    const char *const keys[PLACES] = {r->keys[0], r->keys[1], r->keys[2], r->keys[3]};
    int64_t ms = r->its.timeout_ms;
    pdk_right rights[PLACES];
    switch (r->of) {
    case OF_SET:
        return pdk_set_acquire(rights, rights_of(r, rights), ms, NULL, &r->its.set);
    case OF_KEY:
        return pdk_striped_acquire(striped, keys[0], ms, &r->its.hold);
    case OF_KEYS:
        return pdk_striped_acquire_keys(striped, keys, (size_t)r->key_count, ms, NULL, &r->its.set);
    case OF_ANY:
        return pdk_striped_acquire_any(striped, ms, &r->its.hold);
    }
    return PDK_INVALID;
}

/* The answer may be there when it returns. */
static pdk_status start_one(request *r) {
    const struct places *all = r->its.c->places;
    int64_t ms = r->its.timeout_ms;
    pdk_claim *claim;
    pdk_status status =
        r->of == OF_KEY
            ? pdk_lock_acquire_async(all->place[r->rights[0].place].lock, ms, pending_answer, &r->its, &claim)
            : pdk_striped_acquire_any_async(all->striped, ms, pending_answer, &r->its, &claim);
    if (status == PDK_OK)
        pending_await(&r->its, claim);
    return status;
}

static pdk_status start_set(request *r) {
    pdk_right rights[PLACES];
    pdk_set_claim *claim;
    pdk_status status = pdk_set_acquire_async(rights, rights_of(r, rights), r->its.timeout_ms, NULL, pending_set_answer,
                                              &r->its, &claim);
    if (status == PDK_OK)
        pending_set_await(&r->its, claim);
    return status;
}

static void acquire(request *r) {
    if (r->its.timeout_ms > 0 && player_chance(50)) {
        r->its.status = block(r);
        return;
    }
    pdk_status started = is_set(r) ? start_set(r) : start_one(r);
    if (started != PDK_OK)
        r->its.status = started;
}

/* ---- holding */

static int place_of(const actor *c, const pdk_hold *hold) {
    int stripe = pdk_striped_stripe(c->places->striped, hold);
    if (stripe < 0 || stripe >= PLACES)
        actor_fail((actor *)c, "stripe", "the hold is of no stripe");
    return stripe;
}

/* The right of that part of the set. */
static right right_of(const request *r, int part) {
    if (r->of == OF_SET)
        return r->rights[part];
    return right_at(r->its.c, place_of(r->its.c, pdk_set_part(r->its.set, part)));
}

/* Notes the parts, and uses those that exclude all others. */
static void visit_parts(const request *r, claim_record *record) {
    actor *c = r->its.c;
    actor_part used[PLACES] = {0};
    int count = 0;
    if (pdk_set_count(r->its.set) != r->count)
        actor_fail(c, "parts", "the set has not as many as it was asked for");
    for (int i = 0; i < r->count; i++) {
        right its = right_of(r, i);
        const place *one = &c->places->place[its.place];
        bool permits = strcmp(its.kind, "permit") == 0;
        g_autofree char *permitted = permits ? g_strdup_printf(" count=%d", its.count) : g_strdup("");
        g_autofree char *what = g_strdup_printf("kind=%s%s at=%s", its.kind, permitted, one->at);
        record_part(record, r->its.set, i, what);
        if (permits || strcmp(its.kind, "read") == 0)
            continue;
        g_snprintf(used[count].n, sizeof used[count].n, "%d.%d", record_number(record), i);
        used[count].hold = pdk_set_part(r->its.set, i);
        used[count++].resource = one->resource;
    }
    actor_use_parts(c, used, count);
}

static void visit(const request *r, claim_record *record) {
    actor *c = r->its.c;
    if (is_set(r)) {
        record_set_granted(record, r->its.set);
        visit_parts(r, record);
        return;
    }
    const place *one = &c->places->place[place_of(c, r->its.hold)];
    g_autofree char *at = g_strconcat("at=", one->at, NULL);
    record_add(record, at);
    record_granted(record, r->its.hold);
    actor_part whole = {.hold = r->its.hold, .resource = one->resource};
    g_snprintf(whole.n, sizeof whole.n, "%d", record_number(record));
    actor_use_parts(c, &whole, 1);
}

bool sets_turn(player *p, int thread, void *user) {
    actor *c = user;
    request r = make_request(c);
    (void)p;
    (void)thread;
    claim_record *record = note_claim(&r);
    acquire(&r);
    if (r.its.status != PDK_OK) {
        record_failed(record, r.its.status);
        if (!pending_may_fail(&r.its))
            actor_expect(c, c->options.recipe, r.its.status, PDK_OK);
        return true;
    }
    visit(&r, record);
    if (is_set(&r))
        record_give_set_back(record, r.its.set);
    else
        record_give_back(record, r.its.hold);
    return true;
}
