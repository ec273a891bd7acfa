/* A server that speaks ZooKeeper's protocol and is none. It stands in front of a ZooKeeper, and answers as the sources of ClickHouse
 * Keeper do: it counts its sessions from 1, gives none a password, takes none back, and hangs up on requests that it does not know. */
#ifndef TS_KEEPER_H
#define TS_KEEPER_H

typedef struct ts_keeper ts_keeper;

enum ts_keeper_kind {
    TS_KEEPER_OLD,     /* hangs up on create2, as before 26.7 */
    TS_KEEPER_REFUSES, /* answers that it does not know it */
    TS_KEEPER_NEW,     /* has it */
};

/* In front of this server ("ip:port"). Aborts when there is no socket. */
ts_keeper *ts_keeper_start(const char *server, enum ts_keeper_kind kind);
/* Ends the connections, and waits for its threads. */
void ts_keeper_stop(ts_keeper *keeper);

/* "ip:port". */
const char *ts_keeper_address(const ts_keeper *keeper);
/* Ends the connections that there are. */
void ts_keeper_cut(ts_keeper *keeper);
/* The number of sessions that it gave. */
int ts_keeper_sessions(ts_keeper *keeper);
/* The number of requests that it hung up on, or refused. */
int ts_keeper_refusals(ts_keeper *keeper);

#endif
