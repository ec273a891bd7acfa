/* The verbs. Each gets its own arguments, the verb as argv[0], and returns the exit status. */
#ifndef CMD_VERBS_H
#define CMD_VERBS_H

#include <stddef.h>

typedef struct {
    const char *name, *what; /* as `paddock --help` lists it */
    const char *does;        /* its own help begins with this … */
    const char *examples[2]; /* … and ends with these */
    int (*act)(int argc, char **argv);
} cmd_verb;

extern const cmd_verb cmd_verbs[];
extern const size_t cmd_verbs_count;
/* NULL: there is none of that name. */
const cmd_verb *cmd_verb_find(const char *name);
/* Says that there is none of that name, and which one was meant. */
void cmd_verb_miss(const char *name);

int cmd_run(int argc, char **argv);
int cmd_hold(int argc, char **argv);
int cmd_job(int argc, char **argv);
int cmd_elect(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_doctor_main(int argc, char **argv);
int cmd_ask(int argc, char **argv);
int cmd_break(int argc, char **argv);
int cmd_fence(int argc, char **argv);
int cmd_server_main(int argc, char **argv);
int cmd_help(int argc, char **argv);

#endif
