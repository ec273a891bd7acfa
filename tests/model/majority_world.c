/* The callers, and what must hold.
 *
 *     b  begins     s  takes its steps     g  hears of a grant     y  a try hears that it is busy     p  is out of patience
 *     w  is tired of waiting     a  looks around     e  its pause is over     d  its deadline passes     r  releases
 *     l  a lease of it is over     n  it hears of that     v  it looks at its whole
 *     c  a link is cut     h  it is healed     x  the ensemble ends the session
 */
#include "majority_model.h"

#include <string.h>

enum { N = MAJORITY_ENSEMBLES };

static void begin(void *of, void *world) {
    const struct majority_config *config = of;
    struct majority_world *w = world;
    memset(w, 0, sizeof *w);
    w->cuts = config->cuts;
    w->heals = config->heals;
    w->deadlines = config->deadlines;
    for (int i = 0; i < N; i++) {
        w->cut[0][i] = config->cut_at_first >> i & 1;
        if (config->never_free >> i & 1)
            majority_block(w, i);
    }
}

/* ---- what holds */

static bool is_held(const struct majority_caller *c, int i) {
    return c->claims[i] == MAJORITY_GRANTED && !c->lapsed[i];
}

/* What pdk__parts_valid would find: the words of the parts are 1 or 0, and the clock says 0. */
static bool enough(const struct majority_caller *c) {
    int64_t words[N];
    for (int i = 0; i < N; i++)
        words[i] = is_held(c, i);
    return pdk__majority_until(words, N, MAJORITY_NEED) > 0;
}

static bool believes(const struct majority_caller *c) { return c->phase == MAJORITY_HOLDS && !c->invalid && enough(c); }

static bool has_majority_of_links(const struct majority_world *w, int caller) {
    int links = 0;
    for (int i = 0; i < N; i++)
        links += !w->cut[caller][i];
    return links >= MAJORITY_NEED;
}

/* ---- the steps of a caller, as in recipes/set_taking */

/* Where an ensemble is in the order of a caller, and which ensemble is there. */
static int place_of(const struct majority_config *config, int caller, int ensemble) {
    return config->turned ? (ensemble + N - caller) % N : ensemble;
}

static int ensemble_at(const struct majority_config *config, int caller, uint32_t place) {
    return config->turned ? ((int)place + caller) % N : (int)place;
}

static struct pdk__majority unpack(const struct majority_config *config, const struct majority_caller *c) {
    struct pdk__majority m;
    pdk__majority_init(&m, N, MAJORITY_NEED, config->tries);
    m.late = c->late;
    m.pauses = c->pauses;
    m.tired = c->tired;
    m.round = c->round;
    m.looks_around = c->looks_around;
    m.waits_for = c->waits_for;
    memcpy(m.rights, c->rights, sizeof c->rights);
    return m;
}

static void pack(struct majority_caller *c, const struct pdk__majority *m) {
    c->late = m->late;
    c->pauses = m->pauses;
    c->tired = m->tired;
    c->round = (uint8_t)m->round;
    c->looks_around = m->looks_around;
    c->waits_for = m->looks_around ? (uint8_t)m->waits_for : 0;
    memcpy(c->rights, m->rights, sizeof c->rights);
}

static void give_back(struct majority_world *w, int caller, int i) {
    w->callers[caller].claims[i] = MAJORITY_NONE;
    w->callers[caller].lapsed[i] = 0;
    majority_leave(w, caller, i);
}

static void give_all_back(struct majority_world *w, int caller) {
    for (int i = 0; i < N; i++)
        give_back(w, caller, i);
}

static void ask(struct majority_world *w, int caller, int i) {
    w->callers[caller].claims[i] = MAJORITY_ASKED;
    majority_enqueue(w, caller, i);
}

