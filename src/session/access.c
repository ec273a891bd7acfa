#include "session/access.h"

#include "base/text.h"

#include <glib.h>
#include <string.h>

/* The most entries that are taken. Each node carries them all. */
#define ENTRIES_MAX 100

static bool is_text(const char *text, size_t least, size_t most) {
    return text && strlen(text) >= least && strlen(text) <= most && g_utf8_validate(text, -1, NULL);
}

static pdk_status check_list(const pdk_session_options *o) {
    if (!o->access_list || o->access_count < 1 || o->access_count > ENTRIES_MAX)
        return pdk__fail(PDK_INVALID, "options: access: PDK_ACCESS_LIST takes access_list with 1 to %d entries",
                         ENTRIES_MAX);
    for (int32_t i = 0; i < o->access_count; i++) {
        const pdk_access_entry *entry = &o->access_list[i];
        if (entry->permissions < 1 || entry->permissions > PDK_PERMISSION_ALL || entry->reserved != 0)
            return pdk__fail(PDK_INVALID, "options: access_list[%d]: permissions is %d, from 1 to 31; reserved is 0",
                             (int)i, (int)entry->permissions);
        if (!is_text(entry->scheme, 1, 64) || !is_text(entry->id, 0, 1024))
            return pdk__fail(PDK_INVALID, "options: access_list[%d]: scheme or id is NULL, too long or not UTF-8",
                             (int)i);
    }
    return PDK_OK;
}

pdk_status pdk__access_check(const pdk_session_options *o) {
    if (o->access == PDK_ACCESS_LIST)
        return check_list(o);
    if (o->access_list || o->access_count != 0)
        return pdk__fail(PDK_INVALID, "options: access_list is for PDK_ACCESS_LIST alone");
    if ((o->access == PDK_ACCESS_CREATOR || o->access == PDK_ACCESS_CREATOR_READERS) && !o->digest && !o->tls)
        return pdk__fail(PDK_INVALID, "options: access: the creator has no credentials; set digest");
    return PDK_OK;
}

struct pdk__access pdk__access_copy(const pdk_session_options *o) {
    struct pdk__access access = {(pdk_access)o->access, NULL, o->access_count};
    if (access.choice == PDK_ACCESS_DEFAULT)
        access.choice = o->digest ? PDK_ACCESS_CREATOR_READERS : PDK_ACCESS_OPEN;
    access.list = g_new0(pdk_access_entry, (gsize)o->access_count);
    for (int32_t i = 0; i < o->access_count; i++) {
        access.list[i] = o->access_list[i];
        access.list[i].scheme = g_strdup(o->access_list[i].scheme);
        access.list[i].id = g_strdup(o->access_list[i].id);
    }
    return access;
}

void pdk__access_free(struct pdk__access *access) {
    for (int32_t i = 0; i < access->count; i++) {
        g_free((char *)access->list[i].scheme);
        g_free((char *)access->list[i].id);
    }
    g_free(access->list);
}
