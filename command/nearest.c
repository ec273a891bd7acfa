#include "nearest.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 40 };

/* Row by row: how many changes make the first letters of `b` of the first letters of `a`. */
static size_t distance(const char *a, const char *b) {
    size_t rows[3][LONGEST + 1] = {{0}}, length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        rows[0][j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] = MIN(MIN(row[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], earlier[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][length];
}

const char *cmd_nearest(const char *word, const char *const *known, size_t count) {
    const char *found = NULL, *begun = NULL;
    size_t best = LONGEST, beginners = 0, letters = strlen(word) - strspn(word, "-");
    if (strlen(word) > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(known[i]), few = 1 + (length - strspn(known[i], "-")) / 4;
        size_t changes = length > LONGEST ? LONGEST : distance(word, known[i]);
        if (changes < best && changes <= few && changes < letters) {
            best = changes;
            found = known[i];
        }
        if (letters > 1 && g_str_has_prefix(known[i], word)) {
            begun = known[i];
            beginners++;
        }
    }
    return !found && beginners == 1 ? begun : found;
}
