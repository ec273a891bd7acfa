/* The end of a session. */
#ifndef PDK_SESSION_CLOSE_H
#define PDK_SESSION_CLOSE_H

#include "session/session.h"

/* References of the library's own objects. Users have references by pdk_session_ref, with which they can dispatch. Not
 * under the monitor. */
pdk_session *pdk__session_ref(pdk_session *s);
void pdk__session_unref(pdk_session *s);
void pdk__user_free(struct pdk__user_free it);
/* Free a session that has no reference and no thread left. Not under the monitor. */
void pdk__session_free(pdk_session *s);

#endif