static void look(const struct majority_config *config, struct majority_world *w, int caller, struct pdk__majority *m) {
    struct majority_caller *c = &w->callers[caller];
    for (uint32_t place = 0; place < N; place++) {
        int i = ensemble_at(config, caller, place);
        bool asked = pdk__majority_claims(m, place);
        if (pdk__majority_holds(m, place) && c->lapsed[i]) {
            pdk__majority_lost(m, place);
            give_back(w, caller, i);
        } else if (asked && c->claims[i] == MAJORITY_GRANTED) {
            pdk__majority_answered(m, place, PDK__TAKEN_GRANTED);
        } else if (asked && c->claims[i] == MAJORITY_BUSY) {
            pdk__majority_answered(m, place, PDK__TAKEN_BUSY);
            give_back(w, caller, i);
        }
    }
}

static uint8_t links_cut(const struct majority_world *w, int caller) {
    uint8_t bits = 0;
    for (int i = 0; i < N; i++)
        bits |= (uint8_t)(w->cut[caller][i] << i);
    return bits;
}

static int ones(uint8_t bits) {
    int count = 0;
    for (; bits; bits &= (uint8_t)(bits - 1))
        count++;
    return count;
}

/* All that is not held is taken in the background. */
static void hold(struct majority_world *w, int caller, uint64_t *counts) {
    w->callers[caller].phase = MAJORITY_HOLDS;
    counts[MAJORITY_TOOK]++;
    for (int i = 0; i < N; i++)
        if (w->callers[caller].claims[i] != MAJORITY_GRANTED) {
            give_back(w, caller, i);
            ask(w, caller, i);
        }
}

static void end_look_around(const struct majority_config *config, struct majority_world *w, int caller,
                            struct pdk__majority *m) {
    for (uint32_t place = 0; place < N; place++)
        if (m->rights[place] == PDK__RIGHT_FOUND || m->rights[place] == PDK__RIGHT_TRIED)
            give_back(w, caller, ensemble_at(config, caller, place));
    pdk__majority_looked(m);
}

static const char *anew(struct majority_world *w, int caller, struct pdk__majority *m, uint64_t *counts) {
    struct majority_caller *c = &w->callers[caller];
    bool for_a_reason = m->tired || ones(c->cut_off) > N - MAJORITY_NEED;
    give_all_back(w, caller);
    pdk__majority_anew(m);
    c->cut_off = links_cut(w, caller);
    counts[MAJORITY_SHORT]++;
    return for_a_reason ? NULL : "a round falls short only for links that were cut, or who is tired";
}

static const char *take_steps(const struct majority_config *config, struct majority_world *w, int caller,
                              uint64_t *counts) {
    struct majority_caller *c = &w->callers[caller];
    struct pdk__majority m = unpack(config, c);
    const char *broken = NULL;
    for (bool waits = false; !waits && !broken;) {
        uint32_t which = 0;
        look(config, w, caller, &m);
        switch (pdk__majority_next(&m, &which)) {
        case PDK__MAJORITY_ASK:
        case PDK__MAJORITY_TRY:
            ask(w, caller, ensemble_at(config, caller, which));
            break;
        case PDK__MAJORITY_BACK:
            end_look_around(config, w, caller, &m);
            break;
        case PDK__MAJORITY_WAIT:
            waits = true;
            break;
        case PDK__MAJORITY_ANEW:
            broken = anew(w, caller, &m, counts);
            break;
        case PDK__MAJORITY_COMPLETE:
            hold(w, caller, counts);
            waits = true;
            break;
        case PDK__MAJORITY_FAIL:
            give_all_back(w, caller);
            c->phase = MAJORITY_OVER;
            counts[MAJORITY_REFUSED]++;
            waits = true;
            break;
        }
    }
    pack(c, &m);
    return broken;
}

/* ---- the set, as in recipes/set */

static void lose(struct majority_world *w, int caller, uint64_t *counts) {
    w->callers[caller].phase = MAJORITY_LOST;
    counts[MAJORITY_LOSSES]++;
    give_all_back(w, caller);
}

static bool looks_valid(struct majority_caller *c) {
    c->invalid |= !enough(c);
    return !c->invalid;
}

