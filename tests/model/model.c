/* The explorer as a program: model [--clients N] [--losses N] … [--deep]. Prints what it saw, and a counter-example. */
#include "model.h"

#include <glib.h>
#include <string.h>
#include <sys/resource.h>

static const char *const budget_names[BUDGETS] = {
    [FAULTS] = "faults",     [LOSSES] = "losses",     [LAPSES] = "lapses",         [EXPIRIES] = "expiries",
    [CANCELS] = "cancels",   [REMOVALS] = "admin",    [TOUCHES] = "touches",       [REFUSALS] = "refusals",
    [RENEWALS] = "renewals", [ABANDONS] = "abandons", [VANISHES] = "vanishes",     [SQUATS] = "squats",
    [GHOSTS] = "ghosts",     [CLAIMS] = "claims",     [DOWNGRADES] = "downgrades",
};

/* Options that are no numbers of the configuration. */
struct said {
    gboolean deep, no_directory, same_mark, exact, mirrors, lingers;
    char *threads, *roles;
    int permits;
};

/* Three clients, two threads in the first of them, and any two of the main faults at any time. */
static void go_deep(struct model_config *config) {
    static const enum model_budget faults[] = {LOSSES, LAPSES, EXPIRIES, CANCELS, REMOVALS, TOUCHES, ABANDONS};
    config->clients = 3;
    config->threads[0] = 2;
    config->budgets[FAULTS] = 2;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        config->budgets[faults[i]] = 1;
    config->progress = stdout;
}

static bool is_in(int value, int least, int most) { return value >= least && value <= most; }

static bool take_threads(struct model_config *config, const char *text) {
    char end;
    int32_t *n = config->threads;
    return !text || is_in(sscanf(text, "%d,%d,%d%c", &n[0], &n[1], &n[2], &end), 1, 3);
}

/* Which clients write, and which read. */
static bool take_roles(struct model_config *config, const char *text) {
    size_t n = text ? strlen(text) : 0;
    if (text && ((n != 2 && n != 3) || strspn(text, "rw") != n))
        return false;
    for (size_t i = 0; i < n; i++)
        config->roles[i] = text[i] == 'w' ? MODEL_WRITES : MODEL_READS;
    config->clients = text ? (int32_t)n : config->clients;
    return true;
}

static void take_permits(struct model_config *config, int permits) {
    config->permits = permits;
    for (int i = 0; i < MODEL_CLIENTS && permits != 0; i++)
        config->roles[i] = MODEL_LEASES;
}

static bool fits(const struct model_config *c) {
    bool good = is_in(c->clients, 2, MODEL_CLIENTS) && is_in(c->tries, 0, MODEL_CLIENTS) &&
                is_in(c->handovers, 0, MODEL_CLAIMS) && is_in(c->permits, 0, MODEL_CLIENTS);
    for (int i = 0; i < BUDGETS; i++)
        good = good && is_in(c->budgets[i], 0, i == FAULTS ? 15 : 5);
    for (int i = 0; i < c->clients && good; i++)
        good = is_in(c->threads[i], 0, MODEL_CLAIMS - c->budgets[CLAIMS]);
    return good;
}

static bool take_options(struct model_config *config, int argc, char **argv) {
    struct said said = {0};
    const GOptionEntry entries[] = {
        {"deep", 0, 0, G_OPTION_ARG_NONE, &said.deep, "Three clients, any two faults", NULL},
        {"no-directory", 0, 0, G_OPTION_ARG_NONE, &said.no_directory, "There is none at first", NULL},
        {"same-mark", 0, 0, G_OPTION_ARG_NONE, &said.same_mark, "All nodes of a client bear one mark", NULL},
        {"exact", 0, 0, G_OPTION_ARG_NONE, &said.exact, "Sequence numbers count, and not only their order", NULL},
        {"mirrors", 0, 0, G_OPTION_ARG_NONE, &said.mirrors, "Clients that lock keep a mirror; exact", NULL},
        {"linger", 0, 0, G_OPTION_ARG_NONE, &said.lingers, "A node waits for the next thread", NULL},
        {"threads", 0, 0, G_OPTION_ARG_STRING, &said.threads, "Of each client", "A,B,C"},
        {"rwlock", 0, 0, G_OPTION_ARG_STRING, &said.roles, "Which clients write, and which read", "wrr"},
        {"semaphore", 0, 0, G_OPTION_ARG_INT, &said.permits, "All want a lease of so many, and none waits", "N"},
        {"max", 0, 0, G_OPTION_ARG_INT64, &config->max_states, "States, at most", "N"},
        {"first", 0, 0, G_OPTION_ARG_INT, &config->first_sequence, "Of the directory's counter", "SEQUENCE"},
        {"tries", 0, 0, G_OPTION_ARG_INT, &config->tries, "Clients that do not wait, the last ones", "N"},
        {"handovers", 0, 0, G_OPTION_ARG_INT, &config->handovers, "In a row", "N"},
        {"clients", 0, 0, G_OPTION_ARG_INT, &config->clients, "Two or three", "N"},
        {NULL},
    };
    GOptionEntry budgets[BUDGETS + 1] = {{NULL}};
    g_autoptr(GOptionContext) context = g_option_context_new("- every interleaving of clients, threads and faults");
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < BUDGETS; i++)
        budgets[i] = (GOptionEntry){budget_names[i], 0, 0, G_OPTION_ARG_INT, &config->budgets[i], "At most", "N"};
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, budgets, NULL);
    bool good = g_option_context_parse(context, &argc, &argv, &error) && argc == 1;
    if (said.deep)
        go_deep(config);
    config->no_directory = said.no_directory;
    config->same_mark = said.same_mark;
    config->exact = said.exact;
    config->mirrors = said.mirrors;
    config->lingers = said.lingers;
    take_permits(config, said.permits);
    good = good && take_threads(config, said.threads) && take_roles(config, said.roles) && fits(config);
    g_free(said.threads);
    g_free(said.roles);
    if (!good)
        fprintf(stderr, "model: %s; --help lists the options\n",
                error ? error->message : "that is too much, or too little");
    return good;
}

