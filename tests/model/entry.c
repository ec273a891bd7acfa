/* The driver of one contender, as src/session/entry.c and commands.c are: it carries out the commands of the core
 * against the fake, brings it the answers, and tells the queue about the result. */
#include "model.h"
#include "transitions.h"

#include <assert.h>
#include <string.h>

static struct model_client *client_of(struct model *m, int32_t client) { return &m->now->clients[client]; }

static struct model_entry *entry_of(struct model *m, int32_t client, int32_t entry) {
    return &m->now->clients[client].entries[entry];
}

/* ---- requests */

static void send(struct model *m, int32_t client, const struct ts_fake_request *request) {
    if (m->transcript)
        model_print_request(m, client, request);
    if (!model_is_connected(m, client_of(m, client)))
        model_break(m, "sends only while connected", "client %c", 'A' + client);
    else if (!ts_fake_enqueue(&m->now->fake, client_of(m, client)->session, request))
        model_break(m, "few requests in flight", "client %c", 'A' + client);
}

/* name: mark 0 for the directory, at level 1, or the root, at level 0. */
static void submit(struct model *m, int32_t client, int32_t entry, enum pdk__op_kind kind, struct ts_fake_name name,
                   int32_t level, enum model_purpose purpose) {
    struct ts_fake_request request = {
        .kind = kind, .name = name, .level = (int16_t)level, .tag = model_tag(entry, purpose)};
    request.named = kind == PDK__OP_CREATE && entry_of(m, client, entry)->c.named;
    send(m, client, &request);
}

static void submit_directory(struct model *m, int32_t client, int32_t entry, enum pdk__op_kind kind,
                             enum model_purpose purpose) {
    submit(m, client, entry, kind, (struct ts_fake_name){0, 0}, 1, purpose);
}

static void submit_own(struct model *m, int32_t client, int32_t entry, enum pdk__op_kind kind,
                       enum model_purpose purpose) {
    submit(m, client, entry, kind, model_name(entry_of(m, client, entry)->c.own), 0, purpose);
}

int32_t model_entry_with(const struct model_client *k, enum model_owner owner) {
    int32_t i = k->entries_count - 1;
    while (i >= 0 && k->entries[i].owner != owner)
        i--;
    return i;
}

static bool wants_renewal(const struct model_entry *p) {
    const struct pdk__contender *c = &p->c;
    return p->owner != MODEL_REAPER &&
           (c->phase == PDK__HELD || pdk__contender_is_next(c) || (c->phase == PDK__IN && c->listed && c->ahead <= 1));
}

/* The real driver visits them in rotation. */
int32_t model_wants_renewal(const struct model_client *k) {
    for (int32_t i = 0; i < k->entries_count; i++)
        if (wants_renewal(&k->entries[i]))
            return i;
    return -1;
}

/* The real driver may have several under way. Here one is under way at a time, and another follows where it was in
 * vain. */
void model_renew(struct model *m, int32_t client) {
    struct model_client *k = client_of(m, client);
    if (k->renewing || !model_is_connected(m, k))
        return;
    k->renewing = true;
    int32_t entry = model_wants_renewal(k);
    if (entry >= 0)
        submit_own(m, client, entry, PDK__OP_BARRIER, FOR_RENEWAL);
    else
        submit(m, client, -1, PDK__OP_BARRIER, (struct ts_fake_name){0, 0}, 0, FOR_RENEWAL);
}

static void watch_own(struct model *m, int32_t client, int32_t entry) {
    entry_of(m, client, entry)->own_watch = MODEL_SENT;
    submit_own(m, client, entry, PDK__OP_WATCH, FOR_OWN_WATCH);
}

void model_entry_settle(struct model *m, int32_t client, int32_t entry) {
    if (entry_of(m, client, entry)->c.phase == PDK__HELD && model_is_connected(m, client_of(m, client)))
        watch_own(m, client, entry);
}

