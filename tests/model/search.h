/* The search through a model: breadth first over all states, each seen once, so that the first counter-example is a shortest one.
 *
 *     search.c    the search, and the way to a state.
 *     visited.c   the states that were seen, by their hashes.
 *     frontier.c  the states that wait to be expanded.
 *
 * A state is kept as bytes, and only while it waits to be expanded. For the way back every state keeps its parent and the
 * action that led there, 6 bytes. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SEARCH_ACTIONS = 128, SEARCH_PACKED = 4096, SEARCH_LONGEST = 4096 };

/* The kind, below 1024; whose, and which, both below 8. A model may read it in another way. */
typedef uint16_t search_action;
static inline search_action search_act(int kind, int whose, int which) {
    return (search_action)(kind << 6 | whose << 3 | which);
}
static inline int search_kind(search_action a) { return a >> 6; }
static inline int search_whose(search_action a) { return a >> 3 & 7; }
static inline int search_which(search_action a) { return a & 7; }

/* What it walks. `of` is the model's own. A state is plain bytes. Those that may be NULL have a way of their own below. */
struct search_model {
    void *of;
    size_t size; /* of a state, at most SEARCH_PACKED where none is packed */
    void (*begin)(void *of, void *state);
    size_t (*possible)(const void *of, const void *state, search_action actions[SEARCH_ACTIONS]);
    /* NULL, or the promise that it breaks. */
    const char *(*apply)(void *of, void *state, search_action a);
    void (*tell)(const void *state, search_action a, FILE *out); /* that it was applied; NULL with replay */

    /* As the bytes that make it another one, and back; NULL: all of its bytes, with none between its members. */
    size_t (*pack)(void *of, void *state, uint8_t bytes[SEARCH_PACKED]);
    void (*unpack)(void *of, void *state, const uint8_t *bytes, size_t size);
    void (*copy)(void *to, const void *from); /* NULL: memcpy */
    uint64_t (*hash)(const void *state);      /* NULL: of the bytes */
    /* Its successor belongs to the next depth; NULL: always. */
    bool (*goes_deeper)(search_action a);
    /* Looks at a state that is new. At one that is expanded, with whether all its actions were possible. NULL: nothing to see. */
    const char *(*is_new)(void *of, const uint8_t *bytes, size_t size, uint64_t hash);
    const char *(*expanded)(void *of, const void *state, const search_action *actions, size_t count);
    /* Prints the way to the state that broke; NULL: an action in a line, by tell. */
    void (*replay)(void *of, const search_action *path, int steps, FILE *out);

    uint64_t most;  /* states; 0: all */
    int32_t depths; /* 0: as many as there are */
    FILE *progress; /* told now and then, when not NULL */
};

struct search_result {
    uint64_t states, steps;
    uint32_t depth; /* of the farthest state */
    double seconds;
    const char *broken; /* NULL when all is well; the counter-example was printed */
    bool complete;      /* no state was left out before the last depth */
    bool closed;        /* no new state would come after it */
};

/* Prints a counter-example to out. */
struct search_result search(const struct search_model *model, FILE *out);

#endif
