/* A member of the group of group_bench.h, in the first process, whose data are set by threads. */
#ifndef MEMBER_BENCH_H
#define MEMBER_BENCH_H

#include "group_bench.h"

/* What a thread sets, and what it was answered. */
extern struct member_setting {
    const char *text;
    int64_t timeout_ms;
    pdk_status status;
    char why[128]; /* of a failure */
    bool over;
} member_settings[2];

/* Anew: it is registered, with "one". */
void member_begin(void);
/* The setting of that number, begun. */
struct member_setting *member_set(int number, const char *text, int64_t timeout_ms);
void member_assert_set(const struct member_setting *setting, pdk_status status);
/* In truth. */
void member_assert_data(const char *text);
/* It leaves, and no node is left. */
void member_finish(void);

#endif
