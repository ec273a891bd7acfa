/* What goes wrong for the processes of platform_bench.h, drawn from a seed. A test says how often.
 *
 *     process ──✗ request not sent ──✗ cut, cut off, slow ──► server that lags ──✗ answer lost ──► node that an administrator deletes
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#include "platform_bench.h"

enum { TROUBLE_STEP_MS = 5, TROUBLE_KINDS = 6, TROUBLE_SESSIONS = 16 };

/* Each happens in one of so many steps; 0: never. */
struct trouble {
    int deletes; /* a node is deleted, one of `deletable` */
    int refuses; /* the next two requests of one of the kinds cannot be sent */
    int loses;   /* the next answer to a session is lost; what it was about is carried out, or is not */
    int cuts;    /* a connection is severed */
    int blocks;  /* of each process: it is cut off, for up to 3.5 s */
    int slows;   /* of each process: its packets come late, for up to 1 s */
    int lags;    /* a server shows what is up to 500 ms old */
    enum pdk__op_kind kinds[TROUBLE_KINDS];
    size_t kinds_count;
    void (*deletable)(GPtrArray *paths);
};

/* What has happened. */
extern struct trouble_count {
    unsigned deleted, refused, lost, cut, blocked, slowed, lagged;
} trouble_count;

/* How many of so many seeds a test plays. A sanitizer takes ten times as long for each, and what it looks for shows in fewer. */
static inline int trouble_seeds(int count) {
#ifdef __SANITIZE_ADDRESS__
    return (count + 3) / 4;
#else
    return count;
#endif
}

/* Anew, from a seed; platform_setup goes ahead. */
void trouble_begin(guint seed);
void trouble_end(void);

/* As ck_assert_msg, for what is looked at millions of times: Check writes a line to a file for each of its own. */
void must(bool is_so, const char *what, const char *of);

/* From the seed's dice. */
bool one_in(int times);
int one_of(int count);

/* In a process: a session, of which all of this is true. */
pdk_session *trouble_open(void);

/* One step of time, in which something may go wrong; NULL: nothing does. */
void trouble_pass(const struct trouble *trouble);
/* All is well from now on. */
void trouble_heal(void);

/* When the administrator deleted this node: its holder believes a little longer. 0: never. */
int64_t trouble_deleted(const char *path);
/* The children of a directory, as paths if there is an array. How many. */
size_t trouble_children(const char *dir, GPtrArray *paths);

#endif
