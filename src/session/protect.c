#include "session/protect.h"

#include "session/dispatch.h"
#include "session/ops.h"
#include "zk/errors.h"

#include <string.h>

/* A session may use any number of paths. So when it remembers so many lists, it forgets them all. */
#define LISTS_MAX 10000

/* A list that was looked at. */
struct look {
    int64_t token;
    int32_t acl_version;
    int code; /* ZooKeeper's, why it may not be read; or 0 */
    bool known, asked;
    bool absent; /* the node was not there */
    struct pdk__acl list;
};

static void look_free(gpointer user) {
    struct look *look = user;
    pdk__acl_clear(&look->list);
    g_free(look);
}

void pdk__protect_init(pdk_session *s) {
    s->protection.looks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, look_free);
    s->protection.own = pdk__access_own(s->credentials.digest);
}

void pdk__protect_free(pdk_session *s) {
    g_hash_table_destroy(s->protection.looks);
    pdk__acl_clear(&s->protection.own);
}

void pdk__protect_reset(pdk_session *s) {
    pdk__assert_locked(s);
    g_hash_table_remove_all(s->protection.looks);
    s->protection.own_asked = s->protection.own_known = false;
}

bool pdk__protect_looks(const pdk_session *s) {
    return s->access.choice != PDK_ACCESS_OPEN && !s->access.accept_unprotected;
}

/* ---- questions */

static struct look *look_at(pdk_session *s, const char *path) {
    GHashTable *looks = s->protection.looks;
    struct look *look = g_hash_table_lookup(looks, path);
    if (look)
        return look;
    if (g_hash_table_size(looks) >= LISTS_MAX)
        g_hash_table_remove_all(looks);
    look = g_new0(struct look, 1);
    g_hash_table_insert(looks, g_strdup(path), look);
    return look;
}

/* A node that is not there has no list. After an answer that tells nothing the session asks again. */
static void on_list(pdk_session *s, void *user, const struct pdk__reply *reply) {
    char *path = user;
    struct look *look = reply ? g_hash_table_lookup(s->protection.looks, path) : NULL;
    if (look) {
        look->asked = false;
        look->known = reply->result == PDK__OK;
        look->absent = reply->result == PDK__NO_NODE;
        look->code = reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED ? reply->code : 0;
        look->token = reply->token;
        look->acl_version = reply->acl_version;
        pdk__acl_clear(&look->list);
        look->list = pdk__acl_copy(reply->acl, reply->acl_count);
    }
    g_free(path);
}

/* The list that the server made of our choice: each identity in it is ours, unless the choice itself names it. */
static void on_own_list(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)user;
    if (!reply)
        return;
    s->protection.own_asked = false;
    s->protection.own_known = reply->result == PDK__OK || reply->result == PDK__NOT_ALLOWED; /* else the next node's */
    if (reply->result == PDK__OK) {
        pdk__acl_clear(&s->protection.own);
        s->protection.own = pdk__acl_copy(reply->acl, reply->acl_count);
    }
}

static bool protect_ask(pdk_session *s, const char *path, pdk__done_fn done, void *user) {
    return s->link == PDK__LINK_CONNECTED &&
           pdk__send_now(s, PDK__LANE_OTHERS, (struct pdk__request){.kind = PDK__OP_ACL, .path = path}, done, user);
}

/* A question that is in flight is answered first. */
static bool ask_for(pdk_session *s, const char *path, struct look *look) {
    if (look->asked)
        return true;
    char *copy = g_strdup(path);
    look->asked = protect_ask(s, path, on_list, copy);
    if (!look->asked)
        g_free(copy);
    return look->asked;
}

void pdk__protect_look_ahead(pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    struct look *look = look_at(s, path);
    if (!look->known)
        ask_for(s, path, look);
}

/* ---- the judgement */

static const pdk_access_entry *offender(const pdk_session *s, const struct look *look) {
    return pdk__access_offender(&s->access, &s->protection.own, &look->list);
}

