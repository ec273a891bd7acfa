#include "looker.h"

#include "say.h"
#include "status.h"

int cmd_looker_open(cmd_looker *looker, const cmd_settings *settings, const char *path) {
    pdk_session_options options = cmd_settings_session(settings);
    *looker = (cmd_looker){.settings = settings};
    pdk_status status = pdk_session_open(settings->servers, &options, &looker->session);
    if (status || !path)
        (void)0;
    else if (settings->permits)
        status = pdk_semaphore_new(looker->session, path, settings->permits, NULL, &looker->semaphore);
    else if (settings->shared)
        status = pdk_rwlock_new(looker->session, path, NULL, &looker->rwlock);
    else
        status = pdk_lock_new(looker->session, path, NULL, &looker->lock);
    if (status)
        cmd_error("%s", pdk_error_text());
    return cmd_status(status, settings->busy);
}

pdk_status cmd_looker_look(const cmd_looker *looker, pdk_contenders **out) {
    if (looker->semaphore)
        return pdk_semaphore_holders(looker->semaphore, CMD_LOOK_MS, out);
    if (looker->rwlock)
        return pdk_rwlock_contenders(looker->rwlock, CMD_LOOK_MS, out);
    return pdk_lock_contenders(looker->lock, CMD_LOOK_MS, out);
}

pdk_status cmd_looker_list(const cmd_looker *looker, pdk_contenders **out) {
    pdk_status status = cmd_looker_look(looker, out);
    if (status)
        cmd_error("%s", pdk_error_text());
    return status;
}

size_t cmd_looker_holders(const cmd_looker *looker, const pdk_contenders *list) {
    size_t count = pdk_contenders_count(list), readers = 0;
    if (looker->semaphore)
        return count;
    while (readers < count && pdk_contenders_is_shared(list, readers))
        readers++;
    return readers ? readers : MIN(count, 1);
}

void cmd_looker_close(cmd_looker *looker) {
    pdk_lock_unref(looker->lock);
    pdk_rwlock_unref(looker->rwlock);
    pdk_semaphore_unref(looker->semaphore);
    if (looker->session)
        (void)pdk_session_close(looker->session, 2000);
    pdk_session_unref(looker->session);
}
