#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;

static void in_child(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

unsigned pdk__forks(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
