/* For the tests of the models of records: each row of a table is a configuration that keeps every promise, in every order of events. */
#ifndef RECORD_BENCH_H
#define RECORD_BENCH_H

#include "search.h"
#include "ts_check.h"

#include <inttypes.h>

/* Walks all of it, and prints what happened, in the order of the counts. */
static inline void keeps_promises(const struct search_model *model, uint64_t least, const uint64_t *counts,
                                  const char *const *names, int names_count) {
    struct search_result r = search(model, stdout);
    printf("%" PRIu64 " states, %" PRIu64 " steps", r.states, r.steps);
    for (int i = 0; i < names_count; i++)
        printf("%s %s %" PRIu64, i == 0 ? ";" : ",", names[i], counts[i]);
    printf("\n");
    ck_assert_msg(!r.broken, "%s", r.broken);
    ck_assert(r.closed);
    ck_assert_uint_ge(r.states, least);
}

#endif
