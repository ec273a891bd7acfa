/* The words for servers that give us no session, with the reason. */
#ifndef CMD_UNANSWERED_H
#define CMD_UNANSWERED_H

#include <stdbool.h>

/* Did the servers answer, and can no session of theirs be used: it would carry no lease, or they are no ZooKeeper? By the
 * trouble that the library tells, or NULL. */
bool cmd_is_useless(const char *trouble);
/* Says why no server of the list answers: by the trouble that the library has told, or, where that is NULL, by another
 * look at the first of them, which takes half a second at most; or names the resource that the system is short of. The
 * result. */
int cmd_say_unanswered(const char *servers, const char *trouble);
/* Says that the servers refuse the credentials. The result. */
int cmd_say_denied(const char *servers);

#endif
