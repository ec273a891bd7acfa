/* A client's session: connections, answers, events and the end of it; and the beginning of a run. The client does what
 * src/session/supervise.c, renew.c and watches.c do. */
#include "model.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void model_init(struct model *m, const struct model_config *config) {
    memset(m, 0, sizeof *m);
    m->config = *config;
    m->config.exact |= config->mirrors;
    int32_t faults = 0;
    for (int32_t i = 0; i < config->clients; i++)
        m->readers = m->readers || config->roles[i] == MODEL_READS;
    for (int32_t i = FAULTS + 1; i < CLAIMS; i++)
        faults += config->budgets[i];
    if (config->budgets[FAULTS] == 0 || config->budgets[FAULTS] > faults)
        m->config.budgets[FAULTS] = faults;
    model_names_init(m);
}

/* A grant that is shared is not handed over. */
struct pdk__handovers model_handovers(const struct model *m, int32_t client) {
    bool alone = m->config.roles[client] == MODEL_LOCKS || m->config.roles[client] == MODEL_WRITES;
    struct pdk__handovers handovers;
    pdk__handovers_init(&handovers, alone ? (uint32_t)m->config.handovers : 0, INT64_MAX);
    handovers.max_linger = m->config.lingers;
    return handovers;
}

void model_begin(struct model *m, struct model_state *s) {
    memset(s, 0, sizeof *s);
    m->now = s;
    ts_fake_init(&s->fake, m->config.no_directory ? 0 : 1, m->config.first_sequence);
    memcpy(s->budgets, m->config.budgets, sizeof s->budgets);
    for (int32_t i = 0; i < m->config.clients; i++) {
        struct model_client *k = &s->clients[i];
        k->session = ts_fake_open(&s->fake);
        k->handovers = model_handovers(m, i);
        for (int32_t n = 0; n < (m->config.threads[i] ? m->config.threads[i] : 1); n++)
            model_queue_push(m, i, k->tickets++);
    }
}

void model_copy(struct model_state *to, const struct model_state *from) {
    ts_fake_copy(&to->fake, &from->fake);
    memcpy(to->budgets, from->budgets, sizeof to->budgets);
    to->last_token = from->last_token;
    to->last_exclusive = from->last_exclusive;
    for (int32_t i = 0; i < MODEL_CLIENTS; i++) {
        const struct model_client *k = &from->clients[i];
        memcpy(&to->clients[i], k,
               offsetof(struct model_client, entries) + (size_t)k->entries_count * sizeof k->entries[0]);
        memcpy(to->clients[i].mirrored, k->mirrored, k->mirror.count * sizeof k->mirrored[0]);
    }
}

bool model_is_live(const struct model_client *k) { return k->entries_count != 0 || k->queued != 0 || k->sleepers != 0; }

bool model_is_connected(const struct model *m, const struct model_client *k) {
    return k->session >= 0 && m->now->fake.sessions[k->session].link;
}

/* ---- the connection */

void model_connected(struct model *m, int32_t client) { model_entries_tell(m, client, PDK__LINK_UP); }

/* The next server shows what is there. */
static void leave_server(struct model_client *k) {
    k->ghost = (struct ts_fake_name){0, 0};
    k->asked = k->told = false;
}

void model_link_down(struct model *m, int32_t client) {
    struct model_state *s = m->now;
    leave_server(&s->clients[client]);
    if (s->clients[client].lookout == MODEL_CLEAR)
        s->clients[client].lookout = MODEL_MET; /* its watch may not be set again */
    model_mirror_void(&s->clients[client]);
    ts_fake_cut(&s->fake, s->clients[client].session);
    if (s->fake.sessions[s->clients[client].session].replies_count != 0)
        m->seen.losses++;
    model_entries_tell(m, client, PDK__LINK_DOWN);
}

/* Holds end first. Their queue may take a new entry before the old entry knows that its session is gone. The end of the
 * queue's entry makes the queue take a new one. */
void model_session_over(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    model_grants_lose(m, client, true);
    ts_fake_forget(&m->now->fake, k->session);
    if (m->config.same_mark) /* or the newest node of that mark may be of an older session */
        m->now->fake.sessions[k->session].zombies = 0;
    k->session = -1;
    k->lease = k->renewing = false;
    leave_server(k);
    model_mirror_void(k);
    model_entries_tell(m, client, PDK__EXPIRED);
    if (model_is_live(k))
        k->session = ts_fake_open(&m->now->fake);
}

/* ---- answers and events */

/* A committed request was acknowledged. If the server has ended the session meanwhile, the arithmetic guarantees that
 * the lease counted from it is over as well. A hold that had lapsed before stays lapsed, and is lost now at the
 * latest. */
