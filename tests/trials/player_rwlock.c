/*
 * The C player of the rwlock trial: threads that read and write the ledger under a pdk_rwlock, and note what they saw of it
 * that should not be. What is seen counts only if the hold is valid after the look.
 *
 *     granted|valid … kind=read|write|downgraded seq=N thread=N asked=NS     seq: the number of the znode; who downgrades
 *                                                                            notes both twice
 *     violation what=torn|changed|order|status …                             see each below
 *     peeked looks=N torn=N                                                  by a thread that asks for no lock
 *     turns read=N write=N downgraded=N gave-up=N
 */
#include "crew.h"
#include "ledger.h"

#include <errno.h>
#include <string.h>
#include <ts_clock.h>
#include <unistd.h>

typedef struct options {
    char *ledger;
    int threads, write, downgrade, hold_us, think_us, step_us, max_handovers;
    gboolean peek;
} options;

typedef struct stage {
    const options *options;
    pdk_rwlock *lock;
    int fd;
    atomic_long reads, writes, downgraded, gave_up, looks, torn;
} stage;

/* One turn with the lock held. */
typedef struct visit {
    player *player;
    stage *stage;
    pdk_hold *hold;
    ledger_entry self;
    int thread;
    gint64 asked, sequence;
} visit;

static void describe(const visit *v, const char *kind, char *text, gsize size) {
    g_snprintf(text, size, "kind=%s seq=%" G_GINT64_FORMAT " thread=%d asked=%" G_GINT64_FORMAT, kind, v->sequence,
               v->thread, v->asked);
}

static void accuse(const visit *v, const char *what, const ledger_entry *found) {
    const ledger_entry none = {0}, *entry = found ? found : &none;
    diary_note(v->player->diary,
               "violation what=%s token=%" G_GINT64_FORMAT " handover=%u found=%" G_GINT64_FORMAT
               ".%u seq=%" G_GINT64_FORMAT,
               what, (gint64)v->self.token, (unsigned)v->self.handover, (gint64)entry->token, (unsigned)entry->handover,
               v->sequence);
}

/* False when it tells nothing, or nothing good. */
static bool look(const visit *v, ledger_entry *seen) {
    bool whole = ledger_read(v->stage->fd, seen);
    if (!pdk_hold_valid(v->hold))
        return false;
    if (!whole)
        accuse(v, "torn", NULL);
    return whole;
}

/* A hold that is there already: neither kind can be had once more by this thread. */
static void probe(const visit *v, bool shared) {
    pdk_hold *second = NULL;
    pdk_status read = pdk_rwlock_read(v->stage->lock, 0, &second);
    pdk_status write = pdk_rwlock_write(v->stage->lock, 0, &second);
    if (second || read != PDK_DEADLOCK || write != (shared ? PDK_UPGRADE : PDK_DEADLOCK))
        diary_note(v->player->diary, "violation what=status shared=%d read=%s write=%s", shared, pdk_status_name(read),
                   pdk_status_name(write));
}

/* As long as it is held, the ledger stays as it is. */
static void read_on(const visit *v, const ledger_entry *content) {
    int64_t end = ts_now_ns() + (int64_t)g_random_int_range(0, v->stage->options->hold_us + 1) * 1000;
    ledger_entry seen;
    do {
        crew_pause(v->stage->options->step_us);
        if (!look(v, &seen))
            return;
        if (ledger_compare(&seen, content) != 0) {
            accuse(v, "changed", &seen);
            return;
        }
    } while (ts_now_ns() < end);
}

static void read_turn(const visit *v) {
    ledger_entry seen;
    atomic_fetch_add(&v->stage->reads, 1);
    if (!look(v, &seen))
        return;
    if (seen.token >= v->self.token)
        accuse(v, "order", &seen);
    if (crew_chance(1))
        probe(v, true);
    read_on(v, &seen);
}

static bool write_all(const visit *v) {
    for (int i = 0; i < ledger_records(); i++) {
        if (!pdk_hold_valid(v->hold))
            return false;
        if (!ledger_write(v->stage->fd, i, &v->self)) {
            player_fail(v->player, "ledger", g_strerror(errno));
            return false;
        }
        crew_pause(v->stage->options->step_us);
    }
    return true;
}

static void downgrade(const visit *v) {
    char text[128];
    describe(v, "downgraded", text, sizeof text);
    watchman_recast(v->player->watchman, v->hold, text); /* before: others may be let in within the call */
    pdk_status status = pdk_rwlock_downgrade(v->stage->lock, v->hold);
    if (status != PDK_LOST && !player_check(v->player, "downgrade", status))
        return;
    atomic_fetch_add(&v->stage->downgraded, 1);
    if (crew_chance(1))
        probe(v, true);
    read_on(v, &v->self);
}

