#include "core/mirror.h"

#include "core/delay.h"

#include <assert.h>
#include <string.h>

static void mirror_check(const struct pdk__mirror *m) {
    assert(m->count <= m->room && (m->full || m->count == 0));
    assert(!m->full || (m->counted && m->last <= m->newest));
    assert(!m->counted || m->watched);
    (void)m;
}

static void empty(struct pdk__mirror *m) {
    m->full = false;
    m->count = 0;
}

void pdk__mirror_void(struct pdk__mirror *m) {
    empty(m);
    m->watched = m->counted = false;
}

void pdk__mirror_watched(struct pdk__mirror *m) {
    if (!m->watched)
        pdk__mirror_void(m);
    m->watched = m->in_turn = true;
}

/* ---- from a list */

/* Near its end a counter wraps or sticks. */
static bool is_ordinary(int32_t sequence) { return sequence >= 0 && sequence < PDK__SEQUENCE_HIGH; }

/* A list with it does not fit in, or is not for a mirror. */
static bool is_beyond(const struct pdk__mirror *m, const struct pdk__child *child) {
    if (child->name.kind == PDK__FOREIGN)
        return strcmp(child->text, PDK__DELAY_RECORD) == 0;
    return child->length >= PDK__NAME_SIZE || !is_ordinary(child->name.sequence) || m->count == m->room;
}

static void mirror_add(struct pdk__mirror *m, const char *name, const struct pdk__name *parsed) {
    struct pdk__mirrored *node = &m->nodes[m->count++];
    node->parsed = *parsed;
    memcpy(node->name, name, strlen(name) + 1);
}

/* The order does not matter. */
static void take_out(struct pdk__mirror *m, size_t i) {
    m->count--;
    if (i < m->count)
        m->nodes[i] = m->nodes[m->count];
}

/* Numbers above our newest were given after it, and our next number tells of them. */
void pdk__mirror_listed(struct pdk__mirror *m, const struct pdk__child *children, size_t count) {
    empty(m);
    if (!m->counted)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct pdk__child *child = &children[i];
        if (is_beyond(m, child)) {
            m->count = 0;
            return;
        }
        if (child->name.kind != PDK__FOREIGN && child->name.sequence <= m->newest)
            mirror_add(m, child->text, &child->name);
    }
    m->full = true;
    m->last = m->newest;
    mirror_check(m);
}

/* ---- what happens in between */

/* A server has named this node just now. false: with no number that could be the next. */
static bool is_next(const struct pdk__mirror *m, const char *name, struct pdk__name *parsed) {
    return strlen(name) < PDK__NAME_SIZE && pdk__name_parse(name, parsed) && is_ordinary(parsed->sequence) &&
           (!m->counted || parsed->sequence > m->newest);
}

bool pdk__mirror_created(struct pdk__mirror *m, const char *name) {
    struct pdk__name parsed;
    if (!m->watched)
        return false;
    if (!is_next(m, name, &parsed)) {
        pdk__mirror_void(m);
        return false;
    }
    bool follows = m->full && parsed.sequence == m->last + 1 && m->count < m->room;
    m->in_turn = !m->counted || parsed.sequence == m->newest + 1;
    m->counted = true;
    m->newest = parsed.sequence;
    if (follows) {
        m->last = parsed.sequence;
        mirror_add(m, name, &parsed);
    }
    mirror_check(m);
    return follows;
}

/* A node that another client may exchange is followed by one with the same number, of which nothing has told. */
void pdk__mirror_deleted(struct pdk__mirror *m, const char *name, bool ours) {
    for (size_t i = m->count; i-- > 0;) {
        const struct pdk__mirrored *node = &m->nodes[i];
        if (strcmp(node->name, name) == 0 && (ours || !pdk__name_may_be_exchanged(name, &node->parsed)))
            take_out(m, i);
    }
}

static bool is_ahead(const struct pdk__mirrored *node, const struct pdk__name *me, const char *own) {
    return pdk__kind_same_queue(node->parsed.kind, me->kind) && node->parsed.sequence <= me->sequence &&
           strcmp(node->name, own) != 0;
}

void pdk__mirror_held(struct pdk__mirror *m, const char *own) {
    struct pdk__name me;
    if (!pdk__name_parse(own, &me))
        return;
    for (size_t i = m->count; i-- > 0;)
        if (is_ahead(&m->nodes[i], &me, own))
            take_out(m, i);
}

/* ---- the answers to questions */

static const struct pdk__mirrored *later(const struct pdk__mirrored *a, const struct pdk__mirrored *b) {
    return a && a->parsed.sequence > b->parsed.sequence ? a : b;
}

bool pdk__mirror_expects(const struct pdk__mirror *m, const char **tail) {
    const struct pdk__mirrored *last = NULL;
    for (size_t i = 0; i < m->count; i++)
        last = later(last, &m->nodes[i]);
    *tail = last ? last->name : "";
    return m->full && m->in_turn && m->last == m->newest && m->count < m->room;
}

/* An equal number is another client's, and counts as ahead, as in a view of a list. */
bool pdk__mirror_view(const struct pdk__mirror *m, const char *own, struct pdk__view *view) {
    const struct pdk__mirrored *nearest = NULL;
    struct pdk__name me;
    memset(view, 0, sizeof *view);
    if (!pdk__name_parse(own, &me))
        return false;
    for (size_t i = 0; i < m->count; i++) {
        view->listed |= strcmp(m->nodes[i].name, own) == 0;
        if (!is_ahead(&m->nodes[i], &me, own))
            continue;
        view->ahead++;
        nearest = later(nearest, &m->nodes[i]);
    }
    if (nearest) {
        memcpy(view->blocker, nearest->name, sizeof view->blocker);
        view->sole = view->ahead == 1 && nearest->parsed.sequence != me.sequence &&
                     !pdk__name_may_be_exchanged(nearest->name, &nearest->parsed);
    }
    return view->listed;
}
