/* The table at the head of core/contender.h, read and compared with what was seen. */
#include "transitions.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static const char letters[] = "OUCIHSG"; /* of the phases, in their order */

transitions_seen model_transitions;

enum { WORDS = PHASES + 2, WORD = 24 };

__attribute__((format(printf, 2, 3))) static bool fail(char why[256], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, 256, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- reading */

/* As the enumeration spells it, without PDK__. */
static const char *constant(const char *name, char text[WORD]) {
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < WORD; i++)
        text[i] = name[i] == ' ' ? '_' : (char)toupper(name[i]);
    text[i] = '\0';
    return text;
}

/* The words of a comment's line, without its star; returns how many, at most WORDS. */
static int split(const char *line, char words[WORDS][WORD]) {
    int count = 0;
    line += strspn(line, " ");
    line += *line == '*';
    for (;;) {
        line += strspn(line, " ");
        size_t length = strcspn(line, " \n");
        if (length == 0 || count == WORDS)
            return count;
        snprintf(words[count++], WORD, "%.*s", length < WORD ? (int)length : WORD - 1, line);
        line += length;
    }
}

static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return *line == '\0' ? line : line + 1;
}

/* A head names the phases in their order. */
static bool is_head(char words[WORDS][WORD], int count) {
    char name[WORD];
    if (count != PHASES + 1 || strcmp(words[0], "event") != 0)
        return false;
    for (int i = 0; i < PHASES; i++)
        if (strcmp(words[1 + i], constant(pdk__phase_name((enum pdk__phase)i), name)) != 0)
            return false;
    return true;
}

/* "-": impossible. "." and ":": it stays. Otherwise the letters of the phases that may follow. */
static bool read_cell(const char *cell, int before, enum transitions_mark marks[PHASES]) {
    memset(marks, 0, PHASES * sizeof marks[0]);
    if (strcmp(cell, "-") == 0)
        return true;
    if (strcmp(cell, ".") == 0 || strcmp(cell, ":") == 0) {
        marks[before] = cell[0] == '.' ? TRANSITION_MODEL : TRANSITION_ALONE;
        return true;
    }
    for (; *cell != '\0'; cell++) {
        const char *letter = strchr(letters, toupper(*cell));
        if (!letter || marks[letter - letters] != TRANSITION_IMPOSSIBLE)
            return false;
        marks[letter - letters] = isupper(*cell) ? TRANSITION_MODEL : TRANSITION_ALONE;
    }
    return true;
}

static bool read_row(char words[WORDS][WORD], int count, int event, struct transitions_table *table, char why[256]) {
    char name[WORD];
    constant(pdk__event_name((enum pdk__event_type)event), name);
    if (count == 0 || strcmp(words[0], name) != 0)
        return fail(why, "malformed: the row of %s is missing, there is \"%s\"", name, count == 0 ? "" : words[0]);
    if (count != PHASES + 1)
        return fail(why, "malformed: the row of %s has %d cells, not %d", name, count - 1, PHASES);
    for (int i = 0; i < PHASES; i++)
        if (!read_cell(words[1 + i], i, table->marks[i][event]))
            return fail(why, "malformed: the row of %s has a cell \"%s\"", name, words[1 + i]);
    return true;
}

bool transitions_parse(const char *text, struct transitions_table *table, char why[256]) {
    char words[WORDS][WORD];
    while (*text != '\0' && !is_head(words, split(text, words)))
        text = next_line(text);
    if (*text == '\0')
        return fail(why, "malformed: no line names \"event\" and the phases");
    for (int event = 0; event < EVENTS; event++) {
        text = next_line(text);
        if (!read_row(words, split(text, words), event, table, why))
            return false;
    }
    if (split(next_line(text), words) > PHASES)
        return fail(why, "malformed: a row \"%s\" after the last event", words[0]);
    return true;
}

/* ---- comparing */

static const char *difference(enum transitions_mark mark, bool in_model, bool alone, bool complete) {
    if (in_model && !alone)
        return "the model does so, the contender alone does not: the rules of its walk are wrong";
    if (mark == TRANSITION_IMPOSSIBLE)
        return alone ? "it was seen, and the table does not allow it" : NULL;
    if (!alone)
        return "the table allows it, and it was not reached";
    if (mark == TRANSITION_ALONE)
        return in_model ? "the table has it in lower case, and the model reached it" : NULL;
    return complete && !in_model ? "the table has it in upper case, and the model did not reach it" : NULL;
}

bool transitions_match(const struct transitions_table *table, transitions_seen model, transitions_seen alone,
                       bool complete, char why[256]) {
    char from[WORD], at[WORD], to[WORD];
    for (int p = 0; p < PHASES; p++)
        for (int e = 0; e < EVENTS; e++)
            for (int q = 0; q < PHASES; q++) {
                const char *what = difference(table->marks[p][e][q], model[p][e][q], alone[p][e][q], complete);
                if (what)
                    return fail(why, "%s at %s to %s: %s", constant(pdk__phase_name((enum pdk__phase)p), from),
                                constant(pdk__event_name((enum pdk__event_type)e), at),
                                constant(pdk__phase_name((enum pdk__phase)q), to), what);
            }
    return true;
}
