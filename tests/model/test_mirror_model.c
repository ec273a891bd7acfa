/* The mirror of a directory in every order of events: several contenders of one session, strangers, administrators.
 *
 *     e  one of ours enqueues         x  the next request is executed   d  the next answer or event arrives   r  ours releases
 *     s  a stranger enqueues          w  one that may be exchanged      y  it is: a reader with its number     z  a stranger's node goes
 *     o  another node comes and goes  a  an administrator deletes one of ours
 *     v  the directory, empty, is deleted and made anew                 n  the connection is lost
 *
 * The session does what src/session/commands.c and mirrors.c do. Its connection has one queue of requests, and one of answers and
 * events, in the order of the changes. It is never granted past a node that stands, nor after its own was deleted behind another.
 */
#include "core/mirror.h"
#include "record_bench.h"

#include <glib.h>
#include <string.h>

enum { OURS = 3, NODES = 7, PACKETS = 12 };
enum kind { LOCK, MAY_READ, READS };
enum state { OUT, CREATING, LISTING, ASKING, WAITING, HELD, LEAVING, OVER };
enum fault { STRANGERS, EXCHANGED, OTHERS, ADMINS, ANEW, LOSSES, FAULTS };

/* They are numbered in the order of their creation, and so named. */
struct node {
    int8_t kind, number, entry; /* entry: of ours, from 1 on */
    int8_t stands, behind;      /* behind: it was deleted while somebody was ahead */
    int8_t watched, exchanged;
};

struct entry {
    int8_t state, node, blocker;
    int8_t alone; /* its create went without a list */
};

/* What is asked, and what is told: of an entry, about a node, or what a list shows. */
struct packet {
    char
        what; /* W C L G D: watch the directory, create, list, watch a node, delete; E, F: an event of a node, the directory */
    int8_t entry, node, good;
    uint8_t shown;
};

struct knowledge {
    int8_t watched, counted, full, in_turn, newest, last;
    uint8_t nodes, stands; /* of the mirror; those whose watch was answered, and has not fired */
    int8_t asked;
};

struct world {
    struct node nodes[NODES];
    struct entry ours[OURS];
    struct packet requests[PACKETS], answers[PACKETS];
    struct knowledge known;
    int8_t made, counter, directory_watched, to_execute, to_arrive;
    int8_t left[FAULTS];
};

enum { GRANTED, ALONE, SHOWN, GAPS, COUNTS };
static const char *const counted[] = {"granted", "without a list behind the create", "without a list after an event",
                                      "creates that were not consecutive"};

struct config {
    int8_t left[FAULTS];
    uint64_t counts[COUNTS];
};

static const char *broken;
static uint64_t *counts;

/* ---- the core, and the session's part of the state as the core has it */

static void name_of(const struct world *w, int n, char text[PDK__NAME_SIZE]) {
    static const char *const labels[] = {"-lock-", "-__WRIT__", "-__READ__"};
    g_snprintf(text, PDK__NAME_SIZE, "_c_%d%s%010d", n, labels[w->nodes[n].kind], w->nodes[n].number);
}

struct mirror {
    struct pdk__mirror core;
    struct pdk__mirrored nodes[NODES];
};

static int number_of(const char *name) { return name[3] - '0'; }

static void load(const struct world *w, struct mirror *m) {
    const struct knowledge *k = &w->known;
    memset(m, 0, sizeof *m);
    m->core = (struct pdk__mirror){.watched = k->watched,
                                   .counted = k->counted,
                                   .full = k->full,
                                   .in_turn = k->in_turn,
                                   .newest = k->newest,
                                   .last = k->last,
                                   .room = NODES,
                                   .nodes = m->nodes};
    for (int n = 0; n < w->made; n++)
        if (k->nodes & 1u << n) {
            struct pdk__mirrored *node = &m->nodes[m->core.count++];
            name_of(w, n, node->name);
            pdk__name_parse(node->name, &node->parsed);
        }
}

static void store(struct world *w, const struct mirror *m) {
    struct knowledge *k = &w->known;
    k->watched = m->core.watched;
    k->counted = m->core.counted;
    k->full = m->core.full;
    k->in_turn = m->core.in_turn;
    k->newest = (int8_t)m->core.newest;
    k->last = (int8_t)m->core.last;
    k->nodes = 0;
    for (size_t i = 0; i < m->core.count; i++)
        k->nodes |= (uint8_t)(1u << number_of(m->nodes[i].name));
}

static void forget(struct world *w) {
    struct mirror m;
    load(w, &m);
    pdk__mirror_void(&m.core);
    store(w, &m);
    w->known.asked = 0;
}

