/* The limits that the library keeps: the total bytes of a session's ephemeral paths, and of the paths that it
 * watches. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "ts_check.h"
#include "ts_paddock.h"
#include "ts_support.h"

enum {
    PATH_BYTES = 490, /* of a lock's path; a node's path has some 545 */
    MANY = 2000,      /* nodes: more than one session may have */
    MOST = 10000,     /* nodes that one session may have, below paths of 39 bytes */
    FEWER = 900,      /* fewer nodes, but twice as many are more paths than a session may watch */
    EPHEMERAL_MAX = 1000 * 1024,
};

static ts_ensemble *server;
static char *base; /* the directory of all locks: a long path, so that few locks are enough */

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    base = g_strnfill(PATH_BYTES - 8, 'b');
    base[0] = '/';
}

static void end(void) {
    g_free(base);
    ts_ensemble_stop(server);
}

/* The claims of one session, and their results. */
struct many {
    int count;
    pdk_session *session;
    pdk_lock *locks[MOST];
    pdk_hold
        *holds[MOST]; /* each callback writes its own; the test reads them when `answered` says that all have run */
    pdk_claim *claims[MOST];
    atomic_int answered, by_status[PDK_SYSTEM + 1];
};

struct slot {
    struct many *many;
    int index;
};

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct slot *slot = user;
    slot->many->holds[slot->index] = hold;
    atomic_fetch_add(&slot->many->by_status[status], 1);
    atomic_fetch_add(&slot->many->answered, 1);
    g_free(slot);
}

static pdk_session *opened[4]; /* sessions that a failed test leaves open: teardown closes them */

static pdk_session *open_session_at(const char *hosts) {
    size_t slot = 0;
    while (opened[slot])
        slot++;
    ck_assert_int_eq(pdk_session_open(hosts, NULL, &opened[slot]), PDK_OK);
    return opened[slot];
}

static pdk_session *open_session(void) { return open_session_at(ts_ensemble_hosts(server)); }

static void close_session(pdk_session *s) {
    size_t slot = 0;
    while (opened[slot] != s)
        slot++;
    ck_assert_int_eq(pdk_session_close(s, ts_patience(60000)), PDK_OK);
    pdk_session_unref(g_steal_pointer(&opened[slot]));
}

static void close_left(void) {
    for (size_t slot = 0; slot < G_N_ELEMENTS(opened); slot++) {
        pdk_session_close(opened[slot], 10000);
        pdk_session_unref(g_steal_pointer(&opened[slot]));
    }
}

static struct many *many_new(pdk_session *s, const char *dir, int first, int count) {
    struct many *many = g_new0(struct many, 1);
    many->session = s;
    many->count = count;
    for (int i = 0; i < count; i++) {
        char *path = g_strdup_printf("%s/%06d", dir, first + i);
        ck_assert_int_eq(pdk_lock_new(s, path, NULL, &many->locks[i]), PDK_OK);
        g_free(path);
    }
    return many;
}

static void many_free(struct many *many) {
    for (int i = 0; i < many->count; i++)
        pdk_lock_unref(many->locks[i]);
    g_free(many);
}

static bool all_answered(void *user) {
    struct many *many = user;
    return atomic_load(&many->answered) == many->count;
}

static int answers_of(struct many *many, pdk_status status) { return atomic_load(&many->by_status[status]); }

/* One claim for each lock. */
static void claim_all(struct many *many) {
    memset(many->holds, 0, sizeof many->holds);
    atomic_store(&many->answered, 0);
    for (int i = 0; i <= PDK_SYSTEM; i++)
        atomic_store(&many->by_status[i], 0);
    for (int i = 0; i < many->count; i++) {
        struct slot *slot = g_new(struct slot, 1);
        *slot = (struct slot){many, i};
        ck_assert_int_eq(pdk_lock_acquire_async(many->locks[i], 60000, on_answer, slot, &many->claims[i]), PDK_OK);
    }
}

