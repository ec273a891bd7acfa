/* Is a node that the session relies on protected: may nobody but the identities in the session's own choice change it?
 *
 *     an answer of a node ──► was its list looked at, and is it the same node and list? ──yes──► PROTECTED, UNPROTECTED
 *       (token, acl_version)            │ no
 *                                       └──► the list is asked for (ASKED), and the question about the node behind it
 *
 * A list is known by its path, its node's token and how often it was changed. So it is asked for once while it stands,
 * and again when anybody has made the node again. The answers of a session come in order, so the answer about a node is
 * judged by the list that came before it. A caller that asks for the list ahead of its question needs no further round
 * trip.
 *
 * In a list that names the creator ("auth") the server writes the identities that it knows of the session. The session
 * knows the digest's. To learn the others it reads the list of a node that it has just made, once, before it refuses
 * anything. Under the monitor.
 */
#ifndef PDK_SESSION_PROTECT_H
#define PDK_SESSION_PROTECT_H

#include "session/session.h"

enum pdk__protection {
    PDK__PROTECTED,
    PDK__UNPROTECTED,
    PDK__PROTECTION_ASKED,   /* ask about the node again: the answer comes behind the list's */
    PDK__PROTECTION_UNKNOWN, /* nobody could be asked: look again */
};

void pdk__protect_init(pdk_session *s);
void pdk__protect_free(pdk_session *s);
/* The handle is gone. */
void pdk__protect_reset(pdk_session *s);
/* Does the session look at lists? It does not where all is open, or where it was told not to. */
bool pdk__protect_looks(const pdk_session *s);
/* Ask for the list of a node, unless one is known, or asked for. With a connection. */
void pdk__protect_look_ahead(pdk_session *s, const char *path);
/* own: the path of a node that the session has made and that stands; or NULL. */
enum pdk__protection pdk__protect_judge(pdk_session *s, const char *path, int64_t token, int32_t acl_version,
                                        const char *own);
/* The same for a node that is read by its name, as a record is. It looks at the parent, too: a client that may delete
 * the node there, and create another one, can change it as well. Ahead of the question about the node, each time. */
void pdk__protect_look_at_record(pdk_session *s, const char *path);
/* node: its answer, OK or NO_NODE. *words, to be freed, of UNPROTECTED. */
enum pdk__protection pdk__protect_judge_record(pdk_session *s, const char *path, const struct pdk__reply *node,
                                               const char *own, char **words);
/* The worth of a directory's list, with `stat`, to a caller that only looks: its result; NOT_NOW: ask again, behind the
 * access control list; NOT_ALLOWED: strangers may change it. Then the log says so, unless *warned. */
enum pdk__result pdk__protect_listed(pdk_session *s, const char *path, const struct pdk__reply *reply, bool *warned);
/* About an UNPROTECTED path: the strangers, their rights there, and the fix. g_free. */
char *pdk__protect_words(const pdk_session *s, const char *path);

#endif