void model_entry_look_out(struct model *m, int32_t client, int32_t entry) {
    struct ts_fake_request request = {
        .kind = PDK__OP_LIST, .level = 1, .watch = true, .tag = model_tag(entry, FOR_LOOKOUT)};
    send(m, client, &request);
}

void model_entry_ask(struct model *m, int32_t client, int32_t entry) {
    client_of(m, client)->asked = true;
    submit(m, client, entry, PDK__OP_BARRIER, model_name(entry_of(m, client, entry)->c.watched), 0, FOR_ASK);
}

/* A command while another one of this entry is unanswered? */
static void check_one_command(struct model *m, int32_t client, int32_t entry) {
    const struct ts_fake_session *s = &m->now->fake.sessions[client_of(m, client)->session];
    bool busy = entry_of(m, client, entry)->pausing;
    for (int32_t i = 0; i < s->requests_count; i++)
        busy =
            busy || (model_entry_of(s->requests[i].tag) == entry && model_purpose(s->requests[i].tag) < MODEL_COMMANDS);
    for (int32_t i = 0; i < s->replies_count; i++)
        busy = busy || (s->replies[i].packet == TS_FAKE_REPLY && model_entry_of(s->replies[i].tag) == entry &&
                        model_purpose(s->replies[i].tag) < MODEL_COMMANDS);
    if (busy)
        model_break(m, "one command in flight", "client %c", 'A' + client);
}

struct ts_fake_name model_name_given(int32_t client, const struct model_entry *p) {
    return (struct ts_fake_name){model_mark(client, p->mark), p->exchanged.sequence};
}

static void carry_out(struct model *m, int32_t client, int32_t entry, enum pdk__command command) {
    struct model_entry *p = entry_of(m, client, entry);
    if (command != PDK__DO_NOTHING)
        check_one_command(m, client, entry);
    switch (command) {
    case PDK__DO_NOTHING:
        break;
    case PDK__DO_ENTER:
        if (model_mirror_wants_watch(m, client, p))
            submit_directory(m, client, -1, PDK__OP_WATCH, FOR_DIRECTORY);
        p->mirrored = model_mirror_expects(m, client, p);
        submit(m, client, entry, PDK__OP_CREATE, model_name_given(client, p), 0, FOR_CREATE);
        if (!p->mirrored)
            submit_directory(m, client, entry, PDK__OP_LIST, FOR_ENTER_LIST);
        break;
    case PDK__DO_MKDIR:
        submit_directory(m, client, entry, PDK__OP_MKDIR, FOR_MKDIR);
        break;
    case PDK__DO_LIST:
        if (!client_of(m, client)->lease)
            model_renew(m, client); /* so that the list may grant */
        submit_directory(m, client, entry, PDK__OP_LIST, FOR_LIST);
        break;
    case PDK__DO_WATCH:
        if (model_never_waits(m, client) && p->blocked)
            model_break(m, "a try does not wait", "client %c", 'A' + client);
        if (p->c.sole && p->own_watch != MODEL_ARMED)
            watch_own(m, client, entry);
        p->registered = true;
        submit(m, client, entry, PDK__OP_WATCH, model_name(p->c.watched), 0, FOR_WATCH);
        break;
    case PDK__DO_PROVE:
        submit_directory(m, client, entry, PDK__OP_BARRIER, FOR_PROOF);
        submit_directory(m, client, entry, PDK__OP_LIST, FOR_PROVE_LIST);
        break;
    case PDK__DO_STAT:
        submit_own(m, client, entry, PDK__OP_STAT, FOR_STAT);
        break;
    case PDK__DO_DELETE:
        submit_own(m, client, entry, PDK__OP_DELETE, FOR_DELETE);
        break;
    case PDK__DO_LOOK: /* the fake's answers are never old: no sync */
        submit_directory(m, client, entry, PDK__OP_LIST, FOR_LOOK);
        break;
    case PDK__DO_PAUSE:
        p->pausing = true;
        break;
    }
}

