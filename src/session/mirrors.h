/* The mirrors of a session: for a directory in which it enqueues again and again, the contenders there as far as the
 * session knows them (core/mirror, ADR 45). All entries of the directory share it.
 *
 *     enqueues once ──► noted. Again ──► asks for a watch on the directory. Its answer, and the next list ──► full.
 *
 *     A create whose number the mirror expects goes without a list.
 *         consecutive ──► The mirror answers.
 *         a gap ────────► There is a list, and one with each create, until the numbers are consecutive.
 *
 *     A list is wanted after an event. Nobody is ahead, says the mirror, and our node stands ──► The mirror answers.
 *
 * The directories that were used last have one, as long as few strangers stand in them. Under the monitor. */
#ifndef PDK_SESSION_MIRRORS_H
#define PDK_SESSION_MIRRORS_H

#include "core/view.h"
#include "session/entry.h"

void pdk__mirrors_init(pdk_session *s);
void pdk__mirrors_free(pdk_session *s);
/* The connection is lost, or is another one, or the handle is. */
void pdk__mirrors_void(pdk_session *s);

/* Its first create is sent next. */
void pdk__mirrors_begin(struct pdk__entry *entry);
/* Its create was sent. true: no list is wanted until the answer. */
bool pdk__mirrors_expect(const struct pdk__entry *entry);
/* Its create was answered. true: the view stands for the list behind it. */
bool pdk__mirrors_created(struct pdk__entry *entry, const struct pdk__reply *reply, struct pdk__view *view);
/* It wants a list. true: the view stands for it, and nobody is ahead. */
bool pdk__mirrors_show(const struct pdk__entry *entry, struct pdk__view *view);

/* The news that keep them. The path is a node's that is deleted. */
void pdk__mirrors_listed(pdk_session *s, const char *dir, const struct pdk__child *children, size_t count);
void pdk__mirrors_deleted(pdk_session *s, const char *path);
void pdk__mirrors_held(const struct pdk__entry *entry);

#endif
