/* See world.h. To add a kind of object: make it, free it, and name it in the table of its type. */
#include "world.h"

#include <check.h>
#include <fcntl.h>
#include <glib.h>
#include <paddock/fence.h>
#include <string.h>
#include <unistd.h>

#include "ts_bench.h"
#include "ts_support.h"

enum { SESSION_MS = 20000, SOON_MS = 10000, N_STRIPES = 8 };

unsigned char world_scratch[MOST_PARAMETERS * SCRATCH];

static struct {
    ts_client *client, *manual;
    ts_tempdir *directory;
    char *fence_path;
    pdk_checker *checker;
    pdk_lock *lock, *second;
    pdk_hold *hold;
    pdk_claim *claim;
    pdk_contenders *list;
    pdk_rwlock *rwlock;
    pdk_hold *writer;
    pdk_semaphore *semaphore;
    pdk_election *election, *idle, *served;
    pdk_hold *leader;
    pdk_observer *observer;
    pdk_service *service;
    pdk_term *term;
    pdk_member *member;
    pdk_group_view *view;
    pdk_group_watcher *watcher;
    pdk_right right;
    pdk_set *set;
    pdk_set_claim *set_claim;
    pdk_guarded *guarded;
    pdk_job *job;
    pdk_hold *run;
    pdk_job_runs *runs;
    pdk_lease_lock *lease_lock;
    pdk_lease_lock_options lease_options;
    pdk_hold *leased;
    pdk_striped *striped;
    pdk_hold *stripe;
    pdk_borrow *borrow;
    pdk_interrupt *interrupt;
    pdk_fence *fence;
    pdk_fence_map *map;
    int fd;
} it;

static int freed, called;

static void never(void) { g_atomic_int_inc(&called); }
static void on_free(void *user) {
    (void)user;
    g_atomic_int_inc(&freed);
}
int world_freed(void) { return g_atomic_int_get(&freed); }
int world_called(void) { return g_atomic_int_get(&called); }

/* ---- what the objects tell while they are made */

static void claim_answered(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    if (status == PDK_OK)
        pdk_hold_release(hold);
}

static void set_answered(pdk_status status, pdk_set *set, void *user) {
    (void)user;
    if (status == PDK_OK)
        pdk_set_release(set);
}

static void viewed(pdk_group_view *view, void *user) {
    (void)user;
    if (!g_atomic_pointer_get(&it.view))
        g_atomic_pointer_set(&it.view, pdk_group_view_ref(view));
}

static void led(const char *identity, int64_t token, void *user) {
    (void)identity;
    (void)token;
    (void)user;
}

static void serve(pdk_term *term, void *user) {
    (void)user;
    g_atomic_pointer_set(&it.term, term);
    while (!pdk_term_is_ending(term))
        ts_fd_readable(pdk_term_fd(term), 1000);
}

static bool is_told(void *unused) {
    (void)unused;
    return g_atomic_pointer_get(&it.view) && g_atomic_pointer_get(&it.term);
}

/* ---- to make and to free them */

#define TAKE(call) ck_assert_msg((call) == PDK_OK, "%s: %s", #call, pdk_last_error())

static void make_locks(pdk_session *s, int64_t ms) {
    const char *path = ts_fresh_path();
    TAKE(pdk_checker_new(s, NULL, &it.checker));
    TAKE(pdk_lock_new(s, path, NULL, &it.lock));
    TAKE(pdk_lock_acquire(it.lock, ms, &it.hold));
    TAKE(pdk_lock_list(it.lock, ms, &it.list));
    TAKE(pdk_lock_new(s, path, NULL, &it.second));
    TAKE(pdk_lock_acquire_async(it.second, PDK_FOREVER, claim_answered, NULL, &it.claim));
    TAKE(pdk_guarded_open(it.hold, ts_fresh_path(), ms, &it.guarded));
    TAKE(pdk_rwlock_new(s, ts_fresh_path(), NULL, &it.rwlock));
    TAKE(pdk_rwlock_acquire_write(it.rwlock, ms, &it.writer));
    TAKE(pdk_semaphore_new(s, ts_fresh_path(), 3, NULL, &it.semaphore));
    it.right = pdk_right_permits(it.semaphore, 1);
    TAKE(pdk_set_acquire(&it.right, 1, ms, NULL, &it.set));
    it.right = pdk_right_lock(it.second);
    TAKE(pdk_set_acquire_async(&it.right, 1, PDK_FOREVER, NULL, set_answered, NULL, &it.set_claim));
    TAKE(pdk_striped_new(s, ts_fresh_path(), N_STRIPES, NULL, &it.striped));
    TAKE(pdk_striped_acquire(it.striped, "a", ms, &it.stripe));
    path = ts_fresh_path();
    TAKE(pdk_job_new(s, path, NULL, &it.job));
    TAKE(pdk_job_acquire(it.job, ms, &it.run, NULL));
    TAKE(pdk_job_history(s, path, ms, &it.runs));
    it.lease_options = (pdk_lease_lock_options)PDK_LEASE_LOCK_OPTIONS_INIT;
    it.lease_options.duration_ms = 3600000; /* it is not renewed meanwhile */
    it.lease_options.secret = "nobody can guess it";
    TAKE(pdk_lease_lock_new(s, ts_fresh_path(), &it.lease_options, &it.lease_lock));
    TAKE(pdk_lease_lock_acquire(it.lease_lock, ms, &it.leased));
}

