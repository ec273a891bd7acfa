/*
 * Lies of a server, against every recipe. Each case is a process of its own: it opens a session through a liar, plays a scene, and closes.
 *
 *     lies [--sample N] [--seed N] [--lie TEXT] [--scene NAME] [--once | --always] [--librarys] [--verbose] HOSTS
 *
 * A case is fine when its process ends by itself in time, its calls have answered, it has used little of the processor, asked little
 * of the server, and said little. After a lie that is told once the session must be of use again. A lie that the client library
 * does not survive is not told, but with --librarys, which tells those alone.
 */
#include "lies.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ts_clock.h>
#include <ts_fork.h>
#include <unistd.h>

/* RATE, PROCESSOR: for each second, beyond so much at first. A recipe that works takes about a hundred requests. What repeats has a
 * pace (core/pace.h): a burst, and then 10 to 20 a second; a scene has several such things, and on a fast machine all bursts fall into its
 * first moments. CONNECTIONS: after a handshake that it does not like the client library connects anew without a pause. */
enum {
    AT_ONCE = 24,
    SESSION_MS = 2000,
    LIMIT_MS = 60000,
    RECOVER_MS = 15000,
    FIRST = 750,
    RATE = 100,
    CONNECTIONS = 2000,
    LINES = 130,
    LINES_RATE = 12
};
enum { CPU_FIRST_MS = 500, CPU_PART = 4 };

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SLOWER = 6 };
#else
enum { SLOWER = 1 };
#endif

/* A frame that is too long is no memory that is too much. And a crash must be told from an exit. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:exitcode=99"; }

struct outcome {
    bool ended;
    unsigned told, requests, connections, lines;
    int64_t ms, cpu_ms;
    pdk_status status, again;
    char loudest[160];
};

struct test {
    const struct lie *lie;
    const struct scene *scene;
    bool always;
    pid_t process;
    int64_t since;
    struct outcome *outcome; /* in memory that is shared */
};

static int sample, seed = 1;
static char *only_lie, *only_scene;
static gboolean only_once, only_always, librarys, verbose, honest;
static unsigned serial;

/* ---- in the process of a case */

static gint lines;
static char loudest[160];

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)user;
    if (verbose)
        fprintf(stderr, "%d %s\n", level, text);
    if (g_atomic_int_add(&lines, 1) == LINES)
        g_strlcpy(loudest, text, sizeof loudest);
}

