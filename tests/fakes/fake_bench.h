/* Two clients of the small fake ZooKeeper, through the driver's own table of calls; answers and events are written
 * down, a word each:
 *
 *     connected connecting expired        states
 *     4=0 4=1 4=0:x-0000000003 4=0,y,x    the answer to request 4, as a number of enum pdk__result; a create's name; a list
 *     gone:/a changed:/a children:/a      watches
 */
#ifndef FAKE_BENCH_H
#define FAKE_BENCH_H

#include "fake_environment.h"
#include "ts_check.h"

#define MARK_A "_c_a-lock-"
#define MARK_B "_c_b-lock-"

struct fake_client {
    pdk__zk *zk;
    char heard[2048];
    int64_t session, token, owner;
};

extern struct ts_fake_environment fake_environment;
extern struct fake_client fake_a, fake_b;

/* Both are connected; the directory is /locks/a, of which so many levels exist. */
void fake_begin(int32_t levels);
void fake_end(void);
void fake_open(struct fake_client *c);
/* Its number at the fake. */
int32_t fake_session(const struct fake_client *c);
void fake_submit(struct fake_client *c, uint64_t tag, enum pdk__op_kind kind, const char *path);
void fake_create_named(struct fake_client *c, uint64_t tag, const char *path);
void fake_watch_children(struct fake_client *c, uint64_t tag);
/* Until nothing is left to be done. */
void fake_settle(void);
/* Checks what it has heard since the last time. */
void fake_heard(struct fake_client *c, const char *text);

#endif
