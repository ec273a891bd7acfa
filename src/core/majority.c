#include "core/majority.h"

#include <assert.h>
#include <string.h>

#define PAUSE_FIRST INT64_C(20000000)   /* 20 ms */
#define PAUSE_MOST INT64_C(2000000000)  /* 2 s */
#define LIMIT_FIRST INT64_C(1000000000) /* 1 s */
#define LIMIT_MOST INT64_C(64000000000) /* 64 s */
#define GLANCE_FIRST INT64_C(500000000) /* half a second */
#define GLANCE_MOST INT64_C(1000000000) /* 1 s */

bool pdk__majority_meets(uint32_t count, uint32_t need) { return need <= count && need > count / 2; }

void pdk__majority_init(struct pdk__majority *m, uint32_t count, uint32_t need, bool is_try) {
    assert(count <= PDK__MAJORITY_MOST && pdk__majority_meets(count, need));
    memset(m, 0, sizeof *m);
    m->count = count;
    m->need = need;
    m->is_try = is_try;
}

static uint32_t how_many(const struct pdk__majority *m, enum pdk__right_state are) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < m->count; i++)
        found += m->rights[i] == are;
    return found;
}

static bool find(const struct pdk__majority *m, enum pdk__right_state is, uint32_t *which) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->rights[i] == is) {
            *which = i;
            return true;
        }
    return false;
}

bool pdk__majority_is_hopeless(const struct pdk__majority *m) {
    return m->count - how_many(m, PDK__RIGHT_REFUSED) < m->need;
}

bool pdk__majority_holds(const struct pdk__majority *m, uint32_t which) {
    return m->rights[which] == PDK__RIGHT_HELD || m->rights[which] == PDK__RIGHT_FOUND;
}

bool pdk__majority_claims(const struct pdk__majority *m, uint32_t which) {
    return m->rights[which] == PDK__RIGHT_ASKED || m->rights[which] == PDK__RIGHT_TRIED;
}

static uint32_t how_many_held(const struct pdk__majority *m) {
    return how_many(m, PDK__RIGHT_HELD) + how_many(m, PDK__RIGHT_FOUND);
}

/* Is the right that it waited for still ASKED, and can it become complete without it? */
static bool goes_on_looking(const struct pdk__majority *m) {
    return m->rights[m->waits_for] == PDK__RIGHT_ASKED &&
           how_many_held(m) + how_many(m, PDK__RIGHT_TRIED) + how_many(m, PDK__RIGHT_OPEN) >= m->need;
}

static enum pdk__majority_step look_on(struct pdk__majority *m, uint32_t *which) {
    if (!goes_on_looking(m))
        return PDK__MAJORITY_BACK;
    if (find(m, PDK__RIGHT_TRIED, which))
        return PDK__MAJORITY_WAIT;
    bool open = find(m, PDK__RIGHT_OPEN, which);
    assert(open); /* else `need` are held */
    (void)open;
    m->rights[*which] = PDK__RIGHT_TRIED;
    return PDK__MAJORITY_TRY;
}

enum pdk__majority_step pdk__majority_next(struct pdk__majority *m, uint32_t *which) {
    uint32_t refused = how_many(m, PDK__RIGHT_REFUSED), passed = how_many(m, PDK__RIGHT_PASSED);
    if (m->late || pdk__majority_is_hopeless(m))
        return PDK__MAJORITY_FAIL;
    if (m->pauses)
        return PDK__MAJORITY_WAIT;
    if (how_many_held(m) >= m->need)
        return PDK__MAJORITY_COMPLETE;
    if (m->count - refused - passed - how_many(m, PDK__RIGHT_LOST) < m->need || m->tired)
        return m->is_try && passed > 0 ? PDK__MAJORITY_FAIL : PDK__MAJORITY_ANEW;
    if (m->looks_around)
        return look_on(m, which);
    if (find(m, PDK__RIGHT_ASKED, which))
        return PDK__MAJORITY_WAIT;
    bool open = find(m, PDK__RIGHT_OPEN, which);
    assert(open); /* else `need` are held */
    (void)open;
    m->rights[*which] = PDK__RIGHT_ASKED;
    return PDK__MAJORITY_ASK;
}

