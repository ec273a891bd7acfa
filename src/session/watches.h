/* The watched paths, and the watchers of each. A path stays here until its watch has fired or the handle is gone, even
 * if nobody waits any more. The client library cannot take a watch back cheaply, and counts its bytes all the same.
 *
 * The server keeps watches on a node and watches on its children apart. So does this table. A key is a node's path, or,
 * for its children, the path with a slash behind it (pdk__watches_children_key). Under the monitor. */
#ifndef PDK_SESSION_WATCHES_H
#define PDK_SESSION_WATCHES_H

#include "session/session.h"

/* The news of a watch. A deletion that the leader has told is as true, but other news of this connection may be late. */
enum pdk__news { PDK__NEWS_CHANGED, PDK__NEWS_GONE, PDK__NEWS_GONE_TOLD };

/* Embedded first in the watcher's own struct. */
struct pdk__watcher {
    void (*fired)(struct pdk__watcher *watcher, const char *path, enum pdk__news news);
    void (*ref)(struct pdk__watcher *watcher);
    void (*unref)(struct pdk__watcher *watcher);
};

void pdk__watches_init(pdk_session *s);
/* false: the limit on watched bytes is reached. */
bool pdk__watches_add(pdk_session *s, const char *key, struct pdk__watcher *watcher);
/* The watcher waits no more. The key stays until its watch fires. */
void pdk__watches_remove(pdk_session *s, const char *key, struct pdk__watcher *watcher);
/* The watch was not set. No event will come, unless another watcher waits on the same key. */
void pdk__watches_failed(pdk_session *s, const char *key, struct pdk__watcher *watcher);
/* The watch on path fired: tell its watchers. */
void pdk__watches_fired(pdk_session *s, const char *path, enum pdk__zk_event event);
/* The leader says that the node is gone: tell its watchers. */
void pdk__watches_told_gone(pdk_session *s, const char *path);
/* The server has answered that it keeps a watch on this node. */
void pdk__watches_answered(pdk_session *s, const char *path);
/* Does such a watch stand: answered on this connection, and not fired? */
bool pdk__watches_stands(const pdk_session *s, const char *path);
/* The connection changes: all watches are set again, by the client library. */
void pdk__watches_set_anew(pdk_session *s);
/* A new handle: no watch is left. */
void pdk__watches_reset(pdk_session *s);

char *pdk__watches_children_key(const char *dir);

#endif
