/* The options that say who may do what with our nodes. */
#ifndef PDK_SESSION_ACCESS_H
#define PDK_SESSION_ACCESS_H

#include <paddock/session.h>

/* A choice, and a list of its own with it: pdk__access_free. */
struct pdk__access {
    pdk_access choice; /* never DEFAULT */
    pdk_access_entry *list;
    int32_t count;
};

/* INVALID. */
pdk_status pdk__access_check(const pdk_session_options *o);
/* Of options that were checked. */
struct pdk__access pdk__access_copy(const pdk_session_options *o);
void pdk__access_free(struct pdk__access *access);

#endif