/* ---- the server */

static bool is_ahead(const struct world *w, int n, int own) {
    return n != own && w->nodes[n].stands && w->nodes[n].number <= w->nodes[own].number;
}

static bool somebody_is_ahead(const struct world *w, int own) {
    for (int n = 0; n < w->made; n++)
        if (is_ahead(w, n, own))
            return true;
    return false;
}

static void push(struct packet *queue, int8_t *count, struct packet packet) {
    ck_assert_int_lt(*count, PACKETS);
    queue[(*count)++] = packet;
}

static struct packet pop(struct packet *queue, int8_t *count) {
    struct packet first = queue[0];
    memmove(queue, queue + 1, (size_t)--*count * sizeof first);
    memset(&queue[*count], 0, sizeof first);
    return first;
}

static void answer(struct world *w, struct packet packet) { push(w->answers, &w->to_arrive, packet); }
static void ask(struct world *w, struct packet packet) { push(w->requests, &w->to_execute, packet); }

static int8_t create(struct world *w, enum kind kind, int entry, int number) {
    w->nodes[w->made] = (struct node){(int8_t)kind, (int8_t)number, (int8_t)entry, 1, 0, 0, 0};
    w->counter++;
    return w->made++;
}

static void take_away(struct world *w, int n) {
    struct node *node = &w->nodes[n];
    if (!node->stands)
        return;
    node->behind = somebody_is_ahead(w, n);
    node->stands = 0;
    if (node->watched)
        answer(w, (struct packet){.what = 'E', .node = (int8_t)n});
    node->watched = 0;
}

static uint8_t standing(const struct world *w) {
    uint8_t nodes = 0;
    for (int n = 0; n < w->made; n++)
        nodes |= (uint8_t)((unsigned)w->nodes[n].stands << n);
    return nodes;
}

static void execute(struct world *w) {
    struct packet p = pop(w->requests, &w->to_execute);
    p.good = 1;
    if (p.what == 'W')
        w->directory_watched = 1;
    if (p.what == 'C')
        p.node = create(w, LOCK, p.entry + 1, w->counter);
    if (p.what == 'L')
        p.shown = standing(w);
    if (p.what == 'G') {
        p.good = w->nodes[p.node].stands;
        w->nodes[p.node].watched |= p.good;
    }
    if (p.what == 'D')
        take_away(w, p.node);
    answer(w, p);
}

/* ---- the session */

static void want_list(struct world *w, int e) {
    w->ours[e].state = LISTING;
    ask(w, (struct packet){.what = 'L', .entry = (int8_t)e});
}

static void grant(struct world *w, int e) {
    const struct node *own = &w->nodes[w->ours[e].node];
    struct mirror m;
    char name[PDK__NAME_SIZE];
    w->ours[e].state = HELD;
    counts[GRANTED]++;
    if (own->stands && somebody_is_ahead(w, w->ours[e].node))
        broken = "nobody is granted past a node that stands";
    if (!own->stands && own->behind)
        broken = "a grant knows that its node was deleted before its turn";
    load(w, &m);
    name_of(w, w->ours[e].node, name);
    pdk__mirror_held(&m.core, name);
    store(w, &m);
}

/* A node that alone is ahead is watched together with our own. */
static void be_behind(struct world *w, int e, int blocker, bool sole) {
    struct entry *entry = &w->ours[e];
    entry->state = ASKING;
    entry->blocker = (int8_t)blocker;
    if (sole)
        ask(w, (struct packet){.what = 'G', .entry = -1, .node = entry->node});
    ask(w, (struct packet){.what = 'G', .entry = (int8_t)e, .node = (int8_t)blocker});
}

static void decide(struct world *w, int e, const struct pdk__view *view) {
    if (view->blocker[0] == '\0')
        grant(w, e);
    else
        be_behind(w, e, number_of(view->blocker), view->sole);
}

static bool view_of(const struct world *w, int e, struct pdk__view *view) {
    struct mirror m;
    char name[PDK__NAME_SIZE];
    load(w, &m);
    name_of(w, w->ours[e].node, name);
    return pdk__mirror_view(&m.core, name, view);
}

static void enqueue(struct world *w, int e) {
    struct mirror m;
    const char *tail;
    load(w, &m);
    if (!m.core.watched && !w->known.asked) {
        w->known.asked = 1;
        ask(w, (struct packet){.what = 'W'});
    }
    w->ours[e].alone = pdk__mirror_expects(&m.core, &tail) && (tail[0] == '\0' || w->nodes[number_of(tail)].entry != 0);
    w->ours[e].state = CREATING;
    ask(w, (struct packet){.what = 'C', .entry = (int8_t)e});
    if (!w->ours[e].alone)
        ask(w, (struct packet){.what = 'L', .entry = (int8_t)e});
}

