/* A watcher of a group, from inside: its question, and its knowledge of each node. All of it under the monitor, but for
 * the part that is the callback's thread's. */
#ifndef PDK_GROUP_WATCH_H
#define PDK_GROUP_WATCH_H

#include "group.h"
#include "session/live_query.h"
#include "session/ops.h"

/* A node of the directory that bears a member's name. */
struct pdk__seen {
    char *node;
    struct pdk__record *record; /* a reference; NULL: not read yet, or no member */
    bool read;                  /* once at least */
    bool watched;
    bool listed; /* in the list that is being looked at */
    bool dirty;  /* to be read: in `todo` */
    GList link;
};

/* The live query of a watcher. It lives until no answer and no callback of it is due any more. */
struct pdk__watching {
    struct pdk__live_query query;
    char *dir, *key;
    GHashTable *nodes; /* struct pdk__seen, by their names */
    guint unread;      /* how many of them were never read */
    GQueue todo;
    guint in_flight;
    uint64_t generation; /* of the handle that has the watches */
    int64_t listed_at;   /* 0: never */
    int64_t restless;    /* since when there is something new, and no view of it; 0: there is nothing */
    bool relist;         /* the directory may have changed */
    bool listing;        /* a list is under way: nodes come and go with its answer, so none is read */
    bool proven;         /* the answers of this handle are not older than the views that were told */
    bool list_watched, unlisted, refused, failed, warned;
    GPtrArray *ready; /* the records of the view that is due; NULL: none is */
    bool ready_exact, due, telling;
    pdk_group_fn fn;
    void *user;
    void (*user_free)(void *user);
    pdk_group_view *told; /* the callback's thread's */
};

/* group_nodes.c */
/* Mark a node as to be read, or as to be read no more. */
void pdk__seen_mark(struct pdk__watching *w, struct pdk__seen *seen);
void pdk__seen_unmark(struct pdk__watching *w, struct pdk__seen *seen);
/* Take over a record, or NULL. */
void pdk__seen_know(struct pdk__seen *seen, struct pdk__record *record);
void pdk__seen_free(void *seen);
char *pdk__seen_path(const struct pdk__watching *w, const struct pdk__seen *seen);
/* These are the children of the directory: new ones are to be read, and missing ones are forgotten. */
void pdk__nodes_listed(struct pdk__watching *w, const char *const *children, size_t count);
/* The answer to the read of a node. */
void pdk__nodes_read(struct pdk__watching *w, struct pdk__seen *seen, const struct pdk__reply *reply);
/* Nodes without a watch are to be read; without the watches of this handle, all are. */
void pdk__nodes_read_again(struct pdk__watching *w, bool all);
/* The records of all members; and whether each node is watched. */
GPtrArray *pdk__nodes_records(const struct pdk__watching *w, bool *all_are_watched);

/* group_read.c */
bool pdk__watching_ask(struct pdk__live_query *query);
void pdk__watching_fired(struct pdk__live_query *query, const char *path, bool gone);

/* group_watch.c */
/* The records are told as a view before long. Takes them over. */
void pdk__watching_publish(struct pdk__watching *w, GPtrArray *records, bool exact);

#endif