static void print_config(const struct model_config *config) {
    static const char *const words[] = {"lock", "write", "read", "take a permit"};
    printf("%d clients that", config->clients);
    for (int i = 0; i < config->clients; i++)
        printf("%s %s", i == 0 ? "" : ",", words[config->roles[i]]);
    printf(", with");
    for (int i = 0; i < config->clients; i++)
        printf("%s %d", i == 0 ? "" : ",", config->threads[i] ? config->threads[i] : 1);
    printf(" threads; hand-overs in a row: %d%s; at most:", config->handovers,
           config->lingers ? ", and nodes linger" : "");
    for (int i = 0; i < BUDGETS; i++)
        if (config->budgets[i] != 0)
            printf(" %s %d", budget_names[i], config->budgets[i]);
    printf("\n");
    fflush(stdout);
}

static void print_result(const struct model_result *r) {
    struct rusage usage;
    const struct model_seen *seen = &r->seen;
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu states, %llu transitions, %llu at rest, depth %u, %.1f s (%.0f states/s), %ld MB%s\n",
           (unsigned long long)r->search.states, (unsigned long long)r->search.steps, (unsigned long long)r->at_rest,
           r->search.depth, r->search.seconds, (double)r->search.states / r->search.seconds, usage.ru_maxrss / 1024,
           r->search.complete || r->broken ? "" : ", NOT COMPLETE: --max was reached");
    printf("grants %llu, contended %llu; hand-overs %llu; queued anew %llu; losses %llu; recoveries %llu found, "
           "%llu absent\n",
           (unsigned long long)seen->grants, (unsigned long long)seen->contended, (unsigned long long)seen->handovers,
           (unsigned long long)seen->rejoins, (unsigned long long)seen->losses,
           (unsigned long long)seen->recovered_found, (unsigned long long)seen->recovered_absent);
    printf("lost holds %llu, noticed late %llu, found lapsed on waking %llu; expiries %llu; sessions given up %llu; "
           "nodes deleted under a grant %llu; watched nodes written to %llu\n",
           (unsigned long long)seen->lost_holds, (unsigned long long)seen->late_notices,
           (unsigned long long)seen->late_receipts, (unsigned long long)seen->expiries,
           (unsigned long long)seen->abandons, (unsigned long long)seen->removed_holds,
           (unsigned long long)seen->touched);
    printf("several at a time %llu times; downgrades %llu, %llu taken over, %llu times somebody was let in; released "
           "meanwhile %llu, the node gone %llu, its name taken %llu\n",
           (unsigned long long)seen->shared, (unsigned long long)seen->downgrades, (unsigned long long)seen->taken_over,
           (unsigned long long)seen->let_in, (unsigned long long)seen->given_back,
           (unsigned long long)seen->exchanged_gone, (unsigned long long)seen->squatted);
    printf("creates without a list %llu proven, %llu not; lists that a mirror stood for %llu\n",
           (unsigned long long)seen->alone, (unsigned long long)seen->gaps, (unsigned long long)seen->mirrored);
    printf("nodes that lingered %llu, taken %llu, met by somebody %llu, to the end of their time %llu\n",
           (unsigned long long)seen->lingered, (unsigned long long)seen->taken_up, (unsigned long long)seen->met,
           (unsigned long long)seen->outstayed);
    double n = (double)r->search.states;
    printf("states are known by 64-bit hashes: that any was taken for another has a probability of %.1g\n",
           n * n / 2 / 18446744073709551616.0);
}

/* Exit status 1: a promise is broken, and the shortest counter-example was printed. */
int main(int argc, char **argv) {
    struct model_config config = {.clients = 2, .handovers = 1};
    if (!take_options(&config, argc, argv))
        return 2;
    print_config(&config);
    struct model_result r = model_explore(&config, stdout);
    print_result(&r);
    if (r.broken)
        printf("verdict: BROKEN: %s — %s\n", r.broken, r.detail);
    else
        printf("verdict: all promises kept\n");
    return r.broken ? 1 : 0;
}
