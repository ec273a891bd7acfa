/* The small fake, which the model test explores: one directory, no time. */
#include "conformance.h"

#include "fake_environment.h"

#include <string.h>

#define ROOT "/t"

struct fake {
    struct backend backend;
    struct ts_fake_environment world;
    int32_t session[SLOTS];
    struct ts_fake_handle *held[SLOTS]; /* not stepped, so that they stay without a connection */
};

static struct fake *of(struct backend *b) { return (struct fake *)b; }

static const char *begin(struct backend *b, const struct script *script) {
    struct fake *f = of(b);
    g_autofree char *directory = g_strconcat(ROOT, script->directory, NULL);
    memset(f->held, 0, sizeof f->held);
    ts_fake_environment_init(&f->world, directory, 1, 0); /* the root exists */
    ts_fake_environment_use(&f->world);
    return ROOT;
}

static pdk_status open_slot(struct backend *b, int slot, const struct pdk__zk_sink *sink, void *driver, pdk__zk **zk) {
    struct fake *f = of(b);
    pdk_status status =
        ts_fake_calls.open(&(struct pdk__zk_config){.timeout_ms = 6000, .sink = sink, .driver = driver}, zk);
    for (int32_t i = 0; status == PDK_OK && i < TS_FAKE_SESSIONS; i++)
        if ((void *)f->world.handles[i] == (void *)*zk)
            f->session[slot] = i;
    return status;
}

static bool step(struct backend *b) { return ts_fake_environment_step(&of(b)->world); }

static void drain(struct fake *f) {
    while (ts_fake_environment_step(&f->world))
        ;
}

static bool cut(struct backend *b, int slot) {
    struct fake *f = of(b);
    int32_t session = f->session[slot];
    ts_fake_environment_cut(&f->world, session);
    f->held[slot] = f->world.handles[session];
    f->world.handles[session] = NULL;
    return true;
}

static bool restore(struct backend *b, int slot) {
    struct fake *f = of(b);
    if (f->held[slot])
        f->world.handles[f->session[slot]] = f->held[slot];
    f->held[slot] = NULL;
    drain(f);
    return true;
}

static void forget(struct backend *b, int slot) { of(b)->held[slot] = NULL; }

static bool expire(struct backend *b, int slot) {
    ts_fake_environment_expire(&of(b)->world, of(b)->session[slot]);
    drain(of(b));
    return true;
}

static bool prepare(struct backend *b, int slot, enum step_kind loss) {
    (void)b;
    (void)slot;
    (void)loss;
    return true;
}

static bool lose(struct backend *b, int slot, enum step_kind loss) {
    struct fake *f = of(b);
    int32_t session = f->session[slot];
    const struct ts_fake_session *s = &f->world.fake.sessions[session];
    if (loss != LOSE_REQUEST)
        ts_fake_execute(&f->world.fake, &f->world.names, session, NULL);
    while (loss == LOSE_REPLY && s->replies[0].packet != TS_FAKE_REPLY)
        ts_fake_environment_step(&f->world);
    ts_fake_environment_cut(&f->world, session);
    return true;
}

/* The directory at that level, or one above it. */
static bool admin_directory(struct fake *f, enum admin_kind kind, int32_t level) {
    struct ts_fake_tree *tree = &f->world.fake.tree;
    bool it = tree->levels == f->world.names.levels && tree->levels == level;
    if (kind == ADMIN_MKDIR && tree->levels == level - 1) {
        tree->levels = level;
    } else if (kind == ADMIN_DELETE && it && tree->count == 0) {
        ts_fake_vanish(&f->world.fake);
        tree->next_sequence = 0;
    } else {
        return kind == ADMIN_SET && it; /* the fake does not show it */
    }
    return true;
}

static bool admin_node(struct fake *f, enum admin_kind kind, struct ts_fake_name name) {
    if (kind == ADMIN_SET)
        ts_fake_touch(&f->world.fake, name);
    else if (kind == ADMIN_DELETE)
        ts_fake_remove(&f->world.fake, name, NULL);
    else
        return false;
    return true;
}

static bool admin(struct backend *b, const struct admin *what, const char *path) {
    struct fake *f = of(b);
    struct ts_fake_name name;
    int32_t level;
    if (!ts_fake_name_of_path(&f->world.names, path, &name, &level))
        return false;
    bool done = name.mark == 0 ? admin_directory(f, what->kind, level) : admin_node(f, what->kind, name);
    drain(f);
    return done;
}

static void end(struct backend *b) { (void)b; }
static void free_fake(struct backend *b) { g_free(of(b)); }

struct backend *backend_fake(void) {
    struct fake *f = g_new0(struct fake, 1);
    f->backend = (struct backend){
        .name = "small fake",
        .about = "one directory, no data, no permissions, no codes",
        .calls = &ts_fake_calls,
        .begin = begin,
        .open = open_slot,
        .step = step,
        .cut = cut,
        .restore = restore,
        .forget = forget,
        .expire = expire,
        .prepare = prepare,
        .lose = lose,
        .admin = admin,
        .end = end,
        .free = free_fake,
    };
    return &f->backend;
}
