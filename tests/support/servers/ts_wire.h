/* The tests' names for what libpaddock-testing has inside: testing/wire.h. ZooKeeper's wire format. */
#ifndef TS_WIRE_H
#define TS_WIRE_H

#include "testing/wire.h"
#include "ts_proxy.h"

typedef pdk__test_reader ts_reader;
typedef pdk__test_wire ts_wire;

#define TS_CONNECTION_LOSS PDK__TEST_CONNECTION_LOSS
#define TS_MARSHALLING PDK__TEST_MARSHALLING
#define TS_SILENT PDK__TEST_NO_ANSWER
#define TS_NO_NODE PDK__TEST_NO_NODE
#define TS_NODE_EXISTS PDK__TEST_NODE_EXISTS
#define ts_put_int pdk__test_put_int
#define ts_put_long pdk__test_put_long
#define ts_put_bool pdk__test_put_bool
#define ts_put_bytes pdk__test_put_bytes
#define ts_put_string pdk__test_put_string
#define ts_take_int pdk__test_take_int
#define ts_take_long pdk__test_take_long
#define ts_take_bytes pdk__test_take_bytes
#define ts_wire_open pdk__test_wire_open
#define ts_wire_shut pdk__test_wire_shut
#define ts_wire_call pdk__test_wire_call

#endif
