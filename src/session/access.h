/* The options about the rights of others on our nodes, and whether a list gives them more.
 *
 * A list protects a node when nobody may write, create, delete or administer there, unless the session's own choice
 * lets them do the same. The session's own identities may do all. Reading is no matter of protection: the nodes in a
 * directory have lists of their own. Identities are compared as the server writes them. An operator's "super" identity
 * stands in no list. */
#ifndef PDK_SESSION_ACCESS_H
#define PDK_SESSION_ACCESS_H

#include <paddock/session.h>

/* A choice, and with it a list of its own. pdk__access_free frees the list. */
struct pdk__access {
    pdk_access choice; /* never DEFAULT */
    pdk_access_entry *list;
    int32_t count;
    bool accept_unprotected;
};

/* A list of a node: a copy. pdk__acl_clear. */
struct pdk__acl {
    pdk_access_entry *entries;
    size_t count;
};

/* INVALID. */
pdk_status pdk__access_check(const pdk_session_options *o);
/* The choice of options that were checked. */
struct pdk__access pdk__access_copy(const pdk_session_options *o);
void pdk__access_free(struct pdk__access *access);

struct pdk__acl pdk__acl_copy(const pdk_access_entry *entries, size_t count);
void pdk__acl_clear(struct pdk__acl *acl);

/* The identity that a server knows of "user:password"; NULL: none. */
struct pdk__acl pdk__access_own(const char *digest);
/* Does the choice name the creator, whom the server replaces by identities? */
bool pdk__access_names_creator(const struct pdk__access *access);
/* The first entry of the list that lets others do more; NULL: the list protects. own: the session's identities. */
const pdk_access_entry *pdk__access_offender(const struct pdk__access *access, const struct pdk__acl *own,
                                             const struct pdk__acl *list);
/* The rights that the entry gives them, in words: "create, delete". g_free. */
char *pdk__access_rights(const struct pdk__access *access, const struct pdk__acl *own, const pdk_access_entry *entry);
/* Is this a digest that the server hides? It hides them from sessions that may not administer the node. */
bool pdk__access_is_masked(const pdk_access_entry *entry);

#endif
