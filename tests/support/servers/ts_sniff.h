/* The tests' names for what libpaddock-testing has inside: testing/sniff.h. ZooKeeper's frames. */
#ifndef TS_SNIFF_H
#define TS_SNIFF_H

#include "testing/sniff.h"

typedef pdk__test_sniff ts_sniff;

#define ts_get32 pdk__test_get32

#endif