static int64_t cpu_ms(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

/* The server tells the truth again: a lock is granted, sooner or later. */
static pdk_status try_again(pdk_session *session, const char *path) {
    g_autofree char *other = g_strconcat(path, "-again", NULL);
    const int64_t until = ts_now_ms() + (int64_t)RECOVER_MS * SLOWER;
    pdk_status status;
    do {
        pdk_lock *lock = NULL;
        pdk_hold *hold = NULL;
        status = pdk_lock_new(session, other, NULL, &lock);
        if (status == PDK_OK)
            status = pdk_lock_acquire(lock, 1000, &hold);
        if (status == PDK_OK)
            status = pdk_hold_release(hold);
        pdk_lock_unref(lock);
    } while (status != PDK_OK && status != PDK_AUTH && ts_now_ms() < until);
    return status;
}

static const struct lie none = {.name = "no lie", .answer = LIES_ANY, .how = LIE_NONE};

/* The scene, with two sessions of honest servers beside the one that may be lied to, where it wants them. */
static pdk_status play_scene(const struct test *t, const char *server, pdk_session *session, const char *path,
                             const pdk_session_options *options) {
    if (!t->scene->play_three)
        return t->scene->play(session, path);
    pdk_session *sessions[3] = {session};
    for (int i = 1; i < 3; i++)
        if (pdk_session_open(liar_address(liar_start(server, &none, false)), options, &sessions[i]) != PDK_OK)
            return PDK_SYSTEM;
    pdk_status status = t->scene->play_three(sessions, path);
    for (int i = 1; i < 3; i++) {
        (void)pdk_session_close(sessions[i], 300);
        pdk_session_unref(sessions[i]);
    }
    return status;
}

static void play(const struct test *t, const char *server) {
    struct outcome *o = t->outcome;
    struct liar *liar = liar_start(server, t->lie, t->always);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    g_autofree char *path = g_strdup_printf("/lies/%d-%u/%s", (int)getppid(), serial, t->scene->name);
    pdk_session *session = NULL;
    const int64_t begun = ts_now_ms();
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = scenes_ms;
    options.open_in_background = 1;
    options.on_log = on_log;
    o->status = pdk_session_open(liar_address(liar), &options, &session);
    if (session) {
        o->status = play_scene(t, server, session, path, &options);
        o->ms = ts_now_ms() - begun;
        o->requests = liar_requests(liar);
        o->connections = liar_connections(liar);
        o->lines = (unsigned)g_atomic_int_get(&lines);
        o->told = liar_told(liar);
        o->cpu_ms = cpu_ms();
        liar_rest(liar);
        o->again = try_again(session, path);
        (void)pdk_session_close(session, 300);
        pdk_session_unref(session);
    }
    g_strlcpy(o->loudest, loudest, sizeof o->loudest);
    o->ended = true;
}

static void begin(struct test *t, const char *server) {
    t->since = ts_now_ms();
    serial++;
    fflush(NULL);
    t->process = fork();
    if (t->process < 0)
        g_error("fork: %s", g_strerror(errno));
    if (t->process > 0)
        return;
    play(t, server);
    ts_end_child(0);
}

/* ---- the judge */

static char *words(const struct test *t, int end) {
    const struct outcome *o = t->outcome;
    const int64_t seconds = o->ms / 1000;
    if (WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL)
        return g_strdup("HANGS");
    if (WIFSIGNALED(end))
        return g_strdup_printf("ENDS with signal %d (%s)", WTERMSIG(end), g_strsignal(WTERMSIG(end)));
    if (WEXITSTATUS(end) != 0 || !o->ended)
        return g_strdup_printf("ENDS with %d", WEXITSTATUS(end));
    const int64_t anew = t->lie->answer == LIES_HANDSHAKE ? CONNECTIONS : RATE;
    if (o->requests > FIRST + RATE * seconds || o->connections > FIRST + anew * o->ms / 1000)
        return g_strdup_printf("SPINS: %u requests and %u connections in %d ms", o->requests, o->connections,
                               (int)o->ms);
    if (o->cpu_ms > SLOWER * (CPU_FIRST_MS + o->ms / CPU_PART))
        return g_strdup_printf("SPINS: %d ms of processor in %d ms", (int)o->cpu_ms, (int)o->ms);
    if (o->lines > LINES + LINES_RATE * seconds)
        return g_strdup_printf("FLOODS: %u lines in %d ms: %s", o->lines, (int)o->ms, o->loudest);
    if (o->again != PDK_OK && o->again != PDK_AUTH && !t->lie->lasts)
        return g_strdup_printf("STAYS AWAY: %s", pdk_status_name(o->again));
    if (honest && o->status != PDK_OK)
        return g_strdup_printf("FAILS without a lie: %s", pdk_status_name(o->status));
    return NULL;
}

struct tally {
    unsigned cases, told, wrong;
};

static void judge(struct tally *tally, const struct test *t, int end) {
    g_autofree char *wrong = words(t, end);
    const struct outcome *o = t->outcome;
    tally->cases++;
    tally->told += o->told > 0 || wrong != NULL;
    tally->wrong += wrong != NULL;
    if (wrong)
        printf("%s, %s, %s: %s%s%s\n", t->lie->name, t->always ? "always" : "once", t->scene->name, wrong,
               t->lie->librarys ? "; the client library's: " : "", t->lie->librarys ? t->lie->librarys : "");
    else if (verbose)
        printf("%s, %s, %s: %s, then %s; told %u, %u requests, %u connections, %u lines, %d ms, processor %d ms\n",
               t->lie->name, t->always ? "always" : "once", t->scene->name, pdk_status_name(o->status),
               pdk_status_name(o->again), o->told, o->requests, o->connections, o->lines, (int)o->ms, (int)o->cpu_ms);
    fflush(stdout);
}

/* ---- the plan */

static void add(GArray *plan, const struct lie *lie, const struct scene *scene, bool always) {
    bool wanted = (lie->librarys != NULL) == librarys && (!only_lie || strstr(lie->name, only_lie)) &&
                  (!only_scene || strcmp(scene->name, only_scene) == 0) && !(always ? only_once : only_always);
    struct test test = {.lie = lie, .scene = scene, .always = always};
    if (wanted)
        g_array_append_val(plan, test);
}

static GArray *plan_of(const GArray *all) {
    GArray *plan = g_array_new(FALSE, TRUE, sizeof(struct test));
    for (unsigned scene = 0; scene < scenes_count; scene++) {
        if (honest)
            add(plan, &none, &scenes[scene], false);
        for (guint i = 0; i < all->len && !honest; i++) {
            add(plan, &g_array_index(all, struct lie, i), &scenes[scene], false);
            add(plan, &g_array_index(all, struct lie, i), &scenes[scene], true);
        }
    }
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)seed);
    for (guint i = plan->len; i > 1; i--) { /* in any order, so that the first of them are a sample */
        guint j = (guint)g_rand_int_range(random, 0, (gint32)i);
        struct test kept = g_array_index(plan, struct test, i - 1);
        g_array_index(plan, struct test, i - 1) = g_array_index(plan, struct test, j);
        g_array_index(plan, struct test, j) = kept;
    }
    if (sample > 0 && (guint)sample < plan->len)
        g_array_set_size(plan, (guint)sample);
    return plan;
}

