/* The language of the scripts: one step per line.
 *
 *     == NAME: what it shows
 *     needs CAPABILITY…                    see capability_names
 *     directory /d                         the directory that the script is about; this is the default
 *     open A B                             close, expire, cut, restore are written in the same way
 *     A create /d/x- =text & list /d       requests, pipelined: create mkdir list watch get stat barrier delete set acl sync; create,
 *                                          mkdir and set may have data
 *     A create /d/x-#3 named               not numbered: this is the node's name
 *     A list /d watch                      sets a watch on the children
 *     A mkdir /d container
 *     A set /d =text version=3             only if the node has that version
 *     lose reply A create /d/x-            executed, but the connection breaks before the answer; lose request: before it
 *                                          arrives; lose all: the events before the answer are lost as well
 *     admin set /d/x-#0 =text              mkdir create set delete, acl no-read,no-write,no-create,no-delete,
 *                                          counter N, await-gone
 * #N at the end of a path stands for a sequence number. A line that begins with # is a comment.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

const char *const capability_names[CAPABILITIES] = {"tree",    "acl",    "containers", "counter",
                                                    "offline", "linger", "versions"};

static const char *const op_names[] = {"create",  "mkdir",  "list", "watch", "get",  "stat",
                                       "barrier", "delete", "set",  "acl",   "sync", NULL};
static const char *const slot_words[] = {"open", "close", "expire", "cut", "restore", NULL};
static const char *const loss_words[] = {"request", "reply", "all", NULL};
static const char *const admin_words[] = {"mkdir", "create", "set", "delete", "acl", "counter", "await-gone", NULL};
static const char *const refusal_words[] = {"no-read", "no-write", "no-create", "no-delete", NULL};

const char *op_name(enum pdk__op_kind kind) { return op_names[kind]; }

static int position(const char *word, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (word && g_str_equal(word, words[i]))
            return i;
    return -1;
}

/* "/d/x-#3" is "/d/x-0000000003"; NULL when it is not a path. */
static char *path_of(const char *word) {
    const char *mark = word ? strrchr(word, '#') : NULL;
    if (!word || word[0] != '/')
        return NULL;
    if (!mark)
        return g_strdup(word);
    return g_strdup_printf("%.*s%010d", (int)(mark - word), word, (int)g_ascii_strtoll(mark + 1, NULL, 10));
}

static int slot_of(const char *word) {
    return word && word[0] >= 'A' && word[0] < 'A' + SLOTS && !word[1] ? word[0] - 'A' : -1;
}

static bool read_slots(struct step *step, char **words) {
    for (; *words; words++) {
        int slot = slot_of(*words);
        if (slot < 0)
            return false;
        step->slots |= 1u << slot;
    }
    return step->slots != 0;
}

static bool has_data(int kind) { return kind == PDK__OP_CREATE || kind == PDK__OP_MKDIR || kind == PDK__OP_SET; }

/* OP PATH [=DATA] [container] [named] [watch] [version=N] */
static bool read_ask(struct ask *ask, char **words) {
    int kind = position(words[0], op_names);
    if (kind < 0)
        return false;
    ask->kind = (enum pdk__op_kind)kind;
    ask->path = path_of(words[1]);
    ask->version = -1;
    for (words += ask->path ? 2 : 1; *words; words++) {
        if (words[0][0] == '=' && has_data(kind) && !ask->data)
            ask->data = g_strdup(*words + 1);
        else if (kind == PDK__OP_MKDIR && g_str_equal(*words, "container"))
            ask->container = true;
        else if (kind == PDK__OP_CREATE && g_str_equal(*words, "named"))
            ask->named = true;
        else if (kind == PDK__OP_SET && g_str_has_prefix(*words, "version="))
            ask->version = atoi(*words + strlen("version="));
        else if (kind == PDK__OP_LIST && g_str_equal(*words, "watch"))
            ask->watch = true;
        else
            return false;
    }
    return ask->path != NULL;
}

/* A ASK & ASK … */
static bool read_requests(struct step *step, const char *line) {
    step->slot = line[0] && line[1] == ' ' ? slot_of((char[2]){line[0]}) : -1;
    if (step->slot < 0)
        return false;
    g_auto(GStrv) parts = g_strsplit(line + 2, " & ", -1);
    for (char **part = parts; *part; part++) {
        g_auto(GStrv) words = g_strsplit(g_strstrip(*part), " ", -1);
        if (step->count == BATCH || !read_ask(&step->asks[step->count++], words))
            return false;
    }
    return step->count > 0;
}

