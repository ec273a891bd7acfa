/* Tokens: the number that the servers gave a node, its czxid, with the base of the session before it. The session
 * remembers the highest token that it sees. A new ZooKeeper session begins above it; where the servers went back, it
 * grants nothing. Under the monitor. */
#ifndef PDK_SESSION_TOKENS_H
#define PDK_SESSION_TOKENS_H

#include "session/session.h"

#define PDK__TOKEN_GENERATION ((int64_t)1 << 48)
#define PDK__TOKEN_BASE_MAX ((int64_t)1 << 62)

/* The token of a node. Negative, and so never granted, for a czxid that no server comes to. */
int64_t pdk__token_of(const pdk_session *s, int64_t czxid);
/* An answer has told of this transaction. 0: of none. */
void pdk__tokens_saw(pdk_session *s, int64_t zxid);
/* A new ZooKeeper session. */
void pdk__tokens_begin(pdk_session *s);
/* A node of ours has too small a token: log it, once in this ZooKeeper session, and say it in words. g_free. */
char *pdk__tokens_rewound(pdk_session *s, int64_t token);

#endif
