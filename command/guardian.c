#include "clock.h"
#include "guard_internal.h"
#include "reap.h"
#include "say.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEFTOVERS_MS = 2000, FIRST_LOOK_MS = 100, LAST_LOOK_MS = 10000, AGAIN_MS = 10, REFUSED_MS = 100, REFUSALS = 10 };
enum { FRONT_MS = 200, TSTP_MS = 1000 };

typedef struct {
    int channel; /* -1: there is no keeper any more */
    int alarm, deaths;
    cmd_moments *moments;
    char **const *commands;
    pid_t keepers_group; /* 0: never the terminal */
    cmd_family family;   /* of the command that runs, or ran last */
    bool runs;           /* something of it is left */
    bool termed, killed; /* it got TERM; it gets KILL */
    bool told;           /* it got TERM, which may be one that is passed on */
    bool stopped;        /* it stands still, */
    bool stop_ordered;   /* until the connection is back */
    int64_t tstp_until;  /* a stop by TSTP comes from the one that was passed on */
    int64_t front_at;    /* it stands still since it wants the terminal: the next look whether it has that */
    int64_t kill_at;     /* by an order, or for processes that the command left behind */
    int64_t again_at;    /* of the next KILL */
    int refusals;
    int64_t look_at, look_ms; /* for strangers */
    bool saw_stranger;
    pid_t unkillable;   /* the one that was told last */
    bool finds_all;     /* a process that leaves the command becomes our child */
    bool bye;           /* the keeper ends in order */
    cmd_secret *secret; /* of the session; NULL: no memory for it. session 0: not known */
} guardian;

static void tell(const guardian *g, int kind, int number) {
    cmd_message news = {.kind = kind, .number = number};
    if (g->channel >= 0)
        (void)send(g->channel, &news, sizeof news, MSG_NOSIGNAL);
}

/* A command may stop again and again, and a keeper that stands still reads nothing. So that news is left out when other
 * news is unread: the channel would be full, and the lease would end while we wait for room. */
static void tell_stop(const guardian *g, int kind, int number) {
    enum { UNREAD = 4 * sizeof(cmd_message) };
    int unread = 0;
    if (g->channel >= 0 && ioctl(g->channel, SIOCOUTQ, &unread) == 0 && unread <= UNREAD)
        tell(g, kind, number);
}

/* ---- how it ends */

static void be_gone(guardian *g) {
    cmd_pass_terminal(g->family.group, g->keepers_group);
    cmd_family_end(&g->family);
    g->runs = false;
    atomic_store(&g->moments->over, true);
    tell(g, CMD_GONE, g->family.status);
}

/* Tell of a process that cannot be killed. When the keeper is dead, nobody else says it. */
static void tell_unkillable(guardian *g, pid_t pid) {
    if (g->unkillable && cmd_is_out_of_reach(g->unkillable))
        return;
    g->unkillable = pid;
    tell(g, CMD_UNKILLABLE, pid);
    if (g->channel < 0)
        cmd_error("process %d belongs to another user, and cannot be killed: it runs on%s", pid,
                  g->secret && g->secret->session ? "; the lock lasts until the session expires" : "");
}

/* KILL for all children. Processes below them become children when their parents die: each death brings us here again,
 * and so does the alarm. */
static void finish(guardian *g) {
    int stopped = 0;
    if (!g->runs)
        return;
    g->killed = true;
    atomic_store(&g->moments->over, true);
    pid_t refused = cmd_family_signal_all(&g->family, SIGKILL);
    if (!cmd_family_reap(&g->family, &stopped)) {
        be_gone(g);
        return;
    }
    g->refusals += refused != 0;
    g->again_at = cmd_now_ms() + (refused ? REFUSED_MS : AGAIN_MS);
    if (refused)
        tell_unkillable(g, refused);
}

