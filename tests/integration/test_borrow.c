/* The handle of the client library, borrowed for other work: beside a lock, across an expiry, by several threads, and when the
 * session is closed meanwhile. */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_expire.h"
#include "ts_support.h"
#include "ts_wire.h"

enum { SESSION_MS = 3000 };

/* What came of one request, or how often a watch or `closed` was called. It lives as long as the program: an answer may be late. */
struct outcome {
    atomic_int answers, code, events;
    pdk_status inside; /* of a blocking call in the completion */
    ts_client *client;
};

static struct outcome *outcome_new(void) {
    struct outcome *o = g_new0(struct outcome, 1);
    ts_paddock_keep(o, g_free);
    return o;
}

static bool is_answered(void *o) { return atomic_load(&((struct outcome *)o)->answers) > 0; }
static bool has_fired(void *o) { return atomic_load(&((struct outcome *)o)->events) > 0; }

static void on_text(int code, const char *text, const void *user) {
    struct outcome *o = (struct outcome *)user;
    (void)text;
    atomic_store(&o->code, code);
    if (o->client)
        o->inside = pdk_session_flush(o->client->session, 1000);
    atomic_fetch_add(&o->answers, 1);
}

static void on_void(int code, const void *user) { on_text(code, NULL, user); }

static void on_data(int code, const char *data, int size, const struct Stat *stat, const void *user) {
    (void)size;
    (void)stat;
    on_text(code, data, user);
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *user) {
    (void)zh;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        atomic_fetch_add(&((struct outcome *)user)->events, 1);
}

static void on_closed(void *user) { atomic_fetch_add(&((struct outcome *)user)->events, 1); }

static pdk_borrow *borrow(const ts_client *client, struct outcome *closed) {
    pdk_borrow *b = NULL;
    ck_assert_int_eq(pdk_session_borrow(client->session, closed ? on_closed : NULL, closed, &b), PDK_OK);
    ck_assert_ptr_nonnull(pdk_borrow_handle(b));
    ck_assert(pdk_borrow_is_current(b));
    return b;
}

static int create(const pdk_borrow *b, const char *path, struct outcome *o) {
    return zoo_acreate(pdk_borrow_handle(b), path, "mine", 4, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_text, o);
}

/* ---- beside a lock */

START_TEST(other_nodes_beside_a_lock) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_hold *hold = ts_bench_acquire(ts_lock(client, ts_fresh_path()), 5000);
    struct outcome *made = outcome_new(), *read = outcome_new(), *watch = outcome_new(), *gone = outcome_new();
    pdk_borrow *b = borrow(client, NULL);

    made->client = client;
    ck_assert_int_eq(create(b, "/borrowed", made), ZOK);
    ck_assert(ts_wait_until(is_answered, made, ts_patience(5000)));
    ck_assert_int_eq(atomic_load(&made->code), ZOK);
    ck_assert_int_eq(made->inside, PDK_WRONG_THREAD);
    ck_assert_int_eq(zoo_awget(pdk_borrow_handle(b), "/borrowed", on_event, watch, on_data, read), ZOK);
    ck_assert_int_eq(zoo_adelete(pdk_borrow_handle(b), "/borrowed", -1, on_void, gone), ZOK);
    ck_assert(ts_wait_until(has_fired, watch, ts_patience(5000)));
    ck_assert(ts_wait_until(is_answered, read, ts_patience(5000)));
    pdk_borrow_release(b);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- expiry in the middle */

START_TEST(an_expiry_takes_the_handle_away_and_not_its_memory) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    struct outcome *closed = outcome_new(), *early = outcome_new(), *late = outcome_new(), *next = outcome_new();
    pdk_borrow *b = borrow(client, closed), *second = borrow(client, NULL);
    ck_assert_int_eq(create(b, "/ends_with_its_session", early), ZOK);
    ck_assert(ts_wait_until(is_answered, early, ts_patience(5000)));

    ck_assert_int_eq(ts_expire(client->proxy, ts_bench_server()), 0);
    ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(6000)));
    ck_assert(!pdk_borrow_is_current(b));
    ck_assert(is_unrecoverable(pdk_borrow_handle(b)));
    ck_assert_int_eq(create(b, "/too_late", late), ZINVALIDSTATE);
    /* The lock does not wait for the return. */
    ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(lock, 5000)), PDK_OK);
    pdk_borrow *anew = borrow(client, NULL);
    ck_assert_ptr_ne(pdk_borrow_handle(anew), pdk_borrow_handle(b));
    ck_assert_int_eq(create(anew, "/ends_with_its_session", next), ZOK);
    ck_assert(ts_wait_until(is_answered, next, ts_patience(5000)));
    ck_assert_int_eq(atomic_load(&next->code), ZOK);

    pdk_borrow_release(b);
    ts_sleep_ms(200);
    ck_assert(!has_fired(closed)); /* somebody has it still */
    pdk_borrow_release(second);
    ck_assert(ts_wait_until(has_fired, closed, ts_patience(6000)));
    pdk_borrow_release(anew);
    ck_assert_int_eq(pdk_session_close(client->session, ts_patience(5000)), PDK_OK);
    ck_assert_int_eq(atomic_load(&closed->events), 1);
}
END_TEST