static void on_created(struct world *w, const struct packet *p) {
    struct entry *entry = &w->ours[p->entry];
    struct mirror m;
    struct pdk__view view;
    char name[PDK__NAME_SIZE];
    entry->node = p->node;
    load(w, &m);
    name_of(w, p->node, name);
    bool follows = pdk__mirror_created(&m.core, name);
    store(w, &m);
    if (!entry->alone) {
        entry->state = LISTING;
    } else if (follows && view_of(w, p->entry, &view)) {
        counts[ALONE]++;
        decide(w, p->entry, &view);
    } else {
        counts[GAPS]++;
        want_list(w, p->entry);
    }
}

static void on_listed(struct world *w, const struct packet *p) {
    struct entry *entry = &w->ours[p->entry];
    struct pdk__child children[NODES];
    char texts[NODES][PDK__NAME_SIZE], own[PDK__NAME_SIZE];
    const char *names[NODES];
    struct mirror m;
    struct pdk__view view;
    size_t count = 0;
    for (int n = 0; n < w->made; n++)
        if (p->shown & 1u << n) {
            name_of(w, n, texts[count]);
            names[count] = texts[count];
            count++;
        }
    pdk__children_parse(children, names, count);
    load(w, &m);
    pdk__mirror_listed(&m.core, children, count);
    store(w, &m);
    name_of(w, entry->node, own);
    pdk__view_of(&view, children, count, &(struct pdk__viewer){"_c_none", own, "", {pdk__blocks_always, 0}});
    if (view.listed)
        decide(w, p->entry, &view);
    else
        entry->state = OVER;
}

static void on_watched(struct world *w, const struct packet *p) {
    if (p->good)
        w->known.stands |= (uint8_t)(1u << p->node);
    if (p->entry >= 0 && p->good)
        w->ours[p->entry].state = WAITING;
    else if (p->entry >= 0)
        want_list(w, p->entry);
}

static void on_gone(struct world *w, int n) {
    struct mirror m;
    struct pdk__view view;
    char name[PDK__NAME_SIZE];
    load(w, &m);
    name_of(w, n, name);
    pdk__mirror_deleted(&m.core, name, w->nodes[n].entry != 0);
    store(w, &m);
    w->known.stands &= (uint8_t)~(1u << n);
    for (int e = 0; e < OURS; e++) {
        if (w->ours[e].state != WAITING || w->ours[e].blocker != n)
            continue;
        bool own_stands = w->known.stands & 1u << w->ours[e].node;
        if (own_stands && view_of(w, e, &view) && view.ahead == 0) {
            counts[SHOWN]++;
            grant(w, e);
        } else {
            want_list(w, e);
        }
    }
}

static void arrive(struct world *w) {
    struct packet p = pop(w->answers, &w->to_arrive);
    struct mirror m;
    switch (p.what) {
    case 'W':
        load(w, &m);
        if (w->known.asked)
            pdk__mirror_watched(&m.core);
        store(w, &m);
        w->known.asked = 0;
        break;
    case 'F':
        forget(w);
        break;
    case 'C':
        on_created(w, &p);
        break;
    case 'L':
        on_listed(w, &p);
        break;
    case 'G':
        on_watched(w, &p);
        break;
    case 'E':
        on_gone(w, p.node);
        break;
    default:
        load(w, &m);
        char name[PDK__NAME_SIZE];
        name_of(w, p.node, name);
        pdk__mirror_deleted(&m.core, name, true);
        store(w, &m);
        w->ours[p.entry].state = OVER;
        break;
    }
}

/* ---- others */

/* The nodes of ours are strangers' from then on. */
static void lose(struct world *w) {
    memset(w->requests, 0, sizeof w->requests);
    memset(w->answers, 0, sizeof w->answers);
    w->to_execute = w->to_arrive = w->directory_watched = 0;
    for (int n = 0; n < w->made; n++)
        w->nodes[n].watched = w->nodes[n].entry = 0;
    for (int e = 0; e < OURS; e++)
        if (w->ours[e].state != OUT)
            w->ours[e] = (struct entry){.state = OVER};
    forget(w);
    w->known.stands = 0;
}

static void make_anew(struct world *w) {
    w->counter = 0;
    if (w->directory_watched)
        answer(w, (struct packet){.what = 'F'});
    w->directory_watched = 0;
}

