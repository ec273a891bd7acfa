/* The tests' names for what libpaddock-testing has inside: testing/ports.h. Free ports. */
#ifndef TS_PORTS_H
#define TS_PORTS_H

#include "testing/ports.h"

#define ts_port_reserve pdk__test_port_reserve
#define ts_port_listen pdk__test_port_listen
#define ts_address_split pdk__test_address_split

#endif
