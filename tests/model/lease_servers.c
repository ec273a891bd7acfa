/* The servers: the client's, at most one between it and the leader, and the leader, all as far as one session sees them.
 *
 * Left out, since the model has something that is as bad for the lease:
 *
 *  - A report arrives with the request behind it. Alone, it would make the leader wait longer, and change nothing else.
 *  - Of pings on their way with no commit between them there is one, the last. More would only report more.
 *  - A commit comes to the client's server when the client sees the answer. Before that, the pings ahead of it could come at
 *    fewer moments, and nobody else would know.
 *  - What a server has not reported when the client leaves it is lost. The leader has confirmed the session to the next. */
#include "lease_model.h"

#include <string.h>

bool lease_reports(const struct lease_state *s, int32_t server) {
    return s->connection == LEASE_UP && !s->deposed && server >= 1 && server <= s->at;
}

static int8_t newer(int8_t a, int8_t b) { return a > b ? a : b; }

/* A touch of that time is known to the server from now on. */
static void touch(struct lease_state *s, int32_t server, int8_t time) {
    if (server == 0 && !s->deposed)
        s->heard = newer(s->heard, time);
    else if (lease_reports(s, server))
        s->touched[server] = newer(s->touched[server], time);
}

static struct lease_request *oldest(struct lease_state *s, enum lease_stage stage) {
    int32_t i = 0;
    while (s->request[i].stage != (int8_t)stage)
        i++;
    return &s->request[i];
}

/* The request goes back by that link, behind the pings on it. */
static void send_back(struct lease_state *s, struct lease_request *request, int32_t link) {
    request->stage = link < s->at ? LEASE_RETURNING : LEASE_DONE;
    request->pinged = s->pinging[link];
    s->pinging[link] = false;
}

static void forward(struct lease_state *s, int32_t server) {
    if (!s->deposed) /* nobody is there to pass it on to */
        s->link[server].reports[++s->link[server].requests] = LEASE_NEVER;
}

/* The link from an observer to its server takes no time, unless the configuration says so. */
static void deliver_at_once(const struct lease_config *config, struct lease_state *s, int32_t link) {
    struct lease_link *l = &s->link[link];
    if (link < 2 || config->slow_link)
        return;
    while (l->requests != 0)
        lease_pass(s, link);
    touch(s, link - 1, l->reports[0]);
    l->reports[0] = LEASE_NEVER;
}

void lease_arrive(const struct lease_config *config, struct lease_state *s) {
    struct lease_request *request = oldest(s, LEASE_SENT);
    touch(s, s->at, 0);
    /* Any server answers a read. Any leader answers a sync, also one that is deposed. */
    bool alone = request->kind == LEASE_READ || (request->kind == LEASE_SYNC && s->deposed);
    request->stage = alone ? LEASE_DONE : LEASE_FORWARDED;
    if (!alone)
        forward(s, s->at);
    deliver_at_once(config, s, s->at);
}

void lease_ping(const struct lease_config *config, struct lease_state *s, int32_t server) {
    s->ping[server] = config->half;
    s->pinging[server] = true;
    if (config->prompt || (server == 2 && !config->slow_link))
        lease_report(config, s, server);
}

/* The oldest request that comes to the server by its link and has a ping ahead of it; −1: none. */
static int32_t behind_ping(const struct lease_state *s, int32_t server) {
    int8_t stage = server < s->at ? LEASE_RETURNING : LEASE_DONE;
    for (int32_t i = 0; i < s->requests; i++)
        if (s->request[i].stage == stage && s->request[i].pinged)
            return i;
    return -1;
}

bool lease_pinged(const struct lease_state *s, int32_t server) {
    return s->pinging[server] || (lease_reports(s, server) && behind_ping(s, server) >= 0);
}

void lease_report(const struct lease_config *config, struct lease_state *s, int32_t server) {
    int32_t request = behind_ping(s, server);
    int8_t *report = &s->link[server].reports[s->link[server].requests];
    if (request >= 0)
        s->request[request].pinged = false;
    else
        s->pinging[server] = false;
    *report = newer(*report, s->touched[server]);
    s->touched[server] = LEASE_NEVER;
    deliver_at_once(config, s, server);
}

void lease_pass(struct lease_state *s, int32_t link) {
    struct lease_link *l = &s->link[link];
    if (link != 0)
        touch(s, link - 1, l->reports[0]);
    memmove(l->reports, l->reports + 1, (size_t)l->requests);
    l->reports[l->requests--] = 0;
    if (link <= 1) /* the leader has a quorum: it is committed */
        send_back(s, oldest(s, LEASE_FORWARDED), link);
    else
        forward(s, link - 1);
}

void lease_return(struct lease_state *s) { send_back(s, oldest(s, LEASE_RETURNING), 2); }

static void lose_messages(struct lease_state *s) {
    memset(s->link, 0, sizeof s->link);
    memset(s->touched, LEASE_NEVER, sizeof s->touched);
    memset(s->pinging, 0, sizeof s->pinging);
    for (int32_t i = 0; i < s->requests; i++)
        s->request[i].pinged = false;
    for (int32_t i = 0; i <= LEASE_HOPS; i++)
        s->link[i].reports[0] = LEASE_NEVER;
}

/* The new leader gives every session all of its time again; the old one and its followers hear no more of it. */
void lease_depose(struct lease_state *s) {
    s->heard = 0;
    s->stalled = false;
    s->usurped = true;
    lose_messages(s);
    s->deposed = s->connection == LEASE_UP;
}

/* Touches that were not reported are lost. That is no kinder than a report that arrives. */
void lease_disconnect(struct lease_state *s) {
    lose_messages(s);
    s->connection = LEASE_DOWN;
    s->deposed = s->stalled = false;
    s->requests = s->at = s->news = 0;
    memset(s->request, 0, sizeof s->request);
}

void lease_connect(struct lease_state *s, int32_t target, int8_t timeout) {
    s->connection = LEASE_UP;
    s->at = lease_target_at(target);
    s->news = timeout;
    for (int32_t i = 1; i <= LEASE_HOPS; i++)
        s->ping[i] = lease_target_ping(target, i);
}

int32_t lease_stuck(const struct lease_state *s) {
    int32_t alive = 0, i = 0;
    for (int32_t link = 0; link <= LEASE_HOPS; link++)
        alive += s->link[link].requests;
    for (; i < s->requests; i++)
        if (s->request[i].stage == LEASE_FORWARDED && alive-- == 0)
            break;
    return i;
}

/* Drops a touch that tells nothing new. */
static void drop_old(int8_t *touch, int8_t *newest) {
    if (*touch <= *newest)
        *touch = LEASE_NEVER;
    else
        *newest = *touch;
}

void lease_tidy_servers(struct lease_state *s) {
    s->heard = newer(s->heard, (int8_t)-s->granted); /* from there on the leader may do it at any time */
    int8_t newest = s->heard;
    for (int32_t i = 0; i <= LEASE_HOPS; i++) {
        for (int32_t at = 0; at <= s->link[i].requests; at++)
            drop_old(&s->link[i].reports[at], &newest);
        if (lease_reports(s, i)) {
            drop_old(&s->touched[i], &newest);
        } else {
            s->touched[i] = LEASE_NEVER;
            s->ping[i] = 0;
            s->pinging[i] = false;
        }
    }
}