static bool is_possible(const struct world *w, char kind, int which) {
    static const char paid[] = {
        [STRANGERS] = 's', [EXCHANGED] = 'w', [OTHERS] = 'o', [ADMINS] = 'a', [ANEW] = 'v', [LOSSES] = 'n'};
    const struct node *node = &w->nodes[which];
    bool is_node = which < w->made && node->stands;
    for (int f = 0; f < FAULTS; f++)
        if (kind == paid[f] && w->left[f] == 0)
            return false;
    switch (kind) {
    case 'e':
        return which < OURS && w->ours[which].state == OUT && (which == 0 || w->ours[which - 1].state != OUT) &&
               w->made < NODES;
    case 'x':
        return which == 0 && w->to_execute > 0;
    case 'd':
        return which == 0 && w->to_arrive > 0;
    case 'r':
        return which < OURS && w->ours[which].state == HELD;
    case 'y':
        return is_node && node->kind == MAY_READ && !node->exchanged && w->made < NODES;
    case 'z':
        return is_node && node->entry == 0;
    case 'a':
        return is_node && node->entry != 0;
    case 'v':
        return which == 0 && standing(w) == 0;
    case 's':
    case 'w': /* each of ours may still need a node */
        return which == 0 && w->made < NODES - OURS;
    default:
        return which == 0;
    }
}

static void act(struct world *w, char kind, int which) {
    switch (kind) {
    case 'e':
        enqueue(w, which);
        break;
    case 'x':
        execute(w);
        break;
    case 'd':
        arrive(w);
        break;
    case 'r':
        w->ours[which].state = LEAVING;
        ask(w, (struct packet){.what = 'D', .entry = (int8_t)which, .node = w->ours[which].node});
        break;
    case 's':
        w->left[STRANGERS]--;
        create(w, LOCK, 0, w->counter);
        break;
    case 'w':
        w->left[EXCHANGED]--;
        create(w, MAY_READ, 0, w->counter);
        break;
    case 'y':
        w->nodes[which].exchanged = 1;
        create(w, READS, 0, w->nodes[which].number);
        break;
    case 'o':
        w->left[OTHERS]--;
        w->counter++;
        break;
    case 'v':
        w->left[ANEW]--;
        make_anew(w);
        break;
    case 'n':
        w->left[LOSSES]--;
        lose(w);
        break;
    default:
        w->left[ADMINS] = (int8_t)(w->left[ADMINS] - (kind == 'a'));
        take_away(w, which);
        break;
    }
}

/* ---- the search */

static void begin(void *of, void *world) {
    const struct config *config = of;
    struct world *w = world;
    memset(w, 0, sizeof *w);
    memcpy(w->left, config->left, sizeof w->left);
}

static size_t possible(const void *of, const void *world, search_action actions[SEARCH_ACTIONS]) {
    size_t count = 0;
    (void)of;
    for (const char *kind = "exdrswyzoavn"; *kind; kind++)
        for (int which = 0; which < NODES; which++)
            if (is_possible(world, *kind, which))
                actions[count++] = search_act(*kind, which, 0);
    return count;
}

static const char *apply(void *of, void *world, search_action action) {
    counts = ((struct config *)of)->counts;
    broken = NULL;
    act(world, (char)search_kind(action), search_whose(action));
    return broken;
}

static void tell(const void *world, search_action action, FILE *out) {
    const struct world *w = world;
    fprintf(out, "%c%d: counter %d, mirror %s %02x up to %d\n", search_kind(action), search_whose(action), w->counter,
            w->known.full ? "full" : "not full", w->known.nodes, w->known.last);
}

static const struct {
    const char *name;
    struct config config;
} rows[] = {
    {"ours alone, and an administrator", {.left = {[ADMINS] = 1}}},
    {"strangers", {.left = {[STRANGERS] = 2, [ADMINS] = 1}}},
    {"a stranger that may be exchanged", {.left = {[EXCHANGED] = 1}}},
    {"other nodes, and a lost connection", {.left = {[OTHERS] = 1, [STRANGERS] = 1, [LOSSES] = 1}}},
    {"a directory that is made anew", {.left = {[ANEW] = 1, [STRANGERS] = 2}}},
};

START_TEST(every_order) {
    struct config config = rows[_i].config;
    struct search_model model = {.of = &config,
                                 .size = sizeof(struct world),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .tell = tell};
    printf("%s:\n", rows[_i].name);
    keeps_promises(&model, 1000, config.counts, counted, COUNTS);
    ck_assert(config.counts[ALONE] > 0);
    ck_assert(config.counts[SHOWN] > 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mirror_model");
    TCase *all = tcase_create("every order");
    tcase_add_loop_test(all, every_order, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}