static void make_candidates(pdk_session *s, int64_t ms) {
    const char *path = ts_fresh_path();
    pdk_hold *registered = NULL;
    TAKE(pdk_election_new(s, ts_fresh_path(), NULL, &it.idle));
    TAKE(pdk_election_new(s, path, NULL, &it.election));
    TAKE(pdk_election_join(it.election, NULL));
    TAKE(pdk_election_wait(it.election, ms, &it.leader));
    TAKE(pdk_election_observe(it.election, led, NULL, NULL, &it.observer));
    TAKE(pdk_election_new(s, ts_fresh_path(), NULL, &it.served));
    TAKE(pdk_service_start(it.served, serve, NULL, NULL, &it.service));
    path = ts_fresh_path();
    TAKE(pdk_group_join(s, path, "data", 4, NULL, &it.member));
    TAKE(pdk_member_wait(it.member, ms, &registered));
    pdk_hold_unref(registered);
    TAKE(pdk_group_watch(s, path, viewed, NULL, NULL, &it.watcher));
    ck_assert(ts_wait_until(is_told, NULL, ms));
}

/* What needs no session. */
static void make_files(void) {
    it.directory = ts_tempdir_new();
    ck_assert_ptr_nonnull(it.directory);
    it.fence_path = g_build_filename(ts_tempdir_path(it.directory), "fence", NULL);
    TAKE(pdk_fence_open(it.fence_path, PDK_FENCE_CREATE, &it.fence));
    g_autofree char *written = g_build_filename(ts_tempdir_path(it.directory), "written", NULL);
    it.fd = open(written, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(it.fd, 0);
    TAKE(pdk_fence_map_new(1, &it.map));
    TAKE(pdk_interrupt_new(&it.interrupt));
}

/* All that the objects ask when they are new has been asked. */
static void settle(int64_t ms) {
    do {
        ts_proxy_zero(it.client->proxy);
        ts_proxy_zero(it.manual->proxy);
        ts_sleep_ms(50);
        TAKE(pdk_session_flush(it.client->session, ms));
    } while (world_requests() > 0);
}

void world_make(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    const int64_t ms = ts_patience(SOON_MS);
    memset(&it, 0, sizeof it);
    g_atomic_int_set(&freed, 0);
    g_atomic_int_set(&called, 0);
    options.session_timeout_ms = SESSION_MS;
    options.stats_paths = 4;
    it.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    options.dispatch = PDK_DISPATCH_MANUAL;
    it.manual = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert(it.client && it.manual);
    make_locks(it.client->session, ms);
    make_candidates(it.client->session, ms);
    TAKE(pdk_session_borrow(it.client->session, NULL, NULL, &it.borrow));
    make_files();
    settle(ms);
}

void world_close(void) {
    pdk_borrow_release(g_steal_pointer(&it.borrow));
    TAKE(pdk_session_close(it.manual->session, SOON_MS));
    TAKE(pdk_session_close(it.client->session, SOON_MS));
}

static void end_candidates(void) {
    pdk_observer_close(it.observer);
    pdk_group_watcher_close(it.watcher);
    pdk_group_view_unref(it.view);
    pdk_member_unref(it.member);
    pdk_hold_unref(it.leader);
    pdk_election_unref(it.idle);
    pdk_election_unref(it.election);
    pdk_service_close(it.service, SOON_MS);
    pdk_service_unref(it.service);
    pdk_election_unref(it.served);
}

void world_end(void) {
    pdk_borrow_release(it.borrow);
    end_candidates();
    pdk_guarded_close(it.guarded);
    pdk_hold *const holds[] = {it.hold, it.writer, it.run, it.leased, it.stripe};
    for (size_t i = 0; i < G_N_ELEMENTS(holds); i++)
        pdk_hold_unref(holds[i]);
    pdk_set_unref(it.set);
    pdk_set_claim_unref(it.set_claim);
    pdk_claim_unref(it.claim);
    pdk_contenders_free(it.list);
    pdk_job_runs_free(it.runs);
    pdk_checker_unref(it.checker);
    pdk_lock_unref(it.lock);
    pdk_lock_unref(it.second);
    pdk_rwlock_unref(it.rwlock);
    pdk_semaphore_unref(it.semaphore);
    pdk_striped_unref(it.striped);
    pdk_job_unref(it.job);
    pdk_lease_lock_unref(it.lease_lock);
    pdk_interrupt_unref(it.interrupt);
    pdk_fence_close(it.fence);
    pdk_fence_map_close(it.map);
    close(it.fd);
    g_free(it.fence_path);
    ts_tempdir_free(it.directory);
}

pdk_session *world_session(void) { return it.client->session; }
pdk_session *world_manual(void) { return it.manual->session; }

void world_assert_whole(void) {
    pdk_hold *const holds[] = {it.hold, it.writer, it.leader, it.run, it.leased, it.stripe};
    for (size_t i = 0; i < G_N_ELEMENTS(holds); i++)
        ck_assert_msg(pdk_hold_is_valid(holds[i]), "hold %zu", i);
    int32_t ahead = -1;
    pdk_hold *registered = NULL;
    ck_assert(pdk_set_is_valid(it.set));
    TAKE(pdk_claim_position(it.claim, &ahead));
    TAKE(pdk_set_claim_position(it.set_claim, &ahead));
    TAKE(pdk_member_wait(it.member, 0, &registered));
    pdk_hold_unref(registered);
    ck_assert(!pdk_term_is_ending(it.term) && pdk_borrow_is_current(it.borrow));
    TAKE(pdk_session_flush(it.client->session, SOON_MS));
    ck_assert_int_eq(world_freed(), 0);
}

int world_requests(void) {
    static const int32_t ops[] = {TS_OP_CREATE,        TS_OP_CREATE2,  TS_OP_CREATE_CONTAINER, TS_OP_MULTI,
                                  TS_OP_DELETE,        TS_OP_GET_ACL,  TS_OP_EXISTS,           TS_OP_GET_CHILDREN,
                                  TS_OP_GET_CHILDREN2, TS_OP_GET_DATA, TS_OP_SET_DATA,         TS_OP_SYNC};
    uint64_t sum = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++)
        sum += ts_proxy_count(it.client->proxy, ops[i]) + ts_proxy_count(it.manual->proxy, ops[i]);
    return (int)sum;
}

