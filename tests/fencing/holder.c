/*
 * A holder of a lock that writes whenever it is told to, without looking whether it still holds.
 *
 *     holder PATH COMMAND… HOSTS
 *
 * Prints "held TOKEN HANDOVER". For each line of its input, an amount, runs COMMAND… TOKEN HANDOVER AMOUNT, which writes to the
 * same output, and then prints "done AMOUNT valid" or "done AMOUNT lost": what it would have known, had it asked. The end of the
 * input releases the lock.
 */
#include <glib.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSION_MS = 4000, PATIENCE_MS = 60000, LINE_SIZE = 64 };

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "holder: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* True when the command ran, whatever the store said. */
static bool write_amount(char **command, const pdk_hold *hold, const char *amount) {
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_autofree char *token = g_strdup_printf("%lld", (long long)pdk_hold_token(hold));
    g_autofree char *handover = g_strdup_printf("%u", pdk_hold_handover(hold));
    for (char **word = command; *word; word++)
        g_strv_builder_add(builder, *word);
    g_strv_builder_add_many(builder, token, handover, amount, NULL);
    g_auto(GStrv) arguments = g_strv_builder_end(builder);
    g_autoptr(GError) error = NULL;
    int status = 0;
    if (!g_spawn_sync(NULL, arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error) ||
        !g_spawn_check_wait_status(status, &error)) {
        fprintf(stderr, "holder: %s: %s\n", *command, error->message);
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: holder PATH COMMAND... HOSTS\n");
        return 2;
    }
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.connect_timeout_ms = PATIENCE_MS;
    pdk_session *session = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    check("open", pdk_session_open(argv[argc - 1], &options, &session));
    argv[argc - 1] = NULL; /* the end of the command */
    check("lock", pdk_lock_new(session, argv[1], NULL, &lock));
    check("acquire", pdk_lock_acquire(lock, PATIENCE_MS, &hold));
    printf("held %lld %u\n", (long long)pdk_hold_token(hold), pdk_hold_handover(hold));
    fflush(stdout);

    char amount[LINE_SIZE];
    bool good = true;
    while (good && fgets(amount, sizeof amount, stdin)) {
        amount[strcspn(amount, "\n")] = '\0';
        good = write_amount(argv + 2, hold, amount);
        printf("done %s %s\n", amount, pdk_hold_is_valid(hold) ? "valid" : "lost");
        fflush(stdout);
    }
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    pdk_session_close(session, 2000);
    pdk_session_unref(session);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