/* Without a connection the handle is lent as well: what is asked is answered once there is one. */
START_TEST(a_lost_connection_takes_nothing_away) {
    ts_client *client = ts_bench_client(SESSION_MS);
    struct outcome *made = outcome_new();
    ts_proxy_set_mode(client->proxy, TS_CUT);
    ck_assert(ts_wait_event(client, PDK_SESSION_SUSPENDED, 1, ts_patience(6000)));
    pdk_borrow *b = borrow(client, NULL);
    int64_t id = 0;
    unsigned char password[16];
    char servers[200];
    ck_assert_int_eq(pdk_session_secret(client->session, &id, password, servers, sizeof servers), PDK_OK);
    ck_assert_int_eq(id, pdk_session_id(client->session));
    ts_proxy_heal(client->proxy);
    ck_assert(ts_wait_event(client, PDK_SESSION_RESTORED, 1, ts_patience(6000)));
    ck_assert(pdk_borrow_is_current(b));
    ck_assert_int_eq(create(b, "/after_the_cut", made), ZOK);
    ck_assert(ts_wait_until(is_answered, made, ts_patience(5000)));
    ck_assert_int_eq(atomic_load(&made->code), ZOK);
    pdk_borrow_release(b);
}
END_TEST

/* ---- several threads */

struct worker {
    ts_client *client;
    atomic_bool *stop;
    int number;
    atomic_int written;
    struct outcome *closed;
};

static void *work(void *user) {
    struct worker *w = user;
    char *path = g_strdup_printf("/worker%d", w->number);
    while (!atomic_load(w->stop)) {
        pdk_borrow *b = NULL;
        if (pdk_session_borrow(w->client->session, on_closed, w->closed, &b) != PDK_OK) {
            ts_sleep_ms(5);
            continue;
        }
        for (int i = 0; i < 10 && pdk_borrow_is_current(b); i++) {
            struct outcome *o = outcome_new();
            if (create(b, path, o) == ZOK && ts_wait_until(is_answered, o, 500))
                atomic_fetch_add(&w->written, atomic_load(&o->code) == ZOK || atomic_load(&o->code) == ZNODEEXISTS);
        }
        pdk_borrow_release(b);
    }
    g_free(path);
    return NULL;
}

static bool all_have_written(void *workers) {
    for (struct worker *w = workers; w->client; w++)
        if (atomic_load(&w->written) < 20)
            return false;
    return true;
}

START_TEST(several_threads_across_expiries) {
    enum { WORKERS = 4 };
    atomic_bool stop = false;
    struct worker workers[WORKERS + 1] = {0};
    pthread_t threads[WORKERS];
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.client = client, .stop = &stop, .number = i, .closed = outcome_new()};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int expiries = 1; expiries <= 2; expiries++) {
        for (int i = 0; i < WORKERS; i++)
            atomic_store(&workers[i].written, 0);
        ck_assert(ts_wait_until(all_have_written, workers, ts_patience(20000)));
        ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(lock, 5000)), PDK_OK);
        ck_assert_int_eq(ts_expire(client->proxy, ts_bench_server()), 0);
        ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, expiries, ts_patience(6000)));
    }
    atomic_store(&stop, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(pdk_session_close(client->session, ts_patience(5000)), PDK_OK);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_gt(atomic_load(&workers[i].closed->events), 0);
}
END_TEST

/* ---- close while borrowed */

