/*
 * What the sessions received while a script was played: kept in the order of arrival, printed as lines of text.
 *
 * The lines of a step are printed session by session, each session's in its own order, since there is no order between
 * two sessions. Tokens are printed as their rank in the trace, children are sorted. Some steps change several nodes at
 * once: a session ends, or missed changes are made up for. ZooKeeper promises no order of their events, so these are
 * sorted.
 */
#include "conformance.h"

#include "zk/errors.h"

#include <string.h>

enum entry_kind { REPLY, NOT_SENT, EVENT, STATE };

struct entry {
    enum entry_kind kind;
    size_t step;
    char *session;
    const struct ask *ask;
    enum pdk__result result;
    enum pdk__zk_state state;
    int code, version;
    int64_t token; /* 0: none */
    char *owner, *name, *children, *data, *path;
    enum pdk__zk_event event;
};

struct trace {
    const struct script *script;
    GPtrArray *entries;
};

static const char *const result_names[] = {
    [PDK__OK] = "OK",           [PDK__NO_NODE] = "NO_NODE",         [PDK__NODE_EXISTS] = "NODE_EXISTS",
    [PDK__UNKNOWN] = "UNKNOWN", [PDK__NOT_ALLOWED] = "NOT_ALLOWED", [PDK__NOT_NOW] = "NOT_NOW",
    [PDK__REFUSED] = "REFUSED", [PDK__LIMITED] = "LIMITED",         [PDK__BAD_VERSION] = "BAD_VERSION",
};
static const char *const event_names[] = {
    [PDK__ZK_CHANGED] = "changed", [PDK__ZK_DELETED] = "deleted", [PDK__ZK_CHILDREN] = "has other children"};
static const char *const state_names[] = {"connected", "connecting", "expired", "authentication failed"};

static void entry_free(void *at) {
    struct entry *e = at;
    g_free(e->session);
    g_free(e->owner);
    g_free(e->name);
    g_free(e->children);
    g_free(e->data);
    g_free(e->path);
    g_free(e);
}

struct trace *trace_new(const struct script *script) {
    struct trace *t = g_new0(struct trace, 1);
    t->script = script;
    t->entries = g_ptr_array_new_with_free_func(entry_free);
    return t;
}

void trace_free(struct trace *trace) {
    if (!trace)
        return;
    g_ptr_array_unref(trace->entries);
    g_free(trace);
}

