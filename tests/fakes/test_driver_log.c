/* The outbox of a session alone: the lines of the log wait in it, and some are dropped. */
#include "session/dispatch.h"
#include "session/session.h"
#include "sim_platform.h"
#include "ts_check.h"
#include "ts_clock.h"

#include <string.h>

static pdk_session *session;
static struct pdk__platform platform;
static int lines, drops;
static char dropped[80];

static int64_t clock_ns;

static void never_mind(pdk_session *s) { (void)s; }
static int64_t now(void) { return clock_ns; }

static pdk_stats stats(void) {
    pdk_stats read = PDK_STATS_INIT;
    pdk__outbox_read(session, &read);
    return read;
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)user;
    if (strstr(text, "dropped")) {
        ck_assert_int_eq(level, PDK_LOG_WARN);
        g_strlcpy(dropped, text, sizeof dropped);
        drops++;
        return;
    }
    if (strstr(text, "left out"))
        g_strlcpy(dropped, text, sizeof dropped);
    else
        ck_assert_str_eq(text, "a line");
    lines++;
}

static void begin(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = (int32_t)dispatch;
    options.on_log = on_log;
    options.log_level = PDK_LOG_INFO;
    platform = sim_platform;
    platform.wake = never_mind;
    platform.now = now;
    clock_ns = 1000;
    session = g_new0(pdk_session, 1);
    session->platform = &platform;
    atomic_init(&session->handles, 1);
    ck_assert_int_eq(pdk__outbox_init(session, &options), PDK_OK);
    lines = drops = 0;
}

static void setup(void) { begin(PDK_DISPATCH_THREAD); }

static void teardown(void) {
    pdk__outbox_clear(session);
    g_free(session);
}

static void log_lines(int count) {
    for (int i = 0; i < count; i++)
        pdk__log_text(session, PDK_LOG_INFO, "a line");
}

static void run_all(void) {
    while (pdk__outbox_run_one(session))
        ;
}

START_TEST(lines_without_room_are_counted) {
    log_lines(PDK__LOG_LINES_MAX + 7);
    run_all();
    ck_assert_int_eq(lines, PDK__LOG_LINES_MAX);
    ck_assert_int_eq(drops, 1);
    ck_assert_str_eq(dropped, "7 lines dropped: the log callback is too slow");
    log_lines(1);
    run_all();
    ck_assert_int_eq(lines, PDK__LOG_LINES_MAX + 1);
    ck_assert_int_eq(drops, 1);
    log_lines(PDK__LOG_LINES_MAX + 5);
    ck_assert_uint_eq(stats().log_lines_dropped, 7 + 5);
    run_all();
    ck_assert_uint_eq(stats().log_lines_dropped, 7 + 5);
}
END_TEST

/* A server may bring about any number of them. */
START_TEST(of_lines_that_are_alike_one_a_second_is_told) {
    for (int i = 0; i < 500; i++)
        pdk__log(session, PDK_LOG_WARN, "%s line", "a");
    run_all();
    ck_assert_int_eq(lines, PDK__LOG_ALIKE_MAX);
    ck_assert_uint_eq(stats().log_lines_dropped, 500 - PDK__LOG_ALIKE_MAX);
    pdk__log(session, PDK_LOG_WARN, "a %s", "line"); /* another one */
    clock_ns += 1000 * PDK__MS;
    for (int i = 0; i < 50; i++)
        pdk__log(session, PDK_LOG_WARN, "%s line", "a");
    run_all();
    ck_assert_int_eq(lines, PDK__LOG_ALIKE_MAX + 2);
    ck_assert_str_eq(dropped, "a line (400 lines like it were left out)");
    clock_ns += 1000000 * PDK__MS;
    for (int i = 0; i < PDK__LOG_ALIKE_MAX; i++)
        pdk__log(session, PDK_LOG_WARN, "%s line", "a");
    run_all();
    ck_assert_int_eq(lines, 2 * PDK__LOG_ALIKE_MAX + 2);
}
END_TEST

/* A loop sleeps on the descriptor: it hears of the end, however late it looks. What waits is dropped. */
START_TEST(a_silent_outbox_stays_readable) {
    teardown();
    begin(PDK_DISPATCH_MANUAL);
    ck_assert(!ts_fd_readable(session->outbox.fd, 0));
    log_lines(3);
    pdk__outbox_silence(session);
    ck_assert(pdk__outbox_is_silent(session));
    ck_assert(ts_fd_readable(session->outbox.fd, 0));
    log_lines(3);
    run_all();
    ck_assert_int_eq(lines, 0);
    ck_assert_uint_eq(session->outbox.log_lines, 0);
    ck_assert(ts_fd_readable(session->outbox.fd, 0));
}
END_TEST