/* ---- events */

static void observe(struct model *m, enum pdk__phase before, enum pdk__phase now) {
    m->seen.recovered_found += before == PDK__UNSURE && now == PDK__CANDIDATE;
    m->seen.recovered_absent += before == PDK__UNSURE && now == PDK__OUT;
}

/* Tells those concerned about the change. They may end the entry from in here: the call comes back here then. */
static void after(struct model *m, int32_t client, int32_t entry, enum pdk__phase before) {
    struct model_client *k = client_of(m, client);
    struct model_entry *p = entry_of(m, client, entry);
    observe(m, before, p->c.phase);
    if (p->c.phase == PDK__OUT || (p->c.phase == PDK__HELD && before != PDK__HELD))
        p->own_watch = MODEL_NONE;
    if (p->c.phase == PDK__HELD && before != PDK__HELD)
        model_mirror_held(m, client, p);
    if (p->c.phase != PDK__IN && p->c.phase != PDK__HELD)
        p->own_stands = false;
    if (pdk__contender_is_next(&p->c) && !k->lease)
        model_renew(m, client);
    model_moved(m, client, entry);
}

/* Where the mirror stands for a list that is due, the contender hears of that at once. */
static enum pdk__command step_core(struct model *m, int32_t client, int32_t entry, const struct pdk__event *event) {
    struct model_entry *p = entry_of(m, client, entry);
    struct pdk__view view;
    enum pdk__phase phase = p->c.phase;
    enum pdk__command command = pdk__contender_step(&p->c, event);
    model_transitions[phase][event->type][p->c.phase]++;
    if (command != PDK__DO_LIST || !model_mirror_shows(m, client, p, &view))
        return command;
    p->blocked = false;
    phase = p->c.phase;
    command = pdk__contender_step(&p->c, &(struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = true});
    model_transitions[phase][PDK__LISTED][p->c.phase]++;
    return command;
}

static void step(struct model *m, int32_t client, int32_t entry, const struct pdk__event *event) {
    struct model_entry *p = entry_of(m, client, entry);
    struct pdk__contender before;
    struct ts_fake_name watched = model_name(p->c.watched);
    enum pdk__phase phase = p->c.phase;
    if (m->transcript)
        before = p->c;
    enum pdk__command command = step_core(m, client, entry, event);
    if (m->transcript)
        model_print_moved(m, client, entry, &before);
    if (event->type == PDK__NODE_LOST && p->c.phase == PDK__HELD)
        model_break(m, "a hold does not outlive its node", "client %c was told, and still holds", 'A' + client);
    if (event->type == PDK__LISTED && phase != PDK__HELD && p->c.phase == PDK__HELD && !event->view->listed)
        model_break(m, "a grant is listed", "client %c was granted by a list without its own node", 'A' + client);
    if (m->broken)
        return;
    if (p->registered && !ts_fake_name_equal(watched, model_name(p->c.watched)))
        p->registered = false;
    carry_out(m, client, entry, command);
    after(m, client, entry, phase);
}

void model_entry_tell(struct model *m, int32_t client, int32_t entry, enum pdk__event_type type) {
    step(m, client, entry, &(struct pdk__event){.type = type});
}

/* Entries that are made meanwhile are not told. */
void model_entries_tell(struct model *m, int32_t client, enum pdk__event_type type) {
    struct model_client *k = client_of(m, client);
    for (int32_t i = 0, count = k->entries_count; i < count; i++)
        if (k->entries[i].c.phase != PDK__GONE)
            model_entry_tell(m, client, i, type);
}

static int32_t make(struct model *m, int32_t client, enum model_owner owner) {
    struct model_client *k = client_of(m, client);
    assert(model_entry_with(k, owner) < 0 && k->entries_count < MODEL_ENTRIES);
    int32_t mark = model_new_mark(m, client, owner == MODEL_EXCHANGE), entry = k->entries_count;
    struct model_entry *p = &k->entries[entry];
    memset(p, 0, sizeof *p);
    p->owner = owner;
    p->mark = mark;
    pdk__contender_init(&p->c, m->names.mark[model_mark(client, mark) - 1]);
    k->entries_count++;
    return entry;
}

