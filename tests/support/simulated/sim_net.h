/* The simulated network: hosts, and between them pipes that keep the order, as TCP does.
 *
 *     sim_send ─► [packet, packet, …] ── latency ──► receive        one direction of one connection
 *
 *  - blocked: the packets wait, and go on when the way is free again, unless the connection has been broken meanwhile;
 *  - hung up by the sender: sent packets still arrive, then the receiver hears of the end (a packet of NULL);
 *  - broken: packets under way are lost, and the receiver hears of it at once.
 * A packet belongs to the agenda's memory. Its sender does not touch it again.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim_agenda.h"

#define SIM_HOSTS 16

struct sim_net {
    struct sim_agenda *agenda;
    int64_t latency_least, latency_most; /* of each packet, in each direction */
    int64_t extra[SIM_HOSTS][SIM_HOSTS]; /* more of it, from one host to another */
    bool blocked[SIM_HOSTS][SIM_HOSTS];  /* from, to */
    struct sim_pipe *pipes;              /* the open ones */
};

/* packet is NULL once the sender has hung up, or the pipe was broken. Nothing follows. */
typedef void (*sim_receive_fn)(void *receiver, void *packet);

struct sim_packet_entry;

struct sim_pipe {
    struct sim_net *net;
    int32_t from, to;
    sim_receive_fn receive;
    void *receiver;
    bool deaf;  /* nobody listens any more */
    bool ended; /* the sender hung up, or it was broken; the receiver will hear, or has heard */
    /* inside */
    struct sim_pipe *next;
    struct sim_packet_entry *first, *last;
    int64_t arrives; /* of the newest packet */
    bool due;        /* a delivery is in the agenda */
    bool closed;     /* out of net->pipes */
};

void sim_net_begin(struct sim_net *net, struct sim_agenda *agenda, int64_t latency_least, int64_t latency_most);

struct sim_pipe *sim_pipe_new(struct sim_net *net, int32_t from, int32_t to, sim_receive_fn receive, void *receiver);
/* packet not NULL. Into an ended pipe: lost. */
void sim_send(struct sim_pipe *pipe, void *packet);
/* The sender hangs up, in order. */
void sim_hang_up(struct sim_pipe *pipe);
/* All that is under way is lost; the receiver hears of the end after a latency, where the way is free. */
void sim_break(struct sim_pipe *pipe);
/* The receiver listens no more: packets that arrive are lost, unseen. */
void sim_ignore(struct sim_pipe *pipe);

/* From one host to the other, that direction only. */
void sim_net_block(struct sim_net *net, int32_t from, int32_t to, bool blocked);
/* Break every pipe between two hosts, in both directions. */
void sim_net_reset(struct sim_net *net, int32_t a, int32_t b);

#endif
