/*
 * Reads ZooKeeper's frames as they pass: a frame is a 4-byte length and a body; a body begins with a 4-byte xid and, in
 * requests, a 4-byte type; the first body in each direction is the handshake.
 */
#ifndef TESTING_SNIFF_H
#define TESTING_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDK__TEST_SNIFF_HEAD = 40 };

/* One direction of one connection; all zero at the start. */
typedef struct {
    uint8_t head[4 + PDK__TEST_SNIFF_HEAD];
    size_t have;     /* bytes of head that are in */
    uint32_t skip;   /* bytes of the body after the head that are still to come */
    bool past_first; /* the handshake is over */
    bool unreadable; /* not ZooKeeper's client protocol: no more frames */
} pdk__test_sniff;

typedef struct {
    bool ready;          /* the head of a frame has just become complete */
    bool handshake;      /* it is the first of its direction */
    const uint8_t *body; /* its first bytes, `size` of them */
    size_t size;
} pdk__test_frame;

/* True between two frames. */
bool pdk__test_sniff_between(const pdk__test_sniff *s);

/* Reads on, to the next complete head or the end of the data. Returns the number of bytes read, at least one. */
size_t pdk__test_sniff_step(pdk__test_sniff *s, const uint8_t *data, size_t size, pdk__test_frame *frame);

/* Big-endian numbers, as on the wire. */
int32_t pdk__test_get32(const uint8_t *at);
int64_t pdk__test_get64(const uint8_t *at);

#endif
