/* One client of the model: a real contender, bound to the fake's requests and replies as the driver binds it to ZooKeeper's. */
#include "model.h"

#include <string.h>

/* Whose answer a reply is. The first group are the contender's commands: one of them is in flight at a time. */
enum tag {
    FOR_CREATE,
    FOR_ENTER_LIST,
    FOR_MKDIR,
    FOR_LIST,
    FOR_WATCH,
    FOR_BARRIER,
    FOR_PROVE_LIST,
    FOR_STAT,
    FOR_DELETE,
    COMMANDS,
    FOR_RENEWAL = COMMANDS,
    FOR_OWN_WATCH
};

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

bool model_own_name(struct model *m, const struct model_client *k, struct ts_fake_name *name) {
    return k->c.own[0] != '\0' && ts_fake_name_of(&m->names, k->c.own, name);
}

static void submit(struct model *m, int32_t client, enum pdk__op_kind kind, const char *child, enum tag tag) {
    char path[PDK__NAME_SIZE + sizeof MODEL_DIRECTORY + 1] = MODEL_DIRECTORY;
    if (child) {
        path[sizeof MODEL_DIRECTORY - 1] = '/';
        memcpy(path + sizeof MODEL_DIRECTORY, child, strlen(child) + 1);
    }
    struct pdk__request request = {.kind = kind, .tag = tag, .path = path};
    if (m->transcript)
        model_print_request(m, client, &request);
    if (!ts_fake_submit(&m->now->fake, &m->names, client_of(m, client)->session, &request))
        model_break(m, "sends only while connected", "client %c", 'A' + client);
}

/* A command while another one is unanswered? */
static void check_one_command(struct model *m, int32_t client) {
    const struct ts_fake_session *s = &m->now->fake.sessions[client_of(m, client)->session];
    int32_t found = 0;
    for (int32_t i = 0; i < s->requests_count; i++)
        found += s->requests[i].tag < COMMANDS;
    for (int32_t i = 0; i < s->replies_count; i++)
        found += s->replies[i].packet == TS_FAKE_REPLY && s->replies[i].tag < COMMANDS;
    if (found != 0 || client_of(m, client)->pausing)
        model_break(m, "one command in flight", "client %c", 'A' + client);
}

void model_renew(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    k->renewing = MODEL_SENT;
    submit(m, client, PDK__OP_BARRIER, k->c.own, FOR_RENEWAL);
}

static void carry_out(struct model *m, int32_t client, enum pdk__command command) {
    struct model_client *k = client_of(m, client);
    if (command != PDK__DO_NOTHING)
        check_one_command(m, client);
    switch (command) {
    case PDK__DO_NOTHING:
        break;
    case PDK__DO_ENTER:
        submit(m, client, PDK__OP_CREATE, k->c.mark, FOR_CREATE);
        submit(m, client, PDK__OP_LIST, NULL, FOR_ENTER_LIST);
        break;
    case PDK__DO_MKDIR:
        submit(m, client, PDK__OP_MKDIR, NULL, FOR_MKDIR);
        break;
    case PDK__DO_LIST:
        if (!k->lease && k->renewing == MODEL_NONE && k->c.own[0] != '\0')
            model_renew(m, client); /* so that the list may grant */
        submit(m, client, PDK__OP_LIST, NULL, FOR_LIST);
        break;
    case PDK__DO_WATCH:
        submit(m, client, PDK__OP_WATCH, k->c.watched, FOR_WATCH);
        break;
    case PDK__DO_PROVE:
        submit(m, client, PDK__OP_BARRIER, NULL, FOR_BARRIER);
        submit(m, client, PDK__OP_LIST, NULL, FOR_PROVE_LIST);
        break;
    case PDK__DO_STAT:
        submit(m, client, PDK__OP_STAT, k->c.own, FOR_STAT);
        break;
    case PDK__DO_DELETE:
        submit(m, client, PDK__OP_DELETE, k->c.own, FOR_DELETE);
        break;
    case PDK__DO_PAUSE:
        k->pausing = true;
        break;
    }
}

/* What is owed besides the contender's command. */
static void pump(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->session < 0 || !m->now->fake.sessions[k->session].link)
        return;
    if (pdk__contender_is_next(&k->c) && !k->lease && k->renewing == MODEL_NONE)
        model_renew(m, client);
    if (k->c.phase == PDK__HELD && k->own_watch == MODEL_NONE) {
        k->own_watch = MODEL_SENT;
        submit(m, client, PDK__OP_WATCH, k->c.own, FOR_OWN_WATCH);
    }
}

static void observe(struct model *m, int32_t client, enum pdk__phase before) {
    struct model_client *k = client_of(m, client);
    if (k->c.phase == before)
        return;
    if (k->c.phase == PDK__HELD)
        model_check_grant(m, client);
    else
        k->own_watch = MODEL_NONE;
    if (before == PDK__HELD && k->c.phase == PDK__GONE)
        m->seen.lost_holds++;
    if (before == PDK__UNSURE && k->c.phase == PDK__CANDIDATE)
        m->seen.recovered_found++;
    if (before == PDK__UNSURE && k->c.phase == PDK__OUT)
        m->seen.recovered_absent++;
}

