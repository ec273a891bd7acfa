/* The chroot behind the servers. A session makes a missing one with its first lock, so it is looked for beforehand. */
#ifndef CMD_CHROOT_H
#define CMD_CHROOT_H

#include "settings.h"
#include "wire.h"

/* servers: of the settings. CMD_WIRE_OK: it is there, or there is none in the list of servers; CMD_WIRE_NONODE: it is missing; or another code of
 * ZooKeeper, or CMD_WIRE_BROKEN, with words in *error. g_free *error. Asks over a connection of its own. */
int cmd_chroot_look(const cmd_settings *settings, const cmd_servers *servers, char **error);

/* For --no-create. CMD_OK, or the result, having said why. */
int cmd_chroot_refuse_missing(const cmd_settings *settings);

#endif