static void begin(struct model *m, int32_t client, int32_t entry) {
    if (model_is_connected(m, client_of(m, client)))
        model_entry_tell(m, client, entry, PDK__LINK_UP);
    model_entry_tell(m, client, entry, PDK__ENTER);
}

void model_entry_new(struct model *m, int32_t client) {
    int32_t entry = make(m, client, MODEL_QUEUE);
    entry_of(m, client, entry)->c.looks_first = model_never_waits(m, client) && m->config.permits == 0;
    begin(m, client, entry);
}

void model_entry_exchange(struct model *m, int32_t client, int32_t held) {
    int32_t entry = make(m, client, MODEL_EXCHANGE);
    struct model_entry *p = entry_of(m, client, entry);
    p->exchanged = model_name(entry_of(m, client, held)->c.own);
    p->c.named = true;
    begin(m, client, entry);
}

void model_entry_leave(struct model *m, int32_t client, int32_t entry) {
    entry_of(m, client, entry)->owner = MODEL_REAPER;
    model_entry_tell(m, client, entry, PDK__LEAVE);
}

void model_entry_watch_fired(struct model *m, int32_t client, struct ts_fake_name name, bool gone, bool told) {
    struct model_client *k = client_of(m, client);
    for (int32_t i = 0, count = k->entries_count; i < count && !m->broken; i++) {
        struct model_entry *p = &k->entries[i];
        if (p->own_watch != MODEL_NONE && ts_fake_name_equal(model_name(p->c.own), name)) {
            p->own_watch = MODEL_NONE;
            if (gone)
                model_entry_tell(m, client, i, PDK__NODE_LOST);
            else if (p->c.phase == PDK__IN)
                model_entry_tell(m, client, i, PDK__UNGUARDED);
            else
                model_entry_settle(m, client, i); /* written to: watch on */
        } else if (p->registered && ts_fake_name_equal(model_name(p->c.watched), name)) {
            p->registered = false;
            step(m, client, i, &(struct pdk__event){.type = PDK__POKE, .gone = gone && !told, .fresh = k->lease});
        }
    }
}

/* ---- answers */

/* Is it a node of this client's that nobody wants any more? */
static bool gives_up(const struct model_client *k, const char *name) {
    for (int32_t i = 0; i < k->entries_count; i++)
        if (k->entries[i].owner == MODEL_REAPER && strcmp(k->entries[i].c.own, name) == 0)
            return true;
    return false;
}

static void view_from_behind(struct pdk__view *view, const char *const *names, size_t count, const char *mark,
                             struct pdk__rule rule) {
    struct pdk__child children[TS_FAKE_NODES];
    pdk__children_parse(children, names, count);
    pdk__view_from_behind(view, children, count, mark, rule);
}

/* What the leader has said to be gone is nobody's. */
static void forget_gone(const struct model_client *k, struct ts_fake_reply *list) {
    int32_t kept = 0;
    for (int32_t i = 0; i < list->count; i++)
        if (!k->told || !ts_fake_name_equal(list->children[i], k->ghost))
            list->children[kept++] = list->children[i];
    list->count = (int16_t)kept;
}