/* _i: the session of the handle has expired. */
START_TEST(a_close_waits_for_the_return) {
    ts_client *client = ts_bench_client(SESSION_MS);
    struct outcome *closed = outcome_new(), *made = outcome_new();
    pdk_borrow *b = borrow(client, closed), *refused = NULL;
    if (_i) {
        ck_assert_int_eq(ts_expire(client->proxy, ts_bench_server()), 0);
        ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(6000)));
    }
    ck_assert_int_eq(pdk_session_close(client->session, 300), PDK_TIMEOUT);
    ck_assert(!pdk_borrow_is_current(b));
    ck_assert(!has_fired(closed));
    ck_assert_int_eq(pdk_session_borrow(client->session, NULL, NULL, &refused), PDK_CLOSED);
    if (!_i) {
        ck_assert_int_eq(create(b, "/during_the_close", made), ZOK);
        ck_assert(ts_wait_until(is_answered, made, ts_patience(5000)));
        ck_assert_int_eq(atomic_load(&made->code), ZOK);
    }
    pdk_borrow_release(b);
    ck_assert_int_eq(pdk_session_close(client->session, ts_patience(5000)), PDK_OK);
    ck_assert_int_eq(atomic_load(&closed->events), 1);
}
END_TEST

/* ---- the secret of the session */

static bool is_lost(void *hold) { return !pdk_hold_is_valid(hold); }

START_TEST(the_secret_ends_the_session_and_no_other_one) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_hold *hold = ts_bench_acquire(ts_lock(client, ts_fresh_path()), 5000);
    ts_session_key key = {.timeout_ms = SESSION_MS}, wrong, next = key;
    unsigned char password[16];
    char servers[200], small[200];

    ck_assert_uint_eq(sizeof key.password, sizeof password);
    ck_assert_int_eq(pdk_session_secret(client->session, &key.id, password, servers, sizeof servers), PDK_OK);
    memcpy(key.password, password, sizeof password);
    ck_assert_int_eq(key.id, pdk_session_id(client->session));
    ck_assert_msg(strncmp(servers, "127.0.0.", 8) == 0 && strchr(servers, ','), "%s", servers); /* the peer, and all */
    const size_t first = (size_t)(strchr(servers, ',') - servers);
    ck_assert_int_eq(pdk_session_secret(client->session, &next.id, password, small, first + 4), PDK_OK);
    ck_assert_msg(strlen(small) == first && strncmp(small, servers, first) == 0, "%s", small); /* none is cut in two */
    ck_assert_int_eq(pdk_session_secret(client->session, &next.id, password, small, 4), PDK_OK);
    ck_assert_str_eq(small, "");
    wrong = key;
    wrong.password[0] ^= 1;
    /* Each attempt throws the client out, also one that is refused. It would come back at once, and throw ours out. */
    ts_proxy_set_mode(client->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_expire_session(ts_bench_server(), &wrong), PDK__TEST_EXPIRED);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(ts_expire_session(ts_bench_server(), &key), 0);
    ts_proxy_set_mode(client->proxy, TS_PASS);
    ck_assert(ts_wait_until(is_lost, hold, ts_patience(6000)));
    ck_assert(ts_wait_event(client, PDK_SESSION_REOPENED, 1, ts_patience(6000)));
    ck_assert_int_eq(pdk_session_secret(client->session, &next.id, password, servers, sizeof servers), PDK_OK);
    ck_assert_int_ne(next.id, key.id);
    ck_assert_int_ne(memcmp(password, key.password, sizeof password), 0);
    (void)pdk_hold_release(hold);
}
END_TEST

START_TEST(where_there_is_no_session_yet) {
    pdk_borrow *b = NULL;
    int64_t id = 7;
    unsigned char password[16];
    char servers[64];
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *nowhere = NULL;
    ts_client *client = ts_bench_client(SESSION_MS);
    ck_assert_int_eq(pdk_session_secret(client->session, &id, password, servers, 0), PDK_INVALID);
    options.open_in_background = 1;
    ck_assert_int_eq(pdk_session_open("127.0.0.1:1", &options, &nowhere), PDK_OK);
    ck_assert_int_eq(pdk_session_secret(nowhere, &id, password, servers, sizeof servers), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_session_borrow(nowhere, NULL, NULL, &b), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_session_close(nowhere, ts_patience(5000)), PDK_OK);
    pdk_session_unref(nowhere);
    ck_assert_int_eq(id, 7);
    ck_assert_ptr_null(b);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("borrow");
    TCase *use = ts_bench_case(suite, "use");
    tcase_add_test(use, other_nodes_beside_a_lock);
    tcase_add_test(use, an_expiry_takes_the_handle_away_and_not_its_memory);
    tcase_add_test(use, a_lost_connection_takes_nothing_away);
    tcase_add_test(use, several_threads_across_expiries);
    TCase *end = ts_bench_case(suite, "end");
    tcase_add_loop_test(end, a_close_waits_for_the_return, 0, 2);
    TCase *secret = ts_bench_case(suite, "secret");
    tcase_add_test(secret, the_secret_ends_the_session_and_no_other_one);
    tcase_add_test(secret, where_there_is_no_session_yet);
    return ts_run_suite(suite);
}
