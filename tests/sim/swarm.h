/* Shared by the files that draw a schedule. swarm.c draws the kind of schedule, its faults and its claims.
 * swarm_recipes.c draws the recipe of each path, and what that adds to claims. */
#ifndef SWARM_H
#define SWARM_H

#include "plan.h"
#include "sim_agenda.h"

struct swarm {
    struct sim_random chance;
    struct sim_random recipes; /* a stream of its own: a schedule of locks alone does not depend on the other recipes */
    struct sim_random guarded; /* likewise */
    struct sim_random delays, unsent, sets, asks, striped, records, group, majorities, lingers;
    struct plan *plan;
    int32_t weights[PLAN_KIND_COUNT]; /* of faults, and of workloads besides claims */
    int32_t weight;                   /* their sum */
    int32_t timeout;                  /* that the servers will negotiate */
    int32_t hold;                     /* typical, ms */
    int32_t favourite;                /* the path that most processes use */
};

/* Draws the recipes, before any action. */
void swarm_draw_recipes(struct swarm *s);
/* Whether, and how much, holders write to guarded znodes. After all else. */
void swarm_draw_guarded(struct swarm *s);
/* Whether locks and elections have a lock-delay. */
void swarm_draw_delays(struct swarm *s);
/* Whether locks linger, and for how long. */
void swarm_draw_lingers(struct swarm *s);
/* Claims of several rights at once. */
void swarm_draw_sets(struct swarm *s);
/* Three ensembles, and majorities of their locks. After all else. */
void swarm_draw_majorities(struct swarm *s);
/* Some locks become jobs, or lease locks. */
void swarm_draw_records(struct swarm *s);
/* Asks to let go, and breaks; in half of such schedules nothing goes wrong. After all else. */
void swarm_draw_asks(struct swarm *s);
/* On the favourite path: a striped lock. With the recipes; and sets of stripes, after all claims. */
void swarm_draw_striped(struct swarm *s);
void swarm_draw_stripes(struct swarm *s);
/* A group, likewise; watchers, data and strangers. */
void swarm_draw_group(struct swarm *s);
void swarm_draw_members(struct swarm *s);
/* Turns an ACQUIRE into a claim of its path's recipe. */
void swarm_draw_claim(struct swarm *s, struct plan_action *action);
/* An ACL of one of the path's directories: the action's position. */
int32_t swarm_draw_directory(struct swarm *s, int32_t path);
/* Other actions on elections, after all claims. */
void swarm_draw_elections(struct swarm *s);

#endif
