#include "zk/foreign.h"

#include "zk/errors.h"

#include <string.h>

/* ZooKeeper's ids begin with the server's number and the time in ms, and its passwords are random. */
#define COUNTED_TO (INT64_C(1) << 40)

bool pdk__foreign_is(int64_t session, const char *password) {
    static const char nothing[sizeof((clientid_t *)NULL)->passwd];
    return session > 0 && session < COUNTED_TO && memcmp(password, nothing, sizeof nothing) == 0;
}

/* The root is there, always, so it cannot be created. */
bool pdk__foreign_ask(zhandle_t *handle, const struct ACL_vector *acl, string_stat_completion_t fn,
                      const void *context) {
    return zoo_acreate2(handle, "/", NULL, -1, acl, ZOO_EPHEMERAL, fn, context) == ZOK;
}

/* The connection is lost where the server hangs up on it. */
bool pdk__foreign_can(int code) {
    enum pdk__result result = pdk__zk_result(code);
    return code != ZUNIMPLEMENTED && result != PDK__UNKNOWN;
}
