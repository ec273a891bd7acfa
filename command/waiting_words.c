#include "waiting.h"

/* "12 s", "3 min", "5 h", "2 days": of two units the smaller, as long as its number is below two of the larger. */
static char *duration(int64_t ms) {
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "days"}, {3600000, "h"}, {60000, "min"}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (ms >= 2 * units[i].ms)
            return g_strdup_printf("%" G_GINT64_FORMAT " %s", (gint64)(ms / units[i].ms), units[i].name);
    return g_strdup_printf("%" G_GINT64_FORMAT " s", (gint64)(MAX(ms, 0) / 1000));
}

static void add_holder(GString *line, const cmd_waiting_state *state) {
    g_autofree char *held = duration(state->held_ms);
    g_string_append_printf(line, "held by %s", *state->who ? state->who : "one that gives no name");
    if (state->more)
        g_string_append_printf(line, " and %zu more", state->more);
    g_string_append_printf(line, " for %s", held);
}

char *cmd_waiting_words(const cmd_waiting_state *state) {
    GString *line = g_string_new("waiting for ");
    g_string_append(line, state->path);
    if (state->trouble || state->looked)
        g_string_append(line, ": ");
    if (!state->trouble && state->part)
        g_string_append_printf(line, "%s is ", state->part);
    if (state->trouble)
        g_string_append(line, state->trouble);
    else if (state->looked && state->who)
        add_holder(line, state);
    else if (state->looked)
        g_string_append(line, state->delayed ? "free, when its lock-delay is over" : "free");
    if (!state->trouble && state->ahead > 0)
        g_string_append_printf(line, ", %d ahead", state->ahead);
    return g_string_free(line, FALSE);
}
