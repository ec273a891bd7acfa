#include "grant/recipe.h"

#include "base/fork.h"
#include "base/text.h"
#include "core/paths.h"
#include "session/blocking.h"

#include <string.h>

pdk_status pdk__recipe_check(pdk_session *session, const char *path, const void *out, const char *call) {
    if (!session || !path || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, !session ? "session" : !path ? "path" : "out");
    if (session->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the session belongs to the parent process; open one after the fork", call);
    const char *wrong = pdk__path_error(path, strlen(session->hosts->chroot));
    if (wrong) {
        char *shown = g_strescape(path, NULL); /* it may have anything in it */
        pdk_status status = pdk__fail(PDK_INVALID, "%s: path: %s: \"%.100s\"", call, wrong, shown);
        g_free(shown);
        return status;
    }
    pdk__lock(session);
    pdk_status status = pdk__session_usable(session, call);
    pdk__unlock(session);
    return status;
}

pdk_status pdk__recipe_check_naming(int32_t naming) {
    if (naming == PDK_NAMING_CURATOR || naming == PDK_NAMING_KAZOO)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "options: naming is %d; PDK_NAMING_CURATOR or PDK_NAMING_KAZOO", naming);
}

pdk_status pdk__recipe_check_reentrant(int32_t reentrant) {
    if (reentrant == 0 || reentrant == 1)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "options: reentrant is %d; 0 or 1", reentrant);
}

pdk_status pdk__recipe_check_identity(const char *identity) {
    if (!identity ||
        (identity[0] != '\0' && strlen(identity) <= PDK__IDENTITY_MAX && g_utf8_validate(identity, -1, NULL)))
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "options: identity is empty, longer than %d bytes, or not UTF-8", PDK__IDENTITY_MAX);
}

pdk_status pdk__recipe_handovers(int32_t max_handovers, int32_t max_handover_ms, struct pdk__handovers *handovers) {
    if (max_handovers < 0 || max_handover_ms < 0)
        return pdk__fail(PDK_INVALID, "options: max_handovers or max_handover_ms is negative; 0 or more");
    pdk__handovers_init(handovers, (uint32_t)max_handovers, max_handover_ms * PDK__MS);
    return PDK_OK;
}
