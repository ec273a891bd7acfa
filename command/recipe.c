#include "recipe.h"

pdk_status cmd_recipe_open(cmd_recipe *recipe, pdk_session *session, const cmd_settings *settings, const char *path) {
    *recipe = (cmd_recipe){0};
    if (settings->permits)
        return pdk_semaphore_new(session, path, settings->permits, NULL, &recipe->semaphore);
    if (settings->shared) {
        pdk_rwlock_options shared = PDK_RWLOCK_OPTIONS_INIT;
        shared.naming = settings->names;
        return pdk_rwlock_new(session, path, &shared, &recipe->rwlock);
    }
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.naming = settings->names;
    options.lock_delay_ms = settings->lock_delay_ms;
    return pdk_lock_new(session, path, &options, &recipe->lock);
}

static pdk_right right_of(const cmd_recipe *recipe, const cmd_settings *settings) {
    if (recipe->semaphore)
        return pdk_right_permits(recipe->semaphore, settings->count);
    return recipe->rwlock ? pdk_right_read(recipe->rwlock) : pdk_right_lock(recipe->lock);
}

pdk_status cmd_recipe_claim(const cmd_recipe *recipe, const cmd_settings *settings, pdk_acquired_fn fn, void *user,
                            pdk_claim **claim) {
    int64_t wait_ms = settings->wait_ms;
    if (recipe->semaphore)
        return pdk_semaphore_acquire_async(recipe->semaphore, settings->count, wait_ms, fn, user, claim);
    if (recipe->rwlock)
        return pdk_rwlock_acquire_read_async(recipe->rwlock, wait_ms, fn, user, claim);
    return pdk_lock_acquire_async(recipe->lock, wait_ms, fn, user, claim);
}

pdk_status cmd_recipes_claim(const cmd_recipe *recipes, size_t count, const cmd_settings *settings,
                             pdk_set_acquired_fn fn, void *user, pdk_set_claim **claim) {
    g_autofree pdk_right *rights = g_new(pdk_right, count);
    for (size_t i = 0; i < count; i++)
        rights[i] = right_of(&recipes[i], settings);
    return pdk_set_acquire_async(rights, count, settings->wait_ms, NULL, fn, user, claim);
}

void cmd_recipe_close(cmd_recipe *recipe) {
    pdk_lock_unref(recipe->lock);
    pdk_rwlock_unref(recipe->rwlock);
    pdk_semaphore_unref(recipe->semaphore);
}
