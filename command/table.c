#include "table.h"

#include <string.h>

enum { GAP = 2, PADDED_TO = 40 }; /* without a terminal one long cell does not push all lines apart */

/* ---- text */

static guint width_of(gunichar c) { return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1; }

/* `end` is behind as much as has room. The width of that. */
static guint measure(const char *text, guint room, const char **end) {
    guint width = 0;
    for (*end = text; **end; *end = g_utf8_next_char(*end)) {
        guint more = width_of(g_utf8_get_char(*end));
        if (more > room - width)
            break;
        width += more;
    }
    return width;
}

static guint width_of_text(const char *text) {
    const char *end;
    return measure(text, G_MAXUINT, &end);
}

char *cmd_fit(const char *text, guint width) {
    const char *end = "";
    if (width > 0)
        (void)measure(text, width, &end);
    if (!*end)
        return g_strdup(text);
    (void)measure(text, width - 1, &end);
    g_autofree char *kept = g_strndup(text, (gsize)(end - text));
    return g_strconcat(kept, "…", NULL);
}

char *cmd_fit_tail(const char *text, guint width) {
    const char *rest = text;
    if (width_of_text(text) <= width)
        return g_strdup(text);
    while (width_of_text(rest) > width - 1)
        rest = g_utf8_next_char(rest);
    return g_strconcat("…", rest, NULL);
}

char *cmd_age(int64_t ms) {
    static const struct {
        int64_t seconds;
        char large, small;
        int64_t smaller;
    } units[] = {{86400, 'd', 'h', 3600}, {3600, 'h', 'm', 60}, {60, 'm', 's', 1}};
    int64_t seconds = ms > 0 ? ms / 1000 : 0;
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
        if (seconds >= units[i].seconds)
            return g_strdup_printf("%" G_GINT64_FORMAT "%c%02d%c", (gint64)(seconds / units[i].seconds), units[i].large,
                                   (int)(seconds % units[i].seconds / units[i].smaller), units[i].small);
    return g_strdup_printf("%ds", (int)seconds);
}

/* ---- the table */

cmd_table cmd_table_new(const cmd_column *columns, guint count, guint yields) {
    cmd_table table = {columns, count, yields, g_ptr_array_new_with_free_func(g_free)};
    for (guint i = 0; i < count; i++)
        cmd_table_add(&table, g_strdup(columns[i].title));
    return table;
}

void cmd_table_add(cmd_table *table, char *cell) { g_ptr_array_add(table->cells, cell); }

void cmd_table_clear(cmd_table *table) { g_ptr_array_unref(table->cells); }

/* The last column is not padded, so its width counts only where lines are cut. */
static guint *find_widths(const cmd_table *table, guint width) {
    guint *widths = g_new0(guint, table->count), all = GAP * (table->count - 1);
    for (guint i = 0; i < table->cells->len; i++) {
        guint cell = width_of_text(g_ptr_array_index(table->cells, i)), column = i % table->count;
        widths[column] = MAX(widths[column], cell);
    }
    for (guint i = 0; i < table->count; i++)
        all += widths[i];
    guint *yields = &widths[table->yields];
    if (width == 0)
        *yields = MIN(*yields, PADDED_TO);
    else if (all > width && *yields > CMD_YIELDS_TO)
        *yields = *yields > all - width ? MAX(*yields - (all - width), CMD_YIELDS_TO) : CMD_YIELDS_TO;
    return widths;
}

static void add_spaces(GString *line, guint count) {
    for (guint i = 0; i < count; i++)
        g_string_append_c(line, ' ');
}

static void add_cell(GString *line, const cmd_table *table, guint column, const char *cell, guint width) {
    guint used = width_of_text(cell), spaces = used < width ? width - used : 0;
    bool last = column + 1 == table->count, right = table->columns[column].cells == CMD_CELLS_NUMBER;
    add_spaces(line, (column ? GAP : 0) + (right ? spaces : 0));
    g_string_append(line, cell);
    add_spaces(line, right || last ? 0 : spaces);
}

/* As much of the cell as its place in the line has room for. */
static char *fit_cell(const cmd_table *table, guint column, const char *cell, const guint *widths, guint width) {
    guint before = 0;
    for (guint i = 0; i < column; i++)
        before += widths[i] + GAP;
    if (width > 0 && column + 1 == table->count && table->columns[column].cells == CMD_CELLS_PATH && before < width)
        return cmd_fit_tail(cell, width - before);
    return cmd_fit(cell, width > 0 && column == table->yields ? widths[column] : 0);
}

char *cmd_table_text(const cmd_table *table, guint width) {
    GString *text = g_string_new(NULL);
    g_autofree guint *widths = find_widths(table, width);
    for (guint row = 0; row < table->cells->len / table->count; row++) {
        g_autoptr(GString) line = g_string_new(NULL);
        for (guint i = 0; i < table->count; i++) {
            const char *cell = g_ptr_array_index(table->cells, row * table->count + i);
            g_autofree char *fits = fit_cell(table, i, cell, widths, width);
            add_cell(line, table, i, fits, widths[i]);
        }
        g_autofree char *cut = cmd_fit(line->str, width);
        g_string_append_printf(text, "%s\n", cut);
    }
    return g_string_free(text, FALSE);
}
