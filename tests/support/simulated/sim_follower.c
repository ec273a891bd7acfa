/* A follower: logs proposals, applies commits, forwards writes, notes touches for the leader's next beat.
 *
 * It answers reads and pings by itself, so it does not miss its leader before syncLimit ticks have passed without a word.
 */
#include "sim_server.h"

void sim_follow_send(struct sim_server *s, const struct sim_message *message) {
    struct sim_message *copy = sim_alloc(s->ensemble->agenda, sizeof *copy);
    *copy = *message;
    sim_send(s->link->up, copy);
}

void sim_follow_touch(struct sim_server *s, int64_t session, int64_t timeout) {
    for (size_t i = 0; i < s->touches_count; i++)
        if (s->touches[i].session == session)
            return;
    s->touches = sim_room(s->ensemble->agenda, s->touches, s->touches_count, &s->touches_room, sizeof *s->touches);
    s->touches[s->touches_count++] = (struct sim_touch){session, timeout};
}

/* The table goes along, and a new one begins. */
static void answer_beat(struct sim_server *s) {
    sim_kept_time(s->ensemble);
    sim_follow_send(s, &(struct sim_message){.kind = SIM_TOUCHES, .touches = s->touches, .count = s->touches_count});
    s->touches = NULL;
    s->touches_count = s->touches_room = 0;
}

/* Behind the commits before it. */
static void synced(struct sim_server *s, struct sim_request *r) {
    if (r->incarnation != s->incarnation)
        return;
    if (s->applied == s->committed) {
        sim_request_done(r, NULL);
        return;
    }
    r->after = s->committed;
    if (s->syncs)
        s->syncs_last->next_sync = r;
    else
        s->syncs = r;
    s->syncs_last = r;
}

void sim_follow_hear(void *receiver, void *packet) {
    struct sim_link *link = receiver;
    struct sim_server *s = link->follower;
    const struct sim_message *message = packet;
    if (sim_put_off(s, sim_follow_hear, receiver, packet) || s->link != link)
        return;
    if (!message) {
        sim_look(s);
        return;
    }
    s->heard = s->ensemble->agenda->now;
    if (message->kind == SIM_BEAT) {
        answer_beat(s);
    } else if (message->kind == SIM_PROPOSE) {
        sim_log_append(s, message->txn);
        sim_follow_send(s, &(struct sim_message){.kind = SIM_ACK, .zxid = message->txn->zxid});
    } else if (message->kind == SIM_COMMIT) {
        sim_log_commit(s);
    } else if (message->kind == SIM_SYNCED) {
        synced(s, message->request);
    } else if (message->kind == SIM_VALIDATED) {
        sim_connection_opened(message->connection, message->valid);
    }
}

static void on_silence(struct sim_server *s, bool late) {
    int64_t now = s->ensemble->agenda->now;
    int64_t limit = s->heard + s->ensemble->config.sync_limit * s->ensemble->config.tick;
    if (now >= limit && !late) {
        sim_look(s);
        return;
    }
    /* After a pause, packets that came meanwhile are read first. */
    sim_kept_time(s->ensemble);
    sim_timer(s, now >= limit ? now : limit, on_silence);
}

void sim_follow(struct sim_server *s, struct sim_link *link) {
    const struct sim_ensemble_config *config = &s->ensemble->config;
    s->role = SIM_FOLLOWING;
    s->incarnation++;
    s->link = link;
    s->heard = s->ensemble->agenda->now;
    sim_timer(s, s->heard + config->sync_limit * config->tick, on_silence);
}