static void committed(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    if (k->lease || !m->now->fake.sessions[k->session].alive)
        return;
    model_grants_lose(m, client, false);
    k->lease = true;
    if (m->transcript)
        model_print_lease(m, client);
    model_entries_tell(m, client, PDK__FRESH);
}

static bool proves_quorum(enum pdk__op_kind kind, enum pdk__result result) {
    if (kind == PDK__OP_BARRIER)
        return result == PDK__OK || result == PDK__NO_NODE;
    return result == PDK__OK &&
           (kind == PDK__OP_CREATE || kind == PDK__OP_MKDIR || kind == PDK__OP_DELETE || kind == PDK__OP_SET);
}

/* The server does not tell that the node is gone, */
static bool is_hidden(const struct model_client *k, const struct ts_fake_reply *packet) {
    return k->ghost.mark != 0 && packet->packet == TS_FAKE_DELETED && ts_fake_name_equal(packet->name, k->ghost);
}

static bool is_about_ghost(const struct model_client *k, uint64_t tag) {
    int32_t entry = model_entry_of(tag);
    return entry >= 0 && (model_purpose(tag) == FOR_WATCH || model_purpose(tag) == FOR_ASK) &&
           ts_fake_name_equal(model_name(k->entries[entry].c.watched), k->ghost);
}

/* and shows it in reads and lists. A barrier is answered by the leader. */
static void haunt(const struct model_client *k, struct ts_fake_reply *packet) {
    bool shown = false;
    if (k->ghost.mark == 0 || packet->packet != TS_FAKE_REPLY)
        return;
    if (packet->kind == PDK__OP_WATCH && packet->result == PDK__NO_NODE && is_about_ghost(k, packet->tag))
        packet->result = PDK__OK;
    if (packet->kind != PDK__OP_LIST || packet->result != PDK__OK)
        return;
    for (int32_t i = 0; i < packet->count; i++)
        shown = shown || ts_fake_name_equal(packet->children[i], k->ghost);
    if (!shown && packet->count < TS_FAKE_NODES)
        packet->children[packet->count++] = k->ghost;
}

static void fired(struct model *m, int32_t client, const struct ts_fake_reply *event) {
    bool gone = event->packet == TS_FAKE_DELETED;
    if (event->packet == TS_FAKE_CHILDREN) {
        model_queue_meet(m, client);
        return;
    }
    if (event->name.mark == 0) {
        model_mirror_fired(m, client);
        return;
    }
    if (gone)
        model_mirror_deleted(m, client, event->name);
    model_mirror_stands(m, client, event->name, false);
    model_entry_watch_fired(m, client, event->name, gone, false);
}

void model_receive(struct model *m, int32_t client) {
    struct ts_fake_reply packet;
    ts_fake_take(&m->now->fake, m->now->clients[client].session, &packet);
    if (m->transcript)
        model_print_packet(m, client, &packet);
    if (is_hidden(&m->now->clients[client], &packet))
        return;
    haunt(&m->now->clients[client], &packet);
    if (packet.packet != TS_FAKE_REPLY) {
        fired(m, client, &packet);
        return;
    }
    if (proves_quorum(packet.kind, packet.result))
        committed(m, client);
    model_entry_answer(m, client, &packet);
}

/* ---- the entries that are gone */

static void retag(uint64_t *tag, const int32_t *becomes) {
    int32_t entry = model_entry_of(*tag);
    *tag = model_tag(entry < 0 ? -1 : becomes[entry], model_purpose(*tag));
}

/* Answers for entries that are gone belong to nobody. */
static void renumber_tags(struct ts_fake_session *s, const int32_t *becomes) {
    for (int32_t i = 0; i < s->requests_count; i++)
        retag(&s->requests[i].tag, becomes);
    for (int32_t i = 0; i < s->replies_count; i++)
        if (s->replies[i].packet == TS_FAKE_REPLY)
            retag(&s->replies[i].tag, becomes);
}

void model_tidy(struct model *m, int32_t client) {
    struct model_client *k = &m->now->clients[client];
    int32_t becomes[MODEL_ENTRIES], kept = 0;
    for (int32_t i = 0; i < k->entries_count; i++)
        becomes[i] = k->entries[i].c.phase == PDK__GONE ? -1 : kept++;
    if (kept == k->entries_count)
        return;
    for (int32_t i = 0; i < k->entries_count; i++)
        if (becomes[i] >= 0 && becomes[i] != i)
            k->entries[becomes[i]] = k->entries[i];
        else
            assert(becomes[i] >= 0 || k->entries[i].owner == MODEL_REAPER);
    k->entries_count = kept;
    if (k->session >= 0)
        renumber_tags(&m->now->fake.sessions[k->session], becomes);
}
