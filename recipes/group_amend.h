/* Brings newer data to a member's node. */
#ifndef PDK_GROUP_AMEND_H
#define PDK_GROUP_AMEND_H

#include "own_data.h"

/* The member was registered with data that were replaced while its create was under way: write the newest, unless the
 * hold ends before. Under the monitor. */
void pdk__member_amend(struct pdk__own_data *own, pdk_hold *hold);

#endif