static void await_answers(struct many *many) {
    bool all = ts_wait_until(all_answered, many, 60000);
    ck_assert_msg(all, "%d of %d answered, %d OK, %d LIMIT", atomic_load(&many->answered), many->count,
                  answers_of(many, PDK_OK), answers_of(many, PDK_LIMIT));
    for (int i = 0; i < many->count; i++)
        pdk_claim_unref(g_steal_pointer(&many->claims[i]));
}

static void acquire_all(struct many *many) {
    claim_all(many);
    await_answers(many);
}

static void cancel_all(struct many *many) {
    for (int i = 0; i < many->count; i++)
        pdk_claim_cancel(many->claims[i]);
    await_answers(many);
}

static int release_all(struct many *many) {
    int released = 0;
    for (int i = 0; i < many->count; i++) {
        if (many->holds[i]) {
            ck_assert_int_eq(pdk_hold_release(many->holds[i]), PDK_OK);
            released++;
        }
    }
    ck_assert_int_eq(pdk_session_flush(many->session, 30000), PDK_OK);
    return released;
}

static size_t path_bytes_of(struct many *many) {
    size_t bytes = 0;
    for (int i = 0; i < many->count; i++) {
        if (many->holds[i]) {
            char **words = g_strsplit(pdk_hold_sequencer(many->holds[i]), " ", -1);
            bytes += strlen(words[1]);
            g_strfreev(words);
        }
    }
    return bytes;
}

START_TEST(ephemeral_paths_of_a_session_are_bounded) {
    struct many *many = many_new(open_session(), base, 0, MANY);
    pdk_session *s = many->session;
    for (int round = 0; round < 2; round++) { /* space that was given back can be used again */
        acquire_all(many);
        int held = answers_of(many, PDK_OK);
        ck_assert_int_eq(held + answers_of(many, PDK_LIMIT), MANY);
        ck_assert_uint_le(path_bytes_of(many), EPHEMERAL_MAX);
        ck_assert_uint_gt(path_bytes_of(many), EPHEMERAL_MAX * 9 / 10); /* and no sooner than necessary */
        ck_assert_int_eq(ts_ephemeral_count(ts_ensemble_host(server, 0)), held);

        pdk_hold *hold = (pdk_hold *)&server;
        ck_assert_int_eq(pdk_lock_acquire(many->locks[MANY - 1], 1000, &hold), PDK_LIMIT);
        ck_assert_msg(strstr(pdk_last_error(), "1000 KiB") != NULL, "%s", pdk_last_error());
        ck_assert_ptr_eq(hold, (pdk_hold *)&server);
        ck_assert_int_eq(release_all(many), held);
        ck_assert_int_eq(ts_ephemeral_count(ts_ensemble_host(server, 0)), 0);
    }
    many_free(many);
    close_session(s);
}
END_TEST

struct reopened {
    pdk_session *session;
    int64_t before;
};

static bool has_reopened(void *user) {
    const struct reopened *r = user;
    int64_t id = pdk_session_id(r->session);
    return id != 0 && id != r->before;
}

/* The transaction that ends the session lists all of its paths. */
START_TEST(the_end_of_a_session_with_10000_locks_can_be_reloaded) {
    const char *host = ts_ensemble_host(server, 0);
    ts_proxy *proxy = ts_ensemble_proxy(server, 0);
    g_autofree char *dir = g_strnfill(32, 's');
    ts_session_key key;

    dir[0] = '/';
    struct many *many = many_new(open_session_at(ts_ensemble_proxied_hosts(server)), dir, 0, MOST);
    acquire_all(many);
    ck_assert_int_eq(answers_of(many, PDK_OK), MOST);
    ck_assert_uint_gt(path_bytes_of(many), EPHEMERAL_MAX * 9 / 10);
    ck_assert_int_eq(ts_ephemeral_count(host), MOST);

    ck_assert(ts_proxy_last_session(proxy, &key));
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_expire_session(host, &key), 0);
    ck_assert_int_eq(ts_ephemeral_count(host), 0);
    ts_ensemble_kill(server, 0);
    ck_assert(ts_ensemble_restart(server, 0));
    ck_assert(ts_ensemble_wait_ready(server, 60000));
    ck_assert_int_eq(ts_ephemeral_count(host), 0);
    ts_proxy_set_mode(proxy, TS_PASS);
    struct reopened reopened = {many->session, key.id};
    ck_assert(ts_wait_until(has_reopened, &reopened, ts_patience(60000)));

    for (int i = 0; i < MOST; i++)
        pdk_hold_release(many->holds[i]);
    close_session(many->session);
    many_free(many);
}
END_TEST

