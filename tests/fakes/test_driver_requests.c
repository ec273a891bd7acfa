/* Directed scenarios of the driver in simulated time: requests that cannot be sent, answers that do not count, descriptors. */
#include "platform_bench.h"
#include "session/dispatch.h"
#include "session/live_query.h"
#include "session/ops.h"
#include "session/session.h"
#include "session/supervise.h"
#include "session/watches.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- what cannot be sent */

/* What was not sent is sent again. */
START_TEST(requests_that_cannot_be_sent_are_sent_later) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_DELETE,
                                              PDK__OP_MKDIR};
    rival_open(first);
    rival_open(second);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const bool mkdir = kinds[i] == PDK__OP_MKDIR; /* the directory is there but for the first time */
        if (mkdir)
            platform_pass(20 * SECOND);
        else
            rival_acquire(second, PDK_FOREVER);
        platform_pass(SECOND);
        platform_refuse(kinds[i], 3);
        rival_acquire(first, PDK_FOREVER);
        platform_pass(SECOND);
        if (!mkdir)
            rival_release(second);
        platform_pass(SECOND);
        ck_assert_msg(first->hold != NULL, "kind %d", (int)kinds[i]);
        rival_release(first);
        platform_pass(SECOND);
        ck_assert_int_eq(platform_refused(), 3);
        ck_assert_uint_eq(platform_contenders(), 0);
        ck_assert_uint_eq(first->session->watched_bytes, 0);
    }
}
END_TEST

/* ---- answers */

static struct {
    int asked, answers, empty;
} answered;

static void on_answer(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    answered.answers++;
    answered.empty += !reply;
}

static void ask_in(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__lock(s);
    answered.asked += pdk__send(s, (struct pdk__request){.kind = PDK__OP_STAT, .path = "/"}, on_answer, NULL);
    if (what)
        pdk__session_reopen(s, "as a test wants it");
    pdk__unlock(s);
}

START_TEST(answers_of_an_older_handle_count_for_nothing) {
    bool reopen = true;
    memset(&answered, 0, sizeof answered);
    rival_open(first);
    platform_pass(SECOND);
    sim_call_in(&first->process, ask_in, first, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(answered.answers, 1);
    ck_assert_int_eq(answered.empty, 0);
    sim_call_in(&first->process, ask_in, first, &reopen);
    platform_pass(TIMEOUT);
    ck_assert_int_eq(answered.answers, 2);
    ck_assert_int_eq(answered.empty, 1);
    sim_call_in(&first->process, ask_in, first, NULL);
    sim_dispose(&first->process, rival_gives_back, first, NULL);
    ck_assert_int_eq(answered.asked, 3);
    ck_assert_int_eq(answered.answers, 3);
    ck_assert_int_eq(answered.empty, 2);
}
END_TEST

/* Reads prove nothing: renewals go on beside them. */
START_TEST(reads_are_no_reason_to_renew_later) {
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    for (int i = 0; i < 400; i++) {
        sim_call_in(&first->process, ask_in, first, NULL);
        platform_pass(20 * SIM_MS);
        ck_assert(rival_is_valid(first));
    }
    ck_assert_uint_eq(first->losses, 0);
}
END_TEST

/* ---- a live query */

static bool ask_nothing(struct pdk__live_query *l) {
    pdk__live_query_done(l, true);
    return true;
}

static int freed;

static void count_free(struct pdk__live_query *l) {
    (void)l;
    freed++;
}

/* How many watch x and y, and how many keys the query has: before and after it forgets them. */
struct watched {
    guint x[2], keys[2];
    bool y[2];
};

static void look(pdk_session *s, const struct pdk__live_query *l, struct watched *watched, int when) {
    const GPtrArray *watchers = g_hash_table_lookup(s->watches, "/x");
    watched->x[when] = watchers->len;
    watched->y[when] = g_hash_table_contains(s->watches, "/y");
    watched->keys[when] = g_hash_table_size(l->keys);
}

static void watch_and_forget(void *subject, void *what) {
    static const struct pdk__live_query_calls query_calls = {.ask = ask_nothing, .free = count_free};
    static struct pdk__live_query l;
    pdk_session *s = ((struct rival *)subject)->session;
    freed = 0;
    pdk__lock(s);
    pdk__live_query_init(&l, s, &query_calls);
    pdk__live_query_watch(&l, "/x");
    pdk__live_query_watch(&l, "/y");
    pdk__live_query_watch(&l, "/z");
    look(s, &l, what, 0);
    pdk__live_query_unwatch(&l, "/x");
    pdk__live_query_unset(&l, "/y");
    look(s, &l, what, 1);
    pdk__live_query_stop(&l);
    pdk__unlock(s);
}

START_TEST(a_live_query_forgets_what_it_does_not_watch_any_more) {
    struct watched watched;
    rival_open(first);
    platform_pass(SECOND);
    sim_call_in(&first->process, watch_and_forget, first, &watched);
    ck_assert(watched.x[0] == 1 && watched.y[0] && watched.keys[0] == 3);
    ck_assert(watched.x[1] == 0 && !watched.y[1] && watched.keys[1] == 1);
    ck_assert_int_eq(freed, 1);
}
END_TEST

/* ---- no words of the program reach a hold's descriptor */

static int own_input = -1;

static void give_up_input(void) {
    own_input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    ck_assert_int_ge(own_input, 10);
    close(STDIN_FILENO);
}

static void take_input_back(void) {
    dup2(own_input, STDIN_FILENO);
    close(own_input);
}

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static void ask_for_fd(void *subject, void *what) { *(int *)what = pdk_hold_fd(((struct rival *)subject)->hold); }

START_TEST(the_descriptor_of_a_hold_is_none_of_the_standard) {
    int fd, again;
    char word[8];
    give_up_input();
    rival_open(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    sim_call_in(&first->process, ask_for_fd, first, &fd);
    ck_assert_int_gt(fd, STDERR_FILENO);
    sim_call_in(&first->process, ask_for_fd, first, &again);
    ck_assert_int_eq(again, fd);
    ck_assert_int_eq(read(fd, word, sizeof word), -1);
    platform_block(first, true);
    platform_pass(2 * TIMEOUT);
    ck_assert_int_eq(read(fd, word, sizeof word), sizeof word);
    rival_release(first);
    platform_pass(SECOND);
    ck_assert(!is_open(fd));
    take_input_back();
}
END_TEST

START_TEST(the_descriptor_of_callbacks_is_none_of_the_standard) {
    pdk_session s = {0};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = PDK_DISPATCH_MANUAL;
    give_up_input();
    ck_assert_int_eq(pdk__outbox_init(&s, &options), PDK_OK);
    int fd = s.outbox.fd;
    ck_assert_int_gt(fd, STDERR_FILENO);
    pdk__outbox_clear(&s);
    ck_assert(!is_open(fd));
    take_input_back();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_requests");
    TCase *cases = tcase_create("driver_requests");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, requests_that_cannot_be_sent_are_sent_later);
    tcase_add_test(cases, answers_of_an_older_handle_count_for_nothing);
    tcase_add_test(cases, reads_are_no_reason_to_renew_later);
    tcase_add_test(cases, a_live_query_forgets_what_it_does_not_watch_any_more);
    tcase_add_test(cases, the_descriptor_of_a_hold_is_none_of_the_standard);
    tcase_add_test(cases, the_descriptor_of_callbacks_is_none_of_the_standard);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