static void part_ended(struct majority_world *w, int caller, int i, uint64_t *counts) {
    give_back(w, caller, i);
    if (!looks_valid(&w->callers[caller])) {
        lose(w, caller, counts);
    } else {
        counts[MAJORITY_WENT_ON]++;
        ask(w, caller, i);
    }
}

static void granted(struct majority_world *w, int caller, int i, uint64_t *counts) {
    struct majority_caller *c = &w->callers[caller];
    if (c->phase == MAJORITY_HOLDS && !looks_valid(c)) {
        lose(w, caller, counts);
        return;
    }
    counts[MAJORITY_AGAIN] += c->phase == MAJORITY_HOLDS;
    c->claims[i] = MAJORITY_GRANTED;
}

/* ---- what may happen */

static bool is_claimed(int right) { return right == PDK__RIGHT_ASKED || right == PDK__RIGHT_TRIED; }

static bool has_news(const struct majority_config *config, const struct majority_caller *c, int k) {
    for (int i = 0; i < N; i++) {
        int right = c->rights[place_of(config, k, i)];
        if (right == PDK__RIGHT_HELD || right == PDK__RIGHT_FOUND ? c->lapsed[i]
                                                                  : is_claimed(right) && c->claims[i] > MAJORITY_ASKED)
            return true;
    }
    return false;
}

/* With something in its hands. */
static bool may_tire(const struct majority_config *config, const struct majority_caller *c) {
    return (config->turned || config->never_free) && c->round < config->rounds &&
           memchr(c->rights, PDK__RIGHT_HELD, N) && memchr(c->rights, PDK__RIGHT_ASKED, N);
}

static bool may_look_around(const struct majority_config *config, const struct majority_caller *c) {
    return config->looks && !c->looks_around && memchr(c->rights, PDK__RIGHT_ASKED, N);
}

static int possible_in(const struct majority_config *config, const struct majority_world *w, int k, int i,
                       char kinds[6]) {
    const struct majority_caller *c = &w->callers[k];
    bool cut = w->cut[k][i], taking = c->phase == MAJORITY_TAKING;
    int right = c->rights[place_of(config, k, i)], count = 0;
    if (!cut && c->claims[i] == MAJORITY_ASKED && majority_is_first(w, k, i))
        kinds[count++] = 'g';
    else if (!cut && c->claims[i] == MAJORITY_ASKED && taking && (config->tries || right == PDK__RIGHT_TRIED) &&
             majority_has_node(w, k, i))
        kinds[count++] = 'y';
    if (cut && taking && is_claimed(right) && c->claims[i] == MAJORITY_ASKED)
        kinds[count++] = 'p';
    if (cut && is_held(c, i))
        kinds[count++] = 'l';
    if (c->phase == MAJORITY_HOLDS && c->claims[i] == MAJORITY_GRANTED && c->lapsed[i])
        kinds[count++] = 'n';
    if (cut ? w->heals > 0 : w->cuts > 0)
        kinds[count++] = cut ? 'h' : 'c';
    struct majority_world after = *w;
    if (cut && !is_held(c, i) && majority_expire(&after, k, i))
        kinds[count++] = 'x';
    return count;
}

static int possible_of(const struct majority_config *config, const struct majority_world *w, int k, char kinds[6]) {
    const struct majority_caller *c = &w->callers[k];
    int count = 0;
    if (c->phase == MAJORITY_OUT)
        kinds[count++] = 'b';
    if (c->phase == MAJORITY_HOLDS)
        kinds[count++] = 'r';
    if (c->phase == MAJORITY_HOLDS && !c->invalid && !enough(c))
        kinds[count++] = 'v';
    if (c->phase != MAJORITY_TAKING)
        return count;
    if (has_news(config, c, k))
        kinds[count++] = 's';
    if (may_tire(config, c))
        kinds[count++] = 'w';
    if (may_look_around(config, c))
        kinds[count++] = 'a';
    if (c->pauses && c->round < config->rounds)
        kinds[count++] = 'e';
    if (w->deadlines > 0)
        kinds[count++] = 'd';
    return count;
}

