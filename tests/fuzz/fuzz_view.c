/* A listing, as one contender sees it. Input: lines of text: our own node, our mark, and then the children. The last
 * child is also tried as the node from which ours takes over. */
#include "core/view.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

struct seen {
    bool listed, exchanged_gone, beyond_limits;
    int32_t ahead, blockers;
    const char *blocker; /* any of the nearest */
    bool opposite;       /* one is half the circle of sequences away: ahead as much as behind */
};

/* How far ahead of me? Negative: behind. */
static int64_t distance(const struct pdk__name *me, const struct pdk__name *other) {
    return -(int64_t)(int32_t)((uint32_t)other->sequence - (uint32_t)me->sequence);
}

/* Readers and writers queue together, everybody else among their kind. */
static bool same_queue(const struct pdk__name *a, const struct pdk__name *b) {
    enum pdk__kind x = a->kind == PDK__READER ? PDK__WRITER : a->kind,
                   y = b->kind == PDK__READER ? PDK__WRITER : b->kind;
    return x == y;
}

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

/* One question after the other, each by a walk of its own. */
static struct seen look_slowly(char **names, const struct pdk__viewer *viewer) {
    bool sharing = viewer->rule.blocks == pdk__blocks_unless_shared;
    const char *own = viewer->own, *exchanged = viewer->exchanged;
    struct seen seen = {.blocker = "", .exchanged_gone = exchanged[0] != '\0'};
    struct pdk__name me, other;
    bool in_queue = pdk__name_parse(own, &me), named = pdk__name_parse(exchanged, &other) && !is(own, exchanged);
    int64_t nearest = INT64_MAX;
    for (char **name = names; *name; name++)
        seen.listed = seen.listed || (in_queue && is(*name, own));
    for (char **name = names; *name; name++)
        seen.exchanged_gone = seen.exchanged_gone && !(named && is(*name, exchanged));
    for (char **name = names; *name && in_queue; name++)
        if (pdk__name_parse(*name, &other) && !is(*name, own) && !is(*name, exchanged) && same_queue(&me, &other)) {
            int64_t ahead = distance(&me, &other);
            bool fits = strlen(*name) < PDK__NAME_SIZE;
            seen.ahead += ahead >= 0;
            seen.opposite = seen.opposite || ahead > INT32_MAX;
            seen.beyond_limits = seen.beyond_limits || (ahead >= 0 && !fits);
            if (ahead < 0 || !fits || (sharing && me.kind == PDK__READER && other.kind == PDK__READER))
                continue;
            seen.blockers++;
            if (ahead < nearest) {
                nearest = ahead;
                seen.blocker = *name;
            }
        }
    if (seen.blockers <= viewer->rule.tolerated)
        seen.blocker = "";
    return seen;
}

static int32_t sequence_of(const char *name) {
    struct pdk__name parsed;
    FUZZ_REQUIRE(pdk__name_parse(name, &parsed), "\"%s\" is nobody's name", name);
    return parsed.sequence;
}

/* The node that is kept as the newest of ours bears the mark, and is none of our nodes. No other is newer, unless half
 * the circle of sequences lies between: there is no newest then. */
static void check_marked(const struct pdk__view *view, char **names, const struct pdk__viewer *viewer) {
    struct pdk__name other;
    bool any = false, known = view->marked[0] == '\0';
    int32_t least = 0, most = 0, first = 0;
    for (char **name = names; *name; name++) {
        if (!pdk__name_parse(*name, &other) || is(*name, viewer->own) || is(*name, viewer->exchanged) ||
            !g_str_has_prefix(*name, viewer->mark) || strlen(*name) >= PDK__NAME_SIZE)
            continue;
        first = any ? first : other.sequence;
        int32_t apart = pdk__sequence_compare(other.sequence, first);
        least = MIN(least, apart);
        most = MAX(most, apart);
        any = true;
        known = known || strcmp(*name, view->marked) == 0;
    }
    FUZZ_REQUIRE(known && any == (view->marked[0] != '\0'), "marked \"%s\", any %d", view->marked, any);
    if (any && (int64_t)most - least < INT32_MAX)
        FUZZ_REQUIRE(pdk__sequence_compare(sequence_of(view->marked), first) == most, "not the newest: \"%s\"",
                     view->marked);
}

static void check_blocker(const struct pdk__view *view, char **names, const struct pdk__viewer *viewer,
                          const struct seen *seen) {
    const char *own = viewer->own;
    struct pdk__viewer strict = *viewer;
    FUZZ_REQUIRE((view->blocker[0] == '\0') == (seen->blocker[0] == '\0'), "\"%s\" blocks \"%s\"", view->blocker, own);
    if (view->blocker[0] == '\0')
        return;
    FUZZ_REQUIRE(g_strv_contains((const char *const *)names, view->blocker), "\"%s\" is not there", view->blocker);
    strict.rule.tolerated = 0;
    struct seen alone = look_slowly((char *[]){(char *)view->blocker, NULL}, &strict);
    FUZZ_REQUIRE(alone.blocker[0] != '\0', "\"%s\" does not block \"%s\"", view->blocker, own);
    FUZZ_REQUIRE(sequence_of(view->blocker) == sequence_of(seen->blocker) || seen->opposite, "\"%s\" blocks \"%s\"",
                 view->blocker, own);
}

static void check(char **names, const struct pdk__viewer *viewer) {
    struct pdk__view view;
    struct seen seen = look_slowly(names, viewer);
    const char *own = viewer->own;
    memset(&view, 0xff, sizeof view);
    pdk__view_make(&view, (const char *const *)names, g_strv_length(names), viewer);
    FUZZ_REQUIRE(view.beyond_limits == seen.beyond_limits, "of \"%s\": limits %d", own, view.beyond_limits);
    if (view.beyond_limits)
        return; /* refused: the rest means nothing */
    FUZZ_REQUIRE(view.listed == seen.listed, "\"%s\" listed: %d", own, view.listed);
    FUZZ_REQUIRE(view.exchanged_gone == seen.exchanged_gone, "\"%s\" exchanged_gone: %d", viewer->exchanged,
                 view.exchanged_gone);
    FUZZ_REQUIRE(view.ahead == seen.ahead, "%d ahead of \"%s\", not %d", view.ahead, own, seen.ahead);
    check_blocker(&view, names, viewer, &seen);
    check_marked(&view, names, viewer);
}

static void check_rules(char **names, const char *mark, const char *own, const char *exchanged) {
    static const struct pdk__rule rules[] = {{pdk__blocks_always, 0},
                                             {pdk__blocks_unless_shared, 0},
                                             {pdk__blocks_always, 1},
                                             {pdk__blocks_unless_shared, 2}};
    for (gsize i = 0; i < G_N_ELEMENTS(rules); i++)
        check(names, &(struct pdk__viewer){mark, own, exchanged, rules[i]});
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *own = fuzz_text(&in, '\n');
    g_autofree char *mark = fuzz_text(&in, '\n');
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    while (in.left > 0)
        g_ptr_array_add(names, fuzz_text(&in, '\n'));
    g_ptr_array_add(names, NULL);
    char **all = (char **)names->pdata;
    g_autofree char *last = g_strdup(names->len > 1 ? all[names->len - 2] : "");
    check_rules(all, mark, own, "");
    check_rules(all, mark, own, last);
    if (names->len > 1) { /* and in a list without it */
        g_ptr_array_remove_index(names, names->len - 2);
        check_rules((char **)names->pdata, mark, own, last);
    }
    g_ptr_array_free(names, TRUE);
    return 0;
}
