/* Services under test: a function that runs while we lead, and what it saw. Like all that the support makes they live until
 * ts_paddock_clear, which stops them. */
#ifndef SERVICES_H
#define SERVICES_H

#include "elections.h"

typedef struct servant servant;

/* When the function returns: when it is told to; when it is told to and the test lets it go; at once. */
enum manner { OBEDIENT, STUBBORN, HASTY };

/* Runs it. `options`, NULL for the defaults, is for drain and drain_ms: the callbacks are the record's. `act`, or NULL, is what
 * it does at the beginning of each run. Fails the test when it is refused. */
servant *servant_run(pdk_election *election, enum manner manner, const pdk_service_options *options,
                     void (*act)(servant *s, pdk_term *term));
void servant_let_go(servant *s);

pdk_service *servant_service(servant *s);
record *servant_record(servant *s);
/* Gives the service back, without a stop. */
void servant_unref(servant *s);

/* How often the function began; whether it runs. */
int servant_runs(servant *s);
bool servant_is_running(servant *s);
bool servant_wait_runs(servant *s, int count, int64_t timeout_ms);
/* The hold of the newest run, a reference of the servant's; whether that run saw its end. */
pdk_hold *servant_hold(servant *s);
bool servant_sees_end(servant *s);
bool servant_wait_end(servant *s, int64_t timeout_ms);
/* What no run may ever see, in words: "" when all was well. */
const char *servant_complaint(servant *s);

/* Fails the test when it was not well, or when what the record was told is not this. */
#define assert_service(s, story)                                                                                       \
    do {                                                                                                               \
        ck_assert_str_eq(servant_complaint(s), "");                                                                    \
        assert_story(servant_record(s), story);                                                                        \
    } while (0)

#endif
