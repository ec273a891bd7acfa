/* The fake ensemble in simulated time, with one server or with three, of which one lags behind. */
#include "conformance.h"

#include "sim_client.h"
#include "sim_process.h"

#include <string.h>

#define ROOT "/t"
#define LAG (20 * SIM_MS)
#define LONG (60000 * SIM_MS) /* simulated; nothing takes as long */

/* Between a connection and its client: it loses packets. */
struct filter {
    struct sim_pipe *pipe;
    sim_receive_fn receive;
    void *receiver;
    bool everything, lost; /* everything: the events before the reply are lost, too; lost: the reply was lost */
};

struct sim {
    struct backend backend;
    struct sim_agenda agenda;
    struct sim_net net;
    struct sim_ensemble *ensemble;
    int32_t servers;
    uint64_t runs;
    struct sim_process processes[SLOTS];
    pdk__zk *zk[SLOTS];
    bool cut[SLOTS];
    struct filter filters[SLOTS];
};

static struct sim *current; /* for close, which gets no other argument */

static struct sim *of(struct backend *b) { return (struct sim *)b; }

static int32_t server_of(const struct sim *s, int slot) { return slot % s->servers; }
static int32_t host_of(int slot) { return SIM_SERVERS + slot; }

/* --- time */

static bool is_between(const struct sim *s, const struct sim_pipe *pipe, int slot) {
    int32_t host = host_of(slot), server = server_of(s, slot);
    return (pipe->from == host && pipe->to == server) || (pipe->from == server && pipe->to == host);
}

static void break_connection(struct sim *s, int slot) {
    for (struct sim_pipe *pipe = s->net.pipes, *next; pipe; pipe = next) {
        next = pipe->next;
        if (is_between(s, pipe, slot) && !pipe->ended)
            sim_break(pipe);
    }
}

/* A slot that is cut may try to connect, but does not succeed. */
static bool step(struct backend *b) {
    struct sim *s = of(b);
    for (int slot = 0; slot < SLOTS; slot++)
        if (s->cut[slot])
            break_connection(s, slot);
    return sim_step(&s->agenda, s->agenda.now + LONG);
}

typedef bool (*condition)(const struct sim *s, const void *what);

static bool step_until(struct sim *s, condition done, const void *what) {
    int64_t limit = s->agenda.now + LONG;
    while (!done(s, what))
        if (!step(&s->backend) || s->agenda.now > limit)
            return false;
    return true;
}

static bool is_settled(const struct sim *s, const void *what) {
    (void)what;
    return sim_settled(s->ensemble);
}
static bool is_gone(const struct sim *s, const void *path) {
    return sim_tree_find(sim_truth(s->ensemble), path) == NULL;
}
static bool has_ended(const struct sim *s, const void *session) {
    return sim_tree_session(sim_truth(s->ensemble), *(const int64_t *)session) == NULL;
}
static bool is_lost(const struct sim *s, const void *filter) {
    (void)s;
    return ((const struct filter *)filter)->lost;
}

/* --- sessions */

struct opening {
    const struct pdk__zk_config *config;
    pdk__zk **zk;
    pdk_status status;
};

static void open_now(void *subject, void *what) {
    struct opening *opening = subject;
    (void)what;
    opening->status = sim_client_calls.open(opening->config, opening->zk);
}

static pdk_status open_slot(struct backend *b, int slot, const struct pdk__zk_sink *sink, void *driver, pdk__zk **zk) {
    struct sim *s = of(b);
    g_autofree char *address = g_strdup_printf("10.0.0.%d:2181", server_of(s, slot) + 1);
    struct pdk__zk_config config = {.servers = address, .timeout_ms = 6000, .sink = sink, .driver = driver};
    struct opening opening = {&config, zk, PDK_SYSTEM};
    sim_call_in(&s->processes[slot], open_now, &opening, NULL);
    s->zk[slot] = *zk;
    return opening.status;
}

/* The real close returns when the server has answered. */
static void close_session(pdk__zk *zk) {
    int slot = 0;
    while (current->zk[slot] != zk)
        slot++;
    int64_t session = sim_client_session(&current->processes[slot]);
    sim_client_calls.close(zk);
    current->zk[slot] = NULL;
    if (!current->cut[slot])
        step_until(current, has_ended, &session);
}

static bool submit(pdk__zk *zk, const struct pdk__request *request) { return sim_client_calls.submit(zk, request); }

static const struct pdk__zk_calls calls = {.submit = submit, .close = close_session};

static bool cut(struct backend *b, int slot) { return of(b)->cut[slot] = true; }
static bool restore(struct backend *b, int slot) {
    of(b)->cut[slot] = false;
    return true;
}
static void forget(struct backend *b, int slot) { of(b)->cut[slot] = false; }

static bool expire(struct backend *b, int slot) {
    struct sim *s = of(b);
    bool was_cut = s->cut[slot];
    int64_t session = sim_client_session(&s->processes[slot]);
    s->cut[slot] = true; /* as for a server that does not hear of the session any more */
    break_connection(s, slot);
    bool ok = session != 0 && sim_admin_expire(s->ensemble, session) && step_until(s, has_ended, &session);
    s->cut[slot] = was_cut;
    return ok;
}

/* --- losses */