static void on_listed(struct model *m, int32_t client, int32_t entry, struct ts_fake_reply *r) {
    struct model_entry *p = entry_of(m, client, entry);
    forget_gone(client_of(m, client), r);
    bool look = model_purpose(r->tag) == FOR_LOOK;
    char texts[TS_FAKE_NODES][TS_FAKE_TEXT], exchanged[TS_FAKE_TEXT] = "";
    const char *children[TS_FAKE_NODES];
    struct pdk__view view;
    for (int32_t i = 0; i < r->count; i++) {
        ts_fake_name_text(&m->names, r->children[i], texts[i]);
        children[i] = texts[i];
    }
    if (p->c.named)
        ts_fake_name_text(&m->names, p->exchanged, exchanged);
    if (r->result == PDK__OK) {
        struct pdk__rule rule = model_rule(m, client);
        model_mirror_listed(m, client, children, (size_t)r->count);
        if (look)
            view_from_behind(&view, children, (size_t)r->count, p->c.mark, rule);
        else
            pdk__view_make(&view, children, (size_t)r->count,
                           &(struct pdk__viewer){p->c.mark, p->c.own, exchanged, rule});
        p->blocked = view.blocker[0] != '\0' && (rule.tolerated > 0 || !gives_up(client_of(m, client), view.blocker));
        if (view.blocker[0] != '\0' && !look)
            model_check_blocked(m, client, p, r);
    }
    step(m, client, entry,
         &(struct pdk__event){.type = PDK__LISTED,
                              .result = r->result,
                              .view = &view,
                              .fresh = client_of(m, client)->lease,
                              .never_waits = p->blocked && p->owner == MODEL_QUEUE && model_never_waits(m, client)});
}

static void on_result(struct model *m, int32_t client, int32_t entry, enum pdk__event_type type,
                      const struct ts_fake_reply *r) {
    char name[TS_FAKE_TEXT] = "";
    m->seen.squatted += type == PDK__CREATED && r->result == PDK__NODE_EXISTS;
    if (type == PDK__CREATED && r->result == PDK__OK)
        ts_fake_name_text(&m->names, r->name, name);
    step(m, client, entry,
         &(struct pdk__event){.type = type,
                              .result = r->result,
                              .name = name,
                              .token = r->token,
                              .ours = r->result == PDK__OK && r->owner == client_of(m, client)->session,
                              .guarded = entry_of(m, client, entry)->own_watch == MODEL_ARMED});
}

/* As answer_mirrored of src/session/commands.c. */
static void answer_mirrored(struct model *m, int32_t client, int32_t entry, enum pdk__result created,
                            const struct pdk__view *view) {
    struct model_entry *p = entry_of(m, client, entry);
    bool fresh = client_of(m, client)->lease;
    struct pdk__event event = {.type = PDK__LISTED, .result = created, .view = view, .fresh = fresh};
    p->mirrored = false;
    if (created == PDK__OK && (!view || (view->blocker[0] == '\0' ? !fresh : model_never_waits(m, client)))) {
        if (!fresh)
            model_renew(m, client);
        submit_directory(m, client, entry, PDK__OP_LIST, FOR_ENTER_LIST);
        return;
    }
    if (created == PDK__OK) {
        m->seen.alone++;
        p->blocked = view->blocker[0] != '\0' && !gives_up(client_of(m, client), view->blocker);
    } else if (created != PDK__NO_NODE) {
        event.result = PDK__UNKNOWN;
    }
    step(m, client, entry, &event);
}

static void on_created(struct model *m, int32_t client, int32_t entry, const struct ts_fake_reply *r) {
    struct model_entry *p = entry_of(m, client, entry);
    struct pdk__view view;
    char name[TS_FAKE_TEXT] = "";
    if (r->result == PDK__OK)
        ts_fake_name_text(&m->names, r->name, name);
    bool shown = model_mirror_created(m, client, p, name, &view);
    on_result(m, client, entry, PDK__CREATED, r);
    if (p->mirrored && !m->broken)
        answer_mirrored(m, client, entry, r->result, shown ? &view : NULL);
}

static void on_deleted(struct model *m, int32_t client, int32_t entry, const struct ts_fake_reply *r) {
    const char *own = entry_of(m, client, entry)->c.own;
    if (r->result == PDK__OK && own[0] != '\0')
        model_mirror_deleted(m, client, model_name(own));
    on_result(m, client, entry, PDK__DELETED, r);
}

