/* The search through the models of records: depth first over all states, each seen once. */
#ifndef RECORD_EXPLORE_H
#define RECORD_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RECORD_ACTIONS = 48, RECORD_WORLD = 512 };

struct record_action {
    char kind;
    int8_t who, which;
};

/* A world is plain bytes, with none between its members, and fits into RECORD_WORLD. */
struct record_model {
    size_t world_size;
    const void *config;
    void (*begin)(const void *config, void *world);
    int (*possible)(const void *config, const void *world, struct record_action actions[RECORD_ACTIONS]);
    /* NULL, or the promise that it breaks. */
    const char *(*apply)(const void *config, void *world, struct record_action action, uint64_t *counts);
    void (*tell)(const void *world, struct record_action action, FILE *out);
};

struct record_result {
    uint64_t states, steps;
    const char *broken;
    bool complete;
};

/* counts: of the model; those of its steps are added. */
struct record_result record_explore(const struct record_model *model, uint64_t *counts, FILE *out);

#endif
