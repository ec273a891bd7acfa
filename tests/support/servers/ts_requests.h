/* The bodies of requests that more than one test sends by itself, over ts_wire. Flags and permissions:
 * ts_observer.h. */
#ifndef TS_REQUESTS_H
#define TS_REQUESTS_H

#include <glib.h>

/* An access control list of one entry. */
void ts_put_acl(GByteArray *body, int permissions, const char *scheme, const char *id);
/* All permissions for everybody. */
void ts_put_open_acl(GByteArray *body);

/* For TS_OP_CREATE: a node on which everybody may do everything. */
void ts_put_create(GByteArray *body, const char *path, const char *data, int flags);

#endif
