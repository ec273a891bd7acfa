/* Was the process forked since? The threads of a session do not exist in the child, which must not touch its objects. */
#ifndef PDK_FORK_H
#define PDK_FORK_H

/* How many forks lie between the first process and this one. Costs a load. */
unsigned pdk__forks(void);

#endif
