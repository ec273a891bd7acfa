/* The tests' names for what libpaddock-testing has inside: testing/fourletter.h. What a server reports about itself. */
#ifndef TS_FOURLETTER_H
#define TS_FOURLETTER_H

#include "testing/fourletter.h"

#define TS_MODE_DOWN PDK__TEST_MODE_DOWN
#define TS_MODE_STANDALONE PDK__TEST_MODE_STANDALONE
#define TS_MODE_LEADER PDK__TEST_MODE_LEADER
#define TS_MODE_FOLLOWER PDK__TEST_MODE_FOLLOWER
#define ts_fourletter pdk__test_fourletter
#define ts_mode pdk__test_mode
#define ts_zxid pdk__test_zxid
#define ts_mntr pdk__test_mntr
#define ts_watch_count pdk__test_watch_count
#define ts_session_count pdk__test_session_count
#define ts_connection_count pdk__test_connection_count
#define ts_ephemeral_count pdk__test_ephemeral_count

#endif
