/* The use of groups. A member is a candidate that nobody keeps out (candidates.c); it sets its data. Watchers are told views.
 *
 *     data of a member:  m<its number>.<how many it has set before> */
#include "deployment.h"
#include "observe.h"

#include <glib.h>
#include <string.h>

static struct deployment *deployment_of(const struct candidate *member) { return member->client->player->d; }

/* ---- members */

static char *next_data(struct candidate *member) { return g_strdup_printf("m%d.%d", member->id, ++member->writes); }

static void on_parted(void *user) {
    const struct candidate *member = user;
    if (!member->client->process->dead)
        note(deployment_of(member), HISTORY_PARTED, member->id, member->client);
}

pdk_status members_join(struct candidate *member, const pdk_election_callbacks *calls) {
    struct client *client = member->client;
    pdk_member **place = &client->objects[member->lock].member;
    pdk_member_callbacks own = PDK_MEMBER_CALLBACKS_INIT;
    g_autofree char *data = next_data(member);
    own.joined = calls->elected;
    own.lost = calls->deposed;
    own.failed = calls->failed;
    own.user = member;
    own.user_free = on_parted;
    pdk_member_unref(g_steal_pointer(place)); /* of one that has failed */
    return pdk_group_join(client_of(client, member->lock)->s, plan_path(member->lock / 2), data, strlen(data), &own,
                          place);
}

/* Data that are still to be set have a reference. */
void members_leave(struct candidate *member) {
    pdk_member *object = g_steal_pointer(&member->client->objects[member->lock].member);
    if ((member->amends || member->id % 2) && pdk_member_leave(object) != PDK_OK)
        g_error("cannot leave: %s", pdk_last_error());
    pdk_member_unref(object);
}

/* ---- their data */

struct amending {
    struct candidate *member;
    int64_t data;
};

static void on_amended(pdk_status status, void *user) {
    const struct amending *a = user;
    struct deployment *d = deployment_of(a->member);
    struct history_event *event = note(d, HISTORY_AMENDED, a->member->id, a->member->client);
    a->member->amends = false;
    a->member->client->asking--;
    d->asking--;
    if (!event)
        return;
    event->a = a->data;
    event->b = status;
}

static void amend(struct candidate *member, int32_t timeout) {
    struct client *client = member->client;
    struct deployment *d = deployment_of(member);
    if (member->amends)
        return;
    struct amending *a = sim_alloc(&d->agenda, sizeof *a);
    g_autofree char *data = next_data(member);
    *a = (struct amending){member, observe_data(data)};
    struct history_event *event = note(d, HISTORY_AMENDS, member->id, client);
    if (event) {
        event->extra = timeout < 0 ? INT64_MAX : event->clock + timeout * SIM_MS;
        event->a = a->data;
        event->b = timeout < 0 ? INT64_MAX : sim_process_when(client->process, event->extra);
    }
    member->amends = true;
    client->asking++;
    d->asking++;
    pdk_status status =
        pdk_member_set_data_async(client->objects[member->lock].member, data, strlen(data), timeout, on_amended, a);
    if (status != PDK_OK)
        on_amended(status, a);
}

void members_amend(void *subject, void *what) {
    const struct player *player = subject;
    const struct plan_action *action = what;
    const struct client *client = player->client;
    if (client && client->s && !client->closed && !player->d->healed && client->candidates[action->value[PLAN_LOCK]])
        amend(client->candidates[action->value[PLAN_LOCK]], action->value[PLAN_TIMEOUT]);
}

void members_amend_all(void *subject, void *nothing) {
    const struct player *player = subject;
    const struct client *client = player->client;
    (void)nothing;
    for (int32_t i = 0; client && client->s && !client->closed && i < PLAN_LOCKS; i++)
        if (client->candidates[i] && plan_recipe(player->d->plan, i / 2) == PLAN_RECIPE_GROUP)
            amend(client->candidates[i], PDK_FOREVER);
}

/* ---- watchers */

static struct history_event *note_told(const struct observing *o, enum history_kind kind, int64_t a, int64_t b) {
    struct history_event *event = note(o->client->player->d, kind, o->id, o->client);
    if (event) {
        event->a = a;
        event->b = b;
    }
    return event;
}

static void note_difference(const struct observing *o, const pdk_member_info *before, const pdk_member_info *after) {
    struct history_event *event =
        note_told(o, HISTORY_DIFFERENCE, before ? before->changed : 0, after ? after->changed : 0);
    bool same = !before || !after || (before->token == after->token && strcmp(before->node, after->node) == 0);
    if (event)
        event->extra = after && after->status == PDK_NO_PERMISSION ? UNREADABLE
                       : !same || (!before && !after)              ? -1
                                                                   : (after ? after : before)->token;
}

static void note_member(const struct observing *o, const pdk_member_info *info) {
    struct history_event *event = note_told(o, HISTORY_MEMBER, info->token, info->changed);
    struct observed_name name;
    g_autofree char *data = g_strndup(info->data, info->size);
    if (!event)
        return;
    event->extra = observe_data(data);
    event->clock = info->session;
    event->sequence = observe_name(info->node, &name) ? name.sequence : 0;
    event->mode = (int8_t)info->status;
}

static void on_view(pdk_group_view *view, void *user) {
    const struct observing *o = user;
    const pdk_member_info *before, *after;
    for (size_t i = 0; pdk_group_view_change(view, i, &before, &after); i++)
        note_difference(o, before, after);
    for (size_t i = 0; i < pdk_group_view_count(view); i++)
        note_member(o, pdk_group_view_member(view, i));
    struct history_event *event =
        note_told(o, HISTORY_VIEW, (int64_t)pdk_group_view_number(view), pdk_group_view_is_exact(view));
    if (!event)
        return;
    event->count = (int16_t)pdk_group_view_count(view);
    event->extra = (int64_t)pdk_group_view_changes(view);
}

pdk_status members_watch(struct observing *o, int32_t lock, void (*freed)(void *user)) {
    return pdk_group_watch(client_of(o->client, lock)->s, plan_path(lock / 2), on_view, o, freed, &o->watcher);
}
