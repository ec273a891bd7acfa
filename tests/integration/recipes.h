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

#include <glib.h>

#include "ts_bench.h"

typedef struct recipe {
    const char *name;
    /* An object of the client's session. It is the caller's to unref. */
    void *(*make)(const ts_client *client, const char *path);
    void (*unref)(void *object);
    void *(*ref)(void *object); /* NULL: several objects */
    /* Its calls, for a hold or for a set. Without `start` a claim always blocks, on a thread of its own. */
    ts_start_fn start;
    ts_block_fn block;
    ts_start_set_fn start_set;
    ts_block_set_fn block_set;
    /* NULL: ts_answer_release. */
    pdk_status (*release)(void *object, ts_answer *held);
    /* A claim of that recipe, on that path below, cannot be held beside one of this recipe: of another client's, so that a claim waits. */
    const struct recipe *against;
    const char *below; /* NULL: on the same path */
    int shares;        /* so many claims of it can be held at one moment */
    pdk_status again;  /* a second blocking claim by a thread that holds one, where it is the only holder */
    int held;          /* the nodes of a hold */
    int left;          /* of them, how many stay behind a hold that has ended without a release */
    int waiting;       /* the nodes of a claim that waits for `against` */
    int tried;         /* the nodes that a try makes for a moment, where it meets `against` */
} recipe;

enum {
    RECIPE_LOCK,
    RECIPE_REENTRANT,
    RECIPE_DELAYED,
    RECIPE_READ,
    RECIPE_WRITE,
    RECIPE_PERMIT,
    RECIPE_PERMITS,
    RECIPE_KEY,
    RECIPE_ANY,
    RECIPE_KEYS,
    RECIPE_SET,
    RECIPES
};
extern const recipe recipes[RECIPES];

/* An object that the support gives back. */
void *recipe_at(const recipe *r, const ts_client *client, const char *path);

/* Claims it: asynchronously, on a thread of its own, on this thread; and within 5 s on this thread, or the test fails. */
bool recipe_is_async(const recipe *r);
ts_answer *recipe_async(const recipe *r, void *object, int64_t timeout_ms);
ts_answer *recipe_thread(const recipe *r, void *object, int64_t timeout_ms);
ts_answer *recipe_now(const recipe *r, void *object, int64_t timeout_ms);
ts_answer *recipe_take(const recipe *r, void *object);
pdk_status recipe_release(const recipe *r, void *object, ts_answer *held);

/* The answer comes in time, once, with that status; it holds exactly with PDK_OK, and then the hold is valid. */
void recipe_await(const recipe *r, ts_answer *answer, pdk_status status);

/* The contenders' nodes below the path, and the pledges: not directories and records, and not what strangers made. */
int recipe_nodes(const char *path);
/* Those of that client's session: their full paths, the oldest first in each directory (g_ptr_array_unref). */
GPtrArray *recipe_nodes_of(const ts_client *client, const char *path);
/* Waits until there are so many, and fails the test otherwise. */
void recipe_await_nodes(const recipe *r, const char *path, int count);
/* Waits until a claim stands behind the holds that have so many nodes, and a server has told it so. */
void recipe_await_waits(const recipe *r, ts_answer *answer, const char *path, int ahead);

/* ---- two clients on one path, with which most tests begin */

struct pair {
    const recipe *r;
    const char *path;
    ts_client *client[2];
    void *object[2]; /* of each */
    void *against[2];
};

void pair_begin(struct pair *p, const recipe *r, int session_ms);
void pairs_begin(struct pair pairs[RECIPES], int session_ms);
/* That client takes what is held against the recipe, and gives it back. */
ts_answer *pair_obstruct(const struct pair *p, int k);
void pair_admit(const struct pair *p, int k, ts_answer *obstacle);
/* That client's claim of it waits behind what the other one holds. */
ts_answer *pair_against(const struct pair *p, int k);
/* What that object holds is given back; the deletes of that client are answered; the answer is as recipe_await wants it. */
void pair_release(const struct pair *p, int k, ts_answer *held);
void pair_flush(const struct pair *p, int k);
void pair_expect(const struct pair *p, ts_answer *answer, pdk_status status);
/* A claim of that client, which waits behind holds that have so many nodes; and it goes on waiting. */
ts_answer *pair_waits(const struct pair *p, int k, int ahead);
void pair_assert_waits(const struct pair *p, ts_answer *answer, int64_t for_ms);

/* ---- tests */

/* Adds a test case for each recipe, if there is none, and the test to each. In the test, recipe_of(_i) is the recipe, and _i / RECIPES
 * the variation, from 0 to `variations` - 1. */
void recipes_each(Suite *suite, const TTest *test, int variations);
const recipe *recipe_of(int i);

/* ck_assert_msg that names the recipe. */
#define assert_recipe(r, truth) ck_assert_msg(truth, "%s: %s", (r)->name, #truth)

#endif
