/*
 * Free loopback ports without a race. A reserved port is bound, not listening, with SO_REUSEADDR by a descriptor of
 * this process: nobody else is given it, and a connection to it is refused. A server that sets SO_REUSEADDR itself
 * (ZooKeeper's do) can bind and listen on it, again and again, until the reservation is closed.
 */
#ifndef TESTING_PORTS_H
#define TESTING_PORTS_H

#include <stdbool.h>

/* Reserves a free port of `ip` ("127.0.0.1") and stores it. Returns the descriptor that keeps it, or -1. */
int pdk__test_port_reserve(const char *ip, int *port);
/* Reserves this port. -1: somebody listens on it, or we may not have it. */
int pdk__test_port_take(const char *ip, int port);

/* A listening, non-blocking socket on a port that this process has reserved. -1 on failure. */
int pdk__test_port_listen(const char *ip, int port);

/* Starts a non-blocking connect to "ip:port". Returns the descriptor (in progress or connected), or -1. */
int pdk__test_port_connect(const char *address);

/* Splits "ip:port"; `ip` has room for 64 bytes. */
bool pdk__test_address_split(const char *address, char *ip, int *port);

#endif
