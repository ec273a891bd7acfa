#include "sim_net.h"

#include <string.h>

struct sim_packet_entry {
    struct sim_packet_entry *next;
    void *packet; /* NULL: the end */
    int64_t at;
};

void sim_net_begin(struct sim_net *net, struct sim_agenda *agenda, int64_t latency_least, int64_t latency_most) {
    memset(net, 0, sizeof *net);
    net->agenda = agenda;
    net->latency_least = latency_least;
    net->latency_most = latency_most;
}

struct sim_pipe *sim_pipe_new(struct sim_net *net, int32_t from, int32_t to, sim_receive_fn receive, void *receiver) {
    struct sim_pipe *pipe = sim_alloc(net->agenda, sizeof *pipe);
    *pipe = (struct sim_pipe){.net = net, .from = from, .to = to, .receive = receive, .receiver = receiver};
    pipe->next = net->pipes;
    net->pipes = pipe;
    return pipe;
}

/* Finished pipes leave the list; their memory is the agenda's. */
static void forget(struct sim_pipe *pipe) {
    struct sim_pipe **at = &pipe->net->pipes;
    pipe->closed = true;
    while (*at && *at != pipe)
        at = &(*at)->next;
    if (*at)
        *at = pipe->next;
}

static void arrive(void *subject, void *what);

static void schedule(struct sim_pipe *pipe) {
    if (pipe->due || pipe->closed || !pipe->first || pipe->net->blocked[pipe->from][pipe->to])
        return;
    pipe->due = true;
    sim_at(pipe->net->agenda, pipe->first->at, arrive, pipe, NULL);
}

static void arrive(void *subject, void *what) {
    struct sim_pipe *pipe = subject;
    (void)what;
    pipe->due = false;
    struct sim_packet_entry *entry = pipe->first;
    if (pipe->closed || !entry || pipe->net->blocked[pipe->from][pipe->to] || entry->at > pipe->net->agenda->now) {
        sim_idle(pipe->net->agenda);
        schedule(pipe);
        return;
    }
    pipe->first = entry->next;
    if (!pipe->first)
        pipe->last = NULL;
    if (!entry->packet)
        forget(pipe);
    else
        schedule(pipe);
    if (!pipe->deaf)
        pipe->receive(pipe->receiver, entry->packet);
}

static void append(struct sim_pipe *pipe, void *packet) {
    struct sim_net *net = pipe->net;
    struct sim_packet_entry *entry = sim_alloc(net->agenda, sizeof *entry);
    int64_t latency = sim_random_between(&net->agenda->chance, net->latency_least, net->latency_most);
    int64_t at = net->agenda->now + latency + net->extra[pipe->from][pipe->to];
    pipe->arrives = at > pipe->arrives ? at : pipe->arrives;
    *entry = (struct sim_packet_entry){NULL, packet, pipe->arrives};
    if (pipe->last)
        pipe->last->next = entry;
    else
        pipe->first = entry;
    pipe->last = entry;
    schedule(pipe);
}

void sim_send(struct sim_pipe *pipe, void *packet) {
    if (!pipe->ended)
        append(pipe, packet);
}

void sim_hang_up(struct sim_pipe *pipe) {
    if (pipe->ended)
        return;
    append(pipe, NULL);
    pipe->ended = true;
}

void sim_break(struct sim_pipe *pipe) {
    if (pipe->closed)
        return;
    pipe->first = pipe->last = NULL;
    pipe->arrives = 0;
    pipe->ended = false;
    sim_hang_up(pipe);
}

void sim_ignore(struct sim_pipe *pipe) { pipe->deaf = true; }

void sim_net_block(struct sim_net *net, int32_t from, int32_t to, bool blocked) {
    net->blocked[from][to] = blocked;
    if (blocked)
        return;
    for (struct sim_pipe *pipe = net->pipes; pipe; pipe = pipe->next)
        schedule(pipe);
}

void sim_net_reset(struct sim_net *net, int32_t a, int32_t b) {
    for (struct sim_pipe *pipe = net->pipes, *next; pipe; pipe = next) {
        next = pipe->next;
        if ((pipe->from == a && pipe->to == b) || (pipe->from == b && pipe->to == a))
            sim_break(pipe);
    }
}
