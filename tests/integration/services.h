/* Services under test: a function that runs while we lead, and what it saw. They live until ts_paddock_clear, which
 * stops them. */
#ifndef SERVICES_H
#define SERVICES_H

#include "elections.h"

typedef struct test_service test_service;

/* When the function returns: when it is told to; when it is told to and the test allows it; at once. */
enum behaviour { RETURNS_WHEN_TOLD, RETURNS_WHEN_ALLOWED, RETURNS_AT_ONCE };

/* Runs the service. `options`, NULL for the defaults, is for drain and drain_ms: the callbacks are the record's. The
 * function calls `act`, unless it is NULL, at the beginning of each run. Fails the test when the call is refused. */
test_service *test_service_run(pdk_election *election, enum behaviour behaviour, const pdk_service_options *options,
                               void (*act)(test_service *s, pdk_term *term));
void test_service_allow_return(test_service *s);

pdk_service *test_service_handle(test_service *s);
record *test_service_record(test_service *s);
/* Drops the reference without a stop. */
void test_service_unref(test_service *s);

/* How often the function began; whether it runs. */
int test_service_runs(test_service *s);
bool test_service_is_running(test_service *s);
bool test_service_wait_runs(test_service *s, int count, int64_t timeout_ms);
/* The hold of the newest run, a reference of the test service's. Waits until that run sees its end. */
pdk_hold *test_service_hold(test_service *s);
bool test_service_wait_end(test_service *s, int64_t timeout_ms);
/* What no run may ever see, in words: "" when all was well. */
const char *test_service_problem(test_service *s);

/* Fails the test when there was a problem, or when the record's history is another one. */
#define assert_service(s, history)                                                                                     \
    do {                                                                                                               \
        ck_assert_str_eq(test_service_problem(s), "");                                                                 \
        assert_history(test_service_record(s), history);                                                               \
    } while (0)

#endif