static void feed(struct model *m, int32_t client, const struct pdk__event *event) {
    struct model_client *k = client_of(m, client);
    struct pdk__contender before = k->c;
    enum pdk__command command = pdk__contender_step(&k->c, event);
    observe(m, client, before.phase);
    if (event->type == PDK__NODE_LOST && k->c.phase == PDK__HELD)
        model_break(m, "a hold does not outlive its node", "client %c was told, and still holds", 'A' + client);
    if (m->transcript)
        model_print_moved(m, client, &before);
    if (m->broken)
        return;
    carry_out(m, client, command);
    pump(m, client);
}

void model_tell(struct model *m, int32_t client, enum pdk__event_type type) {
    feed(m, client, &(struct pdk__event){.type = type});
}

/* A committed request was acknowledged. Where the server has ended the session meanwhile, the arithmetic guarantees that the
 * lease counted from it is over as well. */
static void committed(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->lease || !m->now->fake.sessions[k->session].alive)
        return;
    k->lease = true;
    model_tell(m, client, PDK__FRESH);
}

static void on_listed(struct model *m, int32_t client, const struct pdk__reply *reply) {
    struct model_client *k = client_of(m, client);
    struct pdk__view view;
    if (reply->result == PDK__OK)
        pdk__view_make(&view, reply->children, reply->children_count, k->c.mark, k->c.own, pdk__blocks_always);
    struct pdk__event event = {.type = PDK__LISTED, .result = reply->result, .view = &view, .fresh = k->lease};
    event.hurry = client >= m->config.clients - m->config.tries;
    enum pdk__phase before = k->c.phase;
    feed(m, client, &event);
    if (before != PDK__HELD && k->c.phase == PDK__HELD && !view.listed)
        model_break(m, "a grant is listed", "client %c was granted by a list without its own node", 'A' + client);
}

static void on_result(struct model *m, int32_t client, enum pdk__event_type type, const struct pdk__reply *reply) {
    bool ours = reply->owner == client_of(m, client)->session + 1;
    feed(m, client,
         &(struct pdk__event){
             .type = type, .result = reply->result, .name = reply->name, .token = reply->token, .ours = ours});
}

static void on_renewed(struct model *m, int32_t client, enum pdk__result result) {
    client_of(m, client)->renewing = MODEL_NONE;
    if (result == PDK__NO_NODE)
        model_tell(m, client, PDK__NODE_LOST);
    else
        pump(m, client);
}

static void on_own_watched(struct model *m, int32_t client, enum pdk__result result) {
    struct model_client *k = client_of(m, client);
    if (k->own_watch == MODEL_SENT) /* else the hold is over */
        k->own_watch = result == PDK__OK ? MODEL_ARMED : MODEL_NONE;
    if (result == PDK__NO_NODE)
        model_tell(m, client, PDK__NODE_LOST);
    else
        pump(m, client);
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct model_binding *binding = driver;
    struct model *m = binding->m;
    int32_t client = binding->client;
    bool ok = reply->result == PDK__OK, proves = ok || reply->result == PDK__NO_NODE;
    (void)zk;
    if ((ok && (reply->tag == FOR_CREATE || reply->tag == FOR_DELETE)) ||
        (proves && (reply->tag == FOR_BARRIER || reply->tag == FOR_RENEWAL)))
        committed(m, client);
    switch ((enum tag)reply->tag) {
    case FOR_CREATE:
        on_result(m, client, PDK__CREATED, reply);
        break;
    case FOR_ENTER_LIST:
    case FOR_LIST:
    case FOR_PROVE_LIST:
        on_listed(m, client, reply);
        break;
    case FOR_MKDIR:
        on_result(m, client, PDK__MADE_DIR, reply);
        break;
    case FOR_WATCH:
        on_result(m, client, PDK__WATCHED, reply);
        break;
    case FOR_BARRIER:
        on_result(m, client, PDK__PROVED, reply);
        break;
    case FOR_STAT:
        on_result(m, client, PDK__STATTED, reply);
        break;
    case FOR_DELETE:
        on_result(m, client, PDK__DELETED, reply);
        break;
    case FOR_RENEWAL:
        on_renewed(m, client, reply->result);
        break;
    case FOR_OWN_WATCH:
        on_own_watched(m, client, reply->result);
        break;
    }
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, bool gone) {
    struct model_binding *binding = driver;
    struct model_client *k = client_of(binding->m, binding->client);
    const char *name = path + sizeof MODEL_DIRECTORY;
    (void)zk;
    if (strcmp(name, k->c.own) == 0) {
        k->own_watch = MODEL_NONE;
        if (gone)
            model_tell(binding->m, binding->client, PDK__NODE_LOST);
        else
            pump(binding->m, binding->client);
    } else if (strcmp(name, k->c.watched) == 0) {
        model_tell(binding->m, binding->client, PDK__POKE);
    }
}

const struct pdk__zk_sink model_sink = {.reply = on_reply, .watch = on_watch};

void model_client_start(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    int32_t mark = client + (m->config.same_mark ? 0 : k->incarnation * m->config.clients);
    if (k->session < 0)
        k->session = ts_fake_open(&m->now->fake);
    pdk__contender_init(&k->c, m->names.mark[mark]);
    k->pausing = k->robbed = false;
    k->renewing = k->own_watch = MODEL_NONE;
    model_tell(m, client, PDK__ENTER);
    if (m->now->fake.sessions[k->session].link)
        model_tell(m, client, PDK__LINK_UP);
}
