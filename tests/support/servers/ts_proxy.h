/* The tests' names for what libpaddock-testing has inside: testing/proxy.h. A link that can be cut, silenced and delayed. */
#ifndef TS_PROXY_H
#define TS_PROXY_H

#include "testing/proxy.h"

typedef pdk_test_proxy ts_proxy;
typedef pdk_test_proxy_mode ts_proxy_mode;
typedef pdk__test_proxy_loss ts_proxy_loss;
typedef pdk__test_proxy_counters ts_proxy_counters;
typedef pdk__test_session_key ts_session_key;

#define TS_PASS PDK_TEST_PASS
#define TS_BLACKHOLE PDK_TEST_SILENT
#define TS_BLACKHOLE_UP PDK_TEST_SILENT_UP
#define TS_BLACKHOLE_DOWN PDK_TEST_SILENT_DOWN
#define TS_DROP_REPLIES PDK_TEST_DROP_REPLIES
#define TS_CUT PDK_TEST_CUT
#define TS_OP_ANY PDK__TEST_OP_ANY
#define TS_OP_CLOSE_SESSION PDK__TEST_OP_CLOSE_SESSION
#define TS_OP_CONNECT PDK__TEST_OP_CONNECT
#define TS_OP_CREATE PDK__TEST_OP_CREATE
#define TS_OP_DELETE PDK__TEST_OP_DELETE
#define TS_OP_EXISTS PDK__TEST_OP_EXISTS
#define TS_OP_GET_DATA PDK__TEST_OP_GET_DATA
#define TS_OP_SET_DATA PDK__TEST_OP_SET_DATA
#define TS_OP_GET_ACL PDK__TEST_OP_GET_ACL
#define TS_OP_SET_ACL PDK__TEST_OP_SET_ACL
#define TS_OP_GET_CHILDREN PDK__TEST_OP_GET_CHILDREN
#define TS_OP_SYNC PDK__TEST_OP_SYNC
#define TS_OP_GET_CHILDREN2 PDK__TEST_OP_GET_CHILDREN2
#define TS_OP_MULTI PDK__TEST_OP_MULTI
#define TS_OP_CREATE2 PDK__TEST_OP_CREATE2
#define TS_OP_CREATE_CONTAINER PDK__TEST_OP_CREATE_CONTAINER
#define TS_OP_AUTH PDK__TEST_OP_AUTH
#define ts_proxy_start pdk_test_proxy_start
#define ts_proxy_stop pdk_test_proxy_stop
#define ts_proxy_address pdk_test_proxy_address
#define ts_proxy_set_mode pdk_test_proxy_set_mode
#define ts_proxy_get_mode pdk_test_proxy_get_mode
#define ts_proxy_heal pdk_test_proxy_heal
#define ts_proxy_heal_discard pdk__test_proxy_heal_discard
#define ts_proxy_reset pdk_test_proxy_reset
#define TS_CLIENT_SIDE PDK__TEST_CLIENT_SIDE
#define TS_SERVER_SIDE PDK__TEST_SERVER_SIDE
#define ts_proxy_hang_up pdk__test_proxy_hang_up
#define ts_proxy_set_delay pdk_test_proxy_set_delay
#define TS_LOSE_REQUEST PDK__TEST_LOSE_REQUEST
#define TS_LOSE_REPLY PDK__TEST_LOSE_REPLY
#define ts_proxy_arm pdk__test_proxy_arm
#define ts_proxy_disarm pdk__test_proxy_disarm
#define ts_proxy_wait_fired pdk__test_proxy_wait_fired
#define ts_proxy_say pdk__test_proxy_say
#define ts_proxy_count pdk__test_proxy_count
#define ts_proxy_read pdk__test_proxy_read
#define ts_proxy_zero pdk__test_proxy_zero
#define ts_proxy_last_session pdk__test_proxy_last_session
#define ts_proxy_find_session pdk__test_proxy_find_session

#endif
