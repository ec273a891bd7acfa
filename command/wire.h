/*
 * Questions to one server, in ZooKeeper's own protocol: `ls`, `top` and `doctor` ask them, and the library has no calls
 * for them. A wire has a session of its own, and only reads.
 *
 *     cmd_servers_parse ──► cmd_wire_open ──► ask … answer … ──► cmd_wire_close
 *
 * Questions may be asked ahead: a server answers them in order. Every call that fails leaves its words in wire->error.
 * An answer that is not well-formed breaks the wire: so all that comes out of it has its bounds.
 */
#ifndef CMD_WIRE_H
#define CMD_WIRE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* "host:port,…/chroot" in its parts. The chroot is "" when there is none. */
typedef struct {
    char **addresses; /* each host:port */
    char *chroot;
} cmd_servers;

void cmd_servers_parse(cmd_servers *servers, const char *text);
void cmd_servers_clear(cmd_servers *servers);

/* A decimal number from `least` to 65535, and nothing else: getaddrinfo takes any number, modulo 65536. */
bool cmd_is_port(const char *text, guint least);
/* Has each server of the list a valid port? It names a server that has not. The rest of the list is judged when it is
 * used. */
bool cmd_servers_check(const char *text);
/* false when it is no host:port. IPv6 has brackets, which the host is without. g_free both. */
bool cmd_split_address(const char *address, char **host, char **port);

typedef struct {
    int64_t czxid, mzxid, ctime_ms, mtime_ms;
    int32_t version, cversion, aversion;
    int64_t owner; /* of an ephemeral node; 0 */
    int32_t length, children;
    int64_t pzxid;
} cmd_stat;

typedef struct {
    int socket;         /* -1: closed, or broken */
    int32_t timeout_ms; /* of the session, as negotiated */
    int64_t session;
    int32_t xid, answered;
    const char *chroot;
    GByteArray *in, *out;
    gsize at;     /* in `in`: the next byte to read */
    bool hung_up; /* the server ended the connection */
    bool foreign; /* no ZooKeeper gives such a session */
    bool bad;     /* `in` has something that no answer has there */
    char *error;
} cmd_wire;

enum {
    CMD_WIRE_OK = 0,
    CMD_WIRE_BROKEN = -1,
    CMD_WIRE_NONODE = -101,
    CMD_WIRE_NOAUTH = -102,
    CMD_WIRE_DEMANDS_AUTH = -124
};

enum { CMD_WIRE_MS = 10000 }; /* for one answer */

/* A socket that is connected to host:port within timeout_ms; or -1, and *error says why. */
int cmd_dial(const char *address, int64_t timeout_ms, char **error);

/* Opens a session on that one server, with the chroot before every path. `digest` may be NULL; chroot must live as long
 * as the wire. CMD_WIRE_OK, CMD_WIRE_BROKEN, or CMD_WIRE_NOAUTH when the credentials are refused. */
int cmd_wire_open(cmd_wire *wire, const char *address, const char *chroot, const char *digest, int32_t session_ms,
                  int64_t timeout_ms);
/* The first of the servers that answers. */
int cmd_wire_open_any(cmd_wire *wire, const cmd_servers *servers, const char *digest, int64_t timeout_ms);
void cmd_wire_close(cmd_wire *wire);

/* Ends the session of a process that is dead, with its password. true: it is over now, by this or before. */
bool cmd_wire_end_session(const char *address, int64_t session, const unsigned char *password, int32_t session_ms,
                          int64_t timeout_ms);

/* The questions. Each is answered by the call of the same name, in the order of the questions. */
void cmd_wire_ask_children(cmd_wire *wire, const char *path);
void cmd_wire_ask_data(cmd_wire *wire, const char *path);
void cmd_wire_ask_acl(cmd_wire *wire, const char *path);

/* 0, a code of ZooKeeper, or CMD_WIRE_BROKEN after which the wire answers no more. Names and data get g_ptr_array_unref
 * and g_free. */
int cmd_wire_children(cmd_wire *wire, GPtrArray **names, cmd_stat *stat);
/* The data as text: cut at the first zero byte, and after 1024 bytes. */
int cmd_wire_data(cmd_wire *wire, char **text, cmd_stat *stat);
/* Calls `each` for every entry of the list. The permissions are ZooKeeper's bits: read 1, write 2, create 4, delete 8,
 * admin 16. */
int cmd_wire_acl(cmd_wire *wire, void (*each)(int32_t permissions, const char *scheme, const char *id, void *user),
                 void *user, cmd_stat *stat);

#endif
