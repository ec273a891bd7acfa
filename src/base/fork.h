/* Was the process forked since? A session's threads do not exist in the child, so the child must not touch its
 * objects. */
#ifndef PDK_FORK_H
#define PDK_FORK_H

/* The number of forks between the first process and this one. Costs a load. */
unsigned pdk__forks(void);

#endif
