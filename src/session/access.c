#include "session/access.h"

#include "base/text.h"

#include <assert.h>
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
        if (entry->permissions < 1 || entry->permissions > PDK_PERMISSION_ALL)
            return pdk__fail(PDK_INVALID, "options: access_list[%d]: permissions is %d; from 1 to 31", (int)i,
                             (int)entry->permissions);
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

static bool is_creators(pdk_access choice) {
    return choice == PDK_ACCESS_CREATOR || choice == PDK_ACCESS_CREATOR_READERS;
}

/* Name the user alone. To a server the creator ("auth") is the certificate as well, and a tunnel may show one, which
 * every user of the machine may reach. */
static void name_creator(struct pdk__access *access, const char *digest) {
    struct pdk__acl own = pdk__access_own(digest);
    assert(own.entries); /* a digest is one user */
    const pdk_access_entry list[] = {own.entries[0], {PDK_PERMISSION_READ, "world", "anyone"}};
    access->count = access->choice == PDK_ACCESS_CREATOR ? 1 : 2;
    access->choice = PDK_ACCESS_LIST;
    g_free(access->list);
    access->list = pdk__acl_copy(list, (size_t)access->count).entries;
    pdk__acl_clear(&own);
}

struct pdk__access pdk__access_copy(const pdk_session_options *o) {
    struct pdk__access access = {(pdk_access)o->access, NULL, o->access_count, o->accept_unprotected != 0};
    if (access.choice == PDK_ACCESS_DEFAULT)
        access.choice = o->digest ? PDK_ACCESS_CREATOR_READERS : PDK_ACCESS_OPEN;
    access.list = pdk__acl_copy(o->access_list, (size_t)o->access_count).entries;
    if (o->digest && !o->tls && is_creators(access.choice))
        name_creator(&access, o->digest);
    return access;
}

void pdk__access_free(struct pdk__access *access) {
    struct pdk__acl list = {access->list, (size_t)access->count};
    pdk__acl_clear(&list);
}

struct pdk__acl pdk__acl_copy(const pdk_access_entry *entries, size_t count) {
    struct pdk__acl acl = {g_new0(pdk_access_entry, count), count};
    for (size_t i = 0; i < count; i++)
        acl.entries[i] =
            (pdk_access_entry){entries[i].permissions, g_strdup(entries[i].scheme), g_strdup(entries[i].id)};
    return acl;
}

void pdk__acl_clear(struct pdk__acl *acl) {
    for (size_t i = 0; i < acl->count; i++) {
        g_free((char *)acl->entries[i].scheme);
        g_free((char *)acl->entries[i].id);
    }
    g_free(acl->entries);
    *acl = (struct pdk__acl){NULL, 0};
}

/* ---- does a list protect? */

/* The permissions with which others could do harm. */
#define HARM (PDK_PERMISSION_WRITE | PDK_PERMISSION_CREATE | PDK_PERMISSION_DELETE | PDK_PERMISSION_ADMIN)

/* The user, and base64 of SHA-1 of "user:password". */
struct pdk__acl pdk__access_own(const char *digest) {
    guint8 hash[20];
    gsize size = sizeof hash;
    if (!digest)
        return (struct pdk__acl){NULL, 0};
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)digest, -1);
    g_checksum_get_digest(sum, hash, &size);
    g_checksum_free(sum);
    char *base64 = g_base64_encode(hash, size);
    char *id = g_strdup_printf("%.*s:%s", (int)strcspn(digest, ":"), digest, base64);
    struct pdk__acl own = pdk__acl_copy(&(pdk_access_entry){PDK_PERMISSION_ALL, "digest", id}, 1);
    g_free(id);
    g_free(base64);
    return own;
}

bool pdk__access_names_creator(const struct pdk__access *access) {
    bool names = is_creators(access->choice);
    for (int32_t i = 0; i < access->count; i++)
        names |= strcmp(access->list[i].scheme, "auth") == 0;
    return names;
}

static bool is_everybody(const pdk_access_entry *entry) { return strcmp(entry->scheme, "world") == 0; }

static int32_t granted(const pdk_access_entry *entries, size_t count, const pdk_access_entry *to) {
    int32_t permissions = 0;
    for (size_t i = 0; i < count; i++) {
        bool same = strcmp(entries[i].scheme, to->scheme) == 0 && strcmp(entries[i].id, to->id) == 0;
        if (same || is_everybody(&entries[i]))
            permissions |= entries[i].permissions;
    }
    return permissions;
}

/* The permissions that the entry gives to others, and the choice does not. */
static int32_t too_much(const struct pdk__access *access, const struct pdk__acl *own, const pdk_access_entry *entry) {
    return HARM & entry->permissions &
           ~(granted(own->entries, own->count, entry) | granted(access->list, (size_t)access->count, entry));
}

const pdk_access_entry *pdk__access_offender(const struct pdk__access *access, const struct pdk__acl *own,
                                             const struct pdk__acl *list) {
    for (size_t i = 0; i < list->count; i++)
        if (too_much(access, own, &list->entries[i]) != 0)
            return &list->entries[i];
    return NULL;
}

char *pdk__access_rights(const struct pdk__access *access, const struct pdk__acl *own, const pdk_access_entry *entry) {
    static const struct {
        int32_t permission;
        const char *word;
    } words[] = {{PDK_PERMISSION_WRITE, "write"},
                 {PDK_PERMISSION_CREATE, "create"},
                 {PDK_PERMISSION_DELETE, "delete"},
                 {PDK_PERMISSION_ADMIN, "change the list"}};
    int32_t permissions = too_much(access, own, entry);
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (permissions & words[i].permission)
            g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", words[i].word);
    return g_string_free(text, FALSE);
}

bool pdk__access_is_masked(const pdk_access_entry *entry) {
    return strcmp(entry->scheme, "digest") == 0 && g_str_has_suffix(entry->id, ":x");
}