void pdk__majority_answered(struct pdk__majority *m, uint32_t which, enum pdk__taken taken) {
    static const uint8_t becomes[] = {
        [PDK__TAKEN_GRANTED] = PDK__RIGHT_HELD,
        [PDK__TAKEN_BUSY] = PDK__RIGHT_PASSED,
        [PDK__TAKEN_LATE] = PDK__RIGHT_PASSED,
        [PDK__TAKEN_REFUSED] = PDK__RIGHT_REFUSED,
    };
    bool tried = m->rights[which] == PDK__RIGHT_TRIED;
    assert(pdk__majority_claims(m, which));
    m->rights[which] = tried && taken == PDK__TAKEN_GRANTED ? PDK__RIGHT_FOUND
                       : tried && taken == PDK__TAKEN_BUSY  ? PDK__RIGHT_BUSY
                                                            : becomes[taken];
    if (taken == PDK__TAKEN_LATE)
        m->late = true;
}

void pdk__majority_pass(struct pdk__majority *m, uint32_t which) {
    assert(pdk__majority_claims(m, which) && m->need < m->count);
    m->rights[which] = PDK__RIGHT_PASSED;
}

/* Ensembles that were silent before may answer by now. */
void pdk__majority_look_around(struct pdk__majority *m) {
    assert(m->need < m->count && !m->is_try);
    if (m->looks_around || !find(m, PDK__RIGHT_ASKED, &m->waits_for))
        return;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->rights[i] == PDK__RIGHT_PASSED || m->rights[i] == PDK__RIGHT_LOST)
            m->rights[i] = PDK__RIGHT_OPEN;
    m->looks_around = true;
    m->looks++;
}

/* Rights before the one that it waited for stay passed over in this round, since it holds later ones. */
void pdk__majority_looked(struct pdk__majority *m) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->rights[i] == PDK__RIGHT_FOUND || m->rights[i] == PDK__RIGHT_TRIED || m->rights[i] == PDK__RIGHT_BUSY ||
            m->rights[i] == PDK__RIGHT_OPEN)
            m->rights[i] = i < m->waits_for ? PDK__RIGHT_PASSED : PDK__RIGHT_OPEN;
    m->looks_around = false;
}

void pdk__majority_lost(struct pdk__majority *m, uint32_t which) {
    assert(pdk__majority_holds(m, which));
    m->rights[which] = PDK__RIGHT_LOST;
}

void pdk__majority_anew(struct pdk__majority *m) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->rights[i] != PDK__RIGHT_REFUSED)
            m->rights[i] = PDK__RIGHT_OPEN;
    m->round++;
    m->tired = m->looks_around = false;
    m->pauses = m->need < m->count;
}

void pdk__majority_resume(struct pdk__majority *m, bool in_time) {
    m->pauses = false;
    if (!in_time)
        m->late = true;
}

void pdk__majority_tire(struct pdk__majority *m) {
    assert(m->need < m->count);
    m->tired = true;
}

/* A random time: at first from half of `first` up to `first`; doubled in each round, and at most `most`. */
static int64_t doubled(int64_t first, int64_t most, uint32_t times, uint64_t random) {
    int64_t up_to = first;
    for (uint32_t i = 0; i < times && up_to < most; i++)
        up_to *= 2;
    if (up_to > most)
        up_to = most;
    return up_to / 2 + (int64_t)(random % (uint64_t)(up_to / 2));
}

int64_t pdk__majority_pause(const struct pdk__majority *m, uint64_t random) {
    return doubled(PAUSE_FIRST, PAUSE_MOST, m->round - 1, random);
}

int64_t pdk__majority_limit(const struct pdk__majority *m, uint64_t random) {
    return how_many(m, PDK__RIGHT_HELD) > 0 ? doubled(LIMIT_FIRST, LIMIT_MOST, m->round, random) : INT64_MAX;
}

int64_t pdk__majority_glance(const struct pdk__majority *m, uint64_t random) {
    return doubled(GLANCE_FIRST, GLANCE_MOST, m->looks, random);
}

static int64_t least(const int64_t *moments, uint32_t count) {
    int64_t found = moments[0];
    for (uint32_t i = 1; i < count; i++)
        if (moments[i] < found)
            found = moments[i];
    return found;
}

/* How many come before it, from the largest down. */
static uint32_t place_of(const int64_t *moments, uint32_t count, uint32_t which) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i++)
        before += moments[i] > moments[which] || (i < which && moments[i] == moments[which]);
    return before;
}

int64_t pdk__majority_until(const int64_t *moments, uint32_t count, uint32_t need) {
    uint32_t which = 0;
    if (need == count)
        return least(moments, count); /* a set of which all are needed may be large */
    while (place_of(moments, count, which) != need - 1)
        which++;
    return moments[which];
}
