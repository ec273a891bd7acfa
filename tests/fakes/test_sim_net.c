/* Simulated time and the simulated network: order, latency, blocked ways, ends. */
#include "sim_net.h"
#include "ts_check.h"

#include <stdio.h>
#include <string.h>

static struct sim_agenda agenda;
static struct sim_net net;
static char heard[512]; /* "<ms>:<packet>", a word each */

static void setup(void) {
    sim_agenda_init(&agenda);
    sim_agenda_begin(&agenda, 7);
    sim_net_begin(&net, &agenda, 2 * SIM_MS, 2 * SIM_MS);
    heard[0] = '\0';
}

static void teardown(void) { sim_agenda_free(&agenda); }

static void hear(void *receiver, void *packet) {
    size_t n = strlen(heard);
    snprintf(heard + n, sizeof heard - n, "%s%d:%s%s", n == 0 ? "" : " ", (int)(agenda.now / SIM_MS),
             (const char *)receiver, packet ? (const char *)packet : "end");
}

static char a[] = "a", b[] = "b", c[] = "c", none[] = "", to[] = ">";

static struct sim_pipe *pipe_between(int32_t from, int32_t host) { return sim_pipe_new(&net, from, host, hear, none); }

static void run(int64_t ms) {
    int64_t until = agenda.now + ms * SIM_MS;
    while (sim_step(&agenda, until))
        ;
}

static void check_heard(const char *text) {
    ck_assert_str_eq(heard, text);
    heard[0] = '\0';
}

/* ---- the agenda */

static void note(void *subject, void *what) { hear(subject, what); }

START_TEST(the_earliest_happens_first_and_equals_in_order) {
    sim_at(&agenda, 5 * SIM_MS, note, none, a);
    sim_at(&agenda, 3 * SIM_MS, note, none, b);
    for (int32_t i = 0; i < 5; i++)
        sim_at(&agenda, 4 * SIM_MS, note, none, i == 0 ? a : i == 4 ? b : c);
    ck_assert(!sim_step(&agenda, 2 * SIM_MS));
    ck_assert_int_eq(agenda.now, 2 * SIM_MS);
    sim_at(&agenda, 0, note, none, c); /* in the past: now */
    run(4);
    check_heard("2:c 3:b 4:a 4:c 4:c 4:c 4:b 5:a");
    ck_assert_uint_eq(agenda.steps, 8);
    ck_assert_int_eq(agenda.now, 6 * SIM_MS);
}
END_TEST

START_TEST(memory_is_zeroed_and_given_back) {
    for (int32_t round = 0; round < 3; round++) {
        unsigned char *memory = sim_alloc(&agenda, 3 << 20);
        for (size_t i = 0; i < 3 << 20; i += 4096)
            ck_assert_uint_eq(memory[i], 0);
        memset(memory, 1, 3 << 20);
        unsigned char *little = sim_alloc(&agenda, 5);
        ck_assert_uint_eq((uintptr_t)little % 16, 0);
        ck_assert_uint_eq(little[4], 0);
        memset(little, 1, 5);
        sim_agenda_begin(&agenda, 1);
    }
    ck_assert_str_eq(sim_text(&agenda, "text"), "text");
    ck_assert_ptr_null(sim_text(&agenda, NULL));
}
END_TEST

/* ---- pipes */

START_TEST(packets_keep_their_order) {
    struct sim_pipe *pipe = pipe_between(0, 1);
    net.latency_least = 0;
    net.latency_most = 50 * SIM_MS;
    for (int32_t i = 0; i < 20; i++)
        sim_send(pipe, i % 2 ? b : a);
    run(1000);
    const char *at = heard;
    for (int32_t i = 0; i < 20; i++) {
        at = strchr(at, ':');
        ck_assert_ptr_nonnull(at);
        ck_assert_int_eq(*++at, i % 2 ? 'b' : 'a');
    }
}
END_TEST

