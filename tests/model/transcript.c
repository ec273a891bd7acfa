/* A counter-example in words, for somebody who knows ZooKeeper: who sends what, what the server does, what arrives, and what
 * each client makes of it. Nodes are called A#0: of client A, with sequence 0; A'#1 is of its second contender. */
#include "model.h"

#include <string.h>

enum { NAME = 32 };

static const char *const phases[] = {"OUT", "UNSURE", "CANDIDATE", "IN", "HELD", "STUCK", "GONE"};
static const char *const commands[] = {"nothing", "ENTER", "MKDIR",  "LIST", "WATCH",
                                       "PROVE",   "STAT",  "DELETE", "PAUSE"};
static const char *const ops[] = {"create", "mkdir", "list", "get and watch", "get", "stat", "barrier", "delete"};
static const char *const results[] = {"OK",          "no such node",   "node exists", "UNKNOWN (connection loss)",
                                      "not allowed", "not now, later", "refused"};

static const char *name_text(const struct model *m, struct ts_fake_name name, char text[NAME]) {
    int32_t client = (name.mark - 1) % m->config.clients, incarnation = (name.mark - 1) / m->config.clients;
    if (name.mark == 0)
        snprintf(text, NAME, "%s", MODEL_DIRECTORY);
    else
        snprintf(text, NAME, "%c%.*s#%d", 'A' + client, (int)incarnation, "''''", name.sequence);
    return text;
}

static const char *child_text(struct model *m, const char *child, char text[NAME]) {
    struct ts_fake_name name;
    if (child[0] == '\0' || !ts_fake_name_of(&m->names, child, &name))
        return "-";
    return name_text(m, name, text);
}

static const char *request_text(const struct model *m, const struct ts_fake_request *r, char text[2 * NAME]) {
    char name[NAME];
    if (r->kind == PDK__OP_CREATE)
        snprintf(text, 2 * NAME, "create");
    else
        snprintf(text, 2 * NAME, "%s %s", ops[r->kind], name_text(m, r->name, name));
    return text;
}

static const struct ts_fake_request *next_request(const struct model_state *s, int32_t client) {
    return &s->fake.sessions[s->clients[client].session].requests[0];
}

static void print_server(struct model *m, const struct model_state *s, model_action a) {
    static const char *const how[] = {"executes", "refuses, saying NOT NOW,", "says UNKNOWN and does not yet execute",
                                      "says UNKNOWN but executes"};
    enum model_action_kind kind = model_kind(a);
    char request[2 * NAME];
    int32_t which = kind == SAY_NOT_NOW ? 1 : kind == SAY_UNKNOWN ? 2 : kind == DO_UNKNOWN ? 3 : 0;
    const struct ts_fake_request *r = next_request(s, model_whose(a));
    if (kind == ZOMBIE) {
        r = &s->fake.sessions[s->clients[model_whose(a)].session].late;
        fprintf(m->transcript, "the server executes, late, from the broken connection of %c: %s\n",
                'A' + model_whose(a), request_text(m, r, request));
        return;
    }
    fprintf(m->transcript, "the server %s %c's %s\n", how[which], 'A' + model_whose(a), request_text(m, r, request));
}

void model_print_action(struct model *m, const struct model_state *s, int step, model_action a) {
    static const char *const words[ACTION_KINDS] = {
        [CONNECT] = "connects; the client library sets its watches again",
        [CONNECT_BARE] = "connects; the watches it had are lost",
        [DELIVER] = "receives",
        [DROP] = "is hung up on: its session has expired",
        [PAUSED] = "has paused long enough",
        [RELEASE] = "releases the lock",
        [RESTART] = "queues again, as a new contender",
        [CUT] = "loses its connection, and all that was on it",
        [LAPSE] = "sees its lease run out",
        [EXPIRE] = "has its session expired by the server, its lease being over",
        [CANCEL] = "gives up waiting",
        [REMOVE] = "has its node deleted by an admin",
        [TOUCH] = "has its node written to by somebody",
        [RENEW] = "renews, out of turn",
        [ABANDON] = "gives its session up; the server keeps it for now",
    };
    enum model_action_kind kind = model_kind(a);
    fprintf(m->transcript, "%4d. ", step);
    if (kind == EXECUTE || kind == ZOMBIE || kind == SAY_NOT_NOW || kind == SAY_UNKNOWN || kind == DO_UNKNOWN)
        print_server(m, s, a);
    else if (kind == TIME_OUT)
        fprintf(m->transcript, "session %d, which nobody uses any more, expires\n", model_whose(a) + 1);
    else if (kind == VANISH)
        fprintf(m->transcript, "the server removes the empty directory\n");
    else
        fprintf(m->transcript, "%c %s\n", 'A' + model_whose(a), words[kind]);
}

