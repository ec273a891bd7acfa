/* A directory's child counter, set behind the server's back. */
#ifndef SEED_LOG_H
#define SEED_LOG_H

#include "ts_ensemble.h"

/* The next child of directory gets this number. server: a standalone one; it is killed and started again. */
bool seed_counter(ts_ensemble *server, const char *directory, int32_t counter);

#endif