static void pass(void *receiver, void *packet) {
    struct filter *f = receiver;
    const struct sim_packet *p = packet;
    f->lost = f->lost || (p && p->kind == SIM_REPLY);
    if (!p || (!f->lost && !f->everything))
        f->receive(f->receiver, packet);
}

static bool prepare(struct backend *b, int slot, enum step_kind loss) {
    struct sim *s = of(b);
    struct sim_pipe *pipe = s->net.pipes;
    if (loss == LOSE_REQUEST)
        return true;
    while (pipe && (pipe->from != server_of(s, slot) || pipe->to != host_of(slot) || pipe->ended))
        pipe = pipe->next;
    if (!pipe)
        return false;
    s->filters[slot] = (struct filter){pipe, pipe->receive, pipe->receiver, loss == LOSE_ALL, false};
    pipe->receive = pass;
    pipe->receiver = &s->filters[slot];
    return true;
}

static bool lose(struct backend *b, int slot, enum step_kind loss) {
    bool lost = loss == LOSE_REQUEST || step_until(of(b), is_lost, &of(b)->filters[slot]);
    break_connection(of(b), slot);
    return lost;
}

/* --- an administrator */

static bool request(struct sim *s, enum sim_op op, const char *path, const char *data) {
    struct sim_packet packet = {.op = op,
                                .path = sim_text(&s->agenda, path),
                                .data = sim_text(&s->agenda, data ? data : ""),
                                .mode = SIM_PERSISTENT};
    return sim_admin(s->ensemble, &packet) && step_until(s, is_settled, NULL);
}

static bool set(struct sim *s, const char *path, enum sim_set what, int64_t value) {
    return sim_admin_set(s->ensemble, sim_text(&s->agenda, path), what, value) && step_until(s, is_settled, NULL);
}

static bool admin(struct backend *b, const struct admin *what, const char *path) {
    struct sim *s = of(b);
    switch (what->kind) {
    case ADMIN_MKDIR:
    case ADMIN_CREATE:
        return request(s, SIM_OP_CREATE, path, what->data);
    case ADMIN_SET:
        return request(s, SIM_OP_SET, path, what->data);
    case ADMIN_DELETE:
        return request(s, SIM_OP_DELETE, path, NULL);
    case ADMIN_ACL: /* the same bits */
        return set(s, path, SIM_SET_ACL, what->value);
    case ADMIN_COUNTER:
        return set(s, path, SIM_SET_COUNTER, what->value);
    case ADMIN_AWAIT_GONE:
        return step_until(s, is_gone, path);
    }
    return false;
}

/* --- begin and end */

static const char *begin(struct backend *b, const struct script *script) {
    struct sim *s = current = of(b);
    (void)script;
    sim_agenda_begin(&s->agenda, ++s->runs);
    sim_net_begin(&s->net, &s->agenda, SIM_MS / 20, SIM_MS);
    s->ensemble = sim_ensemble_new(&s->agenda, &s->net,
                                   &(struct sim_ensemble_config){.servers = s->servers,
                                                                 .tick = 500 * SIM_MS,
                                                                 .sync_limit = 5,
                                                                 .election_least = 100 * SIM_MS,
                                                                 .election_most = 300 * SIM_MS,
                                                                 .session_least = 1000 * SIM_MS,
                                                                 .session_most = 60000 * SIM_MS,
                                                                 .container_interval = 100 * SIM_MS,
                                                                 .containers = true});
    memset(s->cut, 0, sizeof s->cut);
    for (int slot = 0; slot < SLOTS; slot++)
        s->processes[slot] = (struct sim_process){.agenda = &s->agenda,
                                                  .ensemble = s->ensemble,
                                                  .number = slot,
                                                  .host = host_of(slot),
                                                  .rate = 1,
                                                  .offset = 1000 * SIM_MS,
                                                  .slow_most = SIM_MS / 10};
    for (int32_t i = 0; i < s->servers; i++)
        sim_server_start(s->ensemble, i);
    if (!step_until(s, is_settled, NULL))
        return NULL;
    if (s->servers ==
        3) /* servers that follow a leader count differently what the leader has not applied yet (numbers.script) */
        sim_server_lag(s->ensemble, (sim_leader(s->ensemble) + 1) % 3, LAG);
    return request(s, SIM_OP_CREATE, ROOT, NULL) ? ROOT : NULL;
}

static void end(struct backend *b) { (void)b; }

static void free_sim(struct backend *b) {
    sim_agenda_free(&of(b)->agenda);
    g_free(of(b));
}

struct backend *backend_sim(int servers) {
    struct sim *s = g_new0(struct sim, 1);
    sim_agenda_init(&s->agenda);
    s->servers = servers;
    s->backend = (struct backend){
        .name = servers == 1 ? "fake" : "fake x 3",
        .about = servers == 1 ? "a fake server" : "a fake ensemble, every session on another server, one lags behind",
        .can = CAN_TREE | CAN_ACL | CAN_CONTAINERS | CAN_COUNTER | CAN_OFFLINE | CAN_LINGER | CAN_VERSIONS,
        .shows = SHOWS_CODE | SHOWS_DATA | SHOWS_VERSION,
        .calls = &calls,
        .begin = begin,
        .open = open_slot,
        .step = step,
        .cut = cut,
        .restore = restore,
        .forget = forget,
        .expire = expire,
        .prepare = prepare,
        .lose = lose,
        .admin = admin,
        .end = end,
        .free = free_sim,
    };
    return &s->backend;
}