void model_print_request(struct model *m, int32_t client, const struct pdk__request *request) {
    char text[NAME];
    const char *child = strlen(request->path) > sizeof MODEL_DIRECTORY ? request->path + sizeof MODEL_DIRECTORY : "";
    if (request->kind == PDK__OP_CREATE || child[0] == '\0')
        fprintf(m->transcript, "          %c ──► %s %s\n", 'A' + client, ops[request->kind],
                request->kind == PDK__OP_CREATE ? "an ephemeral sequential node" : MODEL_DIRECTORY);
    else
        fprintf(m->transcript, "          %c ──► %s %s\n", 'A' + client, ops[request->kind],
                child_text(m, child, text));
}

void model_print_packet(struct model *m, int32_t client, const struct ts_fake_reply *r) {
    char name[NAME];
    FILE *out = m->transcript;
    fprintf(out, "          %c ◄── ", 'A' + client);
    if (r->packet != TS_FAKE_REPLY) {
        fprintf(out, "event: %s was %s\n", name_text(m, r->name, name),
                r->packet == TS_FAKE_DELETED ? "deleted" : "changed");
        return;
    }
    fprintf(out, "%s: %s", ops[r->kind], results[r->result]);
    if (r->result == PDK__OK && r->kind == PDK__OP_CREATE)
        fprintf(out, ", %s with czxid %lld", name_text(m, r->name, name), (long long)r->token);
    if (r->result == PDK__OK && r->kind == PDK__OP_STAT)
        fprintf(out, ", owned by session %d", r->owner + 1);
    for (int32_t i = r->count; i-- > 0;)
        fprintf(out, " %s", name_text(m, r->children[i], name));
    fprintf(out, "\n");
}

void model_print_moved(struct model *m, int32_t client, const struct pdk__contender *before) {
    const struct pdk__contender *c = &m->now->clients[client].c;
    char own[NAME], watched[NAME];
    if (c->phase != before->phase || strcmp(c->own, before->own) != 0 || strcmp(c->watched, before->watched) != 0 ||
        c->leaving != before->leaving)
        fprintf(m->transcript, "          %c: %s ⇒ %s, own node %s, behind %s%s\n", 'A' + client, phases[before->phase],
                phases[c->phase], child_text(m, c->own, own), child_text(m, c->watched, watched),
                c->leaving ? ", leaving" : "");
}

void model_print_directory(struct model *m, const struct model_state *s) {
    char name[NAME];
    fprintf(m->transcript, "          %s:", MODEL_DIRECTORY);
    for (int32_t i = 0; i < s->fake.tree.count; i++)
        fprintf(m->transcript, " %s (czxid %lld)", name_text(m, s->fake.tree.nodes[i].name, name),
                (long long)s->fake.tree.nodes[i].czxid);
    fprintf(m->transcript, "%s\n", s->fake.tree.count == 0 ? " empty" : "");
}

void model_print_state(struct model *m, const struct model_state *s) {
    FILE *out = m->transcript;
    model_print_directory(m, s);
    for (int32_t i = 0; i < m->config.clients; i++) {
        const struct model_client *k = &s->clients[i];
        const struct ts_fake_session *at = k->session < 0 ? NULL : &s->fake.sessions[k->session];
        char own[NAME], watched[NAME];
        fprintf(out, "          %c: %s, own node %s, behind %s, in flight: %s, lease %s, %s%s\n", 'A' + i,
                phases[k->c.phase], child_text(m, k->c.own, own), child_text(m, k->c.watched, watched),
                commands[k->c.doing], k->lease ? "valid" : "over",
                !at         ? "no session"
                : !at->link ? "not connected"
                            : "connected",
                at && !at->alive ? ", session expired at the server" : "");
    }
}
