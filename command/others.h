/*
 * Other recipes at the path of a hold. A lock, permits and an election at one path do not exclude each other: so whoever
 * gets one of them looks for the others, and does not begin if somebody has one.
 */
#ifndef CMD_OTHERS_H
#define CMD_OTHERS_H

#include "keeper.h"

/* Permits: the claim stands in line, so others can see its node from now on. The look goes out now, and the grant need not
 * wait for it. */
void cmd_others_look_ahead(cmd_keeper *keeper);

/* Looks while the keeper holds, unless it knows by then that nobody is there. So of two that come at once at least one
 * sees the other. A question without an answer is asked again until the hold is lost, and then the result is CMD_OK. One
 * that is refused by an access control list counts as somebody, unless we hold permits. CMD_OK, or another result, having said why. */
int cmd_others_refuse(cmd_keeper *keeper);

#endif
