/* Nodes that have a contender's name, and that no session owns: persistent ones, and containers. They are no
 * contenders, whatever their names. The directory of a lock "/orders/lock-0000000042" is such a node, in the queue of
 * the lock "/orders".
 *
 *     blocks somebody, by its name ──read, with a watch: nobody owns it──► left out of every list
 *        ▲                                                                     │
 *        └────── forgotten, when its watch fires or the connection is lost ────┘
 *
 * A list has names alone. The owner of a node is in the answer that a waiting entry gets anyway when it sets its watch.
 * A try sets no watch, so it asks after a blocker whose name could be a path that somebody chose. A name with a UUID in
 * it is a contender's, until it is read.
 *
 * A contender may later make a node of a name that was left out. A server sends the event of a watch before any list
 * that shows a later node, so nobody is overlooked. A watch may be lost with a connection, so all names are forgotten
 * with it. Under the monitor.
 */
#ifndef PDK_SESSION_UNOWNED_H
#define PDK_SESSION_UNOWNED_H

#include "core/view.h"
#include "session/session.h"

void pdk__unowned_init(pdk_session *s);
void pdk__unowned_clear(pdk_session *s);
/* The connection is lost, or the handle is another one. */
void pdk__unowned_forget_all(pdk_session *s);
/* Does this answer to a GET, WATCH or STAT say that no session owns the node? */
bool pdk__is_unowned(const struct pdk__reply *reply);
/* Note a node, after an answer to a WATCH that says so. false: its watch cannot be kept, so it has to be taken for a
 * contender. */
bool pdk__unowned_note(pdk_session *s, const char *path);
bool pdk__unowned_is(const pdk_session *s, const char *dir, const char *name);
/* Mark such nodes of a list as no contenders. */
void pdk__unowned_leave_out(const pdk_session *s, const char *dir, struct pdk__child *children, size_t count);

/* The answer: does nobody own it? It is noted then. reply: as of a WATCH. */
typedef void (*pdk__unowned_fn)(pdk_session *s, void *user, const struct pdk__reply *reply, bool unowned);
/* Must its owner be asked after, before it is taken for a contender? */
bool pdk__unowned_may_be(const char *name);
/* Ask. false: it could not be sent. */
bool pdk__unowned_ask(pdk_session *s, const char *dir, const char *name, pdk__unowned_fn fn, void *user);

#endif