/* Look for processes of another user. They cannot be ended, which is said before it is due. */
static void look_for_strangers(guardian *g) {
    pid_t stranger = g->saw_stranger ? 0 : cmd_family_stranger(&g->family);
    if (stranger) {
        g->saw_stranger = true;
        tell(g, CMD_STRANGER, stranger);
    }
    g->look_ms = g->look_ms * 2 < LAST_LOOK_MS ? g->look_ms * 2 : LAST_LOOK_MS;
    g->look_at = g->saw_stranger ? INT64_MAX : cmd_now_ms() + g->look_ms;
}

/* ---- a command that stands still
 *
 * A command that a terminal stopped would keep the lock from others, and no shell has it as a job that could be
 * continued: its shell knows the keeper alone, and that one goes on. So it is continued at once. It stands still when
 * the keeper orders it, when somebody sends STOP, and when it wants the terminal from the background. */

/* Continue it; in the foreground, when the keeper's group has that. */
static void go_on(guardian *g) {
    cmd_pass_terminal(g->keepers_group, g->family.group);
    cmd_family_signal(&g->family, SIGCONT);
    g->stopped = g->stop_ordered = false;
    g->front_at = INT64_MAX;
    g->tstp_until = 0;
}

/* A shell that has the keeper as a job that runs brings it to the foreground (fg), and sends no signal. When the
 * terminal is gone nobody can, and the command goes on: it cannot read, and hears that. Without a connection it stands
 * still all the same, and wants the terminal again when it goes on. */
static bool comes_to_front(guardian *g) {
    bool looks = g->keepers_group && !g->stop_ordered;
    pid_t front = looks ? cmd_terminals_group() : 0;
    bool comes = front < 0 || (front > 0 && (front == g->keepers_group || front == g->family.group));
    if (comes)
        go_on(g);
    else
        g->front_at = looks ? cmd_now_ms() + FRONT_MS : INT64_MAX;
    return comes;
}

/* By Ctrl-Z, and not by a TSTP to the keeper, which some commands survive. */
static bool is_by_terminal(const guardian *g, int number) {
    return number == SIGTSTP && !g->stop_ordered && cmd_now_ms() >= g->tstp_until && g->keepers_group &&
           cmd_terminals_group() == g->family.group;
}

static void stand_still(guardian *g, int number) {
    bool wants_terminal = number == SIGTTIN || number == SIGTTOU;
    g->stopped = true;
    if (g->told && !g->stop_ordered) {
        go_on(g);
    } else if (is_by_terminal(g, number)) {
        go_on(g);
        tell_stop(g, CMD_WENT_ON, number);
    } else if (!wants_terminal || !comes_to_front(g)) {
        if (!wants_terminal)
            cmd_pass_terminal(g->family.group, g->keepers_group);
        g->tstp_until = 0;
        tell_stop(g, CMD_STOPPED, number);
    }
}

/* TERM, and CONT, since a command that was stopped could not end. */
static void term(guardian *g, int64_t kill_after_ms) {
    int64_t at = cmd_now_ms() + kill_after_ms;
    if (!g->runs)
        return;
    g->termed = g->told = true;
    g->kill_at = at < g->kill_at ? at : g->kill_at;
    if (g->family.ended) { /* also processes that left the group */
        (void)cmd_family_signal_all(&g->family, SIGTERM);
        (void)cmd_family_signal_all(&g->family, SIGCONT);
    } else {
        cmd_family_signal(&g->family, SIGTERM);
        go_on(g);
    }
    look_for_strangers(g);
}

/* ---- deaths, and stops */

static void reap(guardian *g) {
    struct signalfd_siginfo info;
    int stopped = 0;
    ssize_t got;
    do
        got = read(g->deaths, &info, sizeof info);
    while (got > 0);
    bool left = cmd_family_reap(&g->family, &stopped);
    if (!g->runs)
        return;
    if (stopped && left && !g->family.ended)
        stand_still(g, stopped);
    if (!left) {
        be_gone(g);
    } else if (g->killed) {
        finish(g);
    } else if (g->family.ended && !g->termed) {
        tell(g, CMD_ENDED, g->family.status);
        term(g, LEFTOVERS_MS);
    }
}

