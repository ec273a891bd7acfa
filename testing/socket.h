/* Blocking traffic with a deadline over a non-blocking socket, for the four-letter client and the observer. */
#ifndef TESTING_SOCKET_H
#define TESTING_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Connects to "ip:port". Returns the descriptor, or -1 when refused or after `deadline_ns` (pdk__test_now_ns's
 * clock). */
int pdk__test_socket_open(const char *address, int64_t deadline_ns);

/* Sends all of it. */
bool pdk__test_socket_send(int fd, const void *data, size_t size, int64_t deadline_ns);

/* Receives exactly `size` bytes. */
bool pdk__test_socket_receive(int fd, void *data, size_t size, int64_t deadline_ns);

/* Receives the bytes there are, at least one: their number, 0 at the end, -1 on error or after the deadline. */
ssize_t pdk__test_socket_receive_some(int fd, void *data, size_t size, int64_t deadline_ns);

#endif
