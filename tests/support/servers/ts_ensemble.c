/* Servers with the defaults and the words of the tests. */
#include "ts_ensemble.h"

#include <stdio.h>

ts_ensemble *ts_ensemble_start(const ts_ensemble_options *options) {
    static const ts_ensemble_options defaults;
    const ts_ensemble_options *o = options != NULL ? options : &defaults;
    const pdk_test_options full = {.size = sizeof full,
                                   .servers = o->nodes,
                                   .tick_ms = o->tick_ms,
                                   .init_limit = o->init_limit,
                                   .sync_limit = o->sync_limit,
                                   .min_session_ms = o->min_session_ms,
                                   .max_session_ms = o->max_session_ms,
                                   .java_properties = o->java_properties,
                                   .config_lines = o->config_lines};
    ts_ensemble *e = pdk_test_ensemble_start(&full);

    if (e == NULL) {
        fprintf(stderr, "test support: %s\n", pdk_test_last_error());
    }
    return e;
}