/* ---- orders */

static void set_environment(cmd_message *order) {
    order->text[sizeof order->text - 1] = '\0';
    for (char *name = order->text; *name;) {
        char *value = name + strlen(name) + 1;
        setenv(name, value, 1);
        name = value + strlen(value) + 1;
    }
}

static void start(guardian *g, cmd_message *order) {
    set_environment(order);
    cmd_family_begin(&g->family, 0);
    g->termed = g->killed = g->saw_stranger = g->told = g->stopped = g->stop_ordered = false;
    g->unkillable = g->refusals = 0;
    g->kill_at = g->front_at = INT64_MAX;
    g->tstp_until = 0;
    if (cmd_now_ms() >= atomic_load(&g->moments->term_at)) { /* the order came late, so nothing begins now */
        cmd_forget_hold();
        atomic_store(&g->moments->over, true);
        tell(g, CMD_LATE, 0);
        tell(g, CMD_GONE, 0);
        return;
    }
    pid_t pid = cmd_spawn(g->commands[order->number], g->keepers_group);
    int why = errno;
    cmd_forget_hold();
    if (pid < 0) {
        tell(g, CMD_REFUSED, why);
        return;
    }
    cmd_family_begin(&g->family, pid);
    g->runs = true;
    g->look_ms = FIRST_LOOK_MS;
    g->look_at = cmd_now_ms() + g->look_ms;
    tell(g, CMD_STARTED, pid);
}

/* A signal that ends most programs. One that stands still would not get it. Many reload at a HUP, which can wait for the
 * connection. */
static bool ends(const guardian *g, int number) {
    return number == SIGTERM || number == SIGINT || number == SIGQUIT || (number == SIGHUP && !g->stop_ordered);
}

static void forward(guardian *g, int number) {
    reap(g);                                          /* it may have stopped just now */
    if (!g->runs || (g->termed && number == SIGSTOP)) /* its time to end is short */
        return;
    g->told = g->told || number == SIGTERM;
    if (number == SIGSTOP) {
        g->stop_ordered = true;
        g->front_at = INT64_MAX;
    }
    if (number == SIGTSTP)
        g->tstp_until = cmd_now_ms() + TSTP_MS;
    if (number != SIGCONT)
        cmd_family_signal(&g->family, number);
    if (number == SIGCONT || ((g->stopped || g->stop_ordered) && ends(g, number)))
        go_on(g);
    if (number == SIGTERM)
        look_for_strangers(g);
}

static void keep_secret(const guardian *g, cmd_message *order) {
    if (g->secret)
        memcpy(g->secret, order->text, sizeof *g->secret);
    explicit_bzero(order, sizeof *order);
}

/* false: the keeper is dead, or is done. */
static bool obey(guardian *g) {
    static cmd_message order; /* the environment points into it */
    ssize_t got = recv(g->channel, &order, sizeof order, 0);
    /* ECONNRESET: the keeper closed without having read all news. It is reported once. The keeper's earlier orders come
     * next. */
    if (got < 0 && (errno == EINTR || errno == ECONNRESET))
        return true;
    if (got != (ssize_t)sizeof order)
        return false;
    switch (order.kind) {
    case CMD_START:
        start(g, &order);
        break;
    case CMD_SET:
        set_environment(&order);
        break;
    case CMD_SECRET:
        keep_secret(g, &order);
        break;
    case CMD_FORWARD:
        forward(g, order.number);
        break;
    case CMD_END:
        term(g, order.number);
        break;
    case CMD_BYE:
        g->bye = true;
        break;
    default:
        finish(g);
        break;
    }
    return true;
}

/* ---- events that no order brings */

