/* What the C player can take turns with: one struct for each recipe, the same few calls for all. */
#ifndef RECIPES_H
#define RECIPES_H

#include <paddock/paddock.h>

struct options {
    const char *path, *identity;
    int naming, max_handovers;
};

struct recipe {
    const char *name;
    /* The object, which does nothing yet, and the end of it. */
    pdk_status (*make)(pdk_session *session, const struct options *options, void **out);
    void (*drop)(void *object);
    /* From now on it takes turns. May be NULL. */
    pdk_status (*begin)(void *object);
    /* A turn; TIMEOUT when it has not come yet, and asking again is due. */
    pdk_status (*take)(void *object, pdk_hold **out);
    pdk_status (*give)(void *object, pdk_hold *hold);
    pdk_status (*list)(void *object, int64_t timeout_ms, pdk_contenders **out);
    /* From now on the turn is that of a reader. May be NULL. */
    pdk_status (*weaken)(void *object, pdk_hold *hold);
    /* Others may have turns of the same recipe at the same time. */
    bool shared;
};

/* NULL when there is none of that name. */
const struct recipe *recipe_find(const char *name);

#endif
