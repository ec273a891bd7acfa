/* Schedules as data and as text. */
#include "plan.h"

#include "sim_ensemble.h"

#include <stdlib.h>
#include <string.h>

static const struct setting {
    const char *name;
    size_t offset;
    int32_t standard, least, most;
} settings[] = {
#define SETTING(name, standard, least, most) {#name, offsetof(struct plan, name), standard, least, most},
    PLAN_SETTINGS(SETTING)
#undef SETTING
};

static const struct kind {
    const char *name, *values;
} kinds[PLAN_KIND_COUNT] = {
#define KIND(constant, name, values) {name, values},
    PLAN_KINDS(KIND)
#undef KIND
};

size_t plan_settings_count(void) { return sizeof settings / sizeof settings[0]; }

int32_t *plan_setting(struct plan *plan, size_t index, int32_t *standard) {
    if (standard)
        *standard = settings[index].standard;
    return (int32_t *)(void *)((char *)plan + settings[index].offset);
}

const char *plan_kind_name(enum plan_kind kind) { return kinds[kind].name; }

#define PATHS(below) {"/locks/orders" below, "/stock" below, "/locks/deep/mail" below}

int32_t plan_stripe(int32_t path, int32_t stripe) { return PLAN_PATHS + path * PLAN_STRIPES + stripe; }

int32_t plan_path_of(int32_t queue) { return queue < PLAN_PATHS ? queue : (queue - PLAN_PATHS) / PLAN_STRIPES; }

const char *plan_path(int32_t queue) {
    static const char *const paths[PLAN_PATHS] = PATHS("");
    static char stripes[PLAN_QUEUES][32];
    if (queue < PLAN_PATHS)
        return paths[queue];
    if (stripes[queue][0] == '\0')
        snprintf(stripes[queue], sizeof stripes[queue], "%s/%04d", paths[plan_path_of(queue)],
                 (queue - PLAN_PATHS) % PLAN_STRIPES);
    return stripes[queue];
}

const char *plan_guarded(int32_t path) {
    static const char *const nodes[PLAN_PATHS] = {"/state/orders", "/state/stock", "/state/deep/mail"};
    return nodes[path];
}

const char *plan_queue(const struct plan *plan, int32_t path) {
    static const char *const queues[PLAN_PATHS] = PATHS("/locks"), *const any[PLAN_PATHS] = PATHS("/any"),
                             *const locks[PLAN_PATHS] = PATHS("/lock");
    enum plan_recipe recipe = plan_recipe(plan, path);
    return recipe == PLAN_RECIPE_SEMAPHORE ? queues[path]
           : recipe == PLAN_RECIPE_STRIPED ? any[path]
           : plan_records(plan, path)      ? locks[path]
                                           : plan_path(path);
}

bool plan_records(const struct plan *plan, int32_t path) {
    enum plan_recipe recipe = plan_recipe(plan, path);
    return recipe == PLAN_RECIPE_JOB || recipe == PLAN_RECIPE_LEASE_LOCK;
}

const char *plan_record(const struct plan *plan, int32_t path) {
    static const char *const records[PLAN_PATHS] = PATHS("/record");
    return plan_records(plan, path) ? records[path] : NULL;
}

int32_t plan_ensemble(const struct plan *plan, int32_t queue) {
    return plan->ensembles > 1 ? plan_path_of(queue) % plan->ensembles : 0;
}

int32_t plan_sides(const struct plan *plan) { return plan->ensembles > 1 ? plan->ensembles - 1 : plan->sides; }

/* Behind the values of the kind. */
int32_t plan_fault_in(const struct plan *plan, const struct plan_action *action) {
    bool three = action->kind == PLAN_BLOCK || action->kind == PLAN_LAG;
    int32_t in = action->value[action->kind == PLAN_SLOW ? 4 : three ? 3 : 2];
    return in >= 0 && in < plan->ensembles ? in : 0;
}

int32_t plan_edge(const struct plan *plan) { return plan->every / 3; }

