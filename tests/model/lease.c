/* The exploration of the lease as a program: lease [--half UNITS] … Prints what it saw, and a counter-example. */
#include "lease_model.h"

#include <glib.h>
#include <string.h>

static const struct lease_config usual = {.half = 2,
                                          .timeout = 8,
                                          .hops = 1,
                                          .rate = LEASE_RATE,
                                          .requests = 1,
                                          .budgets = {[LEASE_DEPOSALS] = 1, [LEASE_LOSSES] = 1}};

static const struct {
    const char *what;
    struct lease_config config;
} deep[] = {
    {"links that are slow or cut", {.half = 2, .timeout = 8, .hops = 1, .rate = LEASE_RATE, .requests = 1}},
    {"a leader that is paused, and a clock that is slow",
     {.half = 2, .timeout = 8, .hops = 1, .rate = 15, .requests = 1, .prompt = true, .budgets = {[LEASE_STALLS] = 1}}},
    {"every fault, and a shorter timeout",
     {.half = 1,
      .timeout = 6,
      .shorter = 4,
      .tick_known = true,
      .hops = 1,
      .rate = LEASE_RATE,
      .requests = 1,
      .prompt = true,
      .budgets = {[LEASE_DEPOSALS] = 1, [LEASE_LOSSES] = 2, [LEASE_SHORTS] = 1, [LEASE_STALLS] = 1}}},
    {"two requests in flight",
     {.half = 2, .timeout = 6, .tick_known = true, .hops = 1, .rate = 17, .requests = 2, .never_leader = true}},
    {"pings that are late, and a leader that is paused",
     {.unit = LEASE_SLACK,
      .half = 1,
      .timeout = 8,
      .tick_known = true,
      .hops = 1,
      .rate = 17,
      .requests = 1,
      .late = 1,
      .never_leader = true,
      .prompt = true,
      .budgets = {[LEASE_STALLS] = 1}}},
    {"behind an observer master",
     {.half = 2,
      .timeout = 7,
      .tick_known = true,
      .hops = 2,
      .rate = LEASE_RATE,
      .requests = 1,
      .never_leader = true,
      .prompt = true}},
};

struct number {
    const char *option;
    int8_t *to;
    int least, most, value;
};
struct flag {
    const char *option;
    bool *to;
    gboolean value;
};

static bool take_options(struct lease_config *c, int argc, char **argv) {
    struct number numbers[] = {
        {"half", &c->half, 1, 4, c->half},
        {"timeout", &c->timeout, 4, LEASE_TIMEOUT, c->timeout},
        {"shorter", &c->shorter, 0, LEASE_TIMEOUT, 0},
        {"hops", &c->hops, 1, LEASE_HOPS, c->hops},
        {"rate", &c->rate, 8, 32, c->rate},
        {"requests", &c->requests, 1, LEASE_REQUESTS, c->requests},
        {"late", &c->late, 0, 3, 0},
        {"deposals", &c->budgets[LEASE_DEPOSALS], 0, 9, c->budgets[LEASE_DEPOSALS]},
        {"losses", &c->budgets[LEASE_LOSSES], 0, 9, c->budgets[LEASE_LOSSES]},
        {"stalls", &c->budgets[LEASE_STALLS], 0, 9, 0},
        {"shorts", &c->budgets[LEASE_SHORTS], 0, 9, 0},
    };
    struct flag flags[] = {{"tick-known", &c->tick_known, 0}, {"never-leader", &c->never_leader, 0},
                           {"syncs", &c->syncs, 0},           {"late-news", &c->late_news, 0},
                           {"prompt", &c->prompt, 0},         {"slow-link", &c->slow_link, 0}};
    gint64 unit = 0;
    GOptionEntry entries[G_N_ELEMENTS(numbers) + G_N_ELEMENTS(flags) + 4] = {
        {"horizon", 0, 0, G_OPTION_ARG_INT, &c->horizon, "Units, at most", "UNITS"},
        {"unit", 0, 0, G_OPTION_ARG_INT64, &unit, "How long one is", "MS"},
        {"max", 0, 0, G_OPTION_ARG_INT64, &c->max_states, "States, at most", "N"},
    };
    GOptionEntry *entry = entries + 3;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        *entry++ = (GOptionEntry){numbers[i].option, 0, 0, G_OPTION_ARG_INT, &numbers[i].value, NULL, "N"};
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
        *entry++ = (GOptionEntry){flags[i].option, 0, 0, G_OPTION_ARG_NONE, &flags[i].value, NULL, NULL};
    g_autoptr(GOptionContext) context =
        g_option_context_new("- every order of requests, reports and faults, or --deep");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    bool good = g_option_context_parse(context, &argc, &argv, &error) && argc == 1;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        good = good && numbers[i].value >= numbers[i].least && numbers[i].value <= numbers[i].most;
        *numbers[i].to = (int8_t)numbers[i].value;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
        *flags[i].to = flags[i].value;
    c->unit = unit * PDK__MS;
    good = good && unit >= 0 && unit <= LEASE_LONG / PDK__MS && c->timeout >= c->half && c->shorter <= c->timeout;
    if (!good)
        fprintf(stderr, "lease: %s; --help lists the options\n",
                error ? error->message : "that is too much, or too little");
    return good;
}

static int run(const struct lease_config *config, struct lease_result *result) {
    struct lease_result r = *result = lease_explore(config, stdout);
    const char *how_far = r.broken            ? ""
                          : r.search.closed   ? "; nothing new comes after that"
                          : r.search.complete ? ", all to the horizon"
                                              : ", NOT COMPLETE: --max was reached";
    printf("%llu states, %llu transitions, %u units of time, %.1f s (%.0f states/s)%s\n",
           (unsigned long long)r.search.states, (unsigned long long)r.search.steps, r.search.depth, r.search.seconds,
           (double)r.search.states / r.search.seconds, how_far);
    printf("renewals %llu, leases that ended %llu, moments at which the session may end %llu; deposals %llu, "
           "reconnections %llu, leases shortened %llu; closest to the session's end %.4f units\n",
           (unsigned long long)r.seen.renewals, (unsigned long long)r.seen.lapses, (unsigned long long)r.seen.expiries,
           (unsigned long long)r.seen.deposals, (unsigned long long)r.seen.reconnects,
           (unsigned long long)r.seen.shortened, r.closest);
    if (r.broken)
        printf("verdict: BROKEN: %s — %s\n", r.broken, r.detail);
    else
        printf("verdict: all promises kept\n");
    return r.broken ? 1 : 0;
}

static int run_deep(void) {
    uint64_t states = 0;
    for (size_t i = 0; i < sizeof deep / sizeof deep[0]; i++) {
        printf("-- %s\n", deep[i].what);
        fflush(stdout);
        struct lease_result r;
        if (run(&deep[i].config, &r) != 0)
            return 1;
        states += r.search.states;
    }
    printf("%llu states in all\n", (unsigned long long)states);
    return 0;
}

/* --deep: larger ones of several kinds, one after the other. Exit status 1: a promise is broken, and the earliest counter-example was
 * printed. */
int main(int argc, char **argv) {
    struct lease_config config = usual;
    struct lease_result result;
    if (argc == 2 && strcmp(argv[1], "--deep") == 0)
        return run_deep();
    return take_options(&config, argc, argv) ? run(&config, &result) : 2;
}
