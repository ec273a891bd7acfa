/* Somebody who removes directories whenever they are empty, as the server does with containers, only much more often. */
#ifndef SWEEPER_H
#define SWEEPER_H

typedef struct sweeper sweeper;

/* Up to two directories; the second may be NULL. They need not exist. */
sweeper *sweeper_start(const char *one, const char *two);
/* Returns how often it has removed one. */
int sweeper_stop(sweeper *s);

#endif
