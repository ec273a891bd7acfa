/* A thread that removes directories whenever they are empty. The server does that with containers, only much less
 * often. */
#ifndef DIRECTORY_REMOVER_H
#define DIRECTORY_REMOVER_H

typedef struct directory_remover directory_remover;

/* Up to two directories; the second may be NULL. They need not exist. */
directory_remover *directory_remover_start(const char *one, const char *two);
/* Returns how often it has removed one. */
int directory_remover_stop(directory_remover *remover);

#endif