static void on_watched(struct model *m, int32_t client, int32_t entry, const struct ts_fake_reply *r) {
    if (r->result != PDK__OK)
        entry_of(m, client, entry)->registered = false;
    else
        model_mirror_stands(m, client, r->name, true);
    on_result(m, client, entry, PDK__WATCHED, r);
}

static void on_own_watched(struct model *m, int32_t client, int32_t entry, enum pdk__result result) {
    struct model_entry *p = entry_of(m, client, entry);
    if (p->own_watch == MODEL_SENT) /* else an event was first */
        p->own_watch = result == PDK__OK ? MODEL_ARMED : MODEL_NONE;
    if (p->own_watch == MODEL_ARMED)
        p->own_stands = true;
    if (result == PDK__NO_NODE)
        model_entry_tell(m, client, entry, PDK__NODE_LOST);
}

/* What is gone stays gone: no list shows it any more, whatever the server says. */
static void on_asked(struct model *m, int32_t client, enum pdk__result result) {
    struct model_client *k = client_of(m, client);
    if (k->ghost.mark == 0)
        return;
    if (result == PDK__NO_NODE) {
        k->told = true;
        model_entry_watch_fired(m, client, k->ghost, true, true);
    } else if (result != PDK__OK) {
        k->asked = false;
    }
}

/* Of the queue's node, and not of one before. */
static void on_looked_out(struct model *m, int32_t client, int32_t entry, const struct ts_fake_reply *r) {
    const struct model_entry *p = entry_of(m, client, entry);
    bool alone = r->result == PDK__OK;
    for (int32_t i = 0; i < r->count; i++)
        alone = alone && ts_fake_name_equal(r->children[i], model_name(p->c.own));
    if (p->owner == MODEL_QUEUE && !alone)
        model_queue_meet(m, client);
}

static void on_renewed(struct model *m, int32_t client, int32_t entry, enum pdk__result result) {
    struct model_client *k = client_of(m, client);
    k->renewing = false;
    if (result == PDK__NO_NODE && entry >= 0)
        model_entry_tell(m, client, entry, PDK__NODE_LOST);
    for (int32_t i = 0; i < k->entries_count && !k->lease; i++)
        if (k->entries[i].owner != MODEL_REAPER && pdk__contender_is_next(&k->entries[i].c))
            model_renew(m, client); /* the timer does it */
}

void model_entry_answer(struct model *m, int32_t client, struct ts_fake_reply *r) {
    static const enum pdk__event_type types[] = {
        [FOR_MKDIR] = PDK__MADE_DIR,
        [FOR_PROOF] = PDK__PROVED,
        [FOR_STAT] = PDK__STATTED,
    };
    int32_t entry = model_entry_of(r->tag);
    enum model_purpose purpose = model_purpose(r->tag);
    if (purpose == FOR_RENEWAL)
        on_renewed(m, client, entry, r->result);
    else if (purpose == FOR_ASK)
        on_asked(m, client, r->result);
    else if (purpose == FOR_DIRECTORY)
        model_mirror_watched(m, client, r->result);
    else if (entry < 0)
        return; /* of an entry that is gone */
    else if (purpose == FOR_ENTER_LIST || purpose == FOR_LIST || purpose == FOR_PROVE_LIST || purpose == FOR_LOOK)
        on_listed(m, client, entry, r);
    else if (purpose == FOR_LOOKOUT)
        on_looked_out(m, client, entry, r);
    else if (purpose == FOR_WATCH)
        on_watched(m, client, entry, r);
    else if (purpose == FOR_OWN_WATCH)
        on_own_watched(m, client, entry, r->result);
    else if (purpose == FOR_CREATE)
        on_created(m, client, entry, r);
    else if (purpose == FOR_DELETE)
        on_deleted(m, client, entry, r);
    else
        on_result(m, client, entry, types[purpose], r);
}
