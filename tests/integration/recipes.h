/*
 * The recipes that grant a right, in one table: how each is made, claimed and kept out, and how many nodes it has on the server. A
 * test of what recipes share is written once, and runs for each row:
 *
 *     recipes_each(suite, body, 1)     a test case for each row, with its name; in the body recipe_of(_i) is the row
 *
 * What is held is a ts_answer, of a hold or of a set. Everything that these functions return lives until ts_paddock_clear.
 */
#ifndef RECIPES_H
#define RECIPES_H

#include "ts_bench.h"

typedef struct recipe {
    const char *name;
    /* An object of the client's session. It is the caller's to unref. */
    void *(*make)(const ts_client *client, const char *path);
    void (*unref)(void *object);
    /* Its calls, for a hold or for a set. Without `start` a claim always blocks, on a thread of its own. */
    ts_start_fn start;
    ts_block_fn block;
    ts_start_set_fn start_set;
    ts_block_set_fn block_set;
    /* NULL: ts_answer_release. */
    pdk_status (*release)(void *object, ts_answer *held);
    /* Another client takes so much of it that a claim waits. */
    ts_answer *(*obstruct)(const ts_client *client, const char *path);
    int shares;       /* so many claims of it can be held at one moment */
    pdk_status again; /* a second blocking claim by a thread that holds one, where it is the only holder */
    int held;         /* the nodes of a hold */
    int waiting;      /* the nodes of a claim that waits for `obstruct` */
    int tried;        /* the nodes that a try makes for a moment, where it meets `obstruct` */
} recipe;

enum { RECIPES = 11 };
extern const recipe recipes[RECIPES];

/* An object that the support gives back. */
void *recipe_at(const recipe *r, const ts_client *client, const char *path);

/* Claims it: asynchronously, on a thread of its own, on this thread; and within 5 s on this thread, or the test fails. */
ts_answer *recipe_async(const recipe *r, void *object, int64_t timeout_ms);
ts_answer *recipe_thread(const recipe *r, void *object, int64_t timeout_ms);
ts_answer *recipe_now(const recipe *r, void *object, int64_t timeout_ms);
ts_answer *recipe_take(const recipe *r, void *object);
pdk_status recipe_release(const recipe *r, void *object, ts_answer *held);

/* The answer comes in time, once, with that status; it holds exactly with PDK_OK, and then the hold is valid. */
void recipe_await(const recipe *r, ts_answer *answer, pdk_status status);

/* The contenders' nodes below the path, and the pledges: not directories and records, and not what strangers made. */
int recipe_nodes(const char *path);
/* Waits until there are so many, and fails the test otherwise. */
void recipe_await_nodes(const recipe *r, const char *path, int count);
/* Waits until a claim stands behind the holds that have so many nodes, and a server has told it so. */
void recipe_await_waits(const recipe *r, ts_answer *answer, const char *path, int ahead);

/* Adds a test case for each recipe, if there is none, and the test to each. In the test, recipe_of(_i) is the recipe, and _i / RECIPES
 * the variation, from 0 to `variations` - 1. */
void recipes_each(Suite *suite, const TTest *test, int variations);
const recipe *recipe_of(int i);

/* ck_assert_msg that names the recipe. */
#define assert_recipe(r, truth) ck_assert_msg(truth, "%s: %s", (r)->name, #truth)

#endif
