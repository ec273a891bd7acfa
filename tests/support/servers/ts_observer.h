/*
 * A small blocking ZooKeeper client that shares no code with libzookeeper: the tests' observer and administrator. No
 * threads, no watches, no retries behind the caller's back; every call returns within 5 s per host. Reads are preceded
 * by a sync, so that they show everything committed before the call. Return values are ZooKeeper's codes: 0 fine, -101
 * no node, -110 node exists, -102 no permission, -4 no server answered, -7 the server fell silent, …
 *
 * Two ways to use it. With a host list ("ip:port,ip:port"): ts_children(hosts, …) opens a session for this one call. With
 * a ts_observer: the session stays. Ephemeral nodes and authentication need that. The session's timeout is 60 s (or the
 * server's maximum) and nothing pings: it expires when unused for that long.
 */
#ifndef TS_OBSERVER_H
#define TS_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

enum { TS_PERSISTENT = 0, TS_EPHEMERAL = 1, TS_SEQUENTIAL = 2 }; /* flags of create */
enum {
    TS_PERM_READ = 1,
    TS_PERM_WRITE = 2,
    TS_PERM_CREATE = 4,
    TS_PERM_DELETE = 8,
    TS_PERM_ADMIN = 16,
    TS_PERM_ALL = 31
};

typedef struct {
    int64_t czxid, mzxid, ctime, mtime;
    int32_t version, cversion, aversion;
    int64_t ephemeral_owner;
    int32_t data_length, num_children;
    int64_t pzxid;
} ts_stat;

/* ---- one session per call ---- */

/* The children's names, sorted bytewise, NULL-terminated (g_strfreev); NULL when the node does not exist or no server
 * answered: `rc` (may be NULL) tells which. */
char **ts_children(const char *hosts, const char *path, int *rc);

/* The number of children; the negative code when it cannot be told (-101: no such node). */
int ts_child_count(const char *hosts, const char *path);

/* Creates a node open to all, with its missing parents. `created` (may be NULL) gets the name it got (g_free). An
 * ephemeral node would vanish with the call: use ts_observer_create. */
int ts_create(const char *hosts, const char *path, const char *data, int flags, char **created);

/* Deletes the node, of any version. */
int ts_delete(const char *hosts, const char *path);

/* Deletes the node and everything below it. 0 when it is gone afterwards, also when others deleted it. */
int ts_delete_tree(const char *hosts, const char *path);

/* Its data as a NUL-terminated copy (g_free, `length` without the NUL; both may be NULL) and stat (may be NULL). */
int ts_get(const char *hosts, const char *path, char **data, int *length, ts_stat *stat);

/* Replaces its data, of any version. */
int ts_set(const char *hosts, const char *path, const char *data);

/* 0 when the node exists, -101 when not. `stat` may be NULL. */
int ts_exists(const char *hosts, const char *path, ts_stat *stat);

/* Waits until `path` has exactly `count` children (a missing node has none). False after `timeout_ms`. */
bool ts_wait_children(const char *hosts, const char *path, int count, int64_t timeout_ms);

/* ---- a session that stays ---- */

typedef struct ts_observer ts_observer;

/* Connects to the first host that takes it. NULL when none does. */
ts_observer *ts_observer_open(const char *hosts);
/* The same with the session timeout asked for, in milliseconds. */
ts_observer *ts_observer_open_timeout(const char *hosts, int timeout_ms);
/* Closes the session (its ephemeral nodes go) and frees. NULL is allowed. */
void ts_observer_close(ts_observer *o);
/* Frees without closing the session: to the server this client has died. */
void ts_observer_abandon(ts_observer *o);
/* Its session id. */
int64_t ts_observer_session(const ts_observer *o);
/* How long each further call waits for its reply before it returns -7; 5000 at the start. */
void ts_observer_set_limit(ts_observer *o, int limit_ms);

/* Adds an identity ("digest", "user:password"). */
int ts_observer_auth(ts_observer *o, const char *scheme, const char *credentials);
char **ts_observer_children(ts_observer *o, const char *path, int *rc);
/* Like ts_create, but missing parents are an error (-101). */
int ts_observer_create(ts_observer *o, const char *path, const char *data, int flags, char **created);
int ts_observer_delete(ts_observer *o, const char *path);
int ts_observer_get(ts_observer *o, const char *path, char **data, int *length, ts_stat *stat);
int ts_observer_set(ts_observer *o, const char *path, const char *data);
int ts_observer_exists(ts_observer *o, const char *path, ts_stat *stat);
/* Gives the node one ACL entry: TS_PERM_… bits for (scheme, id), such as ("world", "anyone") or ("auth", ""). */
int ts_observer_set_acl(ts_observer *o, const char *path, int permissions, const char *scheme, const char *id);
/* The same with several. */
typedef struct {
    int permissions;
    const char *scheme, *id;
} ts_acl_entry;
int ts_observer_set_list(ts_observer *o, const char *path, const ts_acl_entry *list, int count);

#endif
