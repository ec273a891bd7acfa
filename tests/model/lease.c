/* The exploration of the lease as a program: lease [--half UNITS] … Prints what it saw, and a counter-example. */
#include "lease_model.h"

#include <stdlib.h>
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
    int8_t *value;
    int8_t least, most;
};
struct flag {
    const char *option;
    bool *value;
};

static int usage(void) {
    fprintf(
        stderr,
        "usage: lease [--half UNITS] [--timeout UNITS] [--shorter UNITS] [--hops 1|2] [--rate SIXTEENTHS] [--late "
        "UNITS]\n"
        "             [--requests 1..3] [--deposals N] [--losses N] [--shorts N] [--stalls N] [--tick-known]\n"
        "             [--never-leader] [--syncs] [--late-news] [--prompt] [--slow-link] [--unit MS] [--horizon UNITS] "
        "[--max "
        "STATES]\n"
        "             [--deep]\n\n"
        "Walks every order of a session's requests, reports and faults, over the real lease. --deep: larger ones of\n"
        "several kinds, one after the other. Exit status 1: a promise is broken, and the earliest counter-example was\n"
        "printed.\n");
    return 2;
}

static bool take_small(struct lease_config *c, const char *option, long long value) {
    const struct number numbers[] = {
        {"--half", &c->half, 1, 4},
        {"--timeout", &c->timeout, 4, LEASE_TIMEOUT},
        {"--shorter", &c->shorter, 2, LEASE_TIMEOUT},
        {"--hops", &c->hops, 1, LEASE_HOPS},
        {"--rate", &c->rate, 8, 32},
        {"--requests", &c->requests, 1, LEASE_REQUESTS},
        {"--late", &c->late, 0, 3},
        {"--deposals", &c->budgets[LEASE_DEPOSALS], 0, 9},
        {"--losses", &c->budgets[LEASE_LOSSES], 0, 9},
        {"--stalls", &c->budgets[LEASE_STALLS], 0, 9},
        {"--shorts", &c->budgets[LEASE_SHORTS], 0, 9},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(option, numbers[i].option) == 0 && value >= numbers[i].least && value <= numbers[i].most) {
            *numbers[i].value = (int8_t)value;
            return true;
        }
    return false;
}

static bool take_number(struct lease_config *c, const char *option, const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return false;
    if (take_small(c, option, value))
        return true;
    if (value <= 0)
        return false;
    if (strcmp(option, "--horizon") == 0)
        c->horizon = (int32_t)value;
    else if (strcmp(option, "--unit") == 0 && value <= LEASE_LONG / PDK__MS)
        c->unit = value * PDK__MS;
    else if (strcmp(option, "--max") == 0)
        c->max_states = (uint64_t)value;
    else
        return false;
    return true;
}

static bool take_flag(struct lease_config *c, const char *option) {
    const struct flag flags[] = {{"--tick-known", &c->tick_known}, {"--never-leader", &c->never_leader},
                                 {"--syncs", &c->syncs},           {"--late-news", &c->late_news},
                                 {"--prompt", &c->prompt},         {"--slow-link", &c->slow_link}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(option, flags[i].option) == 0) {
            *flags[i].value = true;
            return true;
        }
    return false;
}

static int run(const struct lease_config *config, struct lease_result *result) {
    struct lease_result r = *result = lease_explore(config, stdout);
    const char *how_far = r.broken     ? ""
                          : r.closed   ? "; nothing new comes after that"
                          : r.complete ? ", all to the horizon"
                                       : ", NOT COMPLETE: --max was reached";
    printf("%llu states, %llu transitions, %d units of time, %.1f s (%.0f states/s)%s\n", (unsigned long long)r.states,
           (unsigned long long)r.transitions, r.units, r.seconds, (double)r.states / r.seconds, how_far);
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
        states += r.states;
    }
    printf("%llu states in all\n", (unsigned long long)states);
    return 0;
}

int main(int argc, char **argv) {
    struct lease_config config = usual;
    struct lease_result result;
    if (argc == 2 && strcmp(argv[1], "--deep") == 0)
        return run_deep();
    for (int i = 1; i < argc; i++) {
        if (take_flag(&config, argv[i]))
            continue;
        if (i + 1 == argc || !take_number(&config, argv[i], argv[i + 1]))
            return usage();
        i++;
    }
    if (config.timeout < config.half || config.shorter > config.timeout)
        return usage();
    return run(&config, &result);
}
