/* A process of each recipe is paused past its session, side by side: as a holder, for a moment, and as a waiter that becomes the first
 * meanwhile. The processes are this program, run again as: test_recipes_paused HOSTS PATH RECIPE. */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_support.h"

/* Ours are never paused, and do not lose their sessions, however busy the machine is. */
enum { SESSION_MS = 6000, PAUSE_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000 };

/* ---- the process */

static void say(const char *word, int64_t number) {
    printf("%s %" PRId64 "\n", word, number);
    fflush(stdout);
}

/* Looks again and again. Says what the first look after a pause has shown, which comes after `last`; and the next one. Wherever the pause
 * falls, one of the two distances shows it. */
static void look(ts_answer *held, int64_t last) {
    for (;;) {
        const int64_t before = ts_now_ms();
        bool valid = ts_answer_is_valid(held);
        const int64_t now = ts_now_ms();
        if (now - before > PAUSE_MS)
            valid = ts_answer_is_valid(held); /* the pause may have come after the first look */
        if (now - last > PAUSE_MS) {
            say("valid", valid);
            ts_sleep_ms(500);
            say("later", ts_answer_is_valid(held));
            return;
        }
        last = now;
        ts_sleep_ms(2);
    }
}

static int run_process(const char *hosts, const char *path, const recipe *r) {
    const ts_client *client = ts_client_open(hosts, SESSION_MS);
    if (!client)
        return EXIT_FAILURE;
    void *object = r->make(client, path);
    ts_answer *held = recipe_now(r, object, 60000);
    const int64_t granted = ts_now_ms();
    if (ts_answer_status(held) != PDK_OK) {
        fprintf(stderr, "%s: %s\n", r->name, pdk_last_error());
        return EXIT_FAILURE;
    }
    say("granted", ts_answer_is_valid(held) ? ts_answer_token(held) : 0);
    look(held, granted);
    say("released", recipe_release(r, object, held));
    return EXIT_SUCCESS;
}

/* ---- the test: the processes, and our second clients */

static struct {
    pid_t pid;
    FILE *from;
} processes[RECIPES];

static void start_processes(void) {
    for (each_side(s)) {
        g_autofree char *row = g_strdup_printf("%d", (int)(s - sides));
        const char *const argv[] = {"/proc/self/exe", ts_bench_server(), s->p.path, row, NULL};
        int fd = -1;
        const pid_t pid = ts_spawn(argv, &fd);
        ck_assert_int_gt(pid, 0);
        processes[s - sides].pid = pid;
        processes[s - sides].from = fdopen(fd, "r");
        setvbuf(processes[s - sides].from, NULL, _IONBF, 0); /* so that the descriptor tells whether there is more */
    }
}

static void end_processes(void) {
    for (int i = 0; i < RECIPES; i++) {
        if (processes[i].pid > 0) {
            ts_kill(processes[i].pid);
            fclose(processes[i].from);
        }
        processes[i].pid = 0;
    }
}

/* The number of the next line of that process, which must begin with that word. */
static int64_t read_number(const struct side *s, const char *word) {
    FILE *from = processes[s - sides].from;
    const char *name = s->p.r->name;
    char line[128] = "";

    ck_assert_msg(ts_fd_readable(fileno(from), ts_patience(PATIENCE_MS)), "%s: no word of %s", name, word);
    ck_assert_msg(fgets(line, sizeof line, from) != NULL, "%s: the process has ended, before %s", name, word);
    ck_assert_msg(g_str_has_prefix(line, word), "%s: not %s but %s", name, word, line);
    return g_ascii_strtoll(line + strlen(word) + 1, NULL, 10);
}

static void expect_words(bool valid, pdk_status released) {
    for (each_side(s)) {
        assert_recipe(s->p.r, read_number(s, "valid") == valid);
        assert_recipe(s->p.r, read_number(s, "later") == valid);
        assert_recipe(s->p.r, read_number(s, "released") == (int64_t)released);
    }
}

static void pause_all(void) {
    for (each_side(s))
        ck_assert(ts_pause(processes[s - sides].pid));
}

static void resume_all(void) {
    for (each_side(s))
        ck_assert(ts_resume(processes[s - sides].pid));
}

static void hold_in_processes(void) {
    sides_begin(SLOW_MS);
    start_processes();
    for (each_side(s)) {
        s->token = read_number(s, "granted");
        assert_recipe(s->p.r, s->token > 0);
    }
}

/* Our claims that waited are granted, after the sessions of the processes have ended. */
static void await_ours(void) {
    for (each_side(s)) {
        ck_assert_msg(ts_answer_wait(s->waiter, ts_patience(PATIENCE_MS)), "%s: not granted", s->p.r->name);
        recipe_await(s->p.r->against, s->waiter, PDK_OK);
    }
}

START_TEST(a_holder_past_its_session) {
    hold_in_processes();
    sides_follow();
    pause_all();
    await_ours();
    resume_all();
    expect_words(false, PDK_LOST);
    for (each_side(s)) {
        assert_recipe(s->p.r, s->p.r->against != s->p.r || ts_answer_token(s->waiter) > s->token);
        assert_recipe(s->p.r, ts_answer_is_valid(s->waiter));
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->against->held);
    }
}
END_TEST

/* For less than the lease: what is held is as good as before. */
START_TEST(a_holder_for_a_moment) {
    hold_in_processes();
    pause_all();
    ts_sleep_ms(PAUSE_MS + 100);
    resume_all();
    expect_words(true, PDK_OK);
}
END_TEST

/* The process is next, what is ahead goes, and the process sleeps. When it wakes, another client has been granted, and the process queues
 * behind that one. */
START_TEST(a_waiter_that_becomes_the_first) {
    sides_begin(SLOW_MS);
    for (each_side(s))
        s->held = pair_obstruct(&s->p, 0);
    start_processes();
    for (each_side(s))
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->against->held + s->p.r->waiting);
    ts_sleep_ms(50);
    sides_follow();
    pause_all();
    for (each_side(s))
        pair_admit(&s->p, 0, s->held);
    await_ours();
    resume_all();
    for (each_side(s)) /* it has queued again */
        recipe_await_nodes(s->p.r, s->p.path, s->p.r->against->held + s->p.r->waiting);
    ts_sleep_ms(200);
    for (each_side(s)) {
        const int64_t token = ts_answer_token(s->waiter);
        assert_recipe(s->p.r, ts_answer_is_valid(s->waiter));
        pair_admit(&s->p, 1, s->waiter);
        const int64_t later = read_number(s, "granted"); /* and not before */
        assert_recipe(s->p.r, s->p.r->below != NULL || later > token);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("recipes_paused");
    TCase *tcase = ts_bench_case(suite, "recipes_paused");
    tcase_add_checked_fixture(tcase, NULL, end_processes);
    tcase_add_test(tcase, a_holder_past_its_session);
    tcase_add_test(tcase, a_holder_for_a_moment);
    tcase_add_test(tcase, a_waiter_that_becomes_the_first);
    return suite;
}

int main(int argc, char **argv) {
    return argc == 4 ? run_process(argv[1], argv[2], &recipes[atoi(argv[3])]) : ts_run_suite(make_suite());
}