static size_t possible(const void *of, const void *world, search_action actions[SEARCH_ACTIONS]) {
    const struct majority_config *config = of;
    const struct majority_world *w = world;
    size_t count = 0;
    for (int k = 0; k < config->callers; k++) {
        char kinds[6];
        for (int left = possible_of(config, w, k, kinds); left-- > 0;)
            actions[count++] = search_act(kinds[left], k, 0);
        for (int i = 0; i < N; i++)
            for (int left = possible_in(config, w, k, i, kinds); left-- > 0;)
                actions[count++] = search_act(kinds[left], k, i);
    }
    return count;
}

/* ---- what must hold in every state */

static const char *check_stuck(const struct majority_config *config, const struct majority_world *w) {
    search_action actions[SEARCH_ACTIONS];
    const char *no_progress = config->never_free ? "chd" : "chda"; /* among callers alone nobody has to look around */
    for (size_t left = possible(config, w, actions); left-- > 0;)
        if (!strchr(no_progress, search_kind(actions[left])))
            return NULL;
    for (int k = 0; k < config->callers; k++)
        if (w->callers[k].phase == MAJORITY_TAKING && has_majority_of_links(w, k) &&
            w->callers[k].round < config->rounds)
            return "somebody waits, and nobody goes on";
    return NULL;
}

static const char *check(const struct majority_config *config, struct majority_world *w) {
    int valid = 0;
    for (int k = 0; k < config->callers; k++)
        valid += believes(&w->callers[k]);
    if (valid > 1)
        return "two are valid at one moment";
    for (int k = 0; k < config->callers; k++) {
        struct majority_caller *c = &w->callers[k];
        if (c->gap && believes(c))
            return "it is valid again, after another one was";
        c->gap |= c->phase == MAJORITY_HOLDS && !enough(c) && valid > 0;
    }
    return check_stuck(config, w);
}

/* ---- the actions */

static void heal(struct majority_world *w, int k, int i) {
    w->heals--;
    majority_heal(w, k, i);
    if (w->callers[k].claims[i] == MAJORITY_ASKED && !majority_has_node(w, k, i))
        majority_enqueue(w, k, i); /* with the next connection, or in the next session */
}

static const char *step(const struct majority_config *config, struct majority_world *w, search_action action,
                        uint64_t *counts) {
    int k = search_whose(action), i = search_which(action);
    struct majority_caller *c = &w->callers[k];
    struct pdk__majority m = unpack(config, c);
    if (search_kind(action) == 'b') {
        c->phase = MAJORITY_TAKING;
        c->cut_off = links_cut(w, k);
    } else if (search_kind(action) == 'p') {
        pdk__majority_pass(&m, (uint32_t)place_of(config, k, i));
        give_back(w, k, i);
        counts[MAJORITY_PASSED]++;
        pack(c, &m);
    } else if (search_kind(action) == 'a') {
        pdk__majority_look_around(&m);
        counts[MAJORITY_LOOKED]++;
        pack(c, &m);
    } else if (search_kind(action) == 'w') {
        pdk__majority_tire(&m);
        counts[MAJORITY_TIRED]++;
        pack(c, &m);
    } else if (search_kind(action) != 's') {
        if (search_kind(action) == 'd')
            w->deadlines--;
        pdk__majority_resume(&m, search_kind(action) == 'e');
        pack(c, &m);
    }
    return take_steps(config, w, k, counts);
}

static const char *change(const struct majority_config *config, struct majority_world *w, search_action action,
                          uint64_t *counts) {
    int k = search_whose(action), i = search_which(action);
    struct majority_caller *c = &w->callers[k];
    const char *broken = NULL;
    if (strchr("bspewad", search_kind(action))) {
        broken = step(config, w, action, counts);
    } else if (search_kind(action) == 'g') {
        granted(w, k, i, counts);
    } else if (search_kind(action) == 'y') {
        c->claims[i] = MAJORITY_BUSY;
    } else if (search_kind(action) == 'r') {
        give_all_back(w, k);
        c->phase = MAJORITY_OVER;
    } else if (search_kind(action) == 'l') {
        c->lapsed[i] = 1;
    } else if (search_kind(action) == 'n') {
        part_ended(w, k, i, counts);
    } else if (search_kind(action) == 'v') {
        looks_valid(c);
    } else if (search_kind(action) == 'c') {
        w->cuts--;
        w->cut[k][i] = 1;
        c->cut_off |= (uint8_t)(1 << i);
    } else if (search_kind(action) == 'h') {
        heal(w, k, i);
    } else {
        majority_expire(w, k, i);
    }
    return broken ? broken : check(config, w);
}

