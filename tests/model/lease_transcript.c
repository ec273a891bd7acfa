/* A counter-example as a timeline: when, who, what, and what comes of it. Times are units of a good clock, from the moment the
 * client began. Server 0 is the leader, 1 the next to it, and 2 an observer behind that one; a link has the number of its server. */
#include "lease_model.h"

static const char *const kinds[] = {[LEASE_READ] = "read", [LEASE_SYNC] = "sync", [LEASE_BARRIER] = "barrier"};
static const char *const words[LEASE_ACTION_KINDS] = {
    [LEASE_CREATE] = "leader    begins the session, and touches it, of a client at server",
    [LEASE_LEARN] = "client    hears that it is connected, and of its timeout",
    [LEASE_SEND] = "client    sends a",
    [LEASE_ARRIVE] = "server    gets the client's oldest request, a touch",
    [LEASE_PING] = "servers   the next ping is sent to server",
    [LEASE_REPORT] = "servers   a ping arrives, and is answered with what was touched, at server",
    [LEASE_PASS] = "servers   a request, and what was reported before it, come to the end of link",
    [LEASE_RETURN] = "server    passes an answer on to the observer",
    [LEASE_ANSWER] = "client    sees the answer to its oldest request",
    [LEASE_DEPOSE] = "(fault)   the others elect a new leader, who gives the session its whole timeout",
    [LEASE_STALL] = "(fault)   the leader falls silent: it is paused",
    [LEASE_RESUME] = "(fault)   the leader goes on",
    [LEASE_LOSE] = "(fault)   the client loses its connection",
    [LEASE_LOOK] = "client    sees that it has no connection, and dials",
    [LEASE_RECONNECT] = "leader    confirms the session, and touches it, of a client that has reconnected to server",
    [LEASE_RECONNECT_DEPOSED] =
        "deposed   the leader of before confirms the session, of a client that has reconnected to server",
};

static double units(const struct lease_model *m, int64_t client_ns) {
    return (double)client_ns / (double)(m->config.unit / LEASE_RATE * m->config.rate);
}

static void tell_argument(lease_action a, FILE *out) {
    int32_t argument = lease_argument_of(a);
    switch (lease_kind_of(a)) {
    case LEASE_SEND:
        fprintf(out, " %s", kinds[argument]);
        break;
    case LEASE_PING:
    case LEASE_REPORT:
    case LEASE_PASS:
        fprintf(out, " %d", argument);
        break;
    case LEASE_CREATE:
    case LEASE_RECONNECT:
    case LEASE_RECONNECT_DEPOSED:
        fprintf(out, " %d%s", lease_target_at(argument), lease_target_shorter(argument) ? ", its timeout shorter" : "");
        break;
    default:
        break;
    }
}

static void tell_change(const struct lease_model *m, const struct lease_state *before, const struct lease_state *after,
                        int32_t time, FILE *out) {
    if (after->heard != before->heard)
        fprintf(out, "; the leader knows of the touch at %d", time + after->heard);
    if (lease_stuck(after) < after->requests && lease_stuck(before) == before->requests)
        fprintf(out, "; nobody will ever answer it");
    if (after->end == 0 && before->end != 0)
        fprintf(out, "; its lease is over");
    else if (after->end != before->end)
        fprintf(out, "; its lease ends at %.2f", time + units(m, after->end));
    fprintf(out, "\n");
}

void lease_tell(const struct lease_model *m, const struct lease_state *before, const struct lease_state *after,
                lease_action a, int32_t time, FILE *out) {
    if (lease_kind_of(a) == LEASE_TICK)
        return;
    fprintf(out, "%4d  %s", time, words[lease_kind_of(a)]);
    if (lease_kind_of(a) == LEASE_ANSWER && before->request[0].sent > -m->config.timeout)
        fprintf(out, ", of %d", time + before->request[0].sent);
    tell_argument(a, out);
    tell_change(m, before, after, time, out);
}

void lease_tell_end(const struct lease_model *m, const struct lease_state *s, int32_t time, FILE *out) {
    struct lease_model scratch = *m;
    struct lease_state after = *s;
    if (s->connection == LEASE_NO_SESSION || s->heard > -s->granted)
        return;
    fprintf(out, "%4d  leader    has heard of no touch since %d, and gives the session away\n", time, time + s->heard);
    while (after.requests != 0 && after.request[0].stage >= LEASE_RETURNING) {
        struct lease_state before = after;
        lease_answer(&scratch, &after);
        lease_tell(m, &before, &after, lease_act(LEASE_ANSWER, 0), time, out);
    }
    if (after.end != 0)
        fprintf(out, "%7.2f client  only now its lease ends\n", time + units(m, after.end));
}
