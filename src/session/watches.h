/* Who waits for an event on which path. A path stays here until its watch has fired or the handle is gone, also when nobody
 * waits any more: the client library cannot take a watch back cheaply, and counts its bytes all the same. */
#ifndef PDK_SESSION_WATCHES_H
#define PDK_SESSION_WATCHES_H

#include "session/session.h"

struct pdk__place;

void pdk__watches_init(pdk_session *s);
/* false: the limit on watched bytes is reached. */
bool pdk__watches_add(pdk_session *s, const char *path, struct pdk__place *place);
void pdk__watches_remove(pdk_session *s, const char *path, struct pdk__place *place);
/* The watch was not set: unless another place waits on the path, no event will come for it. */
void pdk__watches_failed(pdk_session *s, const char *path, struct pdk__place *place);
/* The watch on path fired: tell its places. */
void pdk__watches_fired(pdk_session *s, const char *path, bool gone);
/* A new handle: no watch is left. */
void pdk__watches_reset(pdk_session *s);

#endif
