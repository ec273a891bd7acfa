/* The work of the soak, and how much memory and other resources this process and its server use. */
#ifndef SOAK_H
#define SOAK_H

#include <glib.h>
#include <paddock/paddock.h>

/* The session enqueues in two directories again and again, and the rival in one. So they watch these. */
enum { SOAK_DIRECTORIES = 3 };

struct soak_work {
    const char *address;
    pdk_session *session; /* does the work */
    pdk_session *rival;   /* competes with it */
    pdk_lock *lock, *crowded;
    pdk_lock *rival_lock;
    GRand *chance;
    long cycles, handovers; /* done so far */
    long cancelled, timed_out, dropped, busy;
};

struct soak_sample {
    long resident_kib;  /* of this process */
    long allocated_kib; /* by malloc */
    int descriptors, threads;
    int watches, ephemerals; /* at the server */
    double seconds;
};

void soak_open(struct soak_work *work);
/* At least so many of each. */
void soak_slice(struct soak_work *work, int cycles, int handovers);
void soak_close(struct soak_work *work);

/* Waits until the released nodes are gone from the server, and takes the sample. */
void soak_sample(struct soak_work *work, struct soak_sample *sample);

#endif
