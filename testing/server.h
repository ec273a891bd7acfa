/* One ZooKeeper process: its configuration, its ports, its start and end. The parts of a pdk_test_ensemble. */
#ifndef TESTING_SERVER_H
#define TESTING_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "starter.h"

typedef struct {
    int index;
    char *ip;        /* 127.0.0.(index + 1) */
    int client_port; /* the three ports are reserved as long as the server exists */
    int quorum_port;
    int election_port;
    int reservation[3];
    char *client_address; /* "ip:port" */
    char *base;           /* where the process runs */
    char *name;           /* of its folder there, "./node1" */
    char *directory;
    char *log;
    char *class_path;
    char **properties;
    char *archive; /* NULL: start without */
    pid_t pid;     /* 0: not running */
} pdk__test_server;

/* Makes directory and ports of node `index` below `base`. `port` is that for clients, 0: a free one. False, and the
 * reason is said. */
bool pdk__test_server_init(pdk__test_server *s, const char *base, int index, int port);

/* Writes zoo.cfg: the settings of every server, then `more` (lines, each ended). */
bool pdk__test_server_configure(pdk__test_server *s, int tick_ms, const char *more);

/* The path of its zoo.cfg, as the process sees it (g_free). */
char *pdk__test_server_config(const pdk__test_server *s);

/* Starts the process; it is not ready yet. False, and the reason is said. */
bool pdk__test_server_spawn(pdk__test_server *s, pdk__test_starter *starter);

/* SIGKILL, and reaps it. */
void pdk__test_server_kill(pdk__test_server *s);

/* The end of its log, in UTF-8 (g_free). */
char *pdk__test_server_last_words(const pdk__test_server *s);

/* Kills it when it runs and frees what is in *s. */
void pdk__test_server_clear(pdk__test_server *s);

/* The archive of classes that makes servers start quickly (g_free): made on first use, which takes a second or two.
 * NULL when it cannot be had: servers then start without. */
char *pdk__test_server_archive(const char *class_path, bool quorum);

#endif
