/* The commands of a contender, carried out, and the answers, brought to it. Under the monitor. */
#ifndef PDK_SESSION_COMMANDS_H
#define PDK_SESSION_COMMANDS_H

#include "session/entry.h"
#include "session/ops.h"

void pdk__commands_init(struct pdk__entry *entry);
/* What cannot be sent is answered a moment later as not executed. */
void pdk__carry_out(struct pdk__entry *entry, enum pdk__command command);
/* A request about the place's own node; done gets a reference to the place. */
bool pdk__send_to_own(struct pdk__entry *entry, enum pdk__op_kind kind, pdk__done_fn done);
/* The path of a node in the place's directory, to be freed. */
char *pdk__child_path(const struct pdk__entry *entry, const char *name);

#endif
