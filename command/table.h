/* A table for people, which fits the terminal: text is cut to columns, as a terminal counts them. */
#ifndef CMD_TABLE_H
#define CMD_TABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers are at the right. A path that is too long, in the last column, keeps its end, which says more. */
typedef enum { CMD_CELLS_TEXT, CMD_CELLS_NUMBER, CMD_CELLS_PATH } cmd_cells;

typedef struct {
    const char *title;
    cmd_cells cells;
} cmd_column;

/* One column gives way where a line is too long: `yields`, down to CMD_YIELDS_TO. */
enum { CMD_YIELDS_TO = 16 };
typedef struct {
    const cmd_column *columns;
    guint count, yields;
    GPtrArray *cells; /* of text, row by row, the titles first */
} cmd_table;

/* `columns` must live as long as the table. */
cmd_table cmd_table_new(const cmd_column *columns, guint count, guint yields);
/* The next cell, which is freed with the table: text without control characters. */
void cmd_table_add(cmd_table *table, char *cell);
/* All lines, each with its end. width: the columns of the terminal; 0: there is none, and nothing is cut. g_free it. */
char *cmd_table_text(const cmd_table *table, guint width);
void cmd_table_clear(cmd_table *table);

/* The text, as much as has room in so many columns, with "…" at its end when it is cut; width 0: all of it. g_free
 * it. */
char *cmd_fit(const char *text, guint width);

/* The same, with "…" at its beginning; width is at least 1. */
char *cmd_fit_tail(const char *text, guint width);

/* How long ago it was, in two units: "12s", "3m05s", "2h05m", "12d03h". A moment of the future is "0s", as clocks
 * differ. g_free it. */
char *cmd_age(int64_t ms);

#endif
