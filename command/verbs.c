#include "verbs.h"

#include "nearest.h"
#include "say.h"
#include <glib.h>
#include <string.h>

/* The examples are run by a test, as those of the pages are. */
const cmd_verb cmd_verbs[] = {
    {"run",
     "run a command while holding a lock",
     "Waits for the lock at the path, runs the command, and releases the lock once\n"
     "nothing of the command is left. If the lock is lost, the command is ended\n"
     "before anybody else can have it.",
     {"paddock run /jobs/backup -- backup --all", "paddock run -n -E 0 /jobs/backup -- backup --all"},
     cmd_run},
    {"hold",
     "hold a lock without a command",
     "Waits for the lock at the path, and holds it until TERM, INT or HUP comes.\n"
     "If the lock is lost, it ends with 76 before anybody else can have the lock.",
     {"paddock hold /jobs/backup", "paddock hold -w 10s --notify /jobs/backup"},
     cmd_hold},
    {"elect",
     "run a command while being the leader",
     "Stands for the election at the path, and runs the command while this candidate\n"
     "leads, again and again.",
     {"paddock elect --id \"$(hostname)\" /jobs/scheduler -- scheduler", "paddock elect --observe /jobs/scheduler"},
     cmd_elect},
    {"job",
     "run a command once per period across a fleet",
     "Runs the command if no machine has run it in this period, and none runs it.\n"
     "Otherwise it ends with 77.",
     {"paddock job --every 1h /jobs/report -- report",
      "paddock job --every \"30 2 * * *\" --tz Europe/Berlin /jobs/backup -- backup-all"},
     cmd_job},
    {"wait",
     "wait until a lock is free",
     "Waits until nobody holds the lock at the path, and nobody waits for it.\n"
     "It takes nothing.",
     {"paddock wait /jobs/backup", "paddock wait -w 30s -E 1 /jobs/backup"},
     cmd_wait},
    {"show",
     "show who holds a lock, and who waits for it",
     "Prints who holds the lock at the path, and who waits for it, the oldest first.",
     {"paddock show /jobs/backup", "paddock show --json /jobs/backup"},
     cmd_show},
    {"watch",
     "show a queue as it changes",
     "Shows the holders and the waiters at the path as they change, until a signal\n"
     "ends it.",
     {"paddock watch /jobs/backup", "paddock watch --every 500ms --json /jobs/backup"},
     cmd_watch},
    {"ls",
     "list directories, and the recipes that work in them",
     "Lists the path and the directories below it, with the recipe that works in\n"
     "each, its holders and waiters.",
     {"paddock ls", "paddock ls --json /jobs"},
     cmd_ls},
    {"top",
     "show the longest queues",
     "Shows the longest queues anywhere below the path, each with its oldest holder.",
     {"paddock top", "paddock top --limit 5 /jobs"},
     cmd_top},
    {"check",
     "check whether a sequencer still holds",
     "Ends with 0 when the hold that the sequencer proves is still there, and with 1\n"
     "when it is not.",
     {"paddock check \"$PADDOCK_SEQUENCER\"", "paddock check --json \"$PADDOCK_SEQUENCER\""},
     cmd_check},
    {"doctor",
     "test what is assumed of the servers",
     "Tests what every hold assumes of the servers and of the tree. Each finding is\n"
     "printed with its fix.",
     {"paddock doctor", "paddock doctor --session-timeout 6s --json /jobs"},
     cmd_doctor_main},
    {"ask",
     "ask a holder to let go",
     "Asks the holder of the lock at the path to let go, and forces nothing.",
     {"paddock ask /jobs/backup", "paddock ask --who \"$USER\" --within 5m /jobs/backup"},
     cmd_ask},
    {"break",
     "delete the node of a holder, if it has the token",
     "Deletes the node of a holder that does not work any more, if it has the token\n"
     "that `paddock show` prints.",
     {"paddock break --token \"$token\" \"/jobs/backup/$node\"",
      "paddock break --json --token \"$token\" \"/jobs/backup/$node\""},
     cmd_break},
    {"fence",
     "run a command if a fence in a file admits its token",
     "Runs the command if the fence in the file admits the token, since no later\n"
     "hold was admitted before.",
     {"paddock fence --create orders.fence \"$PADDOCK_TOKEN\" -- report",
      "paddock fence orders.fence \"$PADDOCK_TOKEN:$PADDOCK_HANDOVER\" -- report"},
     cmd_fence},
    {"server",
     "start a throw-away ZooKeeper, for tests",
     "Starts a throw-away ZooKeeper for tests. It is gone with its command, or with\n"
     "a signal.",
     {"paddock server", "paddock server -- make check"},
     cmd_server_main},
    {"help",
     "show the help of a verb",
     "Prints the verbs, or the help of one of them.",
     {"paddock help", "paddock help run"},
     cmd_help},
};
const size_t cmd_verbs_count = G_N_ELEMENTS(cmd_verbs);

/* Names of other programs for a verb. */
static const struct {
    const char *name, *verb;
} others[] = {{"lock", "run"}, {"exec", "run"},       {"flock", "run"},   {"with", "run"},     {"status", "show"},
              {"list", "ls"},  {"tree", "ls"},        {"lead", "elect"},  {"leader", "elect"}, {"cron", "job"},
              {"once", "job"}, {"validate", "check"}, {"unlock", "break"}};

const cmd_verb *cmd_verb_find(const char *name) {
    for (size_t i = 0; i < cmd_verbs_count; i++)
        if (strcmp(name, cmd_verbs[i].name) == 0)
            return &cmd_verbs[i];
    return NULL;
}

void cmd_verb_miss(const char *name) {
    const char *known[G_N_ELEMENTS(cmd_verbs)], *meant = NULL;
    g_autofree char *word = cmd_escape(name);
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        known[i] = cmd_verbs[i].name;
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (strcmp(name, others[i].name) == 0)
            meant = others[i].verb;
    if (name[0] == '/') /* a path, as other programs have it there */
        meant = "run";
    if (!meant)
        meant = cmd_nearest(name, known, G_N_ELEMENTS(known));
    if (meant)
        cmd_error("there is no verb %s; did you mean %s? paddock help lists all", word, meant);
    else
        cmd_error("there is no verb %s; paddock help lists all", word);
}
