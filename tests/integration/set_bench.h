/* Sets of rights under test: to acquire them, and to look at what is left. All of these live until ts_paddock_clear. */
#ifndef SET_BENCH_H
#define SET_BENCH_H

#include <paddock/set.h>

#include "ts_bench.h"

struct set {
    pdk_right rights[8];
    size_t count;
};

/* set_of(pdk_right_lock(a), pdk_right_read(b), …), at most 8 */
#define set_of(...)                                                                                                    \
    set_new((const pdk_right[]){__VA_ARGS__}, sizeof((const pdk_right[]){__VA_ARGS__}) / sizeof(pdk_right))
struct set *set_new(const pdk_right *rights, size_t count);
/* The same set, named backwards. */
struct set *set_backwards(const struct set *set);

/* Acquires it with a witness: asynchronously, or blocking on a thread of its own. */
ts_answer *set_async(struct set *set, int64_t timeout_ms);
ts_answer *set_thread(struct set *set, int64_t timeout_ms);
/* Acquires it within 10 s, and fails the test otherwise. */
pdk_set *set_take(struct set *set);
/* Checks that the answer comes within 10 s, with that status, and a held exactly with PDK_OK. */
void set_await(ts_answer *answer, pdk_status status);

/* Waits until the directory has so many nodes, and fails the test otherwise. */
void set_children(const char *path, int count);

#endif