static void end_late(GArray *plan, guint begun) {
    for (guint i = 0; i < begun; i++) {
        struct test *t = &g_array_index(plan, struct test, i);
        if (t->process > 0 && ts_now_ms() - t->since > (int64_t)LIMIT_MS * SLOWER)
            kill(t->process, SIGKILL);
    }
}

/* The case whose process it was. */
static struct test *of_process(GArray *plan, guint begun, pid_t process) {
    for (guint i = 0; i < begun; i++)
        if (g_array_index(plan, struct test, i).process == process)
            return &g_array_index(plan, struct test, i);
    return NULL;
}

static struct tally run(GArray *plan, const char *server) {
    struct tally tally = {0};
    struct outcome *outcomes =
        mmap(NULL, sizeof *outcomes * MAX(plan->len, 1), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    guint begun = 0, running = 0;
    while (begun < plan->len || running > 0) {
        while (begun < plan->len && running < AT_ONCE) {
            struct test *t = &g_array_index(plan, struct test, begun);
            t->outcome = &outcomes[begun++];
            running++;
            begin(t, server);
        }
        int end;
        pid_t process = waitpid(-1, &end, WNOHANG);
        struct test *t = process > 0 ? of_process(plan, begun, process) : NULL;
        if (t) {
            t->process = 0;
            running--;
            judge(&tally, t, end);
        } else {
            g_usleep(5000);
            end_late(plan, begun);
        }
    }
    munmap(outcomes, sizeof *outcomes * MAX(plan->len, 1));
    return tally;
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"sample", 0, 0, G_OPTION_ARG_INT, &sample, "so many cases; all of them", "N"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "which of them", "N"},
        {"lie", 0, 0, G_OPTION_ARG_STRING, &only_lie, "those whose name has this in it", "TEXT"},
        {"scene", 0, 0, G_OPTION_ARG_STRING, &only_scene, "that scene alone", "NAME"},
        {"once", 0, 0, G_OPTION_ARG_NONE, &only_once, "told once", NULL},
        {"always", 0, 0, G_OPTION_ARG_NONE, &only_always, "told in each answer", NULL},
        {"librarys", 0, 0, G_OPTION_ARG_NONE, &librarys,
         "those that the client library does not survive; any end is fine", NULL},
        {"honest", 0, 0, G_OPTION_ARG_NONE, &honest, "no lie: every call must succeed", NULL},
        {"verbose", 0, 0, G_OPTION_ARG_NONE, &verbose, "say what came of each", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("HOSTS");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 2) {
        fprintf(stderr, "lies: %s\n", error ? error->message : "give the address of a server");
        return 2;
    }
    if (honest)
        scenes_ms = LIMIT_MS / 4; /* on any machine */
    g_autoptr(GArray) all = lies_all();
    g_autoptr(GArray) plan = plan_of(all);
    const int64_t begun = ts_now_ms();
    struct tally tally = run(plan, argv[1]);
    printf("%u lies, %u scenes: %u cases, %u of them told, %u wrong, %d s\n", all->len, scenes_count, tally.cases,
           tally.told, tally.wrong, (int)((ts_now_ms() - begun) / 1000));
    return tally.cases == 0 || (tally.wrong > 0 && !librarys);
}