static struct entry *add(struct trace *t, enum entry_kind kind, size_t step, const char *session) {
    struct entry *e = g_new0(struct entry, 1);
    e->kind = kind;
    e->step = step;
    e->session = g_strdup(session);
    g_ptr_array_add(t->entries, e);
    return e;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static char *sorted(const char *const *words, size_t count) {
    g_autofree const char **copy = g_new0(const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        copy[i] = words[i];
    qsort(copy, count, sizeof *copy, by_text);
    return g_strjoinv(" ", (char **)copy);
}

/* Each entry of a list, in the order of the list. */
static char *entries(const pdk_access_entry *acl, size_t count) {
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(text, "%s%s:%s:%d", i > 0 ? " " : "", acl[i].scheme, acl[i].id, (int)acl[i].permissions);
    return g_string_free(text, FALSE);
}

void trace_reply(struct trace *t, size_t step, const char *session, const struct ask *ask,
                 const struct pdk__reply *reply, const char *owner) {
    struct entry *e = add(t, REPLY, step, session);
    bool stat = ask->kind == PDK__OP_GET || ask->kind == PDK__OP_STAT || ask->kind == PDK__OP_ACL;
    e->ask = ask;
    e->result = reply->result;
    e->code = reply->code;
    if (reply->result != PDK__OK)
        return;
    if (stat || ask->kind == PDK__OP_CREATE)
        e->token = reply->token;
    if (stat)
        e->owner = g_strdup(owner);
    e->version = reply->version;
    if (ask->kind == PDK__OP_CREATE)
        e->name = g_strdup(reply->name ? reply->name : "(none)");
    if (ask->kind == PDK__OP_LIST)
        e->children = sorted(reply->children, reply->children_count);
    if (ask->kind == PDK__OP_ACL)
        e->children = entries(reply->acl, reply->acl_count);
    if (ask->kind == PDK__OP_GET) {
        g_autofree char *text = g_strndup(reply->data, reply->data_size);
        e->data = g_strescape(reply->data ? text : "", NULL);
    }
}

void trace_not_sent(struct trace *t, size_t step, const char *session, const struct ask *ask) {
    add(t, NOT_SENT, step, session)->ask = ask;
}

void trace_event(struct trace *t, size_t step, const char *session, const char *path, enum pdk__zk_event event) {
    struct entry *e = add(t, EVENT, step, session);
    e->path = g_strdup(path);
    e->event = event;
}

void trace_state(struct trace *t, size_t step, const char *session, enum pdk__zk_state state) {
    add(t, STATE, step, session)->state = state;
}

/* --- printing */

static int by_token(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The tokens of a trace, each once, in order. */
static GArray *tokens_of(const struct trace *t) {
    GArray *all = g_array_new(FALSE, FALSE, sizeof(int64_t)), *once = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < t->entries->len; i++) {
        const struct entry *e = t->entries->pdata[i];
        if (e->token != 0)
            g_array_append_val(all, e->token);
    }
    g_array_sort(all, by_token);
    for (guint i = 0; i < all->len; i++) {
        int64_t token = g_array_index(all, int64_t, i);
        if (once->len == 0 || g_array_index(once, int64_t, once->len - 1) != token)
            g_array_append_val(once, token);
    }
    g_array_unref(all);
    return once;
}

static unsigned rank(const GArray *tokens, int64_t token) {
    for (guint i = 0; i < tokens->len; i++)
        if (g_array_index(tokens, int64_t, i) == token)
            return i + 1;
    return 0;
}

static char *reply_line(const struct entry *e, const GArray *tokens, unsigned shows) {
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "%s %s %s: %s", e->session, op_name(e->ask->kind), e->ask->path,
                           e->kind == NOT_SENT ? "not sent" : result_names[e->result]);
    if (e->kind == NOT_SENT)
        return g_string_free(line, FALSE);
    if (e->result != PDK__OK && shows & SHOWS_CODE)
        g_string_append_printf(line, " %s", pdk__zk_code_name(e->code));
    if (e->name)
        g_string_append_printf(line, " %s", e->name);
    if (e->children)
        g_string_append_printf(line, " [%s]", e->children);
    if (e->token != 0)
        g_string_append_printf(line, " token %u", rank(tokens, e->token));
    if (e->owner)
        g_string_append_printf(line, " of %s", e->owner);
    if (e->owner && shows & SHOWS_VERSION)
        g_string_append_printf(line, " version %d", e->version);
    if (e->data && shows & SHOWS_DATA)
        g_string_append_printf(line, " \"%s\"", e->data);
    return g_string_free(line, FALSE);
}

static char *entry_line(const struct entry *e, const GArray *tokens, unsigned shows) {
    switch (e->kind) {
    case EVENT:
        return g_strdup_printf("%s event: %s %s", e->session, e->path, event_names[e->event]);
    case STATE:
        return g_strdup_printf("%s %s", e->session, state_names[e->state]);
    case REPLY:
    case NOT_SENT:
        break;
    }
    return reply_line(e, tokens, shows);
}

/* The events of such a step are of several nodes at once. */
static bool any_order(enum step_kind kind) { return kind != REQUESTS && kind != ADMIN; }

/* What one session received in one step. */
static void add_part(const struct trace *t, size_t step, int slot, const GArray *tokens, unsigned shows,
                     GPtrArray *lines) {
    bool unordered = any_order(((const struct step *)t->script->steps->pdata[step])->kind);
    guint events = 0; /* at the end of lines */
    for (guint i = 0; i < t->entries->len; i++) {
        const struct entry *e = t->entries->pdata[i];
        if (e->step != step || e->session[0] != 'A' + slot)
            continue;
        g_autofree char *line = entry_line(e, tokens, shows);
        g_ptr_array_add(lines, g_strdup_printf("    %s", line));
        events = e->kind == EVENT && unordered ? events + 1 : 0;
        if (events > 1)
            qsort(&lines->pdata[lines->len - events], events, sizeof lines->pdata[0], by_text);
    }
}

GPtrArray *trace_lines(const struct trace *t, unsigned shows) {
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    GArray *tokens = tokens_of(t);
    for (size_t step = 0; step < t->script->steps->len; step++) {
        g_ptr_array_add(lines, g_strdup(((const struct step *)t->script->steps->pdata[step])->text));
        for (int slot = 0; slot < SLOTS; slot++)
            add_part(t, step, slot, tokens, shows, lines);
    }
    g_array_unref(tokens);
    return lines;
}
