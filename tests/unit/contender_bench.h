/* One contender under test: brought into a phase, given events and answers. For the contender's unit tests. */
#ifndef UNIT_CONTENDER_BENCH_H
#define UNIT_CONTENDER_BENCH_H

#include "core/contender.h"
#include "ts_check.h"

#include <string.h>

#define MARK "_c_mine-lock-"
#define OWN MARK "0000000005"

static struct pdk__contender c;

static inline void setup(void) { pdk__contender_init(&c, MARK); }

static inline enum pdk__command tell(enum pdk__event_type type) {
    return pdk__contender_step(&c, &(struct pdk__event){.type = type});
}

static inline enum pdk__command answer(enum pdk__event_type type, enum pdk__result result) {
    return pdk__contender_step(&c, &(struct pdk__event){.type = type, .result = result, .name = OWN, .token = 42});
}

static inline enum pdk__command list(const char *first, const char *second, bool fresh) {
    const char *names[] = {first, second};
    struct pdk__view view;
    pdk__view_make(&view, names,
                   second  ? 2
                   : first ? 1
                           : 0,
                   &(struct pdk__viewer){MARK, c.own, "", {pdk__blocks_always, 0}});
    return pdk__contender_step(&c, &(struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = fresh});
}

static inline enum pdk__command list_beyond_limits(void) {
    struct pdk__view view = {.beyond_limits = true};
    return pdk__contender_step(&c, &(struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = true});
}

static inline enum pdk__command stat_own(enum pdk__result result, bool ours) {
    return pdk__contender_step(&c,
                               &(struct pdk__event){.type = PDK__STATTED, .result = result, .token = 43, .ours = ours});
}

static inline void enter(void) {
    ck_assert_int_eq(tell(PDK__ENTER), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_ENTER);
}

static inline void get_in(void) {
    enter();
    ck_assert_int_eq(answer(PDK__CREATED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__IN);
}

static inline void wait_in_queue(void) {
    get_in();
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
    ck_assert_int_eq(answer(PDK__WATCHED, PDK__OK), PDK__DO_NOTHING);
}

static inline void hold(void) {
    get_in();
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}

/* As after a lost reply: the create may have been executed. */
static inline void be_unsure(void) {
    enter();
    tell(PDK__LINK_DOWN);
    answer(PDK__CREATED, PDK__UNKNOWN);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__UNKNOWN), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__UNSURE);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_PROVE);
}

static inline void be_candidate(void) {
    be_unsure();
    ck_assert_int_eq(answer(PDK__PROVED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_STAT);
    ck_assert_int_eq(c.phase, PDK__CANDIDATE);
    ck_assert_str_eq(c.own, OWN);
}

/* A pause, and then the same again. */
static inline void check_paused(enum pdk__command command, enum pdk__command again) {
    ck_assert_int_eq(command, PDK__DO_PAUSE);
    ck_assert_int_eq(tell(PDK__POKE), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__PAUSED), again);
}

#endif
