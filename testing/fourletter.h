/* ZooKeeper's four-letter commands: reports of a server about itself. Addresses are "ip:port". */
#ifndef TESTING_FOURLETTER_H
#define TESTING_FOURLETTER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    PDK__TEST_MODE_DOWN,    /* no answer */
    PDK__TEST_MODE_LOOKING, /* answers, but serves nobody: no quorum */
    PDK__TEST_MODE_STANDALONE,
    PDK__TEST_MODE_LEADER,
    PDK__TEST_MODE_FOLLOWER,
} pdk__test_server_mode;

/* Sends "mntr", "srvr", "wchs", … and returns the whole answer (g_free), NULL when there is none within 2 s. */
char *pdk__test_fourletter(const char *address, const char *command);

/* The mode that the server reports. A leader cut from its peers still says leader until its syncLimit has passed. */
pdk__test_server_mode pdk__test_mode(const char *address);

/* The last zxid the server has processed, -1 when it does not say. */
int64_t pdk__test_zxid(const char *address);

/* A number out of `mntr` by its name ("zk_watch_count"), -1 when absent. */
int64_t pdk__test_mntr(const char *address, const char *name);

/* Watches set at this server; -1 when it does not answer. */
int64_t pdk__test_watch_count(const char *address);

/* Sessions the ensemble knows; -1 when the server does not answer. Standalone and leaders know them all. */
int64_t pdk__test_session_count(const char *address);

/* Client connections of this server, the asking one not counted; -1 when it does not answer. */
int64_t pdk__test_connection_count(const char *address);

/* Ephemeral nodes in the server's tree; -1 when it does not answer. */
int64_t pdk__test_ephemeral_count(const char *address);

#endif