enum pdk__protection pdk__protect_judge(pdk_session *s, const char *path, int64_t token, int32_t acl_version,
                                        const char *own) {
    pdk__assert_locked(s);
    struct look *look = look_at(s, path);
    bool is_current = look->known && look->token == token && look->acl_version == acl_version;
    if (look->code != 0)
        return PDK__UNPROTECTED;
    if (!is_current)
        return ask_for(s, path, look) ? PDK__PROTECTION_ASKED : PDK__PROTECTION_UNKNOWN;
    if (!offender(s, look))
        return PDK__PROTECTED;
    if (!pdk__access_names_creator(&s->access) || s->protection.own_known)
        return PDK__UNPROTECTED;
    if (!own) /* no certificate has a known name yet; before a grant the list is judged with a node of ours */
        return s->credentials.tls ? PDK__PROTECTED : PDK__UNPROTECTED;
    if (!s->protection.own_asked)
        s->protection.own_asked = protect_ask(s, own, on_own_list, NULL);
    return s->protection.own_asked ? PDK__PROTECTION_ASKED : PDK__PROTECTION_UNKNOWN;
}

/* ---- records */

static char *parent_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return g_strndup(path, MAX((gsize)(slash - path), 1));
}

void pdk__protect_look_at_record(pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    if (!pdk__protect_looks(s))
        return;
    char *parent = parent_of(path);
    ask_for(s, parent, look_at(s, parent));
    ask_for(s, path, look_at(s, path));
    g_free(parent);
}

enum pdk__protection pdk__protect_judge_record(pdk_session *s, const char *path, const struct pdk__reply *node,
                                               const char *own, char **words) {
    pdk__assert_locked(s);
    if (!pdk__protect_looks(s))
        return PDK__PROTECTED;
    char *parent = parent_of(path);
    const struct look *above = look_at(s, parent);
    const char *which = parent;
    /* A node that is not there was made by nobody. The list is asked for ahead of the next question, and judged once
     * the node is there. */
    bool absent = above->absent && node->result == PDK__NO_NODE;
    enum pdk__protection protection =
        absent ? PDK__PROTECTED : pdk__protect_judge(s, parent, above->token, above->acl_version, own);
    if (protection == PDK__PROTECTED && node->result == PDK__OK) {
        which = path;
        protection = pdk__protect_judge(s, path, node->token, node->acl_version, own);
    }
    if (protection == PDK__UNPROTECTED)
        *words = pdk__protect_words(s, which);
    g_free(parent);
    return protection;
}

/* ---- callers that only look */

enum pdk__result pdk__protect_listed(pdk_session *s, const char *path, const struct pdk__reply *reply, bool *warned) {
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    if (result != PDK__OK || !pdk__protect_looks(s))
        return result;
    enum pdk__protection protection = pdk__protect_judge(s, path, reply->token, reply->acl_version, NULL);
    if (protection == PDK__PROTECTED)
        return result;
    if (protection != PDK__UNPROTECTED)
        return PDK__NOT_NOW;
    char *words = pdk__protect_words(s, path);
    if (!*warned)
        pdk__log(s, PDK_LOG_WARN, "%s", words);
    *warned = true;
    g_free(words);
    return PDK__NOT_ALLOWED;
}

#define FIX                                                                                                            \
    "give it a list like the one that the session makes, or, if it is meant, set accept_unprotected "                  \
    "(docs/secure-configuration.md)"

char *pdk__protect_words(const pdk_session *s, const char *path) {
    const struct look *look = g_hash_table_lookup(s->protection.looks, path);
    const pdk_access_entry *entry = look && look->known ? offender(s, look) : NULL; /* it may be forgotten by now */
    if (!entry)
        return g_strdup_printf("the access control list of %s cannot be read (%s); " FIX, path,
                               pdk__zk_code_name(look ? look->code : 0));
    char *rights = pdk__access_rights(&s->access, &s->protection.own, entry);
    const char *hidden = pdk__access_is_masked(entry) ? " (hidden from sessions without PDK_PERMISSION_ADMIN)" : "";
    char *words = g_strdup_printf("the access control list of %s lets %s:%s%s %s there; " FIX, path, entry->scheme,
                                  entry->id, hidden, rights);
    g_free(rights);
    return words;
}
