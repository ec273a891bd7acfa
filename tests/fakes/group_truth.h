/* What a group was at each moment, as the servers committed it; and the judge of what its watchers are told.
 *
 *     committed:  a joins   b joins   a's data   b leaves          each watcher goes along, and never back
 *     states:   {} ── {a} ── {a b} ── {a' b} ── {a'}
 *     told:                 {a b}exact           {a'}exact          each exact view is a later one of these states
 */
#ifndef GROUP_TRUTH_H
#define GROUP_TRUTH_H

#include "platform_bench.h"

#include <paddock/group.h>

struct truth_told;

/* From now on, of this directory. gone: called as a member's node goes, with its path, but for those that an administrator deletes. */
void truth_begin(const char *dir, void (*gone)(const char *path));
void truth_end(void);
/* How many members there are; how many of them have data that begin so. */
size_t truth_members(const char *data);
/* The data of that node now; NULL: it is gone. */
const char *truth_data(const char *path);
/* Were these data written, at any time? */
bool truth_has_had(const char *data);

/* A watcher that begins now. */
struct truth_told *truth_told_new(void);
void truth_told_free(struct truth_told *told);
/* It is told this view: */
void truth_judge(struct truth_told *told, pdk_group_view *view);
/* The newest view that it was told is exact, and what stands now. */
bool truth_is_told(const struct truth_told *told);

extern struct truth_count {
    unsigned views, inexact, joined, left, changed;
} truth_count;

#endif