static void write_turn(const visit *v) {
    ledger_entry seen;
    atomic_fetch_add(&v->stage->writes, 1);
    if (!look(v, &seen))
        return;
    if (ledger_compare(&seen, &v->self) >= 0)
        accuse(v, "order", &seen);
    if (crew_chance(1))
        probe(v, false);
    if (!write_all(v) || !look(v, &seen))
        return;
    if (ledger_compare(&seen, &v->self) != 0)
        accuse(v, "changed", &seen);
    if (crew_chance(v->stage->options->downgrade))
        downgrade(v);
}

/* Without the lock, to show that the ledger can be seen torn, and that the others could have seen it. */
static void peek(stage *s) {
    ledger_entry ignored;
    atomic_fetch_add(&s->looks, 1);
    if (!ledger_read(s->fd, &ignored))
        atomic_fetch_add(&s->torn, 1);
}

/* Most wait as long as it takes; some try, some run out of patience and must leave nothing that blocks the others. */
static int64_t patience(void) {
    if (crew_chance(10))
        return 0;
    return crew_chance(10) ? g_random_int_range(1, 20) : PDK_FOREVER;
}

static bool turn(player *p, int thread, void *user) {
    stage *s = user;
    if (s->options->peek && thread == 0) {
        peek(s);
        return true;
    }
    visit v = {.player = p, .stage = s, .thread = thread, .asked = ts_now_ns()};
    bool write = crew_chance(s->options->write);
    int64_t timeout = patience();
    pdk_status status = (write ? pdk_rwlock_write : pdk_rwlock_read)(s->lock, timeout, &v.hold);
    if (timeout != PDK_FOREVER && (status == PDK_BUSY || status == PDK_TIMEOUT || status == PDK_UNAVAILABLE)) {
        atomic_fetch_add(&s->gave_up, 1);
        return true;
    }
    if (!player_check(p, write ? "write" : "read", status))
        return false;
    v.self = (ledger_entry){pdk_hold_token(v.hold), pdk_hold_handover(v.hold)};
    /* "pdk1 <znode> …": the name ends with ten digits. */
    g_auto(GStrv) words = g_strsplit(pdk_hold_sequencer(v.hold), " ", 3);
    v.sequence = g_ascii_strtoll(words[1] + strlen(words[1]) - 10, NULL, 10);
    char text[128];
    describe(&v, write ? "write" : "read", text, sizeof text);
    watchman_watch(p->watchman, v.hold, text);
    (write ? write_turn : read_turn)(&v);
    status = pdk_hold_release(v.hold);
    return status == PDK_LOST || player_check(p, "release", status);
}

static void play(player *p, stage *s) {
    const options *o = s->options;
    pdk_rwlock_options lock = PDK_RWLOCK_OPTIONS_INIT;
    lock.max_handovers = o->max_handovers;
    s->fd = ledger_open(o->ledger);
    if (s->fd < 0)
        player_fail(p, "ledger", g_strerror(errno));
    else if (player_check(p, "rwlock", pdk_rwlock_new(p->session, p->path, &lock, &s->lock)))
        crew_play(p, o->threads, o->think_us, turn, NULL, s);
    pdk_rwlock_unref(s->lock);
    if (o->peek)
        diary_note(p->diary, "peeked looks=%ld torn=%ld", s->looks, s->torn);
    diary_note(p->diary, "turns read=%ld write=%ld downgraded=%ld gave-up=%ld", s->reads, s->writes, s->downgraded,
               s->gave_up);
    if (s->fd >= 0)
        close(s->fd);
}

int main(int argc, char **argv) {
    options o = {.threads = 3,
                 .write = 25,
                 .downgrade = 40,
                 .hold_us = 4000,
                 .think_us = 2000,
                 .step_us = 500,
                 .max_handovers = 3};
    const GOptionEntry entries[] = {
        {"ledger", 0, 0, G_OPTION_ARG_FILENAME, &o.ledger, "the file that is read and written", NULL},
        {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, "that share the lock (3)", NULL},
        {"write", 0, 0, G_OPTION_ARG_INT, &o.write, "percent of turns that write (25)", NULL},
        {"downgrade", 0, 0, G_OPTION_ARG_INT, &o.downgrade, "percent of these that read on (40)", NULL},
        {"peek", 0, 0, G_OPTION_ARG_NONE, &o.peek, "the first thread looks without the lock", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    player p = {0};
    stage s = {.options = &o, .fd = -1};
    if (player_open(&p, argc, argv, entries) && o.ledger)
        play(&p, &s);
    else if (!o.ledger)
        player_fail(&p, "arguments", "ledger is needed");
    g_free(o.ledger);
    return player_close(&p);
}
