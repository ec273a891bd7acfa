/*
 * A server of HTTP that answers short questions, for endpoint.c. A connection has one request, which is a few bytes, and
 * its answer takes a moment:
 *
 *     accepted ──► asks ──answered──► closed
 *                   └──5 s later──► is hung up. So is the oldest, when one too many comes.
 *
 * The library that speaks HTTP takes longer to be loaded than a lock to be acquired, and most programs serve nothing. So
 * http/http.c, which needs it, is a module, and http_module.c has the same functions: they load it.
 */
#ifndef CMD_HTTP_H
#define CMD_HTTP_H

typedef struct cmd_http cmd_http;

#define CMD_HTTP_PLAIN "text/plain; charset=utf-8"

typedef struct {
    unsigned code;
    const char *type; /* of the text: its media type */
    char *text;       /* g_free */
} cmd_http_answer;

/* The answer to GET of a path; HEAD and OPTIONS get its head. `accept` is the header of that name, or NULL. Called on the
 * server's thread. */
typedef cmd_http_answer (*cmd_http_fn)(const char *path, const char *accept, void *user);

/* Takes a socket that listens, and serves on a thread of its own. CMD_OK; or the exit status, and *why tells
 * (g_free). */
int cmd_http_start(int socket, cmd_http_fn fn, void *user, cmd_http **out, char **why);
/* No question is asked any more. */
void cmd_http_stop(cmd_http *http);

#endif
