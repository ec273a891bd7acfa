/* A counter-example in words, for a reader who knows ZooKeeper: which client sends what, what the server does, what
 * arrives, and what each client concludes. Nodes are called A#0: of client A, with sequence 0. A'#1 is the node of its
 * second contender, A', which queued anew. A~#0 is the node of a contender that takes over from A#0. A1 is client A's
 * first thread. */
#include "model.h"

#include <string.h>

enum { NAME = 32 };

static const char *const phases[] = {
    "has no node",
    "does not know whether its node was created",
    "has found a node that may be its own",
    "is in the queue",
    "is admitted",
    "cannot delete its node",
    "is gone",
};
static const char *const ops[] = {"create", "mkdir",   "list",   "get and watch", "get",
                                  "stat",   "barrier", "delete", "write to",      "sync"};
static const char *const events[] = {
    [TS_FAKE_DELETED] = "was deleted", [TS_FAKE_CHANGED] = "was changed", [TS_FAKE_CHILDREN] = "has other children"};
static const char *const results[] = {"OK",          "no such node",   "node exists", "UNKNOWN (connection loss)",
                                      "not allowed", "not now, later", "refused"};

/* A, A', A'' …; and A~, A~' … for those that take over. */
static const char *contender_text(const struct model *m, int32_t mark, char text[NAME]) {
    bool down = model_is_down(m, mark);
    int32_t number = (mark - 1) % MODEL_MARKS - (down ? MODEL_DOWN : 0);
    snprintf(text, NAME, "%c%s%.*s", 'A' + (mark - 1) / MODEL_MARKS, down ? "~" : "", (int)number, "''''''''''''''''");
    return text;
}

static const char *name_text(const struct model *m, struct ts_fake_name name, char text[NAME]) {
    char contender[NAME];
    if (name.mark == 0)
        snprintf(text, NAME, "%s", MODEL_DIRECTORY);
    else
        snprintf(text, NAME, "%.18s#%d", contender_text(m, name.mark, contender), name.sequence);
    return text;
}

/* The state of a contender. */
static void print_contender(const struct model *m, const struct pdk__contender *c) {
    FILE *out = m->transcript;
    char name[NAME];
    fprintf(out, "%s", phases[c->phase]);
    if (c->own[0] != '\0')
        fprintf(out, ", own node %s", name_text(m, model_name(c->own), name));
    if (c->watched[0] != '\0' && c->phase == PDK__IN)
        fprintf(out, ", behind %s", name_text(m, model_name(c->watched), name));
    if (c->leaving && c->phase != PDK__GONE)
        fprintf(out, ", and leaves");
}

static const char *request_text(const struct model *m, const struct ts_fake_request *r, char text[2 * NAME]) {
    char name[NAME];
    if (r->kind == PDK__OP_CREATE && r->named)
        snprintf(text, 2 * NAME, "create %s, ephemeral", name_text(m, r->name, name));
    else if (r->kind == PDK__OP_CREATE)
        snprintf(text, 2 * NAME, "create an ephemeral sequential node");
    else if (r->name.mark == 0 && r->level == 0)
        snprintf(text, 2 * NAME, "%s on /", ops[r->kind]);
    else
        snprintf(text, 2 * NAME, "%s %s%s", ops[r->kind], name_text(m, r->name, name),
                 r->watch ? ", watching its children" : "");
    return text;
}

/* ---- what happens */

static void print_server(struct model *m, const struct model_state *s, model_action a) {
    static const char *const how[] = {"executes", "refuses, saying NOT NOW,", "says UNKNOWN (it may execute it later)",
                                      "says UNKNOWN but executes"};
    enum model_action_kind kind = model_kind(a);
    char request[2 * NAME];
    if (kind == ZOMBIE) {
        fprintf(m->transcript, "the server executes, late, from a broken connection of session %d: %s\n",
                search_whose(a) + 1, request_text(m, &s->fake.sessions[search_whose(a)].late[0], request));
        return;
    }
    int32_t which = kind == SAY_NOT_NOW ? 1 : kind == SAY_UNKNOWN ? 2 : kind == DO_UNKNOWN ? 3 : 0;
    const struct ts_fake_request *r = &s->fake.sessions[s->clients[search_whose(a)].session].requests[0];
    fprintf(m->transcript, "the server %s for %c: %s\n", how[which], 'A' + search_whose(a),
            request_text(m, r, request));
}

