/* The explorer as a program: model [--clients N] [--losses N] … [--deep]. Prints what it saw, and a counter-example. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static const char *const budget_names[BUDGETS] = {
    [LOSSES] = "losses",     [LAPSES] = "lapses",     [EXPIRIES] = "expiries", [CANCELS] = "cancels",
    [REMOVALS] = "admin",    [TOUCHES] = "touches",   [REFUSALS] = "refusals", [RENEWALS] = "renewals",
    [RESTARTS] = "restarts", [ABANDONS] = "abandons", [VANISHES] = "vanishes",
};

static int usage(void) {
    fprintf(stderr,
            "usage: model [--clients 2|3] [--deep] [--no-directory] [--same-mark] [--exact] [--first SEQUENCE]\n"
            "             [--max STATES] [--tries CLIENTS]");
    for (int i = 0; i < BUDGETS; i++)
        fprintf(stderr, " [--%s N]", budget_names[i]);
    fprintf(stderr, "\n\nWalks every interleaving of that many clients and faults. --deep: three clients, one of each\n"
                    "main fault. Exit status 1: a promise is broken, and the shortest counter-example was printed.\n");
    return 2;
}

static void go_deep(struct model_config *config) {
    config->clients = 3;
    config->budgets[LOSSES] = config->budgets[LAPSES] = config->budgets[EXPIRIES] = 1;
    config->budgets[CANCELS] = config->budgets[RESTARTS] = 1;
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

static bool take_number(struct model_config *config, const char *option, const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return false;
    if (strcmp(option, "--max") == 0 && value > 0) {
        config->max_states = (uint64_t)value;
    } else if (strcmp(option, "--first") == 0 && value >= INT32_MIN && value <= INT32_MAX) {
        config->first_sequence = (int32_t)value;
    } else if (strcmp(option, "--tries") == 0 && value >= 0 && value <= MODEL_CLIENTS) {
        config->tries = (int32_t)value;
    } else if (strcmp(option, "--clients") == 0 && (value == 2 || value == 3)) {
        config->clients = (int32_t)value;
    } else {
        for (int i = 0; i < BUDGETS; i++)
            if (strcmp(option + 2, budget_names[i]) == 0 && value >= 0 && value <= 9) {
                config->budgets[i] = (int32_t)value;
                return true;
            }
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    struct model_config config = {.clients = 2, .budgets = {[LOSSES] = 1, [LAPSES] = 1, [EXPIRIES] = 1, [CANCELS] = 1}};
    for (int i = 1; i < argc; i++) {
        if (take_flag(&config, argv[i]))
            continue;
        if (i + 1 == argc || strncmp(argv[i], "--", 2) != 0 || !take_number(&config, argv[i], argv[i + 1]))
            return usage();
        i++;
    }
    if (config.budgets[RESTARTS] * config.clients + config.clients > MODEL_MARKS)
        return usage();
    struct model_result r = model_explore(&config, stdout);
    printf("%llu states, %llu transitions, %llu at rest, depth %u, %.1f s (%.0f states/s)%s\n",
           (unsigned long long)r.states, (unsigned long long)r.transitions, (unsigned long long)r.at_rest, r.depth,
           r.seconds, (double)r.states / r.seconds, r.complete || r.broken ? "" : ", NOT COMPLETE: --max was reached");
    printf("grants %llu, contended %llu; losses %llu; recoveries %llu found, %llu absent; expiries %llu; lost holds "
           "%llu\n",
           (unsigned long long)r.seen.grants, (unsigned long long)r.seen.contended, (unsigned long long)r.seen.losses,
           (unsigned long long)r.seen.recovered_found, (unsigned long long)r.seen.recovered_absent,
           (unsigned long long)r.seen.expiries, (unsigned long long)r.seen.lost_holds);
    if (r.broken)
        printf("verdict: BROKEN: %s — %s\n", r.broken, r.detail);
    else
        printf("verdict: all promises kept\n");
    return r.broken ? 1 : 0;
}
