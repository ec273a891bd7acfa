/*
 * A candidate of the election, or with --observe an observer. It notes
 *     elected token=T        deposed reason=NAME        leader token=T identity=NAME        failed status=NAME
 *     joined                 resign                     resigned status=NAME
 *     queue identities=NAME,NAME…
 * and the sampler's granted and valid. The order "resign" makes the leader resign. The order "queue" asks for the
 * candidates in the queue. The player leaves when standard input ends.
 */
#include "player.h"

#include <string.h>

enum { QUEUE_MS = 5000 };

typedef struct candidate {
    player player;
    pdk_election *election;
    pdk_observer *observer;
} candidate;

static void on_elected(pdk_hold *hold, void *user) {
    candidate *c = user;
    event_log_note(c->player.log, "elected token=%" G_GINT64_FORMAT, (gint64)pdk_hold_token(hold));
    sampler_add(c->player.sampler, hold, "");
}

static void on_deposed(pdk_reason reason, void *user) {
    candidate *c = user;
    event_log_note(c->player.log, "deposed reason=%s", pdk_reason_name(reason));
}

/* The identity as a value in the log: others wrote it. Free with g_free. */
static char *plain(const char *identity) {
    char *name = g_strdup(identity && *identity ? identity : "-");
    for (char *at = name; *at; at++)
        *at = g_ascii_isgraph(*at) && *at != ',' ? *at : '?';
    return name;
}

static void on_leader(const char *identity, int64_t token, void *user) {
    candidate *c = user;
    g_autofree char *name = plain(identity);
    event_log_note(c->player.log, "leader token=%" G_GINT64_FORMAT " identity=%s", (gint64)token, name);
}

static void on_failed(pdk_status status, void *user) {
    candidate *c = user;
    event_log_note(c->player.log, "failed status=%s", pdk_status_name(status));
}

static bool begin(candidate *c, bool observe) {
    player *p = &c->player;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = p->identity;
    if (!player_check(p, "election", pdk_election_new(p->session, p->path, &options, &c->election)))
        return false;
    if (observe)
        return player_check(p, "observe", pdk_election_observe(c->election, on_leader, c, NULL, &c->observer));
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    callbacks.elected = on_elected;
    callbacks.deposed = on_deposed;
    callbacks.leader = on_leader;
    callbacks.failed = on_failed;
    callbacks.user = c;
    return player_check(p, "join", pdk_election_join(c->election, &callbacks));
}

static void note_queue(candidate *c) {
    pdk_contenders *list;
    if (!player_check(&c->player, "candidates", pdk_election_list(c->election, QUEUE_MS, &list)))
        return;
    g_autoptr(GString) names = g_string_new(NULL);
    for (size_t i = 0; i < pdk_contenders_count(list); i++) {
        g_autofree char *name = plain(pdk_contenders_identity(list, i));
        g_string_append_printf(names, "%s%s", i ? "," : "", name);
    }
    pdk_contenders_free(list);
    event_log_note(c->player.log, "queue identities=%s", names->str);
}

static void obey(candidate *c) {
    char *order;
    while ((order = player_order())) {
        if (strcmp(order, "resign") == 0) {
            event_log_note(c->player.log, "resign");
            event_log_note(c->player.log, "resigned status=%s", pdk_status_name(pdk_election_resign(c->election)));
        } else if (strcmp(order, "queue") == 0) {
            note_queue(c);
        } else {
            player_fail(&c->player, "unknown order", order);
        }
        g_free(order);
    }
}

int main(int argc, char **argv) {
    candidate c = {0};
    gboolean observe = FALSE;
    const GOptionEntry more[] = {
        {"observe", 0, 0, G_OPTION_ARG_NONE, &observe, "be no candidate", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    if (player_open(&c.player, argc, argv, more) && begin(&c, observe)) {
        event_log_note(c.player.log, "joined"); /* from now on it hears of leaders */
        obey(&c);
        if (observe)
            pdk_observer_close(c.observer);
        else
            player_check(&c.player, "leave", pdk_election_leave(c.election));
    }
    pdk_election_unref(c.election);
    return player_close(&c.player);
}
