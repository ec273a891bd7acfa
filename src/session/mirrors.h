/* The mirrors of a session: for a directory in which it enqueues again and again, the contenders there as far as the
 * session knows them (core/mirror, ADR 45). All entries of the directory share it.
 *
 *     enqueues once ──► noted ── again ──► a watch on the directory ── its answer, and the next list ──► full
 *
 *     create ── the mirror expects its number ──► no list behind it ── consecutive ──► the mirror answers
 *                                                                    └─ a gap ──────► a list, and again with each create
 *     list, wanted after an event ── nobody is ahead, says the mirror, and our node stands ──► the mirror answers
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
