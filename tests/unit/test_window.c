/* How many requests a session has in flight. */
#include "session/window.h"
#include "ts_check.h"

#define TIMEOUT 2000
#define QUICK (TIMEOUT / 20)
#define SLOW (TIMEOUT / 10)

static struct pdk__window w;
static int somebody;

static void begin(void) {
    pdk__window_init(&w);
    g_queue_push_tail(&w.waiting[PDK__LANE_OTHERS], &somebody);
}

static void end(void) { g_queue_clear(&w.waiting[PDK__LANE_OTHERS]); }

static void fill(enum pdk__lane lane) {
    while (pdk__window_has_room(&w, lane))
        pdk__window_sent(&w, lane);
}

/* All answers of a round trip; each lets out as many as there is room for. */
static void round_trip(int64_t took) {
    for (guint left = w.in_flight[PDK__LANE_OTHERS]; left > 0; left--) {
        pdk__window_answered(&w, PDK__LANE_OTHERS, took, TIMEOUT);
        fill(PDK__LANE_OTHERS);
    }
}

START_TEST(it_begins_small) {
    fill(PDK__LANE_OTHERS);
    fill(PDK__LANE_DELETES);
    ck_assert_uint_eq(w.in_flight[PDK__LANE_OTHERS], PDK__WINDOW_LEAST);
    ck_assert_uint_eq(w.in_flight[PDK__LANE_DELETES], PDK__WINDOW_LEAST);
}
END_TEST

START_TEST(renewals_do_not_count) {
    pdk__window_sent(&w, PDK__LANE_NONE);
    pdk__window_answered(&w, PDK__LANE_NONE, TIMEOUT, TIMEOUT);
    fill(PDK__LANE_OTHERS);
    ck_assert_uint_eq(w.in_flight[PDK__LANE_OTHERS], PDK__WINDOW_LEAST);
}
END_TEST

START_TEST(a_list_has_room_behind_each_create) {
    fill(PDK__LANE_OTHERS);
    for (guint lists = 0; lists < PDK__WINDOW_LEAST; lists++) {
        ck_assert(pdk__window_has_list_room(&w));
        pdk__window_sent(&w, PDK__LANE_OTHERS);
    }
    ck_assert(!pdk__window_has_list_room(&w));
}
END_TEST

START_TEST(quick_answers_let_it_grow_by_a_quarter) {
    fill(PDK__LANE_OTHERS);
    round_trip(QUICK);
    ck_assert_uint_eq(w.size, PDK__WINDOW_LEAST + PDK__WINDOW_LEAST / 4);
    for (int i = 0; i < 20; i++)
        round_trip(QUICK);
    ck_assert_uint_eq(w.size, PDK__WINDOW_MOST);
}
END_TEST

START_TEST(it_grows_for_those_that_wait_alone) {
    fill(PDK__LANE_OTHERS);
    end();
    round_trip(QUICK);
    ck_assert_uint_eq(w.size, PDK__WINDOW_LEAST);
}
END_TEST

START_TEST(slow_answers_close_it) {
    fill(PDK__LANE_OTHERS);
    round_trip(QUICK);
    guint grown = w.size;
    round_trip(QUICK + 1);
    ck_assert_uint_eq(w.size, grown);
    pdk__window_answered(&w, PDK__LANE_OTHERS, SLOW + 1, TIMEOUT);
    ck_assert_uint_eq(w.size, PDK__WINDOW_LEAST);
    ck_assert(!pdk__window_has_room(&w, PDK__LANE_OTHERS));
}
END_TEST

START_TEST(it_is_small_again_after_silence) {
    fill(PDK__LANE_OTHERS);
    round_trip(QUICK);
    while (w.in_flight[PDK__LANE_OTHERS] > 0)
        pdk__window_answered(&w, PDK__LANE_OTHERS, QUICK + 1, TIMEOUT);
    fill(PDK__LANE_OTHERS);
    ck_assert_uint_eq(w.in_flight[PDK__LANE_OTHERS], PDK__WINDOW_LEAST);
}
END_TEST

int main(void) {
    return ts_run("window", begin, end, it_begins_small, renewals_do_not_count, a_list_has_room_behind_each_create,
                  quick_answers_let_it_grow_by_a_quarter, it_grows_for_those_that_wait_alone, slow_answers_close_it,
                  it_is_small_again_after_silence, NULL);
}
