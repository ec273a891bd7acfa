/* The recipe at a path, of the kind that --shared and --slots name. */
#ifndef CMD_RECIPE_H
#define CMD_RECIPE_H

#include "settings.h"

typedef struct {
    pdk_lock *lock; /* one of these; the others are NULL */
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
} cmd_recipe;

pdk_status cmd_recipe_open(cmd_recipe *recipe, pdk_session *session, const cmd_settings *settings, const char *path);
/* Claims one of them, or all of several or none, for as long as the settings say. */
pdk_status cmd_recipe_claim(const cmd_recipe *recipe, const cmd_settings *settings, pdk_acquired_fn fn, void *user,
                            pdk_claim **claim);
pdk_status cmd_recipes_claim(const cmd_recipe *recipes, size_t count, const cmd_settings *settings,
                             pdk_set_acquired_fn fn, void *user, pdk_set_claim **claim);
void cmd_recipe_close(cmd_recipe *recipe);

#endif
