/* The explorer as a program: model [--clients N] [--losses N] … [--deep]. Prints what it saw, and a counter-example. */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char *const budget_names[BUDGETS] = {
    [FAULTS] = "faults",     [LOSSES] = "losses",     [LAPSES] = "lapses",         [EXPIRIES] = "expiries",
    [CANCELS] = "cancels",   [REMOVALS] = "admin",    [TOUCHES] = "touches",       [REFUSALS] = "refusals",
    [RENEWALS] = "renewals", [ABANDONS] = "abandons", [VANISHES] = "vanishes",     [SQUATS] = "squats",
    [GHOSTS] = "ghosts",     [CLAIMS] = "claims",     [DOWNGRADES] = "downgrades",
};

static int usage(void) {
    fprintf(
        stderr,
        "usage: model [--deep] [--clients 2|3] [--threads A,B,C] [--handovers N] [--tries CLIENTS] [--no-directory]\n"
        "             [--same-mark] [--exact] [--first SEQUENCE] [--max STATES] [--rwlock wrr] [--semaphore PERMITS]");
    for (int i = 0; i < BUDGETS; i++)
        fprintf(stderr, "%s [--%s N]", i % 6 == 0 ? "\n            " : "", budget_names[i]);
    fprintf(stderr,
            "\n\nWalks every interleaving of that many clients, threads of each, and faults of each kind; --faults:\n"
            "of all kinds together. --deep: three clients, two threads in the first, any two faults. --rwlock: who of\n"
            "the clients writes, and who reads. --semaphore: all want one of that many leases, and none waits.\n"
            "Exit status 1: a promise is broken, and the shortest counter-example was printed.\n");
    return 2;
}

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

static bool take_flag(struct model_config *config, const char *option) {
    if (strcmp(option, "--deep") == 0)
        go_deep(config);
    else if (strcmp(option, "--no-directory") == 0)
        config->no_directory = true;
    else if (strcmp(option, "--same-mark") == 0)
        config->same_mark = true;
    else if (strcmp(option, "--exact") == 0)
        config->exact = true;
    else
        return false;
    return true;
}

static bool take_threads(struct model_config *config, const char *text) {
    char end;
    int32_t *n = config->threads;
    int read = sscanf(text, "%d,%d,%d%c", &n[0], &n[1], &n[2], &end);
    for (int i = 0; i < read && i < MODEL_CLIENTS; i++)
        if (n[i] < 1 || n[i] > MODEL_CLAIMS)
            return false;
    return read >= 1 && read <= 3;
}

/* Which clients write, and which read. */
static bool take_roles(struct model_config *config, const char *text) {
    size_t n = strlen(text);
    if ((n != 2 && n != 3) || strspn(text, "rw") != n)
        return false;
    config->clients = (int32_t)n;
    for (size_t i = 0; i < n; i++)
        config->roles[i] = text[i] == 'w' ? MODEL_WRITES : MODEL_READS;
    return true;
}

static bool take_permits(struct model_config *config, long long permits) {
    if (permits < 1 || permits > MODEL_CLIENTS)
        return false;
    config->permits = (int32_t)permits;
    for (int i = 0; i < MODEL_CLIENTS; i++)
        config->roles[i] = MODEL_LEASES;
    return true;
}

static bool take_budget(struct model_config *config, const char *name, long long value) {
    for (int i = 0; i < BUDGETS; i++)
        if (strcmp(name, budget_names[i]) == 0 && value >= 0 && value <= (i == FAULTS ? 15 : 5)) {
            config->budgets[i] = (int32_t)value;
            return true;
        }
    return false;
}

static bool take_number(struct model_config *config, const char *option, const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (strcmp(option, "--threads") == 0)
        return take_threads(config, text);
    if (strcmp(option, "--rwlock") == 0)
        return take_roles(config, text);
    if (end == text || *end != '\0')
        return false;
    if (strcmp(option, "--semaphore") == 0)
        return take_permits(config, value);
    if (strcmp(option, "--max") == 0 && value > 0)
        config->max_states = (uint64_t)value;
    else if (strcmp(option, "--first") == 0 && value >= INT32_MIN && value <= INT32_MAX)
        config->first_sequence = (int32_t)value;
    else if (strcmp(option, "--tries") == 0 && value >= 0 && value <= MODEL_CLIENTS)
        config->tries = (int32_t)value;
    else if (strcmp(option, "--handovers") == 0 && value >= 0 && value <= MODEL_CLAIMS)
        config->handovers = (int32_t)value;
    else if (strcmp(option, "--clients") == 0 && (value == 2 || value == 3))
        config->clients = (int32_t)value;
    else
        return take_budget(config, option + 2, value);
    return true;
}

static bool fits(const struct model_config *config) {
    int32_t most = 0;
    for (int i = 0; i < config->clients; i++)
        most = config->threads[i] > most ? config->threads[i] : most;
    return most + config->budgets[CLAIMS] <= MODEL_CLAIMS;
}

static void print_config(const struct model_config *config) {
    static const char *const words[] = {"lock", "write", "read", "take a permit"};
    printf("%d clients that", config->clients);
    for (int i = 0; i < config->clients; i++)
        printf("%s %s", i == 0 ? "" : ",", words[config->roles[i]]);
    printf(", with");
    for (int i = 0; i < config->clients; i++)
        printf("%s %d", i == 0 ? "" : ",", config->threads[i] ? config->threads[i] : 1);
    printf(" threads; hand-overs in a row: %d; at most:", config->handovers);
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
           (unsigned long long)r->states, (unsigned long long)r->transitions, (unsigned long long)r->at_rest, r->depth,
           r->seconds, (double)r->states / r->seconds, usage.ru_maxrss / 1024,
           r->complete || r->broken ? "" : ", NOT COMPLETE: --max was reached");
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
    double n = (double)r->states;
    printf("states are known by 64-bit hashes: that any was taken for another has a probability of %.1g\n",
           n * n / 2 / 18446744073709551616.0);
}

int main(int argc, char **argv) {
    struct model_config config = {.clients = 2, .handovers = 1};
    for (int i = 1; i < argc; i++) {
        if (take_flag(&config, argv[i]))
            continue;
        if (i + 1 == argc || strncmp(argv[i], "--", 2) != 0 || !take_number(&config, argv[i], argv[i + 1]))
            return usage();
        i++;
    }
    if (!fits(&config))
        return usage();
    print_config(&config);
    struct model_result r = model_explore(&config, stdout);
    print_result(&r);
    if (r.broken)
        printf("verdict: BROKEN: %s — %s\n", r.broken, r.detail);
    else
        printf("verdict: all promises kept\n");
    return r.broken ? 1 : 0;
}
