#include "plays.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 2 };

void actor_wait(actor *c, int64_t ms) {
    if (ms == PDK_FOREVER) {
        pthread_cond_wait(&c->changed, &c->mutex);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms * 1000000;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&c->changed, &c->mutex, &until);
}

void actor_fail(actor *c, const char *what, const char *why) {
    player_fail(&c->player, what, why);
    _exit(FAILED);
}

void actor_expect(actor *c, const char *what, pdk_status status, pdk_status also) {
    if (status != also && !player_check(&c->player, what, status))
        _exit(FAILED);
}

static void on_order(player *p, const char *order, void *user) {
    actor *c = user;
    pthread_mutex_lock(&c->mutex);
    if (strcmp(order, "rest") == 0) {
        c->resting = true;
        for (guint i = 0; i < c->interrupts->len; i++)
            pdk_interrupt_raise(g_ptr_array_index(c->interrupts, i));
    } else if (strcmp(order, "yield") == 0) {
        c->yields++;
    } else {
        player_fail(p, "unknown order", order);
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static const actor_play plays[] = {
    {"lock", claims_open, claims_turn, claims_close, NULL},
    {"delay", claims_open, claims_turn, claims_close, NULL},
    {"rwlock", claims_open, claims_turn, claims_close, NULL},
    {"semaphore", claims_open, claims_turn, claims_close, NULL},
    {"election", election_open, election_turn, election_close, election_free},
    {"all", sets_open, sets_turn, sets_close, NULL},
    {"striped", sets_open, sets_turn, sets_close, NULL},
    {"job", job_open, job_turn, job_close, NULL},
    {"lease", lease_open, lease_turn, lease_close, NULL},
    {"group", group_open, group_turn, group_close, group_free},
};

static const actor_play *play_of(const char *recipe) {
    for (gsize i = 0; i < G_N_ELEMENTS(plays); i++)
        if (strcmp(plays[i].recipe, recipe) == 0)
            return &plays[i];
    return NULL;
}

static bool check_options(actor *c) {
    actor_options *o = &c->options;
    if (!o->recipe || !o->role || !o->folder || o->threads < 1) {
        player_fail(&c->player, "arguments", "recipe, role, resource and at least one thread are needed");
        return false;
    }
    c->play = play_of(o->recipe);
    if (!c->play)
        player_fail(&c->player, "no such recipe", o->recipe);
    c->keeps = strcmp(o->role, "keep") == 0;
    c->observes = strcmp(o->role, "observe") == 0;
    c->misasks = strcmp(o->role, "misask") == 0;
    if (!c->keeps && !c->observes && !c->misasks && strcmp(o->role, "turns") != 0)
        player_fail(&c->player, "no such role", o->role);
    c->naming = o->naming && strcmp(o->naming, "kazoo") == 0 ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR;
    if (o->naming && c->naming == PDK_NAMING_CURATOR && strcmp(o->naming, "curator") != 0)
        player_fail(&c->player, "no such naming", o->naming);
    c->resource = resource_open(o->folder, c->player.path);
    if (!c->resource)
        player_fail(&c->player, o->folder, g_strerror(errno));
    return !c->player.failed;
}

static void play(actor *c) {
    const actor_options *o = &c->options;
    event_log_note(c->player.log, "opened");
    c->play->open(c);
    player_threads_run(&c->player, o->threads, o->think_us, c->play->turn, on_order, c);
    if (c->play->close)
        c->play->close(c);
}

static void init(actor *c) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&c->mutex, NULL);
    c->records = g_ptr_array_new_with_free_func(g_free);
    c->interrupts = g_ptr_array_new();
}

static int finish(actor *c) {
    int status = player_close(&c->player);
    if (c->play && c->play->free)
        c->play->free(c);
    resource_close(c->resource);
    g_ptr_array_unref(c->records);
    g_ptr_array_unref(c->interrupts);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->mutex);
    g_free(c->options.recipe);
    g_free(c->options.role);
    g_free(c->options.folder);
    g_free(c->options.naming);
    return status;
}

int main(int argc, char **argv) {
    actor c = {.player.patient = true,
               .options = {.threads = 1,
                           .hold_us = 20000,
                           .think_us = 20000,
                           .permits = PERMITS,
                           .most = PERMITS - 1,
                           .write = 40,
                           .downgrade = 30,
                           .handovers = -1}};
    actor_options *o = &c.options;
    const GOptionEntry entries[] = {
        {"recipe", 0, 0, G_OPTION_ARG_STRING, &o->recipe,
         "lock, election, rwlock, semaphore, delay, all, striped, job, lease or group", NULL},
        {"role", 0, 0, G_OPTION_ARG_STRING, &o->role,
         "turns or keep; observe (of an election); misask (for another number of permits)", NULL},
        {"resource", 0, 0, G_OPTION_ARG_FILENAME, &o->folder, "the folder of the files that the grant protects", NULL},
        {"threads", 0, 0, G_OPTION_ARG_INT, &o->threads, "that share the recipe (1)", NULL},
        {"hold-us", 0, 0, G_OPTION_ARG_INT, &o->hold_us, "at most between reading and writing in a use (20000)", NULL},
        {"keep-ms", 0, 0, G_OPTION_ARG_INT, &o->keep_ms, "a keeper gives back within so long (0: it keeps)", NULL},
        {"most", 0, 0, G_OPTION_ARG_INT, &o->most, "permits at once (2)", NULL},
        {"write", 0, 0, G_OPTION_ARG_INT, &o->write, "percent of a read/write lock's turns (40)", NULL},
        {"downgrade", 0, 0, G_OPTION_ARG_INT, &o->downgrade, "percent of these that read on (30)", NULL},
        {"linger-ms", 0, 0, G_OPTION_ARG_INT, &o->linger_ms, "for so long a lock's node lingers (0)", NULL},
        {"handovers", 0, 0, G_OPTION_ARG_INT, &o->handovers, "between threads in a row (what the library has)", NULL},
        {"naming", 0, 0, G_OPTION_ARG_STRING, &o->naming,
         "of a lock's, a read/write lock's or an election's nodes (curator)", "curator|kazoo"},
        {"listen", 0, 0, G_OPTION_ARG_NONE, &o->listen, "candidates note the leaders that they hear of", NULL},
        {"peek", 0, 0, G_OPTION_ARG_NONE, &o->peek, "the first thread looks at the resource without a grant", NULL},
        {"think-us", 0, 0, G_OPTION_ARG_INT, &o->think_us, "at most before the next claim (20000)", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    init(&c);
    if (player_open(&c.player, argc, argv, entries) && check_options(&c))
        play(&c);
    return finish(&c);
}
