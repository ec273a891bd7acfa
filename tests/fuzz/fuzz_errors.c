/* Codes of ZooKeeper. A code is known only when the client library or the server has a word for it. Its name says its
 * number. A code of the transport is never taken for a statement about the execution. Input: a code. */
#include "fuzz.h"
#include "zk/errors.h"

#include <glib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

/* A server decided the API's errors. The client library decided that it did not send a request. Success is certain too.
 * These codes say nothing about the request itself: */
static bool is_statement(int code) {
    static const int about_the_session[] = {ZSESSIONEXPIRED, ZAUTHFAILED, ZCLOSING, ZSESSIONMOVED};
    for (size_t i = 0; i < G_N_ELEMENTS(about_the_session); i++)
        if (code == about_the_session[i])
            return false;
    return code == ZOK || code == ZUNIMPLEMENTED || code == ZBADARGUMENTS || (code <= -12 && code >= -15) ||
           (code <= ZAPIERROR && code >= -127);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    int code = (int)(uint32_t)fuzz_number(&in, 4);
    enum pdk__result result = pdk__zk_result(code);
    const char *name = pdk__zk_code_name(code);
    g_autofree char *number = g_strdup_printf("(%d)", code);
    bool named = strcmp(name, "error") != 0;
    FUZZ_REQUIRE(result <= PDK__BAD_VERSION && result != PDK__LIMITED, "%d: result %d", code, result);
    FUZZ_REQUIRE((result == PDK__OK) == (code == ZOK), "%d: result %d", code, result);
    FUZZ_REQUIRE(!named || g_str_has_suffix(name, number), "%d is called %s", code, name);
    FUZZ_REQUIRE(result == PDK__UNKNOWN || is_statement(code), "%d: result %d", code, result);
    FUZZ_REQUIRE(result == PDK__UNKNOWN || named, "%d has a meaning and no name", code);
    bool known = strcmp(zerror(code), "unknown error") != 0 || code == -125 || code == ZTHROTTLEDOP ||
                 (code <= -12 && code >= -15) || (code <= -117 && code >= -127); /* later servers have them */
    FUZZ_REQUIRE(!named || known, "the client library does not know %s", name);
    return 0;
}
