#include "trouble.h"

#include "session/session.h"

enum { CONNECTION_LOSS = -4, BLOCKED_MAX = 700, SLOWED_MAX = 200, LAG_MAX_MS = 500, LATE_MAX_MS = 100 };

struct trouble_count trouble_count;

static GRand *dice;
static GHashTable *deleted;
static pdk_session *sessions[TROUBLE_SESSIONS];
static int sessions_count;
static int blocked_for[RIVALS], slowed_for[RIVALS]; /* steps */

void must(bool is_so, const char *what, const char *of) {
    if (!is_so)
        ck_abort_msg("%s: %s", of, what);
}

bool one_in(int times) { return times > 0 && g_rand_int_range(dice, 0, times) == 0; }
int one_of(int count) { return g_rand_int_range(dice, 0, count); }

void trouble_begin(guint seed) {
    platform_end();
    platform_begin(seed);
    dice = g_rand_new_with_seed(seed);
    deleted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    trouble_count = (struct trouble_count){0};
    sessions_count = 0;
    for (int i = 0; i < RIVALS; i++)
        blocked_for[i] = slowed_for[i] = 0;
}

void trouble_end(void) {
    g_rand_free(dice);
    g_hash_table_destroy(deleted);
}

pdk_session *trouble_open(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    ck_assert_int_lt(sessions_count, TROUBLE_SESSIONS);
    return sessions[sessions_count++] = platform_open(&options);
}

int64_t trouble_deleted(const char *path) {
    const int64_t *at = g_hash_table_lookup(deleted, path);
    return at ? *at : 0;
}

size_t trouble_children(const char *dir, GPtrArray *paths) {
    size_t count = 0;
    if (!sim_tree_find(sim_truth(platform_ensemble), dir))
        return 0;
    const char *const *found = sim_tree_children(sim_truth(platform_ensemble), dir, &count);
    for (size_t i = 0; paths && i < count; i++)
        g_ptr_array_add(paths, g_strdup_printf("%s/%s", dir, found[i]));
    return count;
}

/* ---- what goes wrong */

static void note_deleted(const char *path) {
    int64_t now = platform_agenda.now;
    g_hash_table_insert(deleted, g_strdup(path), g_memdup2(&now, sizeof now));
}

static void delete_one(const struct trouble *trouble) {
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    trouble->deletable(paths);
    if (paths->len == 0)
        return;
    const char *path = paths->pdata[one_of((int)paths->len)];
    struct sim_packet *packet = sim_alloc(&platform_agenda, sizeof *packet);
    *packet = (struct sim_packet){
        .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&platform_agenda, path), .data = ""};
    if (!sim_admin(platform_ensemble, packet))
        return;
    note_deleted(path);
    trouble_count.deleted++;
}

static void refuse(const struct trouble *trouble) {
    trouble_count.refused += (unsigned)platform_refused();
    platform_refuse(trouble->kinds[one_of((int)trouble->kinds_count)], 2);
}

static void lose(void) {
    const pdk_session *s = sessions[one_of(sessions_count)];
    if (s->id == 0)
        return;
    sim_answer_next(platform_ensemble, s->id, CONNECTION_LOSS, one_in(2));
    trouble_count.lost++;
}

static void slow(int rival, int64_t late) {
    int32_t host = rivals[rival].process.host;
    for (int32_t i = 0; i < SIM_SERVERS; i++)
        platform_net.extra[host][i] = platform_net.extra[i][host] = late;
}

/* Another one begins only when the one before is over. */
static void on_links(const struct trouble *trouble, int rival) {
    if (blocked_for[rival] == 0 && one_in(trouble->blocks)) {
        blocked_for[rival] = 10 + one_of(BLOCKED_MAX - 10);
        platform_block(&rivals[rival], true);
        trouble_count.blocked++;
    } else if (blocked_for[rival] > 0 && --blocked_for[rival] == 0) {
        platform_block(&rivals[rival], false);
    }
    if (slowed_for[rival] == 0 && one_in(trouble->slows)) {
        slowed_for[rival] = 10 + one_of(SLOWED_MAX - 10);
        slow(rival, one_of(LATE_MAX_MS) * SIM_MS);
        trouble_count.slowed++;
    } else if (slowed_for[rival] > 0 && --slowed_for[rival] == 0) {
        slow(rival, 0);
    }
}

static void something_goes_wrong(const struct trouble *trouble) {
    if (one_in(trouble->deletes))
        delete_one(trouble);
    if (one_in(trouble->refuses))
        refuse(trouble);
    if (one_in(trouble->loses))
        lose();
    if (one_in(trouble->cuts)) {
        sim_client_cut(&rivals[one_of(RIVALS)].process);
        trouble_count.cut++;
    }
    if (one_in(trouble->lags)) {
        sim_server_lag(platform_ensemble, one_of(PLATFORM_SERVERS), one_of(LAG_MAX_MS) * SIM_MS);
        trouble_count.lagged++;
    }
    for (int i = 0; i < RIVALS; i++)
        on_links(trouble, i);
}

void trouble_pass(const struct trouble *trouble) {
    if (trouble)
        something_goes_wrong(trouble);
    platform_pass(TROUBLE_STEP_MS * SIM_MS);
}

void trouble_heal(void) {
    trouble_count.refused += (unsigned)platform_refused();
    platform_refuse(PDK__OP_CREATE, 0);
    for (int i = 0; i < PLATFORM_SERVERS; i++)
        sim_server_lag(platform_ensemble, i, 0);
    for (int i = 0; i < RIVALS; i++) {
        platform_block(&rivals[i], false);
        slow(i, 0);
        blocked_for[i] = slowed_for[i] = 0;
    }
}
