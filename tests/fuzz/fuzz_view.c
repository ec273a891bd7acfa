/* A listing, as one contender sees it. Input: lines of text: our own node, our mark, and then the children. */
#include "core/view.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

struct seen {
    bool listed, beyond_limits;
    int32_t ahead;
    const char *blocker; /* any of the nearest */
    bool opposite;       /* one is half the circle of sequences away: ahead as much as behind */
};

/* How far ahead of me? Negative: behind. */
static int64_t distance(const struct pdk__name *me, const struct pdk__name *other) {
    return -(int64_t)(int32_t)((uint32_t)other->sequence - (uint32_t)me->sequence);
}

static bool same_line(const struct pdk__name *a, const struct pdk__name *b) {
    return (a->kind == PDK__LATCH) == (b->kind == PDK__LATCH);
}

/* One question after the other, each by a walk of its own. */
static struct seen look_slowly(char **names, const char *own, pdk__blocks_fn blocks) {
    struct seen seen = {.blocker = ""};
    struct pdk__name me, other;
    bool in_line = pdk__name_parse(own, &me);
    int64_t nearest = INT64_MAX;
    for (char **name = names; *name; name++)
        seen.listed = seen.listed || (in_line && strcmp(*name, own) == 0);
    for (char **name = names; *name && in_line; name++)
        if (pdk__name_parse(*name, &other) && strcmp(*name, own) != 0 && same_line(&me, &other)) {
            int64_t ahead = distance(&me, &other);
            bool fits = strlen(*name) < PDK__NAME_SIZE;
            seen.ahead += ahead >= 0;
            seen.opposite = seen.opposite || ahead > INT32_MAX;
            seen.beyond_limits = seen.beyond_limits || (ahead >= 0 && !fits);
            if (ahead >= 0 && ahead < nearest && fits && blocks(other.kind, me.kind)) {
                nearest = ahead;
                seen.blocker = *name;
            }
        }
    return seen;
}

static int32_t sequence_of(const char *name) {
    struct pdk__name parsed;
    FUZZ_REQUIRE(pdk__name_parse(name, &parsed), "\"%s\" is nobody's name", name);
    return parsed.sequence;
}

/* What is kept as the newest of ours bears the mark, is not our node, and no other is newer unless half the circle of
 * sequences lies between: there is no newest then. */
static void check_marked(const struct pdk__view *view, char **names, const char *mark, const char *own) {
    struct pdk__name other;
    bool any = false, known = view->marked[0] == '\0';
    int32_t least = 0, most = 0, first = 0;
    for (char **name = names; *name; name++) {
        if (!pdk__name_parse(*name, &other) || strcmp(*name, own) == 0 || !g_str_has_prefix(*name, mark) ||
            strlen(*name) >= PDK__NAME_SIZE)
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

static void check(char **names, const char *mark, const char *own, pdk__blocks_fn blocks) {
    struct pdk__view view;
    struct seen seen = look_slowly(names, own, blocks);
    memset(&view, 0xff, sizeof view);
    pdk__view_make(&view, (const char *const *)names, g_strv_length(names), mark, own, blocks);
    FUZZ_REQUIRE(view.beyond_limits == seen.beyond_limits, "of \"%s\": limits %d", own, view.beyond_limits);
    if (view.beyond_limits)
        return; /* refused: the rest means nothing */
    FUZZ_REQUIRE(view.listed == seen.listed, "\"%s\" listed: %d", own, view.listed);
    FUZZ_REQUIRE(view.ahead == seen.ahead, "%d ahead of \"%s\", not %d", view.ahead, own, seen.ahead);
    FUZZ_REQUIRE((view.blocker[0] == '\0') == (seen.blocker[0] == '\0'), "\"%s\" blocks \"%s\"", view.blocker, own);
    if (view.blocker[0] != '\0') {
        FUZZ_REQUIRE(g_strv_contains((const char *const *)names, view.blocker), "\"%s\" is not there", view.blocker);
        struct seen alone = look_slowly((char *[]){view.blocker, NULL}, own, blocks);
        FUZZ_REQUIRE(alone.blocker[0] != '\0', "\"%s\" does not block \"%s\"", view.blocker, own);
        FUZZ_REQUIRE(sequence_of(view.blocker) == sequence_of(seen.blocker) || seen.opposite, "\"%s\" blocks \"%s\"",
                     view.blocker, own);
    }
    check_marked(&view, names, mark, own);
}

/* The rule of a shared lock. */
static bool writers_block(enum pdk__kind theirs, enum pdk__kind mine) {
    return theirs == PDK__WRITER || mine == PDK__WRITER;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *own = fuzz_text(&in, '\n');
    g_autofree char *mark = fuzz_text(&in, '\n');
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    while (in.left > 0)
        g_ptr_array_add(names, fuzz_text(&in, '\n'));
    g_ptr_array_add(names, NULL);
    check((char **)names->pdata, mark, own, pdk__blocks_always);
    check((char **)names->pdata, mark, own, writers_block);
    g_ptr_array_free(names, TRUE);
    return 0;
}