static void print_thread_action(struct model *m, const struct model_state *s, model_action a) {
    const struct model_client *k = &s->clients[search_whose(a)];
    enum model_action_kind kind = model_kind(a);
    int32_t which = search_which(a), queue = model_grant_of_queue(k);
    const struct model_grant *grant = kind == RELEASE ? &k->entries[which].grant
                                      : queue >= 0    ? &k->entries[queue].grant
                                                      : NULL;
    int32_t ticket = grant ? grant->holder : 0;
    const char *what = "releases its hold";
    if (kind == RECEIVE) {
        bool valid = which == 0 && grant && grant->valid;
        ticket = which == 0 ? ticket : k->sleeper[which - 1];
        what = valid ? "wakes up and takes its hold" : "wakes up, too late: its lease is over";
    } else if (kind == CLAIM) {
        ticket = k->tickets;
        what = "comes and wants it too";
    } else if (kind == CANCEL) {
        ticket = k->queue[k->queued - 1];
        what = "gives up waiting";
    } else if (kind == OVERDUE) {
        what = "wakes up after its deadline";
    } else if (kind == DOWNGRADE) {
        what = "only reads from now on";
    }
    fprintf(m->transcript, "thread %c%d %s\n", 'A' + search_whose(a), ticket + 1, what);
}

/* Which of the client's nodes an admin means. */
static void print_admin(struct model *m, const struct model_state *s, model_action a) {
    const struct ts_fake_tree *tree = &s->fake.tree;
    char name[NAME];
    int32_t which = search_which(a), i = 0;
    while (tree->nodes[i].session != s->clients[search_whose(a)].session || which-- > 0)
        i++;
    fprintf(m->transcript, "somebody %s %s\n", model_kind(a) == TOUCH ? "writes to" : "deletes",
            name_text(m, tree->nodes[i].name, name));
}

void model_print_action(struct model *m, const struct model_state *s, int step, model_action a) {
    static const char *const words[ACTION_KINDS] = {
        [CONNECT] = "connects; the client library sets its watches again",
        [CONNECT_BARE] = "connects; the watches it had are lost",
        [DELIVER] = "receives",
        [DROP] = "is hung up on: its session has expired",
        [PAUSED] = "has waited the moment it was asked to",
        [SETTLE] = "has held its grant for a while: it watches its own node",
        [NOTICE] = "notices that its lease was over",
        [OUTSTAY] = "has kept its node for the next thread for long enough",
        [CUT] = "loses its connection, and all that was on it",
        [LAPSE] = "sleeps until its lease has run out, and does not know it yet",
        [EXPIRE] = "has its session expired by the server, its lease being over",
        [RENEW] = "renews, once more",
        [ABANDON] = "gives its session up; the server keeps it until it expires",
        [ASK] = "has waited for long: it asks the leader",
        [GHOST] = "is at a server that goes on showing the node it waits for",
        [SQUAT] = "is too late: a stranger makes a node with the name that it wants to use",
    };
    enum model_action_kind kind = model_kind(a);
    fprintf(m->transcript, "%4d. ", step);
    if (kind == EXECUTE || kind == ZOMBIE || kind == SAY_NOT_NOW || kind == SAY_UNKNOWN || kind == DO_UNKNOWN)
        print_server(m, s, a);
    else if (kind == RECEIVE || kind == RELEASE || kind == CLAIM || kind == CANCEL || kind == OVERDUE ||
             kind == DOWNGRADE)
        print_thread_action(m, s, a);
    else if (kind == REMOVE || kind == TOUCH)
        print_admin(m, s, a);
    else if (kind == TIME_OUT)
        fprintf(m->transcript, "session %d, which nobody uses any more, expires\n", search_whose(a) + 1);
    else if (kind == VANISH)
        fprintf(m->transcript, "the server removes the empty directory\n");
    else if (kind == CONNECT && s->fake.sessions[s->clients[search_whose(a)].session].watches_count == 0)
        fprintf(m->transcript, "%c connects\n", 'A' + search_whose(a));
    else
        fprintf(m->transcript, "%c %s\n", 'A' + search_whose(a), words[kind]);
}

/* ---- the results */

void model_print_request(struct model *m, int32_t client, const struct ts_fake_request *request) {
    char text[2 * NAME];
    fprintf(m->transcript, "          %c ──► %s%s\n", 'A' + client, request_text(m, request, text),
            model_purpose(request->tag) == FOR_RENEWAL ? ", to renew its lease" : "");
}

