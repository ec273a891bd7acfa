#include "core/view.h"

#include <string.h>

static bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

static void keep(char to[PDK__NAME_SIZE], const char *name) { memcpy(to, name, strlen(name) + 1); }

/* Candidates of an election are no contenders for a lock, nor the other way round. */
static bool is_same_line(enum pdk__kind theirs, enum pdk__kind mine) {
    return (theirs == PDK__LATCH) == (mine == PDK__LATCH);
}

/* Is name nearer to the end of the line than what is kept? */
static bool is_later(int32_t sequence, int32_t kept, bool any_kept) {
    return !any_kept || pdk__sequence_compare(sequence, kept) > 0;
}

void pdk__view_make(struct pdk__view *view, const char *const *names, size_t count, const char *mark, const char *own,
                    pdk__blocks_fn blocks) {
    struct pdk__name me;
    bool in_line = own[0] != '\0' && pdk__name_parse(own, &me);
    int32_t blocker = 0, marked = 0;

    memset(view, 0, sizeof *view);
    view->beyond_limits = count > PDK__CHILDREN_MAX;
    for (size_t i = 0; i < count && !view->beyond_limits; i++) {
        struct pdk__name other;
        if (!pdk__name_parse(names[i], &other))
            continue;
        if (strcmp(names[i], own) == 0) {
            view->listed = true;
            continue;
        }
        bool fits = strlen(names[i]) < PDK__NAME_SIZE;
        if (fits && starts_with(names[i], mark) && is_later(other.sequence, marked, view->marked[0] != '\0')) {
            marked = other.sequence;
            keep(view->marked, names[i]);
        }
        /* An equal sequence is another client that writes its own number twice: it counts as ahead. */
        if (!in_line || !is_same_line(other.kind, me.kind) || pdk__sequence_compare(other.sequence, me.sequence) > 0)
            continue;
        view->ahead++;
        view->beyond_limits = !fits;
        if (fits && blocks(other.kind, me.kind) && is_later(other.sequence, blocker, view->blocker[0] != '\0')) {
            blocker = other.sequence;
            keep(view->blocker, names[i]);
        }
    }
}

bool pdk__blocks_always(enum pdk__kind theirs, enum pdk__kind mine) {
    (void)theirs;
    (void)mine;
    return true;
}
