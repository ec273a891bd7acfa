/* Handles that the program has borrowed. None is closed before all its borrows are returned; the connector asks
 * here. */
#ifndef PDK_SESSION_BORROW_H
#define PDK_SESSION_BORROW_H

#include "session/session.h"

/* All under the monitor. */
bool pdk__is_borrowed(const pdk_session *s, const pdk__zk *zk);
/* The handle is closed: call the functions that borrowers gave for it. Gives the monitor up meanwhile. */
void pdk__borrows_end(pdk_session *s, const pdk__zk *zk);

#endif
