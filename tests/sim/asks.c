/* Asks to let go, and breaks, by the session beside the workload's where there is one. Holders hear of them in holdings.c. */
#include "deployment.h"

#include <glib.h>
#include <paddock/revoke.h>
#include <string.h>

struct asking {
    struct client *owner, *client; /* client: the owner, or its side */
    int32_t id;
};

static void on_answered(pdk_status status, void *user) {
    const struct asking *ask = user;
    struct deployment *d = ask->client->player->d;
    struct history_event *event = note(d, HISTORY_ASK_ANSWERED, ask->id, ask->client);
    ask->owner->asking--;
    d->asking--;
    if (event)
        event->a = status;
}

static void on_broken(pdk_status status, pdk_contenders *was, void *user) {
    pdk_contenders_free(was);
    on_answered(status, user);
}

/* NULL: there is no room, or nobody to ask with. */
static struct asking *begin(struct player *player, const struct plan_action *action, int64_t token, int32_t timeout) {
    struct deployment *d = player->d;
    struct client *client = player->client;
    if (!client || !client->s || client->closed || d->healed || d->asks_count == HISTORY_ASKINGS)
        return NULL;
    struct asking *ask = sim_alloc(&d->agenda, sizeof *ask);
    client->asking++;
    struct client *asks = d->plan->ensembles > 1 ? client_of(client, 2 * action->value[1])
                          : client->side         ? client->side
                                                 : client;
    *ask = (struct asking){client, asks, d->asks_count++};
    client = ask->client;
    struct history_event *event = note(d, HISTORY_ASKS, ask->id, client);
    d->asking++;
    if (!event)
        return ask;
    event->path = (int8_t)action->value[1];
    event->a = token;
    event->passed = token != 0 ? action->value[3] : 0;
    event->extra = timeout < 0 ? INT64_MAX : event->clock + timeout * SIM_MS;
    event->b = timeout < 0 ? INT64_MAX : sim_process_when(client->process, event->extra);
    return ask;
}

void asks_ask(void *subject, void *what) {
    const struct plan_action *action = what;
    int32_t timeout = action->value[3];
    struct asking *ask = begin(subject, action, 0, timeout);
    if (!ask)
        return;
    g_autofree char *who = g_strdup_printf("asker %d", ask->id);
    pdk_status status = pdk_session_request_release_async(ask->client->s, plan_path(action->value[1]), NULL, who,
                                                          action->value[2], timeout, on_answered, ask);
    if (status != PDK_OK)
        on_answered(status, ask);
}

void asks_break(void *subject, void *what) {
    const struct plan_action *action = what;
    struct player *player = subject;
    const char *node = observe_contender(player->d, action->value[1], action->value[2]);
    const struct sim_node *there =
        node ? sim_tree_find(sim_truth(deployment_ensemble(player->d, action->value[1])), node) : NULL;
    int64_t token = there ? there->stat.czxid + action->value[3] : 0;
    struct asking *ask = token > 0 ? begin(player, action, token, action->value[4]) : NULL;
    if (!ask)
        return;
    pdk_status status = pdk_session_break_async(ask->client->s, node, token, action->value[4], on_broken, ask);
    if (status != PDK_OK)
        on_answered(status, ask);
}