const char *plan_leases(const struct plan *plan, int32_t path) {
    static const char *const leases[PLAN_PATHS] = PATHS("/leases");
    enum plan_recipe recipe = plan_recipe(plan, path);
    return recipe == PLAN_RECIPE_SEMAPHORE ? leases[path]
           : recipe == PLAN_RECIPE_STRIPED ? plan_path(plan_stripe(path, 0))
                                           : NULL;
}

enum plan_recipe plan_recipe(const struct plan *plan, int32_t queue) {
    const int32_t recipes[PLAN_PATHS] = {plan->recipe0, plan->recipe1, plan->recipe2};
    return queue < PLAN_PATHS ? (enum plan_recipe)recipes[queue] : PLAN_RECIPE_LOCK;
}

bool plan_is_joined(const struct plan *plan, int32_t path) {
    enum plan_recipe recipe = plan_recipe(plan, path);
    return recipe == PLAN_RECIPE_ELECTION || recipe == PLAN_RECIPE_GROUP;
}

bool plan_has(const struct plan *plan, enum plan_recipe recipe) {
    return plan_recipe(plan, 0) == recipe || plan_recipe(plan, 1) == recipe || plan_recipe(plan, 2) == recipe;
}

int32_t plan_permits(const struct plan *plan, int32_t path, int32_t process) {
    const int32_t permits[PLAN_PATHS] = {plan->permits0, plan->permits1, plan->permits2};
    return permits[path] + (plan->disagree && process % 2);
}

int32_t plan_permits_most(const struct plan *plan, int32_t path) { return plan_permits(plan, path, 1); }

int32_t plan_stripes(const struct plan *plan, int32_t path, int32_t process) {
    if (plan_recipe(plan, path) != PLAN_RECIPE_STRIPED)
        return 0;
    int32_t wanted = plan_permits(plan, path, 0), most = PLAN_STRIPES - 1;
    return (wanted < most ? wanted : most) + (plan->disagree && process % 2);
}

int32_t plan_delay(const struct plan *plan, int32_t path, int32_t process) {
    const int32_t delays[PLAN_PATHS] = {plan->delay0, plan->delay1, plan->delay2};
    enum plan_recipe recipe = plan_recipe(plan, path);
    if (path >= PLAN_PATHS || delays[path] == 0 || (recipe != PLAN_RECIPE_LOCK && recipe != PLAN_RECIPE_ELECTION))
        return 0;
    return delays[path] + (plan->disagree && process % 2);
}

int64_t plan_timeout(const struct plan *plan) {
    int64_t least = plan->session_least ? plan->session_least : 2 * plan->tick;
    return plan->session > least ? plan->session : least;
}

void plan_begin(struct plan *plan, uint64_t seed) {
    plan->seed = seed;
    plan->count = 0;
    for (size_t i = 0; i < plan_settings_count(); i++)
        *plan_setting(plan, i, NULL) = settings[i].standard;
}

struct plan_action *plan_add(struct plan *plan, int32_t at, enum plan_kind kind) {
    if (plan->count == PLAN_ACTIONS)
        return NULL;
    struct plan_action *action = &plan->actions[plan->count++];
    memset(action, 0, sizeof *action);
    action->at = at;
    action->kind = kind;
    return action;
}

bool plan_is_calm(const struct plan *plan) {
    for (int32_t i = 0; i < plan->count; i++)
        if (plan->actions[i].kind >= PLAN_CLOSE)
            return false;
    return true;
}

/* Insertion sort: stable, and quick on what is nearly in order. */
void plan_sort(struct plan *plan) {
    for (int32_t i = 1; i < plan->count; i++) {
        struct plan_action action = plan->actions[i];
        int32_t k = i;
        for (; k > 0 && plan->actions[k - 1].at > action.at; k--)
            plan->actions[k] = plan->actions[k - 1];
        plan->actions[k] = action;
    }
}

/* ---- writing */

static void print_host(int32_t host, FILE *out) {
    if (host >= PLAN_HOST_OF)
        fprintf(out, "of-p%d", host - PLAN_HOST_OF);
    else if (host >= PLAN_HOST_LEADER)
        fputs(host == PLAN_HOST_LEADER ? "leader" : host == PLAN_HOST_FOLLOWER ? "follower" : "other", out);
    else
        fprintf(out, "%c%d", host < SIM_SERVERS ? 's' : 'p', host < SIM_SERVERS ? host : host - SIM_SERVERS);
}

