#include "ensembles_bench.h"

#include <string.h>

struct sim_agenda agenda;
struct sim_net nets[ENSEMBLES];
struct sim_ensemble *ensembles[ENSEMBLES];
struct place places[RIVALS];
GRand *dice;
int32_t ensembles_timeout_ms = TIMEOUT_MS;

void ensembles_pass(int64_t ns) {
    for (int64_t until = agenda.now + ns; sim_step(&agenda, until);)
        ;
}

static void begin_in(void *subject, void *what) {
    struct place *m = subject;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    (void)what;
    options.session_timeout_ms = ensembles_timeout_ms;
    options.server_tick_ms = TICK / SIM_MS;
    for (int i = 0; i < ENSEMBLES; i++) {
        g_autofree char *hosts = g_strdup_printf("10.0.%d.1:2181/app", i);
        m->session[i] = sim_session_open(&m->process, hosts, &options);
        ck_assert_int_eq(pdk_lock_new(m->session[i], "/one", NULL, &m->lock[i]), PDK_OK);
    }
}

static void give_back_in(void *subject, void *what) {
    struct place *m = subject;
    (void)what;
    for (int i = 0; i < ENSEMBLES; i++) {
        pdk_lock_unref(m->lock[i]);
        pdk_session_unref(m->session[i]);
    }
}

size_t ensembles_nodes_in(int ensemble, const char **one) {
    size_t count = 0;
    if (!sim_tree_find(sim_truth(ensembles[ensemble]), "/app/one"))
        return 0;
    const char *const *names = sim_tree_children(sim_truth(ensembles[ensemble]), "/app/one", &count);
    if (count > 0 && one)
        *one = names[g_rand_int_range(dice, 0, (gint32)count)];
    return count;
}

size_t ensembles_nodes(void) {
    size_t count = 0;
    for (int i = 0; i < ENSEMBLES; i++)
        count += ensembles_nodes_in(i, NULL);
    return count;
}

bool ensembles_delete_one(int ensemble) {
    const char *name = NULL;
    if (ensembles_nodes_in(ensemble, &name) == 0)
        return false;
    g_autofree char *path = g_strconcat("/app/one/", name, NULL);
    struct sim_packet *packet = sim_alloc(&agenda, sizeof *packet);
    *packet =
        (struct sim_packet){.kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&agenda, path), .data = ""};
    return sim_admin(ensembles[ensemble], packet);
}

void ensembles_block(const struct place *m, int ensemble, bool blocked) {
    sim_net_block(&nets[ensemble], m->process.host, 0, blocked);
    sim_net_block(&nets[ensemble], 0, m->process.host, blocked);
}

void ensembles_begin(guint seed) {
    static const struct sim_ensemble_config config = {
        .servers = 1,
        .tick = TICK,
        .sync_limit = 20,
        .election_least = 100 * SIM_MS,
        .election_most = 200 * SIM_MS,
        .session_least = 2 * TICK,
        .session_most = 20 * TICK,
        .container_interval = 10 * SECOND,
        .containers = true,
    };
    sim_agenda_init(&agenda);
    sim_agenda_begin(&agenda, seed);
    g_random_set_seed(seed);
    dice = g_rand_new_with_seed(seed);
    for (int i = 0; i < ENSEMBLES; i++) {
        sim_net_begin(&nets[i], &agenda, SIM_MS / 10, SIM_MS);
        ensembles[i] = sim_ensemble_new(&agenda, &nets[i], &config);
        sim_server_start(ensembles[i], 0);
    }
    ensembles_pass(SECOND);
    memset(places, 0, sizeof places);
    for (int i = 0; i < RIVALS; i++) {
        struct place *m = &places[i];
        m->process = (struct sim_process){.agenda = &agenda,
                                          .ensemble = ensembles[0],
                                          .more = &ensembles[1],
                                          .number = i,
                                          .host = SIM_SERVERS + i,
                                          .rate = 1,
                                          .offset = SECOND,
                                          .slow_least = SIM_MS / 100,
                                          .slow_most = SIM_MS / 2};
        sim_call_in(&m->process, begin_in, m, NULL);
    }
    ensembles_pass(SECOND);
}

void ensembles_end(void) {
    for (int i = 0; i < RIVALS; i++)
        sim_dispose(&places[i].process, give_back_in, &places[i], NULL);
    g_rand_free(dice);
    ensembles_timeout_ms = TIMEOUT_MS;
    sim_agenda_free(&agenda);
}
