#include "core/view.h"

#include <assert.h>
#include <string.h>

static bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

static void keep(char to[PDK__NAME_SIZE], const char *name) { memcpy(to, name, strlen(name) + 1); }

/* The blockers between our node and the front of the queue. */
struct blockers {
    struct pdk__rule rule;
    struct pdk__name me;
    int32_t count, nearest;
};

/* Is this sequence nearer to the end of the queue than the kept one? */
static bool is_later(int32_t sequence, int32_t kept, bool any_kept) {
    return !any_kept || pdk__sequence_compare(sequence, kept) > 0;
}

/* Another contender of our queue, at or before our own number. An equal number is of another client, which writes its own
 * number twice: it counts as ahead. */
static void count_ahead(struct pdk__view *view, const char *name, const struct pdk__name *other, struct blockers *b) {
    bool fits = strlen(name) < PDK__NAME_SIZE;
    view->ahead++;
    view->beyond_limits = !fits;
    if (!fits || !b->rule.blocks(other->kind, b->me.kind))
        return;
    b->count++;
    if (is_later(other->sequence, b->nearest, view->blocker[0] != '\0')) {
        b->nearest = other->sequence;
        keep(view->blocker, name);
    }
}

void pdk__view_make(struct pdk__view *view, const char *const *names, size_t count, const struct pdk__viewer *viewer) {
    struct blockers b = {.rule = viewer->rule};
    bool in_queue = viewer->own[0] != '\0' && pdk__name_parse(viewer->own, &b.me);
    int32_t marked = 0;

    memset(view, 0, sizeof *view);
    view->exchanged_gone = viewer->exchanged[0] != '\0';
    view->beyond_limits = count > PDK__CHILDREN_MAX;
    for (size_t i = 0; i < count && !view->beyond_limits; i++) {
        struct pdk__name other;
        if (!pdk__name_parse(names[i], &other))
            continue;
        if (strcmp(names[i], viewer->own) == 0) {
            view->listed = true;
            continue;
        }
        if (viewer->exchanged[0] != '\0' && strcmp(names[i], viewer->exchanged) == 0) {
            view->exchanged_gone = false;
            continue;
        }
        bool fits = strlen(names[i]) < PDK__NAME_SIZE;
        if (fits && starts_with(names[i], viewer->mark) && is_later(other.sequence, marked, view->marked[0] != '\0')) {
            marked = other.sequence;
            keep(view->marked, names[i]);
        }
        if (in_queue && pdk__kind_same_queue(other.kind, b.me.kind) &&
            pdk__sequence_compare(other.sequence, b.me.sequence) <= 0)
            count_ahead(view, names[i], &other, &b);
    }
    assert(b.count <= view->ahead && (in_queue || view->ahead == 0));
    assert((b.count > 0) == (view->blocker[0] != '\0'));
    if (b.count <= b.rule.spare)
        view->blocker[0] = '\0';
}

bool pdk__blocks_always(enum pdk__kind theirs, enum pdk__kind mine) {
    (void)theirs;
    (void)mine;
    return true;
}

bool pdk__blocks_unless_shared(enum pdk__kind theirs, enum pdk__kind mine) {
    return theirs != PDK__READER || mine != PDK__READER;
}