void world_lend(const struct row *row) {
    if (g_str_equal(row->name, "pdk_hold_release"))
        pdk_hold_ref(it.hold);
    if (g_str_equal(row->name, "pdk_set_release"))
        pdk_set_ref(it.set);
}

/* ---- the arguments */

/* NULL stands for every name, and for every call. The first line that fits counts. */
struct good_pointer {
    const char *type, *name, *call;
    void *pointer;
};

static bool fits(const struct good_pointer *g, const struct row *row, const struct parameter *p) {
    return g_str_equal(g->type, p->type) && (!g->name || g_str_equal(g->name, p->name)) &&
           (!g->call || g_str_has_prefix(row->name, g->call));
}

static bool text_for(const struct row *row, const struct parameter *p, union value *value) {
    static char path[] = "/input/new", bytes[] = "data", key[] = "a", *keys[] = {key};
    const struct good_pointer table[] = {
        {"const char *", "hosts", NULL, (void *)ts_bench_server()},
        {"const char *", "path", "pdk_fence_open", it.fence_path},
        {"const char *", "path", NULL, path},
        {"const char *", "text", NULL, (void *)pdk_hold_sequencer(it.hold)},
        {"const char *", "node", "pdk_session_break", (void *)pdk_hold_node(it.hold)},
        {"const char *", "node", NULL, (void *)pdk_contenders_node(it.list, 0)},
        {"const char *", "who", NULL, bytes},
        {"const char *", "key", NULL, key},
        {"const char *const *", "keys", NULL, keys},
        {"const void *", NULL, NULL, bytes},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (fits(&table[i], row, p)) {
            value->pointer = table[i].pointer;
            return true;
        }
    return false;
}

static bool object_for(const struct row *row, const struct parameter *p, union value *value) {
    static pdk_histogram histogram;
    const struct good_pointer table[] = {
        {"pdk_session *", NULL, "pdk_session_dispatch", it.manual->session},
        {"pdk_session *", NULL, NULL, it.client->session},
        {"pdk_checker *", NULL, NULL, it.checker},
        {"pdk_lock *", NULL, NULL, it.lock},
        {"pdk_hold *", NULL, "pdk_hold_downgrade", it.writer},
        {"pdk_hold *", NULL, "pdk_election_publish", it.leader},
        {"pdk_hold *", NULL, "pdk_job_finish", it.run},
        {"pdk_hold *", NULL, "pdk_lease_lock_release", it.leased},
        {"pdk_hold *", NULL, "pdk_striped_stripe", it.stripe},
        {"pdk_hold *", NULL, NULL, it.hold},
        {"pdk_claim *", NULL, NULL, it.claim},
        {"pdk_contenders *", NULL, NULL, it.list},
        {"pdk_rwlock *", NULL, NULL, it.rwlock},
        {"pdk_semaphore *", NULL, NULL, it.semaphore},
        {"pdk_election *", NULL, "pdk_election_publish", it.election},
        {"pdk_election *", NULL, NULL, it.idle},
        {"pdk_observer *", NULL, NULL, it.observer},
        {"pdk_service *", NULL, NULL, it.service},
        {"pdk_term *", NULL, NULL, it.term},
        {"pdk_member *", NULL, NULL, it.member},
        {"pdk_group_view *", NULL, NULL, it.view},
        {"pdk_group_watcher *", NULL, NULL, it.watcher},
        {"pdk_right *", NULL, NULL, &it.right},
        {"pdk_set *", NULL, NULL, it.set},
        {"pdk_set_claim *", NULL, NULL, it.set_claim},
        {"pdk_guarded *", NULL, NULL, it.guarded},
        {"pdk_job *", NULL, NULL, it.job},
        {"pdk_job_runs *", NULL, NULL, it.runs},
        {"pdk_lease_lock *", NULL, NULL, it.lease_lock},
        {"pdk_lease_lock_options *", NULL, "pdk_lease_lock_new", &it.lease_options},
        {"pdk_striped *", NULL, NULL, it.striped},
        {"pdk_borrow *", NULL, NULL, it.borrow},
        {"pdk_interrupt *", NULL, NULL, it.interrupt},
        {"pdk_fence *", NULL, NULL, it.fence},
        {"pdk_fence_map *", NULL, NULL, it.map},
        {"pdk_histogram *", NULL, NULL, &histogram},
    };
    const struct parameter bare = {.type = p->type + (g_str_has_prefix(p->type, "const ") ? strlen("const ") : 0),
                                   .name = p->name};
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (fits(&table[i], row, &bare)) {
            value->pointer = table[i].pointer;
            return true;
        }
    return false;
}

/* Is it for an output? */
static bool is_output(const struct row *row, const struct parameter *p) {
    static const char *const types[] = {"int *",  "int32_t *", "uint32_t *",      "int64_t *",   "size_t *",
                                        "char *", "void *",    "unsigned char *", "pdk_stats *", "pdk_sequencer *"};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
        if (g_str_equal(p->type, types[i]))
            return true;
    return g_str_has_suffix(p->type, "**") || g_str_has_suffix(row->name, "_init");
}

static bool pointer_for(const struct row *row, size_t at, union value *value) {
    const struct parameter *p = &row->parameters[at];
    const bool has_defaults = p->may_be_null && (strstr(p->type, "options") || strstr(p->type, "callbacks"));
    value->pointer = g_str_equal(p->name, "user") ? &freed : NULL;
    if (value->pointer || has_defaults || text_for(row, p, value) || object_for(row, p, value))
        return true;
    if (!is_output(row, p))
        return false;
    value->pointer = world_scratch + at * SCRATCH;
    const pdk_stats stats = PDK_STATS_INIT;
    if (g_str_equal(p->type, "pdk_stats *"))
        memcpy(value->pointer, &stats, sizeof stats);
    return true;
}

static bool number_for(const struct parameter *p, int64_t *number) {
    const struct {
        const char *name;
        int64_t number;
    } table[] = {
        {"timeout_ms", 1000},
        {"ms", 1},
        {"within_ms", 1},
        {"size", 4},
        {"room", 4},
        {"servers_size", 100},
        {"count", 1},
        {"index", 0},
        {"token", 1},
        {"handover", 0},
        {"permits", 3},
        {"outcome", 0},
        {"capacity", 1},
        {"offset", 0},
        {"how", PDK_FENCE_CREATE},
        {"fd", it.fd},
        {"quantile", 1},
        {"stripe", 0},
        {"stripes", N_STRIPES},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (g_str_equal(table[i].name, p->name)) {
            *number = table[i].number;
            return true;
        }
    return false;
}

const struct parameter *world_arguments(const struct row *row, union value *values) {
    memset(world_scratch, 0x5a, sizeof world_scratch);
    for (size_t i = 0; i < row->count; i++) {
        const struct parameter *p = &row->parameters[i];
        bool found = true;
        if (p->kind == FUNCTION)
            values[i].function = g_str_equal(p->name, "user_free") ? (void (*)(void))on_free : never;
        else
            found = p->kind == NUMBER ? number_for(p, &values[i].number) : pointer_for(row, i, &values[i]);
        if (!found)
            return p;
    }
    return NULL;
}