/* ---- from here on everybody can be granted */

/* Carry out the first of these actions that the caller has. */
static bool act(const struct majority_config *config, struct majority_world *w, int k, const char *kinds) {
    search_action actions[SEARCH_ACTIONS];
    uint64_t counts[MAJORITY_COUNTS] = {0};
    size_t count = possible(config, w, actions);
    for (; *kinds; kinds++)
        for (size_t i = 0; i < count; i++)
            if (search_whose(actions[i]) == k && search_kind(actions[i]) == *kinds) {
                change(config, w, actions[i], counts);
                return true;
            }
    return false;
}

/* Each in turn, as far as it comes. */
static bool all_act(const struct majority_config *config, struct majority_world *w, const char *kinds) {
    bool any = false;
    for (int k = 0; k < config->callers; k++)
        while (act(config, w, k, kinds))
            any = true;
    return any;
}

/* One of them, once. */
static bool one_acts(const struct majority_config *config, struct majority_world *w, const char *kinds) {
    for (int k = 0; k < config->callers; k++)
        if (act(config, w, k, kinds))
            return true;
    return false;
}

static bool is_waited_in(const struct majority_config *config, const struct majority_world *w) {
    for (int k = 0; k < config->callers; k++)
        if (w->callers[k].phase == MAJORITY_TAKING)
            return true;
    return false;
}

/* All links are healed. Those who hold go, and who waits looks around when nothing else goes on, one after the other. If that helps nobody,
 * one who holds something is tired. Pauses end when nothing else goes on. */
static const char *check_way(const struct majority_config *config, const struct majority_world *now) {
    struct majority_config free = *config;
    struct majority_world w = *now;
    if (!config->looks)
        return NULL;
    free.rounds = 100;
    w.cuts = w.deadlines = 0;
    for (int k = 0; k < config->callers; k++)
        for (int i = 0; i < N; i++)
            if (w.cut[k][i])
                heal(&w, k, i);
    w.heals = 0;
    for (int times = 0; times < 20 && is_waited_in(config, &w); times++) {
        if (all_act(&free, &w, "sgynvr"))
            continue;
        for (int k = 0; k < config->callers; k++)
            if (act(&free, &w, k, "a"))
                all_act(&free, &w, "sgynvr");
        if (!one_acts(&free, &w, "e"))
            one_acts(&free, &w, "w");
    }
    return is_waited_in(config, &w) ? "somebody can never be granted" : NULL;
}

static const char *apply(void *of, void *world, search_action action) {
    struct majority_config *config = of;
    const char *broken = change(config, world, action, config->counts);
    return broken ? broken : check_way(config, world);
}

static void tell(const void *world, search_action action, FILE *out) {
    const struct majority_world *w = world;
    fprintf(out, "%c caller %d, ensemble %d:", search_kind(action), search_whose(action), search_which(action));
    for (int k = 0; k < MAJORITY_CALLERS; k++) {
        const struct majority_caller *c = &w->callers[k];
        fprintf(out, "  %d: phase %d, claims %d%d%d, lapsed %d%d%d", k, c->phase, c->claims[0], c->claims[1],
                c->claims[2], c->lapsed[0], c->lapsed[1], c->lapsed[2]);
    }
    fputc('\n', out);
}

struct search_model majority_model(struct majority_config *config) {
    return (struct search_model){.of = config,
                                 .size = sizeof(struct majority_world),
                                 .begin = begin,
                                 .possible = possible,
                                 .apply = apply,
                                 .tell = tell};
}
