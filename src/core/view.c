#include "core/view.h"

#include "core/delay.h"

#include <assert.h>
#include <string.h>

/* So many characters at the end of a mark tell it from the others of its session. */
enum { MARK_TAIL = 16 };

/* The end of the mark goes first, since thousands of marks of one session begin alike. */
static bool has_mark(const struct pdk__child *child, const char *mark, size_t length) {
    size_t tail = length > MARK_TAIL ? length - MARK_TAIL : 0;
    return child->length >= length && child->length < PDK__NAME_SIZE &&
           memcmp(child->text + tail, mark + tail, length - tail) == 0 && memcmp(child->text, mark, tail) == 0;
}

static void view_keep(char to[PDK__NAME_SIZE], const char *name) { memcpy(to, name, strlen(name) + 1); }

/* The blockers between our node and the front of the queue. */
struct blockers {
    struct pdk__rule rule;
    struct pdk__name me;
    bool in_queue;
    size_t mark_length;
    int32_t count, nearest, marked;
    bool may_be_exchanged; /* the nearest one */
};

/* Is this sequence nearer to the end of the queue than the kept one? */
static bool is_later(int32_t sequence, int32_t kept, bool any_kept) {
    return !any_kept || pdk__sequence_compare(sequence, kept) > 0;
}

/* Count another contender of our queue, at or before our own number. An equal number is another client's, which writes
 * its own number twice: it counts as ahead. */
static void count_ahead(struct pdk__view *view, const char *name, const struct pdk__name *other, struct blockers *b) {
    bool fits = strlen(name) < PDK__NAME_SIZE;
    view->ahead++;
    view->beyond_limits = !fits;
    if (!fits || !b->rule.blocks(other->kind, b->me.kind))
        return;
    b->count++;
    if (is_later(other->sequence, b->nearest, view->blocker[0] != '\0')) {
        b->nearest = other->sequence;
        b->may_be_exchanged = pdk__name_may_be_exchanged(name, other);
        view_keep(view->blocker, name);
    }
}

/* Do contenders of this kind keep each other out? */
static bool excludes(enum pdk__kind kind) { return kind == PDK__WRITER || kind == PDK__READER || kind == PDK__LATCH; }

static void see(struct pdk__view *view, const struct pdk__child *child, const struct pdk__viewer *viewer,
                struct blockers *b) {
    const char *text = child->text;
    if (child->name.kind == PDK__FOREIGN) {
        view->delays |= strcmp(text, PDK__DELAY_RECORD) == 0;
        view->doubtful |= strcmp(text, PDK__LEASES) == 0 || strcmp(text, PDK__LOCKS) == 0;
        return;
    }
    if ((!b->in_queue || child->name.sequence == b->me.sequence) && strcmp(text, viewer->own) == 0) {
        view->listed = true;
        return;
    }
    if (viewer->exchanged[0] != '\0' && strcmp(text, viewer->exchanged) == 0) {
        view->exchanged_gone = false;
        return;
    }
    if (has_mark(child, viewer->mark, b->mark_length) &&
        is_later(child->name.sequence, b->marked, view->marked[0] != '\0')) {
        b->marked = child->name.sequence;
        view_keep(view->marked, text);
    }
    if (!b->in_queue)
        return;
    if (!pdk__kind_same_queue(child->name.kind, b->me.kind))
        view->mixed |= excludes(child->name.kind);
    else if (pdk__sequence_compare(child->name.sequence, b->me.sequence) <= 0)
        count_ahead(view, text, &child->name, b);
}

static void view_begin(struct pdk__view *view, size_t count, const struct pdk__viewer *viewer, struct blockers *b) {
    *b = (struct blockers){.rule = viewer->rule};
    b->in_queue = viewer->own[0] != '\0' && pdk__name_parse(viewer->own, &b->me);
    b->mark_length = strlen(viewer->mark);
    memset(view, 0, sizeof *view);
    view->exchanged_gone = viewer->exchanged[0] != '\0';
    view->beyond_limits = count > PDK__CHILDREN_MAX;
}

/* Nodes that are created later have higher numbers than ours, but for two: those of a contender that takes over a
 * number, and those of a counter that another client has written twice. */
static bool is_sole(const struct pdk__view *view, const struct blockers *b) {
    return view->ahead == 1 && b->count == 1 && b->rule.blocks == pdk__blocks_always && b->rule.tolerated == 0 &&
           b->nearest != b->me.sequence && !b->may_be_exchanged;
}

static void view_end(struct pdk__view *view, const struct blockers *b) {
    assert(b->count <= view->ahead && (b->in_queue || view->ahead == 0));
    assert((b->count > 0) == (view->blocker[0] != '\0'));
    if (b->count <= b->rule.tolerated)
        view->blocker[0] = '\0';
    view->sole = is_sole(view, b);
    view->mixed = view->mixed && excludes(b->me.kind);
    view->doubtful = view->doubtful && excludes(b->me.kind);
}

void pdk__children_parse(struct pdk__child *children, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        children[i].text = names[i];
        children[i].length = strlen(names[i]);
        pdk__name_parse(names[i], &children[i].name);
    }
}

void pdk__view_of(struct pdk__view *view, const struct pdk__child *children, size_t count,
                  const struct pdk__viewer *viewer) {
    struct blockers b;
    view_begin(view, count, viewer, &b);
    for (size_t i = 0; i < count && !view->beyond_limits; i++)
        see(view, &children[i], viewer, &b);
    view_end(view, &b);
}

void pdk__view_make(struct pdk__view *view, const char *const *names, size_t count, const struct pdk__viewer *viewer) {
    struct blockers b;
    view_begin(view, count, viewer, &b);
    for (size_t i = 0; i < count && !view->beyond_limits; i++) {
        struct pdk__child child;
        pdk__children_parse(&child, &names[i], 1);
        see(view, &child, viewer, &b);
    }
    view_end(view, &b);
}

void pdk__view_from_behind(struct pdk__view *view, const struct pdk__child *children, size_t count, const char *mark,
                           struct pdk__rule rule) {
    struct blockers b;
    char own[PDK__MARK_SIZE + 10];
    size_t length = strlen(mark);
    assert(length < PDK__MARK_SIZE);
    memcpy(own, mark, length + 1);
    memcpy(own + length, "0000000000", 11); /* its kind is all that counts */
    view_begin(view, count, &(struct pdk__viewer){mark, own, "", rule}, &b);
    for (size_t i = 0; i < count && !view->beyond_limits; i++)
        if (pdk__kind_same_queue(children[i].name.kind, b.me.kind))
            count_ahead(view, children[i].text, &children[i].name, &b);
        else
            view->delays |= strcmp(children[i].text, PDK__DELAY_RECORD) == 0;
    view_end(view, &b);
}

bool pdk__blocks_always(enum pdk__kind theirs, enum pdk__kind mine) {
    (void)theirs;
    (void)mine;
    return true;
}

bool pdk__blocks_never(enum pdk__kind theirs, enum pdk__kind mine) {
    (void)theirs;
    (void)mine;
    return false;
}

bool pdk__blocks_unless_shared(enum pdk__kind theirs, enum pdk__kind mine) {
    return theirs != PDK__READER || mine != PDK__READER;
}
