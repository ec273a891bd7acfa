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

/* Does an entry have this node, or will it learn that it has? */
static bool is_known(const pdk_session *s, const char *name) {
    uint64_t serial = g_ascii_strtoull(name + pdk__name_uuid_prefix_length(name), NULL, 16);
    const struct pdk__entry *entry = g_hash_table_lookup(s->marked, &serial);
    return (entry && (entry->c.own[0] == '\0' || strcmp(entry->c.own, name) == 0)) ||
           g_hash_table_contains(s->found, name);
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

void pdk__reap_orphans(pdk_session *s, const char *dir, const char *own, const char *const *names, size_t count) {
    pdk__assert_locked(s);
    for (size_t i = 0; i < count; i++) {
        struct pdk__name name;
        if (!pdk__name_has_uuid_prefix(names[i], s->uuid_prefix) || strcmp(names[i], own) == 0 ||
            is_known(s, names[i]) || strlen(names[i]) >= PDK__NAME_SIZE || !pdk__name_parse(names[i], &name))
            continue;
        size_t length = pdk__name_mark_length(names[i], &name);
        char *mark = g_strndup(names[i], length);
        if (length < PDK__MARK_SIZE)
            reap(s, dir, mark, names[i]);
        g_free(mark);
    }
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
