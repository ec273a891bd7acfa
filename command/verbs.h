/* The verbs. Each gets its own arguments, the verb as argv[0], and returns the exit status. */
#ifndef CMD_VERBS_H
#define CMD_VERBS_H

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

#endif