/* The name of a value, and the meaning of its last character. */
struct value_name {
    const char *text;
    int length;
    bool is_host, optional;
};

/* The first of the names; the rest follows. false: there is none. */
static bool next_name(const char **names, struct value_name *name) {
    int length = (int)strcspn(*names, " ");
    if (length == 0)
        return false;
    char last = (*names)[length - 1];
    *name = (struct value_name){*names, length, last == '@', last == '?'};
    name->length -= name->is_host || name->optional;
    *names += length;
    *names += **names == ' ';
    return true;
}

void plan_print_action(const struct plan_action *action, FILE *out) {
    fprintf(out, "at %d %s", action->at, kinds[action->kind].name);
    const char *names = kinds[action->kind].values;
    struct value_name name;
    for (int32_t i = 0; next_name(&names, &name); i++) {
        if (name.optional && action->value[i] == 0)
            continue;
        fprintf(out, " %.*s=", name.length, name.text);
        if (name.is_host)
            print_host(action->value[i], out);
        else
            fprintf(out, "%d", action->value[i]);
    }
}

void plan_print(const struct plan *plan, FILE *out) {
    fprintf(out, "set seed %llu\n", (unsigned long long)plan->seed);
    for (size_t i = 0; i < plan_settings_count(); i++) {
        int32_t value = *plan_setting((struct plan *)plan, i, NULL);
        if (value != settings[i].standard)
            fprintf(out, "set %s %d\n", settings[i].name, value);
    }
    for (int32_t i = 0; i < plan->count; i++) {
        plan_print_action(&plan->actions[i], out);
        fputc('\n', out);
    }
}

/* ---- reading */

static bool read_number(const char *text, long long *value) {
    char *end;
    *value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && *value >= INT32_MIN && *value <= INT32_MAX;
}

static bool read_host(const char *text, int32_t *host) {
    long long number;
    if (strcmp(text, "leader") == 0)
        *host = PLAN_HOST_LEADER;
    else if (strcmp(text, "follower") == 0)
        *host = PLAN_HOST_FOLLOWER;
    else if (strcmp(text, "other") == 0)
        *host = PLAN_HOST_OTHER;
    else if (strncmp(text, "of-p", 4) == 0 && read_number(text + 4, &number) && number >= 0 && number < PLAN_PROCESSES)
        *host = PLAN_HOST_OF + (int32_t)number;
    else if (text[0] == 's' && read_number(text + 1, &number) && number >= 0 && number < SIM_SERVERS)
        *host = (int32_t)number;
    else if (text[0] == 'p' && read_number(text + 1, &number) && number >= 0 && number < PLAN_PROCESSES)
        *host = SIM_SERVERS + (int32_t)number;
    else
        return false;
    return true;
}

static bool read_setting(struct plan *plan, const char *name, const char *text) {
    long long value;
    if (strcmp(name, "seed") == 0) {
        char *end;
        plan->seed = strtoull(text, &end, 10);
        return end != text && *end == '\0';
    }
    for (size_t i = 0; i < plan_settings_count(); i++) {
        if (strcmp(name, settings[i].name) != 0)
            continue;
        if (!read_number(text, &value) || value < settings[i].least || value > settings[i].most)
            return false;
        *plan_setting(plan, i, NULL) = (int32_t)value;
        return true;
    }
    return false;
}

/* One "name=value", stored at its index among the kind's values. */
static bool read_value(struct plan_action *action, char *word) {
    char *text = strchr(word, '=');
    long long number;
    if (!text)
        return false;
    int given = (int)(text++ - word);
    const char *names = kinds[action->kind].values;
    struct value_name name;
    for (int32_t i = 0; next_name(&names, &name); i++) {
        if (name.length != given || strncmp(name.text, word, (size_t)given) != 0)
            continue;
        if (name.is_host)
            return read_host(text, &action->value[i]);
        action->value[i] = read_number(text, &number) ? (int32_t)number : 0;
        return read_number(text, &number);
    }
    return false;
}

