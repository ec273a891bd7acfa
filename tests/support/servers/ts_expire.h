/* The tests' names for what libpaddock-testing has inside: testing/expire.h. The end of a session. */
#ifndef TS_EXPIRE_H
#define TS_EXPIRE_H

#include "testing/expire.h"
#include "ts_proxy.h"

#define ts_expire pdk__test_expire
#define ts_expire_session pdk__test_expire_session

#endif
