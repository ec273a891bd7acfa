/* The form of a server's answer that is well-formed. The client library checks no field of an answer, and goes on where
 * it could not read one. So each answer is looked at once, here, before anything believes it.
 *
 * An answer that is not well-formed says nothing, not even that its request was not executed: it is UNKNOWN
 * (zk/errors.c). A server that lies in good form is believed: it lies about things that it could decide anyway.
 */
#ifndef PDK_ZK_ANSWERS_H
#define PDK_ZK_ANSWERS_H

#include "zk/calls.h"

#include <stdbool.h>
#include <zookeeper/zookeeper.h>

/* The stat of a node. NULL is none. */
bool pdk__answer_is_stat(const struct Stat *stat);
/* Data of that node; value is NULL where it has none. */
bool pdk__answer_is_data(const char *value, int length, const struct Stat *stat);
/* The node that this create made, for that session. *name is its name, within path. */
bool pdk__answer_is_created(const struct pdk__request *create, int64_t session, const char *path,
                            const struct Stat *stat, const char **name);
/* The path that was asked for. */
bool pdk__answer_is_path(const struct pdk__request *request, const char *path);
/* Names of nodes. */
bool pdk__answer_is_list(const struct String_vector *names);
/* An access control list. */
bool pdk__answer_is_acl(const struct ACL_vector *acl);
/* An event of a node. */
bool pdk__answer_is_event(int type, const char *path);
/* The handshake of a session that lasts for a while. */
bool pdk__answer_is_session(int64_t id, int timeout_ms);

#endif
