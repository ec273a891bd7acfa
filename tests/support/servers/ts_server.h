/* One ZooKeeper process: its configuration, its ports, its start and end. The parts of a ts_ensemble. */
#ifndef TS_SERVER_H
#define TS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    int index;
    char *ip;        /* 127.0.0.(index + 1) */
    int client_port; /* the three ports are reserved as long as the server exists */
    int quorum_port;
    int election_port;
    int reservation[3];
    char *client_address; /* "ip:port" */
    char *directory;
    char *config;
    char *log;
    char **properties;
    char *archive; /* NULL: start without */
    pid_t pid;     /* 0: not running */
} ts_server;

/* Makes directory and ports of node `index` below `base`. */
bool ts_server_init(ts_server *s, const char *base, int index);

/* Writes zoo.cfg: the settings of every server, then `more` (lines, each ended). */
bool ts_server_configure(ts_server *s, int tick_ms, const char *more);

/* Starts the process; it is not ready yet. */
bool ts_server_spawn(ts_server *s);

/* SIGKILL, and reaps it. */
void ts_server_kill(ts_server *s);

/* Prints the end of the log on standard error. */
void ts_server_print_log(const ts_server *s);

/* Kills it when it runs and frees what is in *s. */
void ts_server_clear(ts_server *s);

/* The archive of classes that makes servers start quickly (g_free): made on first use, which takes a second or two. NULL
 * when it cannot be had: servers then start without. */
char *ts_server_archive(bool quorum);

#endif
