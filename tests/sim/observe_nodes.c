/* Notes all that the ensemble commits and fires: nodes that come and go, and the entries that wake. */
#include "observe.h"

#include "session/entries.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

/* "_c_", a UUID, one of the first and a number; or 32 digits, one of the others and a number. */
static const struct {
    const char *token;
    enum history_mode mode;
} curators[] = {{"-lock-", MODE_EXCLUSIVE},  {"-__WRIT__", MODE_EXCLUSIVE}, {"-__READ__", MODE_SHARED},
                {"-latch-", MODE_EXCLUSIVE}, {"-lease-", MODE_PERMIT},      {"-member-", MODE_SHARED}},
  kazoos[] = {{"__lock__", MODE_EXCLUSIVE}, {"__rlock__", MODE_SHARED}};

static const char *number_of(const char *name, enum history_mode *mode) {
    for (size_t i = 0; name[0] == '_' && i < sizeof curators / sizeof curators[0]; i++) {
        const char *token = strstr(name, curators[i].token);
        *mode = curators[i].mode;
        if (token)
            return token + strlen(curators[i].token);
    }
    for (size_t i = 0; i < sizeof kazoos / sizeof kazoos[0]; i++) {
        const char *token = strstr(name, kazoos[i].token);
        *mode = kazoos[i].mode;
        if (token && token - name == 32)
            return token + strlen(kazoos[i].token);
    }
    return NULL;
}

bool observe_name(const char *name, struct observed_name *out) {
    const char *number = number_of(name, &out->mode);
    if (!number || strlen(number) < 10 ||
        strspn(number + (number[0] == '-'), "0123456789") != strlen(number + (number[0] == '-')))
        return false;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; name < number; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    out->mark = (int64_t)(hash | 1);
    out->sequence = (int32_t)strtol(number, NULL, 10);
    return true;
}