void model_print_packet(struct model *m, int32_t client, const struct ts_fake_reply *r) {
    char name[NAME];
    FILE *out = m->transcript;
    fprintf(out, "          %c ◄── ", 'A' + client);
    if (r->packet != TS_FAKE_REPLY) {
        fprintf(out, "event: %s %s\n", name_text(m, r->name, name), events[r->packet]);
        return;
    }
    fprintf(out, "%s: %s", ops[r->kind], results[r->result]);
    if (r->result == PDK__OK && r->kind == PDK__OP_CREATE)
        fprintf(out, ", %s with czxid %lld", name_text(m, r->name, name), (long long)r->token);
    if (r->result == PDK__OK && r->kind == PDK__OP_STAT)
        fprintf(out, ", owned by session %d", r->owner + 1);
    for (int32_t i = r->count; i-- > 0;)
        fprintf(out, " %s", name_text(m, r->children[i], name));
    fprintf(out, "%s\n",
            model_entry_of(r->tag) < 0 && model_purpose(r->tag) != FOR_RENEWAL ? ", for nobody any more" : "");
}

static void print_entry(const struct model *m, int32_t client, int32_t mark) {
    char name[NAME];
    fprintf(m->transcript, "          %s ", contender_text(m, model_mark(client, mark), name));
}

void model_print_moved(struct model *m, int32_t client, int32_t entry, const struct pdk__contender *before) {
    const struct model_entry *p = &m->now->clients[client].entries[entry];
    const struct pdk__contender *c = &p->c;
    if (c->phase == before->phase && strcmp(c->own, before->own) == 0 && strcmp(c->watched, before->watched) == 0 &&
        c->leaving == before->leaving)
        return;
    print_entry(m, client, p->mark);
    print_contender(m, c);
    fprintf(m->transcript, "\n");
}

void model_print_lease(struct model *m, int32_t client) {
    fprintf(m->transcript, "          %c has a lease: a quorum answered\n", 'A' + client);
}

void model_print_thread(struct model *m, int32_t client, int32_t ticket, const char *what) {
    fprintf(m->transcript, "          thread %c%d %s\n", 'A' + client, ticket + 1, what);
}

/* ---- the state */

void model_print_directory(struct model *m, const struct model_state *s) {
    char name[NAME];
    fprintf(m->transcript, "          %s:", MODEL_DIRECTORY);
    for (int32_t i = 0; i < s->fake.tree.count; i++)
        fprintf(m->transcript, " %s (czxid %lld)", name_text(m, s->fake.tree.nodes[i].name, name),
                (long long)s->fake.tree.nodes[i].czxid);
    fprintf(m->transcript, "%s\n", s->fake.tree.count == 0 ? " empty" : "");
}

static void print_grant(FILE *out, int32_t client, const struct model_grant *grant) {
    if (grant->hold != MODEL_NO_HOLD)
        fprintf(out, "; thread %c%d %s%s, hand-over %d, %s", 'A' + client, grant->holder + 1,
                grant->hold == MODEL_TAKEN ? "holds" : "was granted", grant->downgraded ? ", but only reads" : "",
                grant->handover, grant->valid ? "valid" : "lapsed");
}

static void print_client(FILE *out, const struct model_state *s, int32_t client) {
    const struct model_client *k = &s->clients[client];
    const struct ts_fake_session *at = k->session < 0 ? NULL : &s->fake.sessions[k->session];
    fprintf(out, "          %c: lease %s, ", 'A' + client, k->lease ? "valid" : "over");
    if (at)
        fprintf(out, "session %d, %s%s", k->session + 1, at->link ? "connected" : "not connected",
                at->alive ? "" : ", expired at the server");
    else
        fprintf(out, "no session");
    for (int32_t i = 0; i < k->queued; i++)
        fprintf(out, "%s%c%d", i == 0 ? "; waiting: " : " ", 'A' + client, k->queue[i] + 1);
    for (int32_t i = 0; i < k->sleepers; i++)
        fprintf(out, "%s%c%d", i == 0 ? "; yet to wake up: " : " ", 'A' + client, k->sleeper[i] + 1);
    fprintf(out, "\n");
}

void model_print_state(struct model *m, const struct model_state *s) {
    static const char *const commands[] = {
        "nothing", "create and list", "mkdir",   "list",          "get and watch", "barrier and list",
        "stat",    "delete",          "a pause", "list, to look",
    };
    model_print_directory(m, s);
    for (int32_t i = 0; i < m->config.clients; i++) {
        print_client(m->transcript, s, i);
        for (int32_t n = 0; n < s->clients[i].entries_count; n++) {
            const struct model_entry *p = &s->clients[i].entries[n];
            print_entry(m, i, p->mark);
            print_contender(m, &p->c);
            print_grant(m->transcript, i, &p->grant);
            fprintf(m->transcript, "; in flight: %s\n", commands[p->c.doing]);
        }
    }
}
