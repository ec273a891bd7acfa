#include "zk/errors.h"

#include <stddef.h>
#include <zookeeper/zookeeper.h>

enum { CODE_QUOTA_EXCEEDED = -125 }; /* the server knows it, the C client's header does not */

/* A code is ambiguous when it can be reported for a request that was sent, or may yet be: a lost connection, a time-out of
 * the connection, an answer out of order, a close in progress, a session that ended. A code that is not listed counts as
 * ambiguous too: reading again costs a round trip, guessing costs a lock. */
static const struct {
    int code;
    enum pdk__result result;
    const char *name;
} table[] = {
    {ZOK, PDK__OK, "ZOK(0)"},
    {ZCONNECTIONLOSS, PDK__UNKNOWN, "ZCONNECTIONLOSS(-4)"},
    {ZOPERATIONTIMEOUT, PDK__UNKNOWN, "ZOPERATIONTIMEOUT(-7)"},
    {ZRUNTIMEINCONSISTENCY, PDK__UNKNOWN, "ZRUNTIMEINCONSISTENCY(-2)"},
    {ZSYSTEMERROR, PDK__UNKNOWN, "ZSYSTEMERROR(-1)"},
    {ZMARSHALLINGERROR, PDK__UNKNOWN, "ZMARSHALLINGERROR(-5)"},
    {ZCLOSING, PDK__UNKNOWN, "ZCLOSING(-116)"},
    {ZSESSIONEXPIRED, PDK__UNKNOWN, "ZSESSIONEXPIRED(-112)"},
    {ZSESSIONMOVED, PDK__UNKNOWN, "ZSESSIONMOVED(-118)"},
    {ZINVALIDSTATE, PDK__UNKNOWN, "ZINVALIDSTATE(-9)"},
    {ZAUTHFAILED, PDK__UNKNOWN, "ZAUTHFAILED(-115)"},
    {ZNONODE, PDK__NO_NODE, "ZNONODE(-101)"},
    {ZNODEEXISTS, PDK__NODE_EXISTS, "ZNODEEXISTS(-110)"},
    {ZNOAUTH, PDK__NOT_ALLOWED, "ZNOAUTH(-102)"},
    {ZINVALIDACL, PDK__NOT_ALLOWED, "ZINVALIDACL(-114)"},
    {ZTHROTTLEDOP, PDK__NOT_NOW, "ZTHROTTLEDOP(-127)"},
    {ZNOTREADONLY, PDK__NOT_NOW, "ZNOTREADONLY(-119)"},
    {ZUNIMPLEMENTED, PDK__REFUSED, "ZUNIMPLEMENTED(-6)"},
    {ZBADARGUMENTS, PDK__REFUSED, "ZBADARGUMENTS(-8)"},
    {ZAPIERROR, PDK__REFUSED, "ZAPIERROR(-100)"},
    {ZBADVERSION, PDK__BAD_VERSION, "ZBADVERSION(-103)"},
    {ZNOCHILDRENFOREPHEMERALS, PDK__REFUSED, "ZNOCHILDRENFOREPHEMERALS(-108)"},
    {ZNOTEMPTY, PDK__REFUSED, "ZNOTEMPTY(-111)"},
    {ZEPHEMERALONLOCALSESSION, PDK__REFUSED, "ZEPHEMERALONLOCALSESSION(-120)"},
    {CODE_QUOTA_EXCEEDED, PDK__REFUSED, "QUOTAEXCEEDED(-125)"},
};

enum pdk__result pdk__zk_result(int code) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            return table[i].result;
    return PDK__UNKNOWN;
}

const char *pdk__zk_code_name(int code) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            return table[i].name;
    return "error";
}
