/*
 * Other recipes at the path of a hold. A lock, permits and an election at one path do not exclude each other: so whoever
 * gets one of them looks for the others, and does not begin if somebody has one.
 */
#ifndef CMD_OTHERS_H
#define CMD_OTHERS_H

#include "keeper.h"

/* Looks while the keeper holds. So of two that come at once at least one sees the other. A question that nobody can
 * answer stops nobody. CMD_OK, or the result, having said why. The hold may be lost meanwhile. */
int cmd_others_refuse(cmd_keeper *keeper);

#endif
