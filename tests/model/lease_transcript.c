/* A counter-example as a timeline: when, who, what. Times are units of a good clock, from the moment the client
 * began. */
#include "lease_model.h"

static const char *const kinds[] = {[LEASE_READ] = "read", [LEASE_SYNC] = "sync", [LEASE_BARRIER] = "barrier"};

static const char *server(const struct lease_state *s, int32_t number) {
    static const char *const names[] = {"leader", "server", "observer"};
    if (s->deposed)
        return "deposed";
    return names[number];
}

static double units(const struct lease_model *m, int64_t client_ns) {
    return (double)client_ns / (double)(m->config.unit / LEASE_RATE * m->config.rate);
}

static void tell_lease(const struct lease_model *m, const struct lease_state *before, const struct lease_state *after,
                       int32_t time, FILE *out) {
    if (after->end == 0 && before->end != 0)
        fprintf(out, ": its lease is over");
    else if (after->end != before->end)
        fprintf(out, ": its lease ends at %.2f", time + units(m, after->end));
}

static void tell_answer(const struct lease_model *m, const struct lease_state *before, const struct lease_state *after,
                        int32_t time, FILE *out) {
    struct lease_request k = before->request[0];
    fprintf(out, "client    sees the answer to its %s", kinds[k.kind]);
    if (k.sent > -m->config.timeout)
        fprintf(out, " of %d", time + k.sent);
    tell_lease(m, before, after, time, out);
}

static void tell_arrival(const struct lease_state *before, const struct lease_state *after, FILE *out) {
    int32_t i = 0;
    while (before->request[i].stage != LEASE_SENT)
        i++;
    fprintf(out, "%-9s gets the client's %s, a touch%s", server(before, before->at), kinds[before->request[i].kind],
            before->at == 0 && !before->deposed  ? " that the leader knows"
            : !lease_reports(before, before->at) ? " that nobody will hear of"
                                                 : "");
    if (i >= after->requests)
        fprintf(out, ", and will never answer it");
    else if (after->request[i].stage == LEASE_DONE)
        fprintf(out, ", and answers it by itself");
    else
        fprintf(out, lease_stuck(after) <= i ? ", and will never answer it" : ", and passes it on");
}

static void tell_pass(const struct lease_state *before, int32_t link, int32_t time, FILE *out) {
    int8_t report = before->link[link].reports[0];
    fprintf(out, "%-9s ", link == 0 ? "leader" : server(before, link - 1));
    if (link != 0 && report != LEASE_NEVER)
        fprintf(out, "hears of the touch at %d, then ", time + report);
    if (link <= 1)
        fprintf(out, "commits the client's request with a quorum; the answer is on its way");
    else
        fprintf(out, "gets the client's request, and passes it on");
}

static void tell_touch(const struct lease_state *before, int32_t number, int32_t time, FILE *out) {
    if (before->touched[number] == LEASE_NEVER)
        fprintf(out, "nothing new");
    else
        fprintf(out, "the touch at %d", time + before->touched[number]);
}

static void tell_ping(const struct lease_model *m, const struct lease_state *before, int32_t number, int32_t time,
                      FILE *out) {
    fprintf(out, "%-9s sends a ping to the %s", server(before, number - 1), server(before, number));
    if (m->config.prompt || (number == 2 && !m->config.slow_link)) {
        fprintf(out, ", who reports ");
        tell_touch(before, number, time, out);
    }
}

static void tell_connect(const struct lease_state *after, lease_action a, FILE *out) {
    int32_t target = lease_argument_of(a);
    if (lease_kind_of(a) == LEASE_CREATE)
        fprintf(out, "leader    begins the session, for a client at the %s; it is touched",
                server(after, lease_target_at(target)));
    else if (lease_kind_of(a) == LEASE_RECONNECT)
        fprintf(out, "leader    confirms the session, for a client that has reconnected to the %s; it is touched",
                server(after, lease_target_at(target)));
    else
        fprintf(out, "deposed   the deposed leader confirms the session, whose client has reconnected to it");
    if (lease_target_shorter(target))
        fprintf(out, "; its timeout is shorter from now on");
}

void lease_tell(const struct lease_model *m, const struct lease_state *before, const struct lease_state *after,
                lease_action a, int32_t time, FILE *out) {
    int32_t argument = lease_argument_of(a);
    if (lease_kind_of(a) == LEASE_TICK)
        return;
    fprintf(out, "%4d  ", time);
    switch (lease_kind_of(a)) {
    case LEASE_CREATE:
    case LEASE_RECONNECT:
    case LEASE_RECONNECT_DEPOSED:
        tell_connect(after, a, out);
        break;
    case LEASE_LEARN:
        fprintf(out, "client    is connected; the timeout is %d", before->news);
        tell_lease(m, before, after, time, out);
        break;
    case LEASE_LOOK:
        fprintf(out, "client    sees that it has no connection, and dials");
        break;
    case LEASE_SEND:
        fprintf(out, "client    sends a %s", kinds[argument]);
        break;
    case LEASE_ARRIVE:
        tell_arrival(before, after, out);
        break;
    case LEASE_PING:
        tell_ping(m, before, argument, time, out);
        break;
    case LEASE_REPORT:
        fprintf(out, "%-9s gets a ping, and reports ", server(before, argument));
        tell_touch(before, argument, time, out);
        break;
    case LEASE_RETURN:
        fprintf(out, "server    passes the answer on to the observer");
        break;
    case LEASE_PASS:
        tell_pass(before, argument, time, out);
        break;
    case LEASE_ANSWER:
        tell_answer(m, before, after, time, out);
        break;
    case LEASE_STALL:
        fprintf(out, "(fault)   the leader falls silent: it is paused");
        break;
    case LEASE_RESUME:
        fprintf(out, "(fault)   the leader goes on");
        break;
    case LEASE_DEPOSE:
        fprintf(out, "(fault)   the others elect a new leader, who gives the session its whole timeout");
        break;
    default:
        fprintf(out, "(fault)   the client loses its connection");
        break;
    }
    fprintf(out, "\n");
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
        fprintf(out, "%4d  ", time);
        tell_answer(m, &before, &after, time, out);
        fprintf(out, "\n");
    }
    if (after.end != 0)
        fprintf(out, "%7.2f client  only now its lease ends\n", time + units(m, after.end));
}
