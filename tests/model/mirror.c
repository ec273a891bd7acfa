/* A client's mirror of the directory, kept as src/session/mirrors.c keeps one. The core decides, as in the driver. */
#include "model.h"

#include <stddef.h>
#include <string.h>

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

/* The nodes are in the state, which is copied. */
static struct pdk__mirror *mirror_of(struct model_client *k) {
    k->mirror.nodes = k->mirrored;
    k->mirror.room = TS_FAKE_NODES;
    return &k->mirror;
}

static bool is_served(const struct model *m, int32_t client, const struct model_entry *p) {
    return m->config.mirrors && m->config.roles[client] == MODEL_LOCKS && !p->c.named;
}

void model_mirror_void(struct model_client *k) {
    pdk__mirror_void(mirror_of(k));
    k->directory_watch = MODEL_NONE;
    for (int32_t i = 0; i < k->entries_count; i++)
        k->entries[i].own_stands = false;
}

/* The real driver does so from the second time on. */
bool model_mirror_wants_watch(struct model *m, int32_t client, const struct model_entry *p) {
    struct model_client *k = client_of(m, client);
    if (!is_served(m, client, p) || k->mirror.watched || k->directory_watch != MODEL_NONE)
        return false;
    k->directory_watch = MODEL_SENT;
    return true;
}

void model_mirror_watched(struct model *m, int32_t client, enum pdk__result result) {
    struct model_client *k = client_of(m, client);
    bool asked = k->directory_watch == MODEL_SENT; /* else an event was first */
    k->directory_watch = MODEL_NONE;
    if (asked && result == PDK__OK)
        pdk__mirror_watched(mirror_of(k));
}

void model_mirror_fired(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    pdk__mirror_void(mirror_of(k));
    k->directory_watch = MODEL_NONE;
}

/* ---- our own nodes */

static bool is_ours(int32_t client, const char *name) { return (model_name(name).mark - 1) / MODEL_MARKS == client; }

bool model_mirror_expects(struct model *m, int32_t client, const struct model_entry *p) {
    struct model_client *k = client_of(m, client);
    const char *tail;
    return is_served(m, client, p) && k->lease && pdk__mirror_expects(mirror_of(k), &tail) &&
           (tail[0] == '\0' || is_ours(client, tail));
}

bool model_mirror_created(struct model *m, int32_t client, const struct model_entry *p, const char *name,
                          struct pdk__view *view) {
    struct model_client *k = client_of(m, client);
    if (!m->config.mirrors)
        return false;
    if (p->c.named) {
        pdk__mirror_void(mirror_of(k));
        return false;
    }
    if (name[0] == '\0')
        return false;
    bool follows = pdk__mirror_created(mirror_of(k), name);
    m->seen.gaps += p->mirrored && !follows;
    return follows && is_served(m, client, p) && pdk__mirror_view(mirror_of(k), name, view);
}

bool model_mirror_shows(struct model *m, int32_t client, const struct model_entry *p, struct pdk__view *view) {
    struct model_client *k = client_of(m, client);
    bool shows = is_served(m, client, p) && p->owner != MODEL_REAPER && p->own_stands && k->lease &&
                 pdk__mirror_view(mirror_of(k), p->c.own, view) && view->ahead == 0;
    m->seen.mirrored += shows;
    return shows;
}

/* ---- news */

void model_mirror_listed(struct model *m, int32_t client, const char *const *names, size_t count) {
    struct pdk__child children[TS_FAKE_NODES];
    pdk__children_parse(children, names, count);
    if (m->config.mirrors)
        pdk__mirror_listed(mirror_of(client_of(m, client)), children, count);
}

void model_mirror_deleted(struct model *m, int32_t client, struct ts_fake_name name) {
    char text[TS_FAKE_TEXT];
    ts_fake_name_text(&m->names, name, text);
    if (m->config.mirrors)
        pdk__mirror_deleted(mirror_of(client_of(m, client)), text, is_ours(client, text));
}

void model_mirror_held(struct model *m, int32_t client, const struct model_entry *p) {
    if (is_served(m, client, p))
        pdk__mirror_held(mirror_of(client_of(m, client)), p->c.own);
}

/* A watch on the client's own node was answered, or has fired, whoever asked for it. */
void model_mirror_stands(struct model *m, int32_t client, struct ts_fake_name name, bool stands) {
    struct model_client *k = client_of(m, client);
    for (int32_t i = 0; i < k->entries_count && m->config.mirrors; i++)
        if (name.mark != 0 && ts_fake_name_equal(model_name(k->entries[i].c.own), name))
            k->entries[i].own_stands = stands;
}
