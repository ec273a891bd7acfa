/* The lease lock. Each process has two secrets, and uses the second one now and then: so it may have to wait for the end of what it let
 * stand itself. The first two processes of a slot have the same first secret, then the next two, and so on: one of them takes back what
 * the one before it held, and the next one may not. Beside the lines of every claim:
 *
 *     claim … secret=NAME
 *     giving n=K               before it gives the lock up. Without that line the lock stands
 *     gave n=K status=S        what it was answered
 */
#include "plays.h"

#include <stdlib.h>
#include <string.h>

enum {
    GIVE_MS = 500,
    GIVES_PERCENT = 70,
    TRY_PERCENT = 5,
    SHORT_PERCENT = 20,
    SHORT_MS = 300,
    GENERATIONS = 2,
    SECOND_PERCENT = 25
};

static char *secret_of(const actor *c, int which) {
    const char *number = strrchr(c->player.identity, '.');
    int generation = number ? atoi(number + 1) : 0;
    g_autofree char *slot = g_strndup(c->player.identity, number ? (gsize)(number - c->player.identity) : 0);
    if (which > 0)
        return g_strdup_printf("second-secret-of-%s", c->player.identity);
    return g_strdup_printf("secret-of-%s-%d", slot, generation / GENERATIONS);
}

void lease_open(actor *c) {
    for (int i = 0; i < SECRETS; i++) {
        g_autofree char *secret = secret_of(c, i);
        pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
        options.duration_ms = LEASE_MS;
        options.secret = secret;
        options.identity = secret; /* the record has it: the driver notes whose it is */
        actor_expect(c, "lease", pdk_lease_lock_new(c->player.session, c->player.path, &options, &c->leases[i]),
                     PDK_OK);
    }
}

void lease_close(actor *c) {
    for (int i = 0; i < SECRETS; i++)
        pdk_lease_lock_unref(c->leases[i]);
}

/* The acquisition blocks. The order to rest interrupts it. */
static pdk_interrupt *begin_interruptible(actor *c) {
    pdk_interrupt *interrupt;
    actor_expect(c, "interrupt", pdk_interrupt_new(&interrupt), PDK_OK);
    actor_expect(c, "attach", pdk_interrupt_attach(interrupt), PDK_OK);
    pthread_mutex_lock(&c->mutex);
    g_ptr_array_add(c->interrupts, interrupt);
    if (c->resting)
        pdk_interrupt_raise(interrupt);
    pthread_mutex_unlock(&c->mutex);
    return interrupt;
}

static void end_interruptible(actor *c, pdk_interrupt *interrupt) {
    pdk_interrupt_detach();
    pthread_mutex_lock(&c->mutex);
    g_ptr_array_remove(c->interrupts, interrupt);
    pthread_mutex_unlock(&c->mutex);
    pdk_interrupt_unref(interrupt);
}

/* LOST: the hold was lost before the record was written for certain. */
static bool may_fail(actor *c, int64_t timeout_ms, pdk_status status) {
    if (status == PDK_CANCELED) {
        pthread_mutex_lock(&c->mutex);
        bool resting = c->resting;
        pthread_mutex_unlock(&c->mutex);
        return resting;
    }
    return status == PDK_LOST || player_may_give_up(timeout_ms, status);
}

static claim_record *note_claim(actor *c, int which, int64_t timeout_ms) {
    g_autofree char *secret = secret_of(c, which), *more = g_strdup_printf("secret=%s", secret);
    pthread_mutex_lock(&c->mutex);
    claim_record *record = record_new_with(c, "lock", 0, timeout_ms, more);
    pthread_mutex_unlock(&c->mutex);
    return record;
}

/* Gives it up, or leaves it standing: then the next claim with that secret takes it back. */
static void end(actor *c, claim_record *record, pdk_lease_lock *lock, pdk_hold *hold) {
    if (!player_chance(GIVES_PERCENT)) {
        record_give_back(record, hold);
        return;
    }
    int n = record_number(record);
    event_log_note(c->player.log, "giving n=%d", n);
    pdk_status status = pdk_lease_lock_release(lock, hold, GIVE_MS);
    event_log_note(c->player.log, "gave n=%d status=%s", n, pdk_status_name(status));
    if (status == PDK_OK) {
        record_over_hushed(record);
        return;
    }
    if (status != PDK_LOST && status != PDK_UNAVAILABLE)
        actor_expect(c, "give up", status, PDK_REPLACED); /* an administrator may delete the record */
    record_give_back(record, hold);
}

bool lease_turn(player *p, int thread, void *user) {
    actor *c = user;
    pdk_hold *hold;
    (void)p;
    (void)thread;
    int64_t timeout_ms = player_patience(TRY_PERCENT, SHORT_PERCENT, SHORT_MS);
    int which = player_chance(SECOND_PERCENT);
    claim_record *record = note_claim(c, which, timeout_ms);
    pdk_interrupt *interrupt = begin_interruptible(c);
    pdk_status status = pdk_lease_lock_acquire(c->leases[which], timeout_ms, &hold);
    end_interruptible(c, interrupt);
    if (status != PDK_OK) {
        record_failed(record, status);
        if (!may_fail(c, timeout_ms, status))
            actor_expect(c, "lease", status, PDK_OK);
        return true;
    }
    record_granted(record, hold);
    actor_keep(c, record_number(record), hold, true);
    end(c, record, c->leases[which], hold);
    return true;
}
