/* The recipes of the C player: one struct for each, with the same few calls. */
#ifndef RECIPES_H
#define RECIPES_H

#include <paddock/paddock.h>

struct options {
    const char *path, *identity;
    int naming, max_handovers;
};

struct recipe {
    const char *name;
    /* Makes the object, which does nothing yet, and drops it. */
    pdk_status (*make)(pdk_session *session, const struct options *options, void **out);
    void (*drop)(void *object);
    /* From now on the object takes turns. May be NULL. */
    pdk_status (*begin)(void *object);
    /* Waits for a turn. TIMEOUT when it has not come yet: call it again. */
    pdk_status (*take)(void *object, pdk_hold **out);
    pdk_status (*give)(void *object, pdk_hold *hold);
    pdk_status (*list)(void *object, int64_t timeout_ms, pdk_contenders **out);
    /* From now on the turn is a reader's. May be NULL. */
    pdk_status (*weaken)(pdk_hold *hold);
    /* Several may have turns of this recipe at the same time. */
    bool shared;
};

/* NULL when there is none of that name. */
const struct recipe *recipe_find(const char *name);

#endif
