/* The driver's table of calls over the fake ZooKeeper: the production driver runs on it, step by step.
 *
 *     ts_fake_environment_use(&environment);             ts_fake_calls.open connects to this one
 *     while (ts_fake_environment_step(&environment)) …   the network and the server do one thing
 *
 * For one thread: steps, submits and closes must not run at the same time.
 */
#ifndef TS_FAKE_ENVIRONMENT_H
#define TS_FAKE_ENVIRONMENT_H

#include "fake_zk.h"

struct ts_fake_handle;

struct ts_fake_environment {
    struct ts_fake fake;
    struct ts_fake_names names;
    struct ts_fake_handle *handles[TS_FAKE_SESSIONS]; /* by session */
    int32_t next;                                     /* the session that steps next */
};

extern const struct pdk__zk_calls ts_fake_calls;

/* levels: how many levels of the directory exist already. */
void ts_fake_environment_init(struct ts_fake_environment *environment, const char *directory, int32_t levels,
                              int32_t first_sequence);
void ts_fake_environment_use(struct ts_fake_environment *environment);
/* Connect, execute or deliver, for one session after the other. false when there was nothing to do. */
bool ts_fake_environment_step(struct ts_fake_environment *environment);
/* Break the connection of a session; a step connects it again. */
void ts_fake_environment_cut(struct ts_fake_environment *environment, int32_t session);
void ts_fake_environment_expire(struct ts_fake_environment *environment, int32_t session);

#endif
