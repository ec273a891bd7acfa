/* Carries out the commands of a contender, and brings it the answers. Under the monitor. */
#ifndef PDK_SESSION_COMMANDS_H
#define PDK_SESSION_COMMANDS_H

#include "session/entry.h"
#include "session/ops.h"

void pdk__commands_init(struct pdk__entry *entry);
/* Carry out a command. If it cannot be sent, the contender hears a moment later that it was not executed. */
void pdk__carry_out(struct pdk__entry *entry, enum pdk__command command);
/* The entry is about to leave: a command that waits for its pace, or in a pause, waits no longer. */
void pdk__commands_hurry(struct pdk__entry *entry);
/* The answer to the list that pdk__lists_want asked for. children: the reply's, read. */
void pdk__entry_listed(struct pdk__entry *entry, const struct pdk__reply *reply, const struct pdk__child *children);
/* Send a request about the entry's own node. done gets a reference to the entry. false: not sent. */
bool pdk__send_to_own(struct pdk__entry *entry, enum pdk__op_kind kind, pdk__done_fn done);
/* The path of a node in the entry's directory, to be freed. */
char *pdk__child_path(const struct pdk__entry *entry, const char *name);

#endif