static char order[16];

static void note(void *letter) { strcat(order, letter); }

static void forget(void *letter) { (void)letter; }

static void run_noting(void) {
    for (int told = lines; pdk__outbox_run_one(session); told = lines)
        if (lines > told)
            note((void *)"-");
}

START_TEST(losses_go_first_and_lines_last) {
    order[0] = '\0';
    log_lines(2);
    ck_assert(pdk__later(session, note, forget, (void *)"a"));
    ck_assert(pdk__later_first(session, note, forget, (void *)"X"));
    ck_assert(pdk__later(session, note, forget, (void *)"b"));
    ck_assert(pdk__later_first(session, note, forget, (void *)"Y"));
    run_noting();
    ck_assert_str_eq(order, "XYab--");
}
END_TEST

/* The line that says how many are missing is a call of its own, so a loss goes between it and the next one. */
START_TEST(a_loss_waits_for_one_line_at_most) {
    order[0] = '\0';
    log_lines(PDK__LOG_LINES_MAX + 1);
    ck_assert(pdk__outbox_run_one(session));
    ck_assert_int_eq(drops, 1);
    ck_assert_int_eq(lines, 0);
    ck_assert(pdk__later_first(session, note, forget, (void *)"X"));
    ck_assert(pdk__outbox_run_one(session));
    ck_assert_str_eq(order, "X");
    ck_assert_int_eq(lines, 0);
}
END_TEST

/* Of what has begun, and of what still waits. Lines of the log do not count. */
START_TEST(the_longest_delay_is_told_until_it_is_forgotten) {
    order[0] = '\0';
    log_lines(2);
    ck_assert_uint_eq(stats().callbacks_queued, 0);
    ck_assert(pdk__later_first(session, note, forget, (void *)"X"));
    clock_ns += 3000;
    ck_assert(pdk__later(session, note, forget, (void *)"Y"));
    ck_assert_uint_eq(stats().callbacks_queued, 2);
    ck_assert_uint_eq(stats().callback_delay_us, 3);
    clock_ns += 2000;
    ck_assert(pdk__outbox_run_one(session));
    ck_assert_str_eq(order, "X");
    ck_assert_uint_eq(stats().callbacks_queued, 1);
    ck_assert_uint_eq(stats().callback_delay_us, 5);
    pdk__outbox_forget_delay(session);
    ck_assert_uint_eq(stats().callback_delay_us, 2);
    run_all();
    clock_ns += 9000;
    ck_assert_uint_eq(stats().callbacks_queued, 0);
    ck_assert_uint_eq(stats().callback_delay_us, 2);
    ck_assert_str_eq(order, "XY");
}
END_TEST

/* There is a place for each format of the library. Lines of one more are told, however many there are. */
START_TEST(lines_of_too_many_formats_are_told) {
    static char formats[PDK__LOG_FORMATS + 1][8];
    const int more = PDK__LOG_ALIKE_MAX + 50;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    for (int i = 0; i <= PDK__LOG_FORMATS; i++) {
        g_strlcpy(formats[i], "a line", sizeof formats[i]);
        for (int k = 0; k < (i == PDK__LOG_FORMATS || i == 0 ? more : 1); k++)
            pdk__log(session, PDK_LOG_WARN, formats[i], NULL);
    }
#pragma GCC diagnostic pop
    run_all();
    ck_assert_int_eq(lines, PDK__LOG_ALIKE_MAX + PDK__LOG_FORMATS - 1 + more);
    ck_assert_uint_eq(stats().log_lines_dropped, 50);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_log");
    TCase *cases = tcase_create("driver_log");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, lines_without_room_are_counted);
    tcase_add_test(cases, of_lines_that_are_alike_one_a_second_is_told);
    tcase_add_test(cases, lines_of_too_many_formats_are_told);
    tcase_add_test(cases, a_silent_outbox_stays_readable);
    tcase_add_test(cases, losses_go_first_and_lines_last);
    tcase_add_test(cases, a_loss_waits_for_one_line_at_most);
    tcase_add_test(cases, the_longest_delay_is_told_until_it_is_forgotten);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
