#include "session/blocking.h"

#include "base/fork.h"
#include "base/text.h"

pdk_status pdk__session_usable(pdk_session *s, const char *call) {
    pdk__assert_locked(s);
    return s->ended == PDK_OK ? PDK_OK : pdk__fail(s->ended, "%s: %s", call, s->trouble_text);
}

pdk_status pdk__session_connected(pdk_session *s, const char *call) {
    pdk_status status = pdk__session_usable(s, call);
    if (status != PDK_OK)
        return status;
    if (s->link != PDK__LINK_CONNECTED && s->link != PDK__LINK_SUSPENDED)
        return pdk__fail(PDK_UNAVAILABLE, "%s: there is no ZooKeeper session now; PDK_SESSION_REOPENED tells when",
                         call);
    return PDK_OK;
}

pdk_status pdk__check_call(pdk_session *s, const char *call, int64_t timeout_ms) {
    if (!s)
        return pdk__fail(PDK_INVALID, "%s: session: NULL", call);
    if (s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the session belongs to the parent process; open one after the fork", call);
    if (timeout_ms < 0 && timeout_ms != PDK_FOREVER)
        return pdk__fail(PDK_INVALID, "%s: timeout_ms is %lld; 0 or more, or PDK_FOREVER", call, (long long)timeout_ms);
    return PDK_OK;
}

pdk_status pdk__may_block(pdk_session *s, const char *call, int64_t timeout_ms) {
    pdk_status status = pdk__check_call(s, call, timeout_ms);
    if (status == PDK_OK && pdk__in_callback())
        return pdk__fail(PDK_WRONG_THREAD, "%s: blocks, so it must not be called from a callback", call);
    return status;
}

int64_t pdk__deadline(pdk_session *s, int64_t timeout_ms) { return pdk__deadline_after(pdk__now(s), timeout_ms); }

int64_t pdk__deadline_after(int64_t now, int64_t timeout_ms) {
    return timeout_ms < 0 || timeout_ms > (INT64_MAX - now) / PDK__MS ? INT64_MAX : now + timeout_ms * PDK__MS;
}
