/* The tests' names for the servers of libpaddock-testing: include/paddock/testing.h says what each does. */
#ifndef TS_ENSEMBLE_H
#define TS_ENSEMBLE_H

#include <sys/types.h>

#include "testing/ensemble.h"
#include "ts_fourletter.h"
#include "ts_proxy.h"

typedef pdk_test_ensemble ts_ensemble;

/* Zero or NULL means the default. */
typedef struct {
    int nodes; /* 1 or 3 */
    int tick_ms;
    int init_limit; /* in ticks */
    int sync_limit;
    int min_session_ms;
    int max_session_ms;
    const char *const *java_properties;
    const char *const *config_lines;
} ts_ensemble_options;

/* Says on standard error why there are no servers. `options` may be NULL. */
ts_ensemble *ts_ensemble_start(const ts_ensemble_options *options);

#define ts_ensemble_stop pdk_test_ensemble_stop
#define ts_ensemble_size pdk_test_ensemble_size
#define ts_ensemble_hosts pdk_test_ensemble_hosts
#define ts_ensemble_host pdk_test_ensemble_host
#define ts_ensemble_proxied_hosts pdk_test_ensemble_proxied_hosts
#define ts_ensemble_proxied_host pdk_test_ensemble_proxied_host
#define ts_ensemble_proxy pdk_test_ensemble_proxy
#define ts_ensemble_pid pdk_test_ensemble_pid
#define ts_ensemble_log pdk_test_ensemble_log
#define ts_ensemble_mode pdk__test_ensemble_mode
#define ts_ensemble_leader pdk_test_ensemble_leader
#define ts_ensemble_wait_ready pdk_test_ensemble_wait_ready
#define ts_ensemble_wait_leader pdk_test_ensemble_wait_leader
#define ts_ensemble_isolate pdk_test_ensemble_isolate
#define ts_ensemble_depose pdk_test_ensemble_depose
#define ts_ensemble_heal pdk_test_ensemble_heal
#define ts_ensemble_kill pdk_test_ensemble_kill
#define ts_ensemble_restart pdk_test_ensemble_restart

#endif
