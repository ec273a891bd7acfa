/* One contender's view of a listing: itself, the nodes ahead, the node to watch, and its own orphans. */
#include "core/view.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>

#define MINE "_c_mine-lock-"
#define READS "_c_mine-__READ__0000000005"
#define WRITES "_c_was-__WRIT__0000000005"
#define MOST 9

static const pdk__blocks_fn always = pdk__blocks_always, shared = pdk__blocks_unless_shared;

/* What is seen of the names, with a rule: of ourselves, or of nobody yet (no node), with or without an earlier node from which
 * our own takes over. */
struct row {
    const char *names[MOST];
    const char *own, *exchanged;
    const pdk__blocks_fn *blocks;
    int32_t spare, ahead;
    const char *blocker, *marked;
    bool hidden, exchanged_gone; /* hidden: our own node is not there */
};

static size_t count_of(const char *const *names) {
    size_t count = 0;
    while (count < MOST && names[count])
        count++;
    return count;
}

static void look(struct pdk__view *view, const char *const *names, size_t count, const struct pdk__viewer *viewer) {
    g_autofree struct pdk__child *children = g_new0(struct pdk__child, count + 1);
    struct pdk__view same;
    memset(view, 0xff, sizeof *view);
    pdk__view_make(view, names, count, viewer);
    memset(&same, 0xff, sizeof same);
    pdk__children_parse(children, names, count);
    pdk__view_of(&same, children, count, viewer);
    ck_assert_mem_eq(&same, view, sizeof same); /* both are zeroed first, padding as well */
}

/* In whatever order the names come. */
static void check(const struct row *row) {
    const struct pdk__viewer viewer = {
        MINE, row->own, row->exchanged ? row->exchanged : "", {*row->blocks, row->spare}};
    const char *names[MOST];
    size_t count = count_of(row->names);
    memcpy(names, row->names, sizeof names);
    for (size_t shift = 0; shift < MAX(count, 1); shift++) {
        struct pdk__view view;
        look(&view, names, count, &viewer);
        ck_assert_msg(view.listed == !row->hidden && !view.beyond_limits, "%s", row->own);
        ck_assert_msg(view.ahead == row->ahead, "%s: %d ahead", row->own, view.ahead);
        ck_assert_str_eq(view.blocker, row->blocker ? row->blocker : "");
        ck_assert_str_eq(view.marked, row->marked ? row->marked : "");
        ck_assert(view.exchanged_gone == row->exchanged_gone);
        const char *first = names[0];
        memmove(names, names + 1, (MOST - 1) * sizeof names[0]);
        names[count > 0 ? count - 1 : 0] = first;
    }
}

static void check_all(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        check(&rows[i]);
}

