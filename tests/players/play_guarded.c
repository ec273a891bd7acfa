/* The guarded znode of a path, /guarded and the path: what each holder reads there after its open, and writes. Any call may fail:
 * then the log has the status, and the player goes on. */
#include "plays.h"

#include <string.h>
#include <ts_clock.h>

/* The longest call. A release waits for one such call at most: once the hold is lost, the others return at once. */
enum { CALL_MS = 500, ID_MAX = 128 };

struct guard {
    actor *c;
    pdk_hold *hold;
    pdk_guarded *guarded; /* NULL: not open yet */
    int number, writes;
    bool knows; /* `found` is what stands */
    char *path, found[ID_MAX];
};

static const char nothing[] = "-";

guard *guard_new(actor *c, int number, pdk_hold *hold) {
    if (strcmp(c->options.recipe, "lock") != 0)
        return NULL;
    guard *g = g_new0(guard, 1);
    g->c = c;
    g->number = number;
    g->hold = hold;
    g->path = g_strconcat("/guarded", c->player.path, NULL);
    return g;
}

void guard_free(guard *g) {
    if (!g)
        return;
    pdk_guarded_close(g->guarded);
    g_free(g->path);
    g_free(g);
}

static void note(const guard *g, const char *what, int64_t since, pdk_status status, const char *id) {
    event_log_note(g->c->player.log, "guarded n=%d do=%s since=%" G_GINT64_FORMAT " status=%s%s%s", g->number, what,
                   (gint64)since, pdk_status_name(status), id ? " id=" : "", id ? id : "");
}

static bool open_it(guard *g) {
    if (g->guarded)
        return true;
    int64_t since = ts_now_ns();
    pdk_status status = pdk_guarded_open(g->hold, g->path, CALL_MS, &g->guarded);
    note(g, "open", since, status, NULL);
    return status == PDK_OK;
}

void guard_read(guard *g) {
    if (!g)
        return;
    g->knows = false;
    if (!open_it(g))
        return;
    size_t size = 0;
    int64_t since = ts_now_ns();
    pdk_status status = pdk_guarded_read(g->guarded, g->found, sizeof g->found - 1, &size, CALL_MS);
    g->knows = status == PDK_OK || status == PDK_ABSENT;
    if (status == PDK_OK)
        g->found[size] = '\0';
    else
        g_strlcpy(g->found, nothing, sizeof g->found);
    note(g, "read", since, status, g->knows ? g->found : NULL);
}

void guard_write(guard *g) {
    if (!g || !g->knows)
        return;
    bool creates = strcmp(g->found, nothing) == 0;
    g_autofree char *id = g_strdup_printf("%s:%d:%d", g->c->player.identity, g->number, ++g->writes);
    /* First: who is killed in the call has told what it may have written. */
    event_log_note(g->c->player.log, "guarding n=%d id=%s after=%s", g->number, id, g->found);
    int64_t since = ts_now_ns();
    pdk_status status = creates ? pdk_guarded_create(g->guarded, id, strlen(id), CALL_MS)
                                : pdk_guarded_write(g->guarded, id, strlen(id), CALL_MS);
    note(g, "write", since, status, id);
    g->knows = false;
}