/* The moments of the lease count only while something of the command is there. */
static void watch_moments(guardian *g) {
    int64_t now = cmd_now_ms(), term_at = atomic_load(&g->moments->term_at),
            kill_at = atomic_load(&g->moments->kill_at);
    bool due = now >= kill_at || now >= g->kill_at || g->channel < 0;
    if (g->runs && (g->killed ? now >= g->again_at : due))
        finish(g);
    if (g->runs && !g->killed && now >= term_at && !g->termed) {
        atomic_store(&g->moments->over, true);
        term(g, kill_at - now); /* also when the lease is renewed after all */
        tell(g, CMD_TERMED, 0);
    }
    if (g->runs && !g->killed && now >= g->look_at)
        look_for_strangers(g);
    if (g->runs && !g->killed && now >= g->front_at)
        (void)comes_to_front(g);
    int64_t next = g->termed || kill_at < term_at ? kill_at : term_at;
    next = next < g->kill_at ? next : g->kill_at;
    next = next < g->look_at ? next : g->look_at;
    next = next < g->front_at ? next : g->front_at;
    cmd_alarm_set(g->alarm, !g->runs ? INT64_MAX : g->killed ? g->again_at : next);
}

/* ---- the session of a keeper that is dead */

/* A program that waits for the end of our output must not wait for this. Copies of the output have other numbers, and
 * so has the descriptor of our words: all are closed but `kept`, of which -1 is none. */
static void be_silent(const int *kept, size_t count) {
    unsigned from = STDERR_FILENO + 1;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    cmd_quiet = true;
    for (int i = STDIN_FILENO; nothing >= 0 && i <= STDERR_FILENO; i++)
        (void)dup2(nothing, i);
    for (;;) {
        unsigned next = ~0U;
        for (size_t i = 0; i < count; i++)
            if (kept[i] >= (int)from && (unsigned)kept[i] < next)
                next = (unsigned)kept[i];
        if (next > from)
            (void)close_range(from, next - (next != ~0U), 0);
        if (next == ~0U)
            return;
        from = next + 1;
    }
}

/* Each server gets its share of the time that the session has without us. */
static void end_session(const cmd_secret *secret) {
    enum { PAUSE_MS = 50 };
    g_auto(GStrv) servers = g_strsplit(secret->servers, ",", -1);
    int64_t deadline = cmd_now_ms() + secret->timeout_ms,
            share = secret->timeout_ms / (int)(g_strv_length(servers) + 1);
    be_silent(NULL, 0);
    for (size_t i = 0; servers[0] && cmd_now_ms() < deadline; i++) {
        if (!servers[i]) {
            (void)poll(NULL, 0, PAUSE_MS);
            i = 0;
        }
        if (cmd_wire_end_session(servers[i], secret->session, secret->password, secret->timeout_ms, share))
            return;
    }
}

/* ---- without a command: the user of a hold */

/* The same pipes, without being a reader or a writer of them: a process that waits for the end of one waits for the
 * keeper alone. */
typedef struct {
    int ready, input; /* -1: none, or no pipe, and nothing is known */
} user_of_hold;

static int reopen(int descriptor, int flags) {
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", descriptor);
    return open(path, flags | O_CLOEXEC);
}

static int keep_place(int descriptor) {
    struct stat stat;
    return descriptor >= 0 && fstat(descriptor, &stat) == 0 && S_ISFIFO(stat.st_mode) ? reopen(descriptor, O_PATH) : -1;
}

static user_of_hold stand_aside(const cmd_charge *charge, int channel) {
    user_of_hold user = {.ready = keep_place(charge->ready), .input = keep_place(charge->input)};
    be_silent((const int[]){channel, user.ready, user.input}, 3);
    return user;
}

/* Does nobody read it? A fifo that nobody reads takes no writer; a pipe takes one, and tells it. */
static bool nobody_reads(int place) {
    struct pollfd end = {.fd = place >= 0 ? reopen(place, O_WRONLY | O_NONBLOCK) : -1};
    if (end.fd < 0)
        return place >= 0 && errno == ENXIO;
    (void)poll(&end, 1, 0);
    close(end.fd);
    return end.revents & POLLERR;
}