START_TEST(a_way_may_be_slow_in_one_direction) {
    struct sim_pipe *there = pipe_between(0, 1), *back = pipe_between(1, 0);
    net.extra[0][1] = 10 * SIM_MS;
    sim_send(there, a);
    sim_send(back, b);
    run(20);
    check_heard("2:b 12:a");
}
END_TEST

START_TEST(what_is_blocked_waits) {
    struct sim_pipe *there = pipe_between(0, 1), *back = pipe_between(1, 0);
    sim_send(there, a);
    run(1);
    sim_net_block(&net, 0, 1, true);
    sim_send(there, b);
    sim_send(back, c);
    run(10);
    check_heard("3:c");
    sim_net_block(&net, 0, 1, false);
    run(10);
    check_heard("11:a 11:b");
    sim_net_block(&net, 0, 1, true);
    sim_net_block(&net, 0, 1, false); /* while nothing waits */
    sim_send(there, c);
    run(10);
    check_heard("23:c");
}
END_TEST

START_TEST(who_hangs_up_is_heard_to_the_end) {
    struct sim_pipe *pipe = pipe_between(0, 1);
    sim_send(pipe, a);
    sim_hang_up(pipe);
    sim_send(pipe, b);
    sim_hang_up(pipe);
    run(10);
    check_heard("2:a 2:end");
    sim_break(pipe);
    run(10);
    check_heard("");
    ck_assert_ptr_null(net.pipes);
}
END_TEST

START_TEST(what_breaks_loses_what_is_under_way) {
    struct sim_pipe *pipe = pipe_between(0, 1);
    sim_send(pipe, a);
    run(1);
    sim_break(pipe);
    sim_send(pipe, b);
    run(10);
    check_heard("3:end");
}
END_TEST

/* Also the end that it was about to hear of: once only. */
START_TEST(a_break_overtakes_a_hang_up) {
    struct sim_pipe *pipe = pipe_between(0, 1);
    sim_send(pipe, a);
    sim_hang_up(pipe);
    sim_break(pipe);
    run(10);
    check_heard("2:end");
}
END_TEST

START_TEST(a_broken_pipe_is_heard_of_when_the_way_is_free) {
    struct sim_pipe *pipe = pipe_between(0, 1);
    sim_net_block(&net, 0, 1, true);
    sim_send(pipe, a);
    sim_break(pipe);
    run(10);
    check_heard("");
    sim_net_block(&net, 0, 1, false);
    run(10);
    check_heard("10:end");
}
END_TEST

START_TEST(who_does_not_listen_hears_nothing) {
    struct sim_pipe *pipe = pipe_between(0, 1);
    sim_send(pipe, a);
    sim_ignore(pipe);
    sim_send(pipe, b);
    sim_hang_up(pipe);
    run(10);
    check_heard("");
    ck_assert_ptr_null(net.pipes);
}
END_TEST

START_TEST(a_reset_breaks_both_directions_between_two) {
    struct sim_pipe *pipes[] = {pipe_between(0, 1), pipe_between(1, 0), sim_pipe_new(&net, 0, 2, hear, to)};
    for (int32_t i = 0; i < 3; i++)
        sim_send(pipes[i], a);
    sim_net_reset(&net, 1, 0);
    run(10);
    ck_assert_ptr_nonnull(strstr(heard, "2:>a"));
    ck_assert_ptr_null(strstr(heard, ":a"));
    ck_assert_uint_eq(strlen(heard), strlen("2:end 2:end 2:>a"));
    ck_assert(pipes[0]->ended && pipes[1]->ended && !pipes[2]->ended);
}
END_TEST

int main(void) {
    return ts_run("sim_net", setup, teardown, the_earliest_happens_first_and_equals_in_order,
                  memory_is_zeroed_and_given_back, packets_keep_their_order, a_way_may_be_slow_in_one_direction,
                  what_is_blocked_waits, who_hangs_up_is_heard_to_the_end, what_breaks_loses_what_is_under_way,
                  a_break_overtakes_a_hang_up, a_broken_pipe_is_heard_of_when_the_way_is_free,
                  who_does_not_listen_hears_nothing, a_reset_breaks_both_directions_between_two, NULL);
}
