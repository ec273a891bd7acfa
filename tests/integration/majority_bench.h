/* Majorities under test: five ensembles of one server each, for the whole program, and members who have a session to each of them,
 * through proxies of their own. Members live until ts_paddock_clear. */
#ifndef MAJORITY_BENCH_H
#define MAJORITY_BENCH_H

#include <paddock/set.h>

#include "ts_bench.h"

enum { ENSEMBLES = 5, NEED = 3 };

struct member {
    ts_client *client[ENSEMBLES];
    char *path[ENSEMBLES]; /* the number of the ensemble is part of it: so the first is taken first */
    pdk_lock *lock[ENSEMBLES];
    pdk_right right[ENSEMBLES]; /* the lock of each */
    pdk_set_options options;    /* need is NEED */
};

/* A test case of `suite` with the servers, and clean-up. */
TCase *majority_case(Suite *suite, const char *name);
/* One of the servers, "ip:port". */
const char *majority_server(int i);
/* The servers stay, and are up again after each test. */
void majority_server_down(int i);

/* A member with locks on paths that begin with that one. Options: NULL, or for each session. */
struct member *member_new(const char *path, int session_ms, const pdk_session_options *options);
/* The same, with a session timeout for each. */
struct member *member_of(const char *path, const int session_ms[ENSEMBLES], const pdk_session_options *options);
/* Cuts, silences (TS_BLACKHOLE) or heals the links of a member to the ensembles from..from+count-1. */
void member_links(const struct member *m, int from, int count, ts_proxy_mode mode);

pdk_status member_acquire(struct member *m, int64_t timeout_ms, pdk_set **out);
/* In time, or the test fails. */
pdk_set *member_take(struct member *m);
ts_answer *member_async(struct member *m, int64_t timeout_ms);
ts_answer *member_thread(struct member *m, int64_t timeout_ms);

/* How many parts of it are valid now. */
int parts_held(const pdk_set *held);
/* Waits until so many are, and fails the test otherwise. */
void parts_wait(const pdk_set *held, int count);
/* Gives back one of its locks. It has none afterwards. */
void member_drop_lock(struct member *m, int i);
/* Waits until the path has so many nodes in each ensemble, and fails the test otherwise. */
void majority_nodes(const char *path, int count);

#endif