/* Is the node ahead the only one, and will nobody take over its number? */
START_TEST(a_node_that_is_alone_ahead) {
    static const struct {
        const char *ahead, *other;
        const pdk__blocks_fn *blocks;
        int32_t spare;
        bool sole;
    } rows[] = {
        {"_c_x-lock-0000000004", "_c_x-lock-0000000006", &always, 0, true},
        {"_c_x-latch-0000000004", NULL, &always, 0, false}, /* of another queue */
        {"_c_x-__READ__0000000004", NULL, &always, 0, true},
        {"_c_x-lock-0000000004", "_c_x-lock-0000000003", &always, 0, false},
        {"_c_x-lock-0000000005", NULL, &always, 0, false}, /* our own number */
        {"_c_x-__WRIT__0000000004", NULL, &always, 0, false},
        {"01234567012345670123456701234567__lock__0000000004", NULL, &always, 0, false},
        {"_c_x-lock-0000000004", NULL, &shared, 0, false},
        {"_c_x-lock-0000000004", NULL, &always, 1, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *names[] = {rows[i].ahead, MINE "0000000005", rows[i].other};
        struct pdk__view view;
        look(&view, names, rows[i].other ? 3 : 2,
             &(struct pdk__viewer){MINE, MINE "0000000005", "", {*rows[i].blocks, rows[i].spare}});
        ck_assert_msg(view.sole == rows[i].sole, "%s", rows[i].ahead);
    }
}
END_TEST

START_TEST(the_nearest_ahead_blocks) {
    static const struct row rows[] = {
        {{MINE "0000000005"}, .own = MINE "0000000005", .blocks = &always},
        {{"z-lock-0000000009", MINE "0000000005", "a-lock-0000000002", "y__lock__0000000004", "b-lock-0000000003"},
         .own = MINE "0000000005",
         .blocks = &always,
         .ahead = 3,
         .blocker = "y__lock__0000000004"},
        /* what is behind never matters */
        {{"a-lock-0000000006", MINE "0000000005", "0-lock-2147483647"}, .own = MINE "0000000005", .blocks = &always},
        /* across the wrap */
        {{MINE "-2147483647", "a-lock-2147483647", "b-lock--2147483648", "c-lock--2147483646"},
         .own = MINE "-2147483647",
         .blocks = &always,
         .ahead = 2,
         .blocker = "b-lock--2147483648"},
        {{"", "leases", "lock-", "config-0000000001", MINE "0000000005", "lock-99999999999"},
         .own = MINE "0000000005",
         .blocks = &always},
        {{"a-lock-0000000005", MINE "0000000005"}, /* an equal number counts as ahead */
         .own = MINE "0000000005",
         .blocks = &always,
         .ahead = 1,
         .blocker = "a-lock-0000000005"},
    };
    check_all(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Nodes of other recipes in the same directory do not block. Readers and writers queue together. */
START_TEST(each_recipe_has_a_queue_of_its_own) {
    static const struct {
        const char *own, *blocker;
        int32_t ahead;
    } seen[] = {
        {"_c_f-lease-0000000006", "_c_d-lease-0000000004", 1},
        {"_c_d-lease-0000000004", "", 0},
        {"_c_g-latch-0000000007", "_c_c-latch-0000000003", 1},
        {"_c_c-latch-0000000003", "", 0},
        {"_c_h-__READ__0000000008", "_c_e-__WRIT__0000000005", 3},
        {"_c_i-lock-0000000009", "_c_h-__READ__0000000008", 4},
        {"_c_b-__READ__0000000002", "_c_a-lock-0000000001", 1},
        {"_c_e-__WRIT__0000000005", "_c_b-__READ__0000000002", 2},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(seen); i++)
        check(&(struct row){{"_c_a-lock-0000000001", "_c_b-__READ__0000000002", "_c_c-latch-0000000003",
                             "_c_d-lease-0000000004", "_c_e-__WRIT__0000000005", "_c_f-lease-0000000006",
                             "_c_g-latch-0000000007", "_c_h-__READ__0000000008", "_c_i-lock-0000000009"},
                            .own = seen[i].own,
                            .blocks = &shared,
                            .ahead = seen[i].ahead,
                            .blocker = seen[i].blocker});
}
END_TEST

/* A lock, an election and a semaphore at one path never block each other, so each list tells of the others. Members block
 * nobody, and a place in the directory of permits is not the path. */
START_TEST(another_recipe_is_told) {
    static const struct {
        const char *own, *other;
        bool mixed, doubtful;
    } seen[] = {
        {"_c_mine-lock-0000000005", "_c_a-latch-0000000001", true, false},
        {"_c_mine-lock-0000000005", "_c_a-latch-0000000009", true, false},
        {"_c_mine-__READ__0000000005", "_c_a-latch-0000000001", true, false},
        {"_c_mine-latch-0000000005", "_c_a-lock-0000000001", true, false},
        {"_c_mine-latch-0000000005", "a__rlock__0000000001", true, false},
        {"_c_mine-latch-0000000005", "leases", false, true},
        {"_c_mine-lock-0000000005", "leases", false, true},
        {"_c_mine-lock-0000000005", "locks", false,
         true}, /* it may be a directory of locks; and both may be left over */
        {"_c_mine-latch-0000000005", "locks", false, true},
        {"_c_mine-member-0000000005", "locks", false, false},
        {"_c_mine-lock-0000000005", "lock", false, false},
        {"_c_mine-lock-0000000005", "_c_a-lock-0000000001", false, false},
        {"_c_mine-lock-0000000005", "a__rlock__0000000001", false, false},
        {"_c_mine-lock-0000000005", "_c_a-member-0000000001", false, false},
        {"_c_mine-lock-0000000005", "_c_a-lease-0000000001", false, false},
        {"_c_mine-latch-0000000005", "_c_a-latch-0000000001", false, false},
        {"_c_mine-member-0000000005", "_c_a-latch-0000000001", false, false},
        {"_c_mine-lease-0000000005", "leases", false, false},
        {"", "_c_a-latch-0000000001", false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(seen); i++) {
        const char *const names[] = {seen[i].other, seen[i].own};
        struct pdk__view view;
        look(&view, names, 2, &(struct pdk__viewer){"_c_mine-", seen[i].own, "", {always, 0}});
        ck_assert_msg(view.mixed == seen[i].mixed && view.doubtful == seen[i].doubtful, "%s beside %s", seen[i].own,
                      seen[i].other);
    }
}
END_TEST

/* Only a reader may go past, and only past a reader. */
START_TEST(the_rules_of_the_locks) {
    static const enum pdk__kind kinds[] = {PDK__WRITER, PDK__READER, PDK__LATCH, PDK__LEASE, PDK__MEMBER};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            bool both_read = kinds[a] == PDK__READER && kinds[b] == PDK__READER;
            ck_assert(pdk__blocks_always(kinds[a], kinds[b]));
            ck_assert(!pdk__blocks_never(kinds[a], kinds[b]));
            ck_assert(pdk__blocks_unless_shared(kinds[a], kinds[b]) == !both_read);
        }
}
END_TEST

START_TEST(a_node_with_the_mark_is_found) {
    static const struct row rows[] = {
        {{"a-lock-0000000002", MINE "0000000006"},
         .own = MINE "0000000005",
         .blocks = &always,
         .ahead = 1,
         .blocker = "a-lock-0000000002",
         .hidden = true,
         .marked = MINE "0000000006"},
        {.own = MINE "0000000005", .blocks = &always, .hidden = true},
        {.own = "", .blocks = &always, .hidden = true},
        {{MINE "2147483646", MINE "-2147483648", MINE "2147483647", "_c_other-lock--2147483640"}, /* the newest */
         .own = "",
         .blocks = &always,
         .hidden = true,
         .marked = MINE "-2147483648"},
        {{"a-lock-0000000001", "own", MINE "0000000002"}, /* never a reason to grant */
         .own = "own",
         .blocks = &always,
         .hidden = true,
         .marked = MINE "0000000002"},
    };
    check_all(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* The end of the mark, which is compared first, is the same. */
START_TEST(a_mark_is_the_whole_beginning) {
    static const char *const names[] = {"_c_1-0123456789abcdef-lock-0000000005",
                                        "_c_2-0123456789abcdef-lock-0000000004", "short-lock-0000000003"};
    struct pdk__viewer viewer = {"_c_1-0123456789abcdef-lock-", "", "", {pdk__blocks_always, 0}};
    struct pdk__view view;
    look(&view, names, G_N_ELEMENTS(names), &viewer);
    ck_assert_str_eq(view.marked, names[0]);
    viewer.mark = "_c_3-0123456789abcdef-lock-";
    look(&view, names, G_N_ELEMENTS(names), &viewer);
    ck_assert_str_eq(view.marked, "");
}
END_TEST

START_TEST(so_many_may_be_ahead) {
    struct row leases = {{"_c_d-lease-0000000004", "_c_b-lease-0000000002", "_c_mine-lease-0000000005",
                          "_c_a-lease-0000000001", "_c_c-lease-0000000003", "_c_e-lease-0000000006"},
                         .own = "_c_mine-lease-0000000005",
                         .blocks = &always,
                         .ahead = 4};
    static const int32_t spares[] = {0, 1, 2, 3, 4, 5, 6, INT32_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(spares); i++) {
        leases.spare = spares[i];
        leases.blocker = spares[i] < 4 ? "_c_d-lease-0000000004" : "";
        check(&leases);
    }
    /* A node that does not block does not use up what is spare. An orphan, and one of our number, do. */
    struct row readers = {{"_c_a-__WRIT__0000000001", "_c_b-__READ__0000000002", "_c_c-__READ__0000000003",
                           "_c_d-__WRIT__0000000004", READS},
                          .own = READS,
                          .blocks = &shared,
                          .ahead = 4,
                          .spare = 2};
    struct row orphans = {{MINE "0000000005", "a-lock-0000000005", MINE "0000000003"},
                          .own = MINE "0000000005",
                          .blocks = &always,
                          .ahead = 2,
                          .spare = 2,
                          .marked = MINE "0000000003"};
    check(&readers);
    check(&orphans);
    readers.spare = orphans.spare = 1;
    readers.blocker = "_c_d-__WRIT__0000000004";
    orphans.blocker = "a-lock-0000000005";
    check(&readers);
    check(&orphans);
}
END_TEST

START_TEST(one_node_takes_over_from_another) {
    static const struct row rows[] = {
        {{WRITES, "_c_a-__WRIT__0000000006", READS, "_c_b-__READ__0000000007"},
         .own = READS,
         .exchanged = WRITES,
         .blocks = &shared},
        {{WRITES, "_c_a-__WRIT__0000000006", READS}, /* not ours by its mark: it is ahead of us */
         .own = READS,
         .blocks = &shared,
         .ahead = 1,
         .blocker = WRITES},
        /* Without the earlier node its position is not taken over. */
        {{READS, "_c_a-__WRIT__0000000006"}, READS, WRITES, &shared, .exchanged_gone = true},
        {{READS, "_c_a-__WRIT__0000000006", "_c_was-__WRIT__0000000004"}, /* of the same mark, but another number */
         .own = READS,
         .exchanged = WRITES,
         .blocks = &shared,
         .ahead = 1,
         .blocker = "_c_was-__WRIT__0000000004",
         .exchanged_gone = true},
        {.own = READS, .exchanged = WRITES, .blocks = &shared, .hidden = true, .exchanged_gone = true},
        {{READS}, "", WRITES, &shared, .hidden = true, .exchanged_gone = true},
        {{READS}, READS, READS, &shared, .exchanged_gone = true}, /* our own: nothing is known of another node */
        /* Everybody else's equal is still ahead. */
        {{WRITES, READS, "_c_a-__WRIT__0000000005", "_c_b-__READ__0000000004"},
         .own = READS,
         .exchanged = WRITES,
         .blocks = &shared,
         .ahead = 2,
         .blocker = "_c_a-__WRIT__0000000005"},
        {{MINE "0000000005", MINE "0000000004", MINE "0000000003"}, /* it is no orphan */
         .own = MINE "0000000005",
         .exchanged = MINE "0000000004",
         .blocks = &shared,
         .ahead = 1,
         .blocker = MINE "0000000003",
         .marked = MINE "0000000003"},
    };
    check_all(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* ---- of a contender without a node */

static struct pdk__view from_behind(const char *const *names, size_t count, const char *mark, pdk__blocks_fn blocks,
                                    int32_t spare) {
    g_autofree struct pdk__child *children = g_new0(struct pdk__child, count + 1);
    struct pdk__view view;
    memset(&view, 0xff, sizeof view);
    pdk__children_parse(children, names, count);
    pdk__view_from_behind(&view, children, count, mark, (struct pdk__rule){blocks, spare});
    return view;
}

START_TEST(everybody_is_ahead_of_one_without_a_node) {
    const char *names[] = {"no contender", "a-lock-2147483646", "b-lock-0000000003", "c-lock--2147483640"};
    const char *readers[] = {"_c_x-__READ__0000000001", "_c_y-__READ__0000000002"};
    struct pdk__view view = from_behind(names, 4, MINE, always, 0);
    ck_assert_int_eq(view.ahead, 3);
    ck_assert_str_ne(view.blocker, "");
    ck_assert(!view.listed && !view.beyond_limits);
    view = from_behind(names, 1, MINE, always, 0);
    ck_assert(view.ahead == 0 && view.blocker[0] == '\0');
    ck_assert_str_eq(from_behind(names, 4, MINE, always, 3).blocker, "");
    view = from_behind(readers, 2, "_c_mine-__READ__", shared, 0);
    ck_assert(view.ahead == 2 && view.blocker[0] == '\0');
    ck_assert_str_eq(from_behind(readers, 2, "_c_mine-__WRIT__", shared, 0).blocker, readers[1]);
}
END_TEST

/* ---- limits */

static struct pdk__view with_name(const char *name, int32_t spare) {
    const char *names[] = {name, MINE "0000000005"};
    struct pdk__view view;
    look(&view, names, 2, &(struct pdk__viewer){MINE, MINE "0000000005", "", {pdk__blocks_always, spare}});
    return view;
}

/* A name that is too long to handle matters where it may be ahead, also with some to spare: it might be one too many. */
START_TEST(a_name_may_be_too_long) {
    char name[PDK__NAME_SIZE + 20];
    memset(name, 'n', sizeof name);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "lock-0000000001", 16);
    struct pdk__view view = with_name(name, 0);
    ck_assert(!view.beyond_limits);
    ck_assert_str_eq(view.blocker, name);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "nlock-0000000001", 17);
    ck_assert(with_name(name, 0).beyond_limits && with_name(name, 5).beyond_limits);
    const char *names[] = {name};
    ck_assert(from_behind(names, 1, MINE, always, 0).beyond_limits);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "nlock-0000000009", 17);
    view = with_name(name, 0);
    ck_assert(!view.beyond_limits && view.listed && view.ahead == 0);
    char foreign[5000];
    memset(foreign, 'x', sizeof foreign - 1);
    foreign[sizeof foreign - 1] = '\0';
    ck_assert(!with_name(foreign, 0).beyond_limits);
}
END_TEST

START_TEST(a_list_may_be_too_long) {
    g_autofree const char **many = g_new(const char *, PDK__CHILDREN_MAX + 1);
    const struct pdk__viewer viewer = {MINE, MINE "0000000005", "", {pdk__blocks_always, 0}};
    struct pdk__view view;
    for (size_t i = 0; i <= PDK__CHILDREN_MAX; i++)
        many[i] = "foreign";
    many[0] = MINE "0000000005";
    pdk__view_make(&view, many, PDK__CHILDREN_MAX, &viewer);
    ck_assert(!view.beyond_limits && view.listed);
    pdk__view_make(&view, many, PDK__CHILDREN_MAX + 1, &viewer);
    ck_assert(view.beyond_limits);
    ck_assert(from_behind(many, PDK__CHILDREN_MAX + 1, MINE, always, 0).beyond_limits);
}
END_TEST

int main(void) {
    return ts_run("view", NULL, NULL, a_node_that_is_alone_ahead, the_nearest_ahead_blocks,
                  each_recipe_has_a_queue_of_its_own, another_recipe_is_told, the_rules_of_the_locks,
                  a_node_with_the_mark_is_found, a_mark_is_the_whole_beginning, so_many_may_be_ahead,
                  one_node_takes_over_from_another, everybody_is_ahead_of_one_without_a_node, a_name_may_be_too_long,
                  a_list_may_be_too_long, NULL);
}
