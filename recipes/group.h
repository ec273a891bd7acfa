/* The knowledge of a group's watcher, from inside: records of members, and views of records. */
#ifndef PDK_GROUP_INSIDE_H
#define PDK_GROUP_INSIDE_H

#include <glib.h>
#include <paddock/group.h>
#include <stdatomic.h>

/* A member as it was read once. It never changes, and views share it. */
struct pdk__record {
    atomic_uint refs;
    pdk_member_info shown; /* its texts and bytes are the record's */
    char *node;
    void *data;
};

/* `shown` is copied, with its data. */
struct pdk__record *pdk__record_new(const char *node, const pdk_member_info *shown);
struct pdk__record *pdk__record_ref(struct pdk__record *record);
void pdk__record_unref(void *record);

/* The view of these records, in any order, after the view `told`, which is NULL at first. Takes over the array. NULL:
 * there is nothing new to tell. */
pdk_group_view *pdk__group_view_new(const pdk_group_view *told, GPtrArray *records, bool exact);

#endif