static bool read_action(struct plan *plan, const char *at, const char *name, char **rest) {
    long long when;
    int32_t kind = 0;
    while (kind < PLAN_KIND_COUNT && strcmp(name, kinds[kind].name) != 0)
        kind++;
    if (kind == PLAN_KIND_COUNT || !read_number(at, &when) || when < 0)
        return false;
    struct plan_action *action = plan_add(plan, (int32_t)when, (enum plan_kind)kind);
    bool good = action != NULL;
    for (char *word; good && (word = strtok_r(NULL, " \t\r\n", rest));)
        good = read_value(action, word);
    return good;
}

/* Values that name something must name something that exists. */
static bool is_sound(const struct plan_action *action) {
    const int32_t *v = action->value;
    switch (action->kind) {
    case PLAN_ACQUIRE:
        return v[PLAN_PROCESS] >= 0 && v[PLAN_PROCESS] < PLAN_PROCESSES && v[PLAN_LOCK] >= 0 &&
               v[PLAN_LOCK] < PLAN_LOCKS && v[PLAN_TIMEOUT] >= -1 && v[PLAN_COUNT] >= 0 &&
               v[PLAN_COUNT] <= PLAN_COUNT_MOST;
    case PLAN_TAKE:
        return v[PLAN_PROCESS] >= 0 && v[PLAN_PROCESS] < PLAN_PROCESSES && v[PLAN_TIMEOUT] >= -1 && v[PLAN_LOCK] >= 0 &&
               v[PLAN_LOCK] <= PLAN_RIGHT_CODES && v[PLAN_SECOND] >= 0 && v[PLAN_SECOND] <= PLAN_RIGHT_CODES &&
               v[PLAN_THIRD] >= 0 && v[PLAN_THIRD] <= PLAN_RIGHT_CODES;
    case PLAN_READ:
    case PLAN_ASK:
    case PLAN_BREAK:
        return v[0] >= 0 && v[0] < PLAN_PROCESSES && v[1] >= 0 && v[1] < PLAN_PATHS;
    case PLAN_DROP:
    case PLAN_JOIN:
    case PLAN_LEAVE:
    case PLAN_RESIGN:
    case PLAN_OBSERVE:
    case PLAN_AMEND:
        return v[0] >= 0 && v[0] < PLAN_PROCESSES && v[1] >= 0 && v[1] < PLAN_LOCKS;
    case PLAN_ADMIN_DELETE:
    case PLAN_ADMIN_WRITE:
    case PLAN_ADMIN_RMDIR:
    case PLAN_FOREIGN:
    case PLAN_ACL:
        return v[0] >= 0 && v[0] < PLAN_PATHS;
    case PLAN_BLOCK:
    case PLAN_ISOLATE:
    case PLAN_RESET:
    case PLAN_STOP_SERVER:
    case PLAN_KILL_SERVER:
    case PLAN_LAG:
    case PLAN_SLOW:
        return true;
    default:
        return v[0] >= 0 && v[0] < PLAN_PROCESSES;
    }
}

static bool read_line(struct plan *plan, char *line) {
    char *rest, *first = strtok_r(line, " \t\r\n", &rest);
    if (!first || first[0] == '#')
        return true;
    char *second = strtok_r(NULL, " \t\r\n", &rest), *third = strtok_r(NULL, " \t\r\n", &rest);
    if (!third)
        return false;
    if (strcmp(first, "set") == 0)
        return read_setting(plan, second, third);
    return strcmp(first, "at") == 0 && read_action(plan, second, third, &rest) &&
           is_sound(&plan->actions[plan->count - 1]);
}

bool plan_read(struct plan *plan, FILE *in, const char *name) {
    char line[512], copy[512];
    plan_begin(plan, 0);
    for (int number = 1; fgets(line, sizeof line, in); number++) {
        memcpy(copy, line, sizeof copy);
        if (!read_line(plan, line)) {
            fprintf(stderr, "%s:%d: cannot be read: %s", name, number, copy);
            return false;
        }
    }
    plan_sort(plan);
    if (plan->servers % 2 == 0)
        fprintf(stderr, "%s: an even number of servers\n", name);
    return plan->servers % 2 != 0;
}
