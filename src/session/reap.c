#include "session/reap.h"

#include "session/ops.h"
#include "zk/errors.h"

#include <string.h>

/* One of our places has it, or may have: its own node's name is not known yet. */
static bool is_somebodys(const pdk_session *s, const char *dir, const char *name) {
    for (const GList *link = s->places.head; link; link = link->next) {
        const struct pdk__place *known = link->data;
        bool it = known->c.own[0] != '\0' ? strcmp(known->c.own, name) == 0 : g_str_has_prefix(name, known->c.mark);
        if (it && strcmp(known->dir, dir) == 0)
            return true;
    }
    return false;
}

static void reap(pdk_session *s, const char *dir, const char *name) {
    char mark[PDK__MARK_SIZE];
    pdk__log(s, PDK_LOG_WARN, "%s/%s is ours, and nobody's: deleting it", dir, name);
    g_strlcpy(mark, name, MIN(sizeof mark, strlen(name) - 10 + 1)); /* without its number */
    struct pdk__place *place = pdk__place_make(s, dir, mark);
    place->c.phase = PDK__IN;
    g_strlcpy(place->c.own, name, sizeof place->c.own);
    if (s->link == PDK__LINK_CONNECTED)
        place->c.link = true;
    pdk__place_leave(place);
}

void pdk__reap_strays(const struct pdk__place *looking, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct pdk__name name;
        if (strcmp(names[i], looking->c.own) != 0 && pdk__name_is_kin(names[i], looking->c.mark) &&
            strlen(names[i]) < PDK__NAME_SIZE && pdk__name_parse(names[i], &name) &&
            !is_somebodys(looking->s, looking->dir, names[i]))
            reap(looking->s, looking->dir, names[i]);
    }
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
