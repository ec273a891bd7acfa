/* ZooKeeper's codes: the meaning of each for the protocol, and its name. The one table of ambiguous answers. */
#ifndef PDK_ZK_ERRORS_H
#define PDK_ZK_ERRORS_H

#include "core/result.h"

/* The server demands authentication that the session has not, and closes the session. */
#define PDK__CODE_REQUIRES_AUTH (-124)

enum pdk__result pdk__zk_result(int code);

/* "ZNONODE(-101)"; static where the code is known, "error" otherwise. */
const char *pdk__zk_code_name(int code);

#endif
