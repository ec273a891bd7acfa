#include "session/reap.h"

#include "session/ops.h"
#include "zk/errors.h"

#include <string.h>

void pdk__reap_stray(pdk_session *s, const char *dir, const char *mark, const char *name) {
    for (GList *link = s->places.head; link; link = link->next) {
        const struct pdk__place *known = link->data;
        if (strcmp(known->c.own, name) == 0 && strcmp(known->dir, dir) == 0)
            return;
    }
    pdk__log(s, PDK_LOG_WARN, "%s/%s is a second node of ours: deleting it", dir, name);
    struct pdk__place *place = pdk__place_make(s, dir, mark);
    place->c.phase = PDK__IN;
    g_strlcpy(place->c.own, name, sizeof place->c.own);
    if (s->link == PDK__LINK_CONNECTED)
        place->c.link = true;
    pdk__place_leave(place);
}

void pdk__reap_stuck(struct pdk__place *place) {
    char *why = g_strdup_printf("%s/%s cannot be deleted: %s; has its access control list been changed?", place->dir,
                                place->c.own, pdk__zk_code_name(place->failure_code));
    pdk__session_reopen(place->s, why);
    g_free(why);
}

static void ignore(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    (void)reply;
}

void pdk__reap_done(const struct pdk__place *place) {
    struct pdk__name name;
    if (!pdk__name_parse(place->c.own, &name) ||
        (name.sequence < PDK__SEQUENCE_HIGH && !pdk__sequence_is_stuck(name.sequence)))
        return;
    pdk__log(
        place->s, PDK_LOG_WARN,
        "%s: sequence number %d of 2147483647; removing the directory as soon as it is empty, so that its successor "
        "counts from zero",
        place->dir, name.sequence);
    pdk__send(place->s, (struct pdk__request){.kind = PDK__OP_DELETE, .path = place->dir}, ignore, NULL);
}