static bool read_refusals(struct admin *admin, const char *word) {
    g_auto(GStrv) words = g_strsplit(word ? word : "?", ",", -1);
    for (char **w = words; *w; w++) {
        int i = position(*w, refusal_words);
        if (i < 0)
            return g_str_equal(word, "free");
        admin->value |= 1 << i;
    }
    return true;
}

/* KIND PATH [=DATA | REFUSALS | NUMBER] */
static bool read_admin(struct admin *admin, char **words) {
    int kind = position(words[0], admin_words);
    admin->path = kind < 0 ? NULL : path_of(words[1]);
    if (!admin->path)
        return false;
    admin->kind = (enum admin_kind)kind;
    if (kind == ADMIN_ACL)
        return read_refusals(admin, words[2]) && !words[3];
    if (kind == ADMIN_COUNTER) {
        admin->value = words[2] ? g_ascii_strtoll(words[2], NULL, 10) : -1;
        return admin->value > 0 && !words[3];
    }
    if (words[2] && words[2][0] == '=' && (kind == ADMIN_CREATE || kind == ADMIN_SET))
        admin->data = g_strdup(words[2] + 1);
    return admin->data ? !words[3] : !words[2];
}

static bool read_step(struct step *step, const char *line) {
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    int word = position(words[0], slot_words);
    if (word >= 0) {
        step->kind = (enum step_kind)word;
        return read_slots(step, words + 1);
    }
    if (g_str_equal(words[0], "admin")) {
        step->kind = ADMIN;
        return read_admin(&step->admin, words + 1);
    }
    if (!g_str_equal(words[0], "lose")) {
        step->kind = REQUESTS;
        return read_requests(step, line);
    }
    word = position(words[1], loss_words);
    step->kind = (enum step_kind)(LOSE_REQUEST + word);
    /* Of a batch, nobody could say how much was executed. */
    return word >= 0 && words[2] && read_requests(step, strchr(line + 5, ' ') + 1) && step->count == 1;
}

static bool read_needs(struct script *script, const char *line) {
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    for (char **word = words; *word; word++) {
        int i = position(*word, capability_names);
        if (i < 0)
            return false;
        script->needs |= 1u << i;
    }
    return true;
}

static void step_free(void *at) {
    struct step *step = at;
    for (int i = 0; i < step->count; i++) {
        g_free(step->asks[i].path);
        g_free(step->asks[i].data);
    }
    g_free(step->admin.path);
    g_free(step->admin.data);
    g_free(step->text);
    g_free(step);
}

static bool begin_script(const char *line, GPtrArray *scripts) {
    g_auto(GStrv) words = g_strsplit(line, ": ", 2);
    struct script *script = g_new0(struct script, 1);
    script->name = g_strdup(words[0]);
    script->title = g_strdup(words[0] && words[1] ? words[1] : "");
    script->directory = g_strdup("/d");
    script->steps = g_ptr_array_new_with_free_func(step_free);
    g_ptr_array_add(scripts, script);
    return script->title[0] != '\0';
}

static bool read_line(const char *line, GPtrArray *scripts) {
    if (g_str_has_prefix(line, "== "))
        return begin_script(line + 3, scripts);
    if (scripts->len == 0)
        return false;
    struct script *script = scripts->pdata[scripts->len - 1];
    if (g_str_has_prefix(line, "needs "))
        return read_needs(script, line + 6);
    if (g_str_has_prefix(line, "directory ")) {
        g_free(script->directory);
        script->directory = g_strdup(line + 10);
        return line[10] == '/';
    }
    struct step *step = g_new0(struct step, 1);
    step->text = g_strdup(line);
    g_ptr_array_add(script->steps, step);
    return read_step(step, line);
}

bool script_read(const char *text, const char *where, GPtrArray *scripts) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i]; i++) {
        const char *line = g_strstrip(lines[i]);
        if (line[0] != '\0' && line[0] != '#' && !read_line(line, scripts)) {
            fprintf(stderr, "%s:%d: not understood: %s\n", where, i + 1, line);
            return false;
        }
    }
    return true;
}

void script_free(struct script *script) {
    g_free(script->name);
    g_free(script->title);
    g_free(script->directory);
    g_ptr_array_unref(script->steps);
    g_free(script);
}
