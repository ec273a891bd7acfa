#include "zk/errors.h"

#include <stddef.h>
#include <zookeeper/zookeeper.h>

/* Servers know them, but not every header of the C client does. */
enum {
    CODE_UNKNOWN_SESSION = -12,
    CODE_REQUEST_TIMEOUT = -122,
    CODE_REQUIRES_AUTH = PDK__CODE_REQUIRES_AUTH,
    CODE_QUOTA_EXCEEDED = -125,
};

/* A code is ambiguous when it can be reported for a request that was sent, or may yet be: a lost connection, a time-out
 * of the connection, an answer out of order, a close in progress, a session that ended. A code that is not listed
 * counts as ambiguous too: reading again costs a round trip, guessing costs a lock. */
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
    {ZDATAINCONSISTENCY, PDK__UNKNOWN, "ZDATAINCONSISTENCY(-3)"},
    {CODE_UNKNOWN_SESSION, PDK__UNKNOWN, "UNKNOWNSESSION(-12)"},
    {ZSSLCONNECTIONERROR, PDK__UNKNOWN, "ZSSLCONNECTIONERROR(-15)"},
    {ZINVALIDCALLBACK, PDK__UNKNOWN, "ZINVALIDCALLBACK(-113)"},
    {ZNOTHING, PDK__UNKNOWN, "ZNOTHING(-117)"},
    {CODE_REQUEST_TIMEOUT, PDK__UNKNOWN, "REQUESTTIMEOUT(-122)"}, /* the server gave up waiting, not the request */
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
    {CODE_REQUIRES_AUTH, PDK__REFUSED, "SESSIONCLOSEDREQUIRESASLAUTH(-124)"}, /* and it is the end of the session */
    {ZNOWATCHER, PDK__REFUSED, "ZNOWATCHER(-121)"},
    {ZRECONFIGDISABLED, PDK__REFUSED, "ZRECONFIGDISABLED(-123)"},
    {ZNEWCONFIGNOQUORUM, PDK__NOT_NOW, "ZNEWCONFIGNOQUORUM(-13)"},
    {ZRECONFIGINPROGRESS, PDK__NOT_NOW, "ZRECONFIGINPROGRESS(-14)"},
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
