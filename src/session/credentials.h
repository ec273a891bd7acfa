/* The secrets of a session: given as text, or in a file of one line. */
#ifndef PDK_SESSION_CREDENTIALS_H
#define PDK_SESSION_CREDENTIALS_H

#include <paddock/session.h>

struct pdk__credentials {
    char *digest, *tls; /* or NULL */
    char *warning;      /* of a file of secrets that others may read or write; or NULL */
};

/* Copies them, out of the files that the options name. `options` point to the copies then. pdk__credentials_free, also
 * after a failure. INVALID, UNSUPPORTED. */
pdk_status pdk__credentials_take(pdk_session_options *options, struct pdk__credentials *out);

/* Wipes them, and frees them. */
void pdk__credentials_free(struct pdk__credentials *credentials);

#endif