/* Each of them watches, or was refused a watch. */
static bool all_watch_or_are_refused(void *user) {
    struct many *const *ours = user;
    int64_t watches = ts_watch_count(ts_ensemble_host(server, 0));
    return watches - 2 * FEWER >= FEWER + ours[1]->count - answers_of(ours[1], PDK_LIMIT);
}

static bool the_first_watch(void *unused) {
    (void)unused;
    return ts_watch_count(ts_ensemble_host(server, 0)) >= 3 * FEWER; /* holders watch their own nodes */
}

/* A cancelled claim leaves its watch behind, until the watched node goes. Two sessions hold so many locks that watches
 * on all their paths are too much for the client library of a third. */
START_TEST(watched_paths_of_a_session_are_bounded) {
    pdk_session *theirs[2] = {open_session(), open_session()}, *s = open_session();
    struct many *held[2], *ours[2];
    for (int i = 0; i < 2; i++) {
        held[i] = many_new(theirs[i], base, 10000 + i * FEWER, FEWER);
        ours[i] = many_new(s, base, 10000 + i * FEWER, FEWER);
        acquire_all(held[i]);
        ck_assert_int_eq(answers_of(held[i], PDK_OK), FEWER);
    }
    claim_all(ours[0]);
    ck_assert(ts_wait_until(the_first_watch, NULL, 60000));
    cancel_all(ours[0]);
    ck_assert_int_eq(answers_of(ours[0], PDK_CANCELED), FEWER);
    ck_assert_int_eq(pdk_session_flush(s, 30000), PDK_OK);
    claim_all(ours[1]); /* both sessions reach the limit, one after the other; no claim hangs */
    ck_assert(ts_wait_until(all_watch_or_are_refused, ours, 60000));
    cancel_all(ours[1]);
    ck_assert_int_gt(answers_of(ours[1], PDK_CANCELED), FEWER / 2);
    ck_assert_int_gt(answers_of(ours[1], PDK_LIMIT), 0);
    ck_assert_int_eq(answers_of(ours[1], PDK_CANCELED) + answers_of(ours[1], PDK_LIMIT), FEWER);
    ck_assert_int_eq(pdk_session_flush(s, 30000), PDK_OK);
    ck_assert_int_eq(ts_ephemeral_count(ts_ensemble_host(server, 0)),
                     2 * FEWER); /* those of the two holding sessions */

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(release_all(held[i]), FEWER);
    for (int i = 0; i < 2; i++) { /* the holders' nodes are gone, and with them our watches */
        acquire_all(ours[i]);
        ck_assert_int_eq(answers_of(ours[i], PDK_OK), FEWER);
        ck_assert_int_eq(release_all(ours[i]), FEWER);
        many_free(ours[i]);
        many_free(held[i]);
        close_session(theirs[i]);
    }
    close_session(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("limits");
    TCase *cases = tcase_create("limits");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, NULL, close_left);
    tcase_add_test(cases, ephemeral_paths_of_a_session_are_bounded);
    tcase_add_test(cases, the_end_of_a_session_with_10000_locks_can_be_reloaded);
    tcase_add_test(cases, watched_paths_of_a_session_are_bounded);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
