#include "session/reap.h"

#include "session/entries.h"
#include "session/ops.h"
#include "session/supervise.h"
#include "zk/errors.h"

#include <string.h>

/* A UUID of version 8 has contents that we may choose, so a name tells whether we made the node (core/names). */
void pdk__uuid_prefix_make(pdk_session *s) {
    struct {
        uint32_t a;
        uint16_t b, c, d;
    } random;
    s->platform->random(&random, sizeof random);
    g_snprintf(s->uuid_prefix, sizeof s->uuid_prefix, "%08x-%04x-8%03x-%04x-", random.a, random.b, random.c & 0xfff,
               (random.d & 0x3fff) | 0x8000);
}

/* A session may use any number of directories. So when it remembers so many, it forgets them all. */
#define SEARCHED_MAX 10000

/* An entry may learn that it has this node. Then it is to be looked for again. */
static bool may_be_known(const pdk_session *s, const char *name) {
    uint64_t serial = g_ascii_strtoull(name + pdk__name_uuid_prefix_length(name), NULL, 16);
    const struct pdk__entry *entry = g_hash_table_lookup(s->marked, &serial);
    return entry && entry->c.own[0] == '\0';
}

/* Make an entry for a node that may be ours. The contender asks for the node's session before it deletes it. */
static void reap(pdk_session *s, const char *dir, const char *mark, const char *name) {
    pdk__log(s, PDK_LOG_WARN, "%s/%s bears a name of this session, and no entry has it: deleting it if it is ours", dir,
             name);
    struct pdk__entry *entry = pdk__entry_make(s, dir, mark);
    entry->c.phase = PDK__CANDIDATE;
    g_strlcpy(entry->c.own, name, sizeof entry->c.own);
    entry->name = g_strdup(name);
    g_hash_table_insert(s->found, entry->name, entry);
    entry->c.link = s->link == PDK__LINK_CONNECTED;
    pdk__entry_leave(entry);
}

/* A node of this session's name that no entry has. */
static void reap_orphan(pdk_session *s, const char *dir, const char *text) {
    struct pdk__name name;
    if (strlen(text) >= PDK__NAME_SIZE || !pdk__name_parse(text, &name))
        return;
    size_t length = pdk__name_mark_length(text, &name);
    char *mark = g_strndup(text, length);
    if (length < PDK__MARK_SIZE)
        reap(s, dir, mark, text);
    g_free(mark);
}

void pdk__reap_orphans(pdk_session *s, const char *dir, const char *own, const char *const *names, size_t count) {
    pdk__assert_locked(s);
    bool all_known = true;
    if (g_hash_table_contains(s->searched, dir))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!pdk__name_has_uuid_prefix(names[i], s->uuid_prefix) || strcmp(names[i], own) == 0 ||
            pdk__entries_find(s, names[i]))
            continue;
        if (may_be_known(s, names[i]))
            all_known = false;
        else
            reap_orphan(s, dir, names[i]);
    }
    if (g_hash_table_size(s->searched) >= SEARCHED_MAX)
        g_hash_table_remove_all(s->searched);
    if (all_known)
        g_hash_table_add(s->searched, g_strdup(dir));
}

void pdk__reap_again(pdk_session *s, const char *dir) {
    pdk__assert_locked(s);
    g_hash_table_remove(s->searched, dir);
}

bool pdk__reap_is_done(const pdk_session *s, const char *dir) {
    pdk__assert_locked(s);
    return g_hash_table_contains(s->searched, dir);
}

void pdk__reap_everywhere(pdk_session *s) {
    pdk__assert_locked(s);
    g_hash_table_remove_all(s->searched);
}

void pdk__reap_stuck(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    char *why = g_strdup_printf("%s/%s cannot be deleted: %s; has its access control list been changed?", entry->dir,
                                entry->c.own, pdk__zk_code_name(entry->failure_code));
    pdk__session_reopen(entry->s, why);
    g_free(why);
}

static void ignore(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    (void)reply;
}

void pdk__reap_done(const struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    struct pdk__name name;
    if (!pdk__name_parse(entry->c.own, &name) ||
        (name.sequence < PDK__SEQUENCE_HIGH && !pdk__sequence_is_stuck(name.sequence)))
        return;
    pdk__log(
        entry->s, PDK_LOG_WARN,
        "%s: sequence number %d of 2147483647; removing the directory as soon as it is empty, so that its successor "
        "counts from zero",
        entry->dir, name.sequence);
    pdk__send(entry->s, (struct pdk__request){.kind = PDK__OP_DELETE, .path = entry->dir}, ignore, NULL);
}
