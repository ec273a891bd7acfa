/*
 * The C player of the rwlock trial. Its threads read and write the ledger under a pdk_rwlock. They note what must not
 * be. A look at the ledger counts only if the hold is still valid after it.
 *
 *     granted|valid … kind=read|write|downgraded seq=N thread=N asked=NS     seq: the number of the znode; a downgrade
 *                                                                            notes both lines again
 *     violation what=torn|changed|order|status …                             see each below
 *     peeked looks=N torn=N                                                  by a thread that takes no lock
 *     turns read=N write=N downgraded=N gave-up=N
 */
#include "ledger.h"
#include "player_threads.h"

#include <errno.h>
#include <string.h>
#include <ts_clock.h>
#include <unistd.h>

enum { TRY_PERCENT = 10, SHORT_PERCENT = 10, SHORT_MS = 20 };

typedef struct options {
    char *ledger;
    int threads, write, downgrade, hold_us, think_us, step_us, max_handovers;
    gboolean peek;
} options;

/* What the threads share. */
typedef struct shared {
    const options *options;
    pdk_rwlock *lock;
    int fd;
    atomic_long reads, writes, downgraded, gave_up, looks, torn;
} shared;

/* One turn with the lock held. */
typedef struct visit {
    player *player;
    shared *shared;
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
    event_log_note(v->player->log,
                   "violation what=%s token=%" G_GINT64_FORMAT " handover=%u found=%" G_GINT64_FORMAT
                   ".%u seq=%" G_GINT64_FORMAT,
                   what, (gint64)v->self.token, (unsigned)v->self.handover, (gint64)entry->token,
                   (unsigned)entry->handover, v->sequence);
}

/* False when the hold is over, or the ledger is torn. */
static bool look(const visit *v, ledger_entry *seen) {
    bool whole = ledger_read(v->shared->fd, seen);
    if (!pdk_hold_is_valid(v->hold))
        return false;
    if (!whole)
        accuse(v, "torn", NULL);
    return whole;
}

/* The thread has a hold already: it can get no second one, of either kind. */
static void probe(const visit *v, bool reads) {
    pdk_hold *second = NULL;
    pdk_status read = pdk_rwlock_acquire_read(v->shared->lock, 0, &second);
    pdk_status write = pdk_rwlock_acquire_write(v->shared->lock, 0, &second);
    if (second || read != PDK_DEADLOCK || write != (reads ? PDK_UPGRADE : PDK_DEADLOCK))
        event_log_note(v->player->log, "violation what=status shared=%d read=%s write=%s", reads, pdk_status_name(read),
                       pdk_status_name(write));
}

/* As long as the hold is valid, the ledger does not change. */
static void read_on(const visit *v, const ledger_entry *content) {
    int64_t end = ts_now_ns() + (int64_t)g_random_int_range(0, v->shared->options->hold_us + 1) * 1000;
    ledger_entry seen;
    do {
        player_pause(v->shared->options->step_us);
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
    atomic_fetch_add(&v->shared->reads, 1);
    if (!look(v, &seen))
        return;
    if (seen.token >= v->self.token)
        accuse(v, "order", &seen);
    if (player_chance(1))
        probe(v, true);
    read_on(v, &seen);
}

static bool write_all(const visit *v) {
    for (int i = 0; i < ledger_records(); i++) {
        if (!pdk_hold_is_valid(v->hold))
            return false;
        if (!ledger_write(v->shared->fd, i, &v->self)) {
            player_fail(v->player, "ledger", g_strerror(errno));
            return false;
        }
        player_pause(v->shared->options->step_us);
    }
    return true;
}

static void downgrade(const visit *v) {
    char text[128];
    describe(v, "downgraded", text, sizeof text);
    sampler_change(v->player->sampler, v->hold, text); /* before: the call may let others in */
    pdk_status status = pdk_hold_downgrade(v->hold);
    if (status != PDK_LOST && !player_check(v->player, "downgrade", status))
        return;
    atomic_fetch_add(&v->shared->downgraded, 1);
    if (player_chance(1))
        probe(v, true);
    read_on(v, &v->self);
}

static void write_turn(const visit *v) {
    ledger_entry seen;
    atomic_fetch_add(&v->shared->writes, 1);
    if (!look(v, &seen))
        return;
    if (ledger_compare(&seen, &v->self) >= 0)
        accuse(v, "order", &seen);
    if (player_chance(1))
        probe(v, false);
    if (!write_all(v) || !look(v, &seen))
        return;
    if (ledger_compare(&seen, &v->self) != 0)
        accuse(v, "changed", &seen);
    if (player_chance(v->shared->options->downgrade))
        downgrade(v);
}

/* Without the lock. Shows that the ledger can be seen torn, so that the others could have seen it. */
static void peek(shared *s) {
    ledger_entry ignored;
    atomic_fetch_add(&s->looks, 1);
    if (!ledger_read(s->fd, &ignored))
        atomic_fetch_add(&s->torn, 1);
}

static bool turn(player *p, int thread, void *user) {
    shared *s = user;
    if (s->options->peek && thread == 0) {
        peek(s);
        return true;
    }
    visit v = {.player = p, .shared = s, .thread = thread, .asked = ts_now_ns()};
    bool write = player_chance(s->options->write);
    int64_t timeout = player_patience(TRY_PERCENT, SHORT_PERCENT, SHORT_MS);
    pdk_status status = (write ? pdk_rwlock_acquire_write : pdk_rwlock_acquire_read)(s->lock, timeout, &v.hold);
    if (player_may_give_up(timeout, status)) {
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
    sampler_add(p->sampler, v.hold, text);
    (write ? write_turn : read_turn)(&v);
    status = pdk_hold_release(v.hold);
    return status == PDK_LOST || player_check(p, "release", status);
}

static void play(player *p, shared *s) {
    const options *o = s->options;
    pdk_rwlock_options lock = PDK_RWLOCK_OPTIONS_INIT;
    lock.max_handovers = o->max_handovers;
    s->fd = ledger_open(o->ledger);
    if (s->fd < 0)
        player_fail(p, "ledger", g_strerror(errno));
    else if (player_check(p, "rwlock", pdk_rwlock_new(p->session, p->path, &lock, &s->lock)))
        player_threads_run(p, o->threads, o->think_us, turn, NULL, s);
    pdk_rwlock_unref(s->lock);
    if (o->peek)
        event_log_note(p->log, "peeked looks=%ld torn=%ld", s->looks, s->torn);
    event_log_note(p->log, "turns read=%ld write=%ld downgraded=%ld gave-up=%ld", s->reads, s->writes, s->downgraded,
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
    shared s = {.options = &o, .fd = -1};
    if (player_open(&p, argc, argv, entries) && o.ledger)
        play(&p, &s);
    else if (!o.ledger)
        player_fail(&p, "arguments", "ledger is needed");
    g_free(o.ledger);
    return player_close(&p);
}
