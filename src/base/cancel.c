#include "base/cancel.h"

#include <pthread.h>
#include <stddef.h>

static _Thread_local unsigned depth; /* of pdk__cancel_off */
static _Thread_local int programs;   /* the state of the program */
static _Thread_local struct pdk__leave *innermost;

void pdk__cancel_off(void) {
    if (depth++ == 0)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &programs);
}

void pdk__cancel_back(void) {
    int ignored;
    if (--depth == 0)
        pthread_setcancelstate(programs, &ignored);
}

bool pdk__cancel_is_outermost(void) { return depth == 1; }

void pdk__leave_push(struct pdk__leave *leave) {
    leave->outer = innermost;
    innermost = leave;
}

void pdk__leave_pop(void) { innermost = innermost->outer; }

bool pdk__leave_possible(void) { return innermost != NULL; }

void pdk__cancel_open(void) {
    int ignored;
    pthread_setcancelstate(programs, &ignored);
}

void pdk__cancel_shut(void) {
    int ignored;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
}

void pdk__leave_run_locked(void) {
    for (const struct pdk__leave *leave = innermost; leave; leave = leave->outer)
        if (leave->locked)
            leave->locked(leave->user);
}

/* The thread's cleanup handlers may use the library again. */
void pdk__leave_run_after(void) {
    const struct pdk__leave *leave = innermost;
    innermost = NULL;
    for (; leave; leave = leave->outer)
        if (leave->after)
            leave->after(leave->user);
    depth = 0;
}