static bool lies_in(const char *path, const char *dir, const char **name) {
    size_t length = dir ? strlen(dir) : 0;
    if (!dir || strncmp(path, dir, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return false;
    *name = path + length + (path[length] == '/');
    return true;
}

int32_t observe_path(const struct plan *plan, const char *path, const char **name) {
    for (int32_t i = 0; i < PLAN_PATHS; i++) {
        for (int32_t k = plan_stripes(plan, i, 1); k-- > 0;)
            if (lies_in(path, plan_path(plan_stripe(i, k)), name))
                return plan_stripe(i, k);
        if (lies_in(path, plan_queue(plan, i), name) || lies_in(path, plan_leases(plan, i), name) ||
            lies_in(path, plan_path(i), name))
            return i;
    }
    return -1;
}

/* ---- nodes */

/* The record of a node that exists. */
static const struct checker_node *live_node(const struct deployment *d, int32_t path,
                                            const struct observed_name *name) {
    const struct checker *c = &d->checker;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *node = &c->nodes[c->live[i]];
        if (node->path == path && node->sequence == name->sequence && node->mark == name->mark)
            return node;
    }
    return NULL;
}

/* Existing or gone. Its number may have come back in a new directory, so the newest counts. */
static const struct checker_node *any_node(const struct deployment *d, int32_t path, const struct observed_name *name) {
    const struct checker *c = &d->checker;
    for (int32_t i = c->nodes_count - 1; i >= 0; i--)
        if (c->nodes[i].path == path && c->nodes[i].sequence == name->sequence && c->nodes[i].mark == name->mark)
            return &c->nodes[i];
    return NULL;
}

static bool expired_by_hand(const struct deployment *d, int64_t session) {
    for (int32_t i = 0; i < d->expired_count; i++)
        if (d->expired[i] == session)
            return true;
    return false;
}

void observe_look_on(struct deployment *d) {
    for (; d->looked < d->history.count; d->looked++)
        checker_look(&d->checker, &d->history.events[d->looked]);
}

static void note_deleted(struct deployment *d, const struct checker_node *node, int64_t by, const struct sim_txn *txn) {
    struct history_event *event = note(d, HISTORY_DELETED, node->sequence, NULL);
    if (!event)
        return;
    event->path = node->path;
    event->mode = node->mode;
    event->a = node->czxid;
    event->b = by;
    event->extra = txn->kind == SIM_TXN_CLOSE && txn->expired;
    if (plan_recipe(d->plan, node->path) == PLAN_RECIPE_GROUP)
        event->clock = txn->zxid;
}

/* The pledge of a contender with a lock-delay: "pledge-", the contender's UUID, "-", and its number. */
static bool note_pledge(struct deployment *d, int32_t path, const char *text, const struct sim_txn *txn) {
    static const char *const labels[] = {"-lock-", "-latch-", "__lock__"};
    const struct checker_node *node = NULL;
    if (strncmp(text, "pledge-", 7) != 0)
        return false;
    const char *uuid = text + 7;
    size_t size = uuid[0] == '_' ? 39 : 32;
    for (size_t i = 0; !node && i < sizeof labels / sizeof labels[0] && strlen(uuid) > size; i++) {
        struct observed_name name;
        g_autofree char *owner = g_strdup_printf("%.*s%s%s", (int)size, uuid, labels[i], uuid + size + 1);
        node = observe_name(owner, &name) ? any_node(d, path, &name) : NULL;
    }
    bool made = txn->kind == SIM_TXN_CREATE;
    struct history_event *event =
        node ? note(d, made ? HISTORY_PLEDGED : HISTORY_UNPLEDGED, node->sequence, NULL) : NULL;
    if (event) {
        event->path = (int8_t)path;
        event->a = node->czxid;
        event->b = txn->session;
    }
    return node != NULL;
}

/* "c" and a number, of one of ours. */
int32_t observe_identity(const char *text) {
    char *end = NULL;
    long number = text && text[0] == 'c' ? strtol(text + 1, &end, 10) : 0;
    if (end && end != text + 1 && *end == '\0')
        return (int32_t)number;
    if (text && text[0] == '\0')
        return IDENTITY_UNREADABLE;
    return text && strcmp(text, "by hand") == 0 ? IDENTITY_BY_HAND : IDENTITY_FOREIGN;
}

/* The lock-delay, in a node of its own, or the stripes, in that of the path. */
static bool note_number(struct deployment *d, int32_t path, const char *text, const struct sim_txn *txn) {
    bool of_stripes = path >= 0 && plan_stripes(d->plan, path, 0) && strcmp(txn->path, plan_path(path)) == 0;
    if (path < 0 || txn->session == 0 || !txn->data ||
        !(of_stripes || (txn->kind == SIM_TXN_CREATE && strcmp(text, "delay") == 0)))
        return false;
    struct history_event *event = note(d, HISTORY_RECORDED, 0, NULL);
    if (event) {
        event->path = (int8_t)path;
        event->a = strtol(txn->data, NULL, 10);
        event->b = txn->session;
    }
    return true;
}

int64_t observe_data(const char *text) {
    int member, write, end = 0;
    if (text && sscanf(text, "m%d.%d%n", &member, &write, &end) == 2 && text[end] == '\0')
        return (int64_t)member << 32 | write;
    return observe_identity(text);
}

static void on_created(struct deployment *d, const struct sim_txn *txn) {
    const char *text;
    struct observed_name name;
    int32_t path = observe_path(d->plan, txn->path, &text);
    if (note_number(d, path, text, txn) || (path >= 0 && note_pledge(d, path, text, txn)))
        return;
    if (path < 0 || !observe_name(text, &name) || txn->session == 0)
        return;
    struct history_event *event = note(d, HISTORY_CREATED, name.sequence, NULL);
    if (!event)
        return;
    event->path = (int8_t)path;
    event->mode = (int8_t)name.mode;
    event->a = txn->zxid;
    event->b = name.mark;
    event->extra = txn->session;
    event->clock = txn->data ? (int64_t)g_str_hash(txn->data) : 0;
    if (plan_recipe(d->plan, path) == PLAN_RECIPE_ELECTION)
        event->number = observe_identity(txn->data);
    if (plan_recipe(d->plan, path) != PLAN_RECIPE_GROUP)
        return;
    event->clock = observe_data(txn->data);
    event->number = (int32_t)(event->clock >> 32);
}

static void note_changed_foreign(struct deployment *d, int64_t session) {
    struct history_event *event = session ? note(d, HISTORY_CHANGED_FOREIGN, 0, NULL) : NULL;
    if (event)
        event->a = session;
}

static void on_deleted(struct deployment *d, const struct sim_txn *txn) {
    const char *text;
    struct observed_name name;
    int32_t path = observe_path(d->plan, txn->path, &text);
    if (path >= 0 && observe_name(text, &name)) {
        const struct checker_node *node = live_node(d, path, &name);
        if (node)
            note_deleted(d, node, txn->session, txn);
    } else if (path >= 0 && text[0] == '\0' && (txn->session == 0 || d->plan->first > 1000000)) {
        struct history_event *event = note(d, HISTORY_RMDIR, 0, NULL);
        if (event)
            event->path = (int8_t)path;
    } else if (path < 0 || !note_pledge(d, path, text, txn)) {
        note_changed_foreign(d, txn->session);
    }
}

/* ---- guarded nodes: what a transaction leaves there, read without the core's parser */

static bool note_content(struct deployment *d, const struct sim_txn *txn) {
    int32_t path = 0;
    while (path < PLAN_PATHS && strcmp(txn->path, plan_guarded(path)) != 0)
        path++;
    if (path == PLAN_PATHS || (txn->kind == SIM_TXN_SET && txn->mode != SIM_SET_DATA))
        return false;
    struct history_event *event = note(d, HISTORY_CONTENT, 0, NULL);
    long long token = -1, number = -1;
    unsigned handover = 0;
    char kind = '\0';
    int payload = 0;
    int fields = txn->data ? sscanf(txn->data, "paddock-guarded 1 %lld %u %lld %c\n%d", &token, &handover, &number,
                                    &kind, &payload)
                           : 0;
    if (!event)
        return true;
    event->id = payload;
    event->path = (int8_t)path;
    event->a = fields >= 4 ? token : -1;
    event->b = number;
    event->sequence = (int32_t)handover;
    event->extra = txn->session;
    event->mode = kind == 'D' ? MODE_SHARED : MODE_EXCLUSIVE;
    return true;
}

/* ---- records, read without the core's parsers */

static void read_job(const char *data, struct history_event *event) {
    static const char line[] = "%c %lld %*d %*d %*d %*[0-9@] %*d %d";
    const char *first = strchr(data, '\n'), *second = first ? strchr(first + 1, '\n') : NULL;
    char state = 0, before = 0;
    long long token = 0, older = 0;
    int outcome = 0;
    if (!second || sscanf(first + 1, line, &state, &token, &outcome) != 3)
        return;
    event->id = state;
    event->a = token;
    event->b = outcome;
    if (sscanf(second + 1, line, &before, &older, &outcome) == 3) {
        event->number = before;
        event->sequence = (int32_t)older;
    }
    for (const char *at = first + 1; (at = strchr(at, '\n')); at++)
        event->count++;
}

/* Its owner is "s" and the number of a secret. */
static void read_lease(const char *data, struct history_event *event) {
    char state = 0;
    long long token = 0;
    int secret = 0;
    if (sscanf(data, "paddock-lease 1\n%c %lld %*d %*s s%d", &state, &token, &secret) < 2)
        return;
    event->id = state;
    event->a = token;
    event->b = secret;
}

static bool note_record(struct deployment *d, const struct sim_txn *txn) {
    int32_t path = 0;
    while (path < PLAN_PATHS && g_strcmp0(txn->path, plan_record(d->plan, path)) != 0)
        path++;
    if (path == PLAN_PATHS || txn->mode != SIM_SET_DATA)
        return false;
    struct history_event *event = note(d, HISTORY_RECORD, 0, NULL);
    if (!event)
        return true;
    event->path = (int8_t)path;
    event->clock = txn->at;
    event->extra = txn->session;
    if (plan_recipe(d->plan, path) == PLAN_RECIPE_JOB)
        read_job(txn->data ? txn->data : "", event);
    else
        read_lease(txn->data ? txn->data : "", event);
    return true;
}

static int64_t hash_of(const char *text) { return text ? (int64_t)g_str_hash(text) : 0; }

/* "__REVOKE__", the time, "asker", its number, and the identity in the next line. */
static bool note_wish(struct deployment *d, int32_t path, const char *text, const struct sim_txn *txn) {
    struct observed_name name;
    int ask, head = 0;
    const struct checker_node *node = observe_name(text, &name) ? live_node(d, path, &name) : NULL;
    if (!node || txn->session == 0 || txn->mode != SIM_SET_DATA || !txn->data ||
        sscanf(txn->data, "__REVOKE__ %*d asker %d%n", &ask, &head) != 1 || txn->data[head] != '\n')
        return false;
    struct history_event *event = note(d, HISTORY_WISH, ask, NULL);
    if (!event)
        return true;
    event->path = (int8_t)path;
    event->a = node->czxid;
    event->b = hash_of(txn->data + head + 1);
    event->count = strcmp(txn->data + head + 1, "by hand") == 0;
    return true;
}

/* By its owner, or an admin. */
static bool note_changed(struct deployment *d, int32_t path, const char *text, const struct sim_txn *txn) {
    struct observed_name name;
    bool of_member = plan_recipe(d->plan, path) == PLAN_RECIPE_GROUP && observe_name(text, &name);
    const struct checker_node *node = of_member ? live_node(d, path, &name) : NULL;
    if (!node || txn->mode != SIM_SET_DATA || (txn->session != 0 && txn->session != node->session))
        return false;
    struct history_event *event = note(d, HISTORY_CHANGED, node->sequence, NULL);
    if (!event)
        return true;
    event->path = (int8_t)path;
    event->a = node->czxid;
    event->b = observe_data(txn->data);
    event->extra = txn->zxid;
    event->clock = txn->session;
    return true;
}

/* The number of permits may be noted where it is not. */
static void on_set(struct deployment *d, const struct sim_txn *txn) {
    const char *name;
    int32_t path = observe_path(d->plan, txn->path, &name);
    if (path >= 0 &&
        (note_wish(d, path, name, txn) || note_number(d, path, name, txn) || note_changed(d, path, name, txn)))
        return;
    const char *leases = path >= 0 ? plan_leases(d->plan, path) : NULL;
    long number = txn->data ? strtol(txn->data, NULL, 10) : 0;
    bool noted = leases && strcmp(txn->path, leases) == 0 && txn->mode == SIM_SET_DATA &&
                 (number == plan_permits(d->plan, path, 0) || number == plan_permits(d->plan, path, 1));
    if (!noted)
        note_changed_foreign(d, txn->session);
}

static void on_closed(struct deployment *d, const struct sim_txn *txn) {
    struct checker *c = &d->checker;
    int64_t by = expired_by_hand(d, txn->session) ? 0 : txn->session;
    for (int32_t i = c->live_count - 1; i >= 0; i--)
        if (c->nodes[c->live[i]].session == txn->session)
            note_deleted(d, &c->nodes[c->live[i]], by, txn);
}

static void on_committed(void *user, const struct sim_txn *txn) {
    struct deployment *d = user;
    observe_look_on(d);
    switch (txn->kind) {
    case SIM_TXN_CREATE:
        if (!note_content(d, txn))
            on_created(d, txn);
        break;
    case SIM_TXN_DELETE:
        on_deleted(d, txn);
        break;
    case SIM_TXN_CLOSE:
        on_closed(d, txn);
        break;
    case SIM_TXN_SET:
        if (!note_content(d, txn) && !note_record(d, txn))
            on_set(d, txn);
        break;
    default:
        break;
    }
    observe_look_on(d);
    if (d->transcript)
        transcript_txn(d, txn);
}

/* ---- wake-ups: an entry that waits for that node, and has a node of its own */

bool observe_is_read(const struct client *client) { return client && client->s && !client->process->dead; }

static bool waits_for(const struct pdk__entry *entry, const char *path) {
    const char *name = strrchr(path, '/') + 1;
    size_t length = (size_t)(name - 1 - path);
    return entry->c.phase == PDK__IN && !entry->c.leaving && strcmp(entry->c.watched, name) == 0 &&
           strncmp(entry->dir, path, length) == 0 && entry->dir[length] == '\0';
}

static void note_woken(struct deployment *d, const pdk_session *s, const char *path, const struct checker_node *gone) {
    for (const GList *link = s->entries.head; link; link = link->next) {
        const struct pdk__entry *entry = link->data;
        struct observed_name own;
        if (!waits_for(entry, path) || !observe_name(entry->c.own, &own) || !live_node(d, gone->path, &own))
            continue;
        struct history_event *event = note(d, HISTORY_WOKEN, 0, NULL);
        d->tally.wake_ups++;
        if (event) {
            event->a = gone->czxid;
            event->b = own.mark;
            event->mode = (int8_t)own.mode;
        }
    }
}

static void on_fired(void *user, int64_t session, const char *path, enum sim_event event) {
    struct deployment *d = user;
    const char *text;
    struct observed_name name;
    int32_t in = observe_path(d->plan, path, &text);
    if (in < 0)
        return;
    observe_look_on(d);
    const struct checker_node *gone = event == SIM_DELETED && observe_name(text, &name) ? any_node(d, in, &name) : NULL;
    for (int32_t i = 0; gone && i < DEPLOYMENT_CLIENTS * d->plan->processes; i++) {
        const struct client *client = deployment_client(d, i);
        if (observe_is_read(client) && client->s->id == session)
            note_woken(d, client->s, path, gone);
    }
    if (d->transcript)
        transcript_fired(d, session, path, event);
}

void observe_begin(struct deployment *d) {
    d->believed_count = d->admissions_count = 0;
    d->expired_count = d->stalls_count = 0;
    d->looked = 0;
    for (int32_t i = 0; i < d->plan->ensembles; i++)
        sim_observe(d->ensembles[i], on_committed, on_fired, d);
}

const char *observe_contender(const struct deployment *d, int32_t path, int32_t position) {
    const struct sim_tree *truth = sim_truth(deployment_ensemble(d, path));
    const char *found = NULL;
    for (int64_t after = INT64_MIN; position >= 0; position--) {
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < truth->count; i++) {
            const char *text;
            struct observed_name name;
            int64_t czxid = truth->nodes[i].stat.czxid;
            int32_t queue = observe_path(d->plan, truth->nodes[i].path, &text);
            if (czxid > after && czxid < least && queue >= 0 && plan_path_of(queue) == path &&
                observe_name(text, &name)) {
                least = czxid;
                found = truth->nodes[i].path;
            }
        }
        if (least == INT64_MAX)
            return NULL;
        after = least;
    }
    return found;
}