/* Has its writer gone? Each look reads once, so a writer that goes on does not keep us busy. */
static bool nobody_writes(int place) {
    static char ignored[65536]; /* a pipe that is full */
    int end = place >= 0 ? reopen(place, O_RDONLY | O_NONBLOCK) : -1;
    if (end < 0)
        return false;
    ssize_t got = read(end, ignored, sizeof ignored);
    close(end);
    return got == 0;
}

/* Wait for the user, as the keeper would have done. false: the session is over before. */
static bool await_user(const user_of_hold *user, int64_t timeout_ms) {
    enum { LOOK_MS = 20 };
    int64_t deadline = cmd_now_ms() + timeout_ms;
    while (cmd_now_ms() < deadline && (user->ready >= 0 || user->input >= 0)) {
        if (nobody_reads(user->ready) || nobody_writes(user->input))
            return true;
        (void)poll(NULL, 0, LOOK_MS);
    }
    return false;
}

/* The place of the secret is in no core, in no swap, and in no command before it is executed. */
static cmd_secret *make_place_for_secret(void) {
    cmd_secret *secret = mmap(NULL, sizeof *secret, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (secret == MAP_FAILED)
        return NULL;
    (void)mlock(secret, sizeof *secret);
    if (madvise(secret, sizeof *secret, MADV_DONTDUMP) == 0 && madvise(secret, sizeof *secret, MADV_WIPEONFORK) == 0)
        return secret;
    munmap(secret, sizeof *secret);
    return NULL;
}

/* ---- the process */

/* Close our copy of the input, so that the commands read nothing, as intended. */
static void close_input(void) {
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
}

/* Nobody else is left to say it. Commands in the background are no news. */
static void outlive_keeper(guardian *g) {
    finish(g);
    if (g->keepers_group)
        cmd_error("paddock itself was killed: KILL sent to its command");
}

/* Serve until the keeper is gone, and nothing of the command is left. After an end in order nobody waits for a process
 * that cannot be killed. */
static void serve(guardian *g) {
    while (g->channel >= 0 || (g->runs && !(g->bye && g->refusals > REFUSALS))) {
        struct pollfd wait[] = {{.fd = g->channel, .events = POLLIN},
                                {.fd = g->deaths, .events = POLLIN},
                                {.fd = g->alarm, .events = POLLIN}};
        uint64_t count;
        if (poll(wait, 3, -1) < 0)
            continue;
        if (wait[0].revents && !obey(g)) {
            close(g->channel);
            g->channel = -1;
            g->unkillable = g->bye ? g->unkillable : 0;
            if (!g->bye && g->runs)
                outlive_keeper(g);
        }
        if (wait[1].revents)
            reap(g);
        if (wait[2].revents && read(g->alarm, &count, sizeof count) < 0)
            continue;
        watch_moments(g);
    }
}

_Noreturn void cmd_guardian(int channel, cmd_moments *moments, const cmd_charge *charge) {
    sigset_t all, deaths;
    guardian g = {.channel = channel,
                  .moments = moments,
                  .commands = charge->commands,
                  .keepers_group = charge->background ? 0 : getpgrp(),
                  .kill_at = INT64_MAX,
                  .look_at = INT64_MAX,
                  .front_at = INT64_MAX};
    user_of_hold user = charge->commands ? (user_of_hold){.ready = -1, .input = -1} : stand_aside(charge, channel);
    if (charge->background)
        close_input();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    /* The keeper passes on a signal to its whole group. KILL for that group leaves the guardian alive. */
    setpgid(0, 0);
    g.finds_all = cmd_reap_all_orphans();
    g.secret = make_place_for_secret();
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* not ignored: the command's status is wanted */
    g.deaths = signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
    g.alarm = cmd_alarm_new();
    if (g.deaths >= 0 && g.alarm >= 0)
        serve(&g);
    bool knows = !g.bye && !g.runs && g.finds_all && g.secret && g.secret->session;
    if (knows && (charge->commands || await_user(&user, g.secret->timeout_ms)))
        end_session(g.secret);
    if (g.secret)
        explicit_bzero(g.secret, sizeof *g.secret);
    _exit(0);
}
