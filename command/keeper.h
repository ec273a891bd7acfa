/*
 * The keeper: the session, the claim and the hold of `run` and `hold`; of `elect` the session and the hold. One thread:
 * all callbacks run in cmd_keeper_wait.
 *
 *     open ──► cmd_keeper_acquire ──► held ──► the verb's own loop on cmd_keeper_wait ──► cmd_keeper_close
 */
#ifndef CMD_KEEPER_H
#define CMD_KEEPER_H

#include "recipe.h"
#include <poll.h>

typedef struct {
    const cmd_settings *settings;
    const char *path;   /* the path as it is told: all of several */
    char *const *paths; /* cmd_keeper_acquire claims these: all or none */
    size_t count;
    char *words; /* the text that `path` points to, or NULL */
    pdk_session *session;
    cmd_recipe *recipes; /* one for each of the paths */
    pdk_claim *claim;    /* of one path, */
    pdk_hold *hold;
    pdk_set_claim *set_claim; /* or of several */
    pdk_set *set;
    bool loss_seen;   /* the loss of the hold: its descriptor stays readable, and is not waited for again */
    int signals;      /* a signalfd; every signal is blocked */
    bool by_terminal; /* the signal that was read last comes from a terminal's key, and not from a process */
    bool connected, decided;
    bool away;                   /* the connection is lost, and not back */
    bool ended;                  /* the session has ended by itself: the credentials are refused */
    int64_t until;               /* a job's --at-most is over then, by cmd_now_ms; 0: there is none */
    bool speaks;                 /* a verb that has no command, and says what it does */
    struct cmd_waiting *waiting; /* the line of a wait on a terminal, or NULL */
    pdk_status status;           /* of the claim, once it is decided */
    bool elects;                 /* the hold is a leader's */
    bool looked;                 /* for other recipes, since our node stands */
    int looks;                   /* unanswered looks for other recipes at a path */
    bool unanswered;             /* no server has answered one of them in time */
    char *others;                /* "… holds …": another one that was found, or NULL */
    bool looks_outside;          /* at the first connection */
    bool inside;                 /* this program runs under a hold that it would wait for */
    bool asked;                  /* somebody asks for the hold; set after cmd_keeper_listen alone */
    /* The connection is lost, or is back. May be NULL. */
    void (*on_suspended)(int64_t left_ms, void *user);
    void (*on_restored)(void *user);
    void (*on_session)(
        void *user); /* there is another ZooKeeper session, or the connection is back: a server has answered */
    void *user;
    char *trouble; /* why there is no connection, or was none, as far as it is known */
    /* Further descriptors to wait for, whatever the verb does meanwhile, and a moment by cmd_now_ms; after each wait
     * `tick` is called, with tick_user. At first none. */
    struct pollfd extra[2];
    size_t extras;
    int64_t wake_at;
    void (*tick)(void *user);
    void *tick_user;
} cmd_keeper;

/* Blocks all signals but the ones that the caller has us ignore, and reads them from k->signals. Call it before
 * anything that has threads. false when the system refuses. */
bool cmd_keeper_signals(cmd_keeper *k);

/* Opens the session, in the background. CMD_OK, or another result, having said why. */
int cmd_keeper_open(cmd_keeper *k);
/* Gives up if no server has answered too long after `since`, or gives a session that carries no lease: it says so, or
 * names the resource that the system is short of, and returns the result. Otherwise CMD_OK. */
int cmd_keeper_gives_up(const cmd_keeper *k, int64_t since);
/* Obeys a signal while no command runs: the exit status 128 + N for a signal that ends the wait, or 0. A stop happens
 * in the call. */
int cmd_keeper_obey(int number);

/* Before the rest: the paths to claim. They must live until the end. false, having said why, when --on-ask cannot be
 * heard for them. */
bool cmd_keeper_paths(cmd_keeper *k, char *const *paths, size_t count);
/* The hold, be it one hold or a set: is there one, is it valid, for how long, and why is it lost. */
bool cmd_keeper_holds(const cmd_keeper *k);
bool cmd_keeper_is_valid(const cmd_keeper *k);
int64_t cmd_keeper_remaining_ms(const cmd_keeper *k);
const char *cmd_keeper_why_lost(const cmd_keeper *k);
/* How many rights are held, and each of them: its hold, and its path as it was given. */
size_t cmd_keeper_parts(const cmd_keeper *k);
const pdk_hold *cmd_keeper_part(const cmd_keeper *k, size_t index);
const char *cmd_keeper_part_path(const cmd_keeper *k, size_t index);

/* Opens the session and acquires. CMD_OK: k->hold or k->set is there. Otherwise the result, having said why: such as
 * CMD_TAKEN, or 128 + N when signal N ended the wait. */
int cmd_keeper_acquire(cmd_keeper *k);

/* Asks the servers, without waiting, whether this program runs under a hold of one of k->paths, as a command of
 * `paddock`. k->inside is set if it does. Before the first connection the questions wait for it. cmd_keeper_acquire
 * calls this once it has to wait. */
void cmd_keeper_look_outside(cmd_keeper *k);
/* k->inside: says so. The result. */
int cmd_keeper_waits_for_itself(const cmd_keeper *k);

/* By --on-ask=term: sets k->asked, and says so, once somebody asks k->hold to let go. cmd_keeper_acquire calls this. */
void cmd_keeper_listen(cmd_keeper *k);

/* The findings of cmd_keeper_wait. */
enum { CMD_SAW_NOTHING = 0, CMD_SAW_SIGNAL = 1, CMD_SAW_LOSS = 2, CMD_SAW_OTHER = 4 };

/* Waits for at most timeout_ms (negative: for ever) and runs callbacks. `others` are at most CMD_OTHERS descriptors of
 * the verb's own, as for poll. *number gets the signal. */
enum { CMD_OTHERS = 2 };
unsigned cmd_keeper_wait(cmd_keeper *k, struct pollfd *others, size_t count, int64_t timeout_ms, int *number);

/* Releases, and closes the session once the servers have confirmed that. */
void cmd_keeper_close(cmd_keeper *k);

#endif
