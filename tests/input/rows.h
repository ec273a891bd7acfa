/* The rows that tests/input/rows makes of the public headers: of each function how it is called, and what its comment promises. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_PARAMETERS = 8 };

union value {
    void *pointer;
    void (*function)(void);
    int64_t number;
};

enum parameter_kind { POINTER, FUNCTION, NUMBER };

/* Of a struct of options: an int32_t or a text. The last one has no name. */
struct member {
    const char *name;
    size_t offset;
    bool is_text;
};

struct parameter {
    const char *type, *name;
    enum parameter_kind kind;
    bool may_be_null; /* true for a number */
    bool is_time;     /* negative ones are refused, but for PDK_FOREVER */
    size_t longest;   /* of a path: how many bytes it may have; 0 where the comment does not say it */
    size_t size;      /* of a struct that begins with its size; 0 for all else */
    const struct member *members;
};

/* A call answers a status, or returns a value or a text, or nothing. */
enum returns { ANSWERS, VALUE, TEXT, VOID };

struct row {
    const char *name;
    int64_t (*call)(const union value *values); /* status, number, pointer or truth as a number */
    enum returns returns;
    int64_t nothing;   /* without a status: the value for NULL */
    bool in_child;     /* without a status: the same value in the child of a fork; of VOID: nothing happens there */
    bool tells;        /* without a status: pdk_last_error says why */
    uint64_t promised; /* bit n: the status n */
    size_t count;
    struct parameter parameters[MOST_PARAMETERS];
};

extern const struct row rows[];
extern const size_t rows_count;

#endif
