#include "guard_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The keeper's ends, which each guardian closes: if it had another guardian's end, that one would not hear that the
 * keeper is dead. */
enum { GUARDS = 3 };
static int channels[GUARDS], others;

/* Is it a variable that a hold around this program has set for us, "PADDOCK_TOKEN" or "PADDOCK_TOKEN_2"? */
static bool tells_of_a_hold(const char *name) {
    static const char *const names[] = {"PADDOCK_PATH",         "PADDOCK_ZNODE",    "PADDOCK_TOKEN",
                                        "PADDOCK_TOKEN_PADDED", "PADDOCK_HANDOVER", "PADDOCK_SEQUENCER",
                                        "PADDOCK_SESSION",      "PADDOCK_COUNT",    "PADDOCK_LEADER",
                                        "PADDOCK_LEADER_TOKEN", "PADDOCK_REASON"};
    size_t length = strlen(name), digits = 0;
    while (digits < length && g_ascii_isdigit(name[length - digits - 1]))
        digits++;
    if (digits > 0 && digits < length && name[length - digits - 1] == '_')
        length -= digits + 1;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strlen(names[i]) == length && g_str_has_prefix(name, names[i]))
            return true;
    return false;
}

void cmd_forget_hold(void) {
    g_auto(GStrv) names = g_listenv();
    for (char **name = names; *name; name++)
        if (tells_of_a_hold(*name))
            unsetenv(*name);
}

static int start(cmd_guard *guard, const cmd_charge *charge) {
    int ends[2];
    cmd_moments *moments = mmap(NULL, sizeof *moments, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (moments == MAP_FAILED)
        return -1;
    atomic_store(&moments->term_at, INT64_MAX);
    atomic_store(&moments->kill_at, INT64_MAX);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        for (int i = 0; i < others; i++)
            close(channels[i]);
        cmd_forget_hold(); /* the hold outside of this program */
        cmd_guardian(ends[1], moments, charge);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    assert(others < GUARDS);
    channels[others++] = ends[0];
    *guard = (cmd_guard){.pid = pid, .channel = ends[0], .moments = moments};
    return 0;
}

int cmd_guard_start(cmd_guard *guard, char **const *commands, bool background) {
    return start(guard, &(cmd_charge){.commands = commands, .background = background, .ready = -1, .input = -1});
}

int cmd_guard_start_for_hold(cmd_guard *guard, int ready, int input) {
    return start(guard, &(cmd_charge){.background = true, .ready = ready, .input = input});
}

bool cmd_guard_order(const cmd_guard *guard, int kind, int number) {
    cmd_message order = {.kind = kind, .number = number};
    return cmd_guard_send(guard, &order);
}

bool cmd_guard_send(const cmd_guard *guard, const cmd_message *order) {
    return send(guard->channel, order, sizeof *order, MSG_NOSIGNAL) == (ssize_t)sizeof *order;
}

/* The name and the value, each with its '\0'. The rest of the text stays '\0'. */
void cmd_guard_add(cmd_message *order, size_t *used, const char *name, const char *value) {
    size_t names = strlen(name) + 1, values = strlen(value) + 1;
    if (*used + names + values >= sizeof order->text) /* a path has 512 bytes at most, an identity 1024 */
        return;
    memcpy(order->text + *used, name, names);
    memcpy(order->text + *used + names, value, values);
    *used += names + values;
}

bool cmd_guard_news(const cmd_guard *guard, cmd_message *news) {
    ssize_t got;
    do
        got = recv(guard->channel, news, sizeof *news, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *news;
}

void cmd_guard_tell_secret(const cmd_guard *guard, pdk_session *session) {
    static cmd_message order;
    cmd_secret secret = {.timeout_ms = pdk_session_timeout_ms(session)};
    G_STATIC_ASSERT(sizeof secret <= sizeof order.text);
    if (pdk_session_secret(session, &secret.session, secret.password, secret.servers, sizeof secret.servers) ==
        PDK_OK) {
        order.kind = CMD_SECRET;
        memcpy(order.text, &secret, sizeof secret);
        (void)cmd_guard_send(guard, &order);
    }
    explicit_bzero(&order, sizeof order);
    explicit_bzero(&secret, sizeof secret);
}

void cmd_guard_dismiss(cmd_guard *guard) {
    if (guard->pid <= 0 || guard->channel < 0)
        return;
    (void)cmd_guard_order(guard, CMD_BYE, 0);
    close(guard->channel);
    guard->channel = -1;
}

void cmd_guard_stop(cmd_guard *guard) {
    if (guard->pid <= 0)
        return;
    cmd_guard_dismiss(guard);
    pid_t reaped;
    do
        reaped = waitpid(guard->pid, NULL, 0);
    while (reaped < 0 && errno == EINTR);
    guard->pid = 0;
    munmap(guard->moments, sizeof *guard->moments);
}
