/* A fake ensemble and simple clients, for its tests. Answers and events of a client are written down, a word each.
 *
 *     connected expired end                  the session, the connection
 *     4=0 4=-101 4=0:/a/x-0000000003         the answer to request 4; CREATE: the path
 *     4=0,x,y                                LIST, sorted
 *     4=0"text"                              GET
 *     changed:/a deleted:/a children:/a      events
 *     watching closed                        SET_WATCHES done, CLOSE done
 */
#ifndef SIM_BENCH_H
#define SIM_BENCH_H

#include "sim_ensemble.h"
#include "ts_check.h"

struct sim_player {
    int32_t host;
    struct sim_wire wire;
    int64_t session, timeout, zxid, asked_timeout;
    struct sim_stat stat; /* of the newest answer that had one */
    int64_t heard_at;
    int32_t pongs;
    bool connected, pings, pinging;
    char heard[4096];
};

#define SIM_TICK (500 * SIM_MS)

extern struct sim_agenda sim_agenda;
extern struct sim_net sim_net;
extern struct sim_ensemble *sim_ensemble;
extern struct sim_player sim_a, sim_b, sim_c;

/* Ticks of 500 ms, syncLimit 5, latency 1 ms, elections of 100 to 200 ms; a leader, and the players' hosts. The end is for
 * the fixture of a suite; a new beginning ends what was before. */
void sim_bench_begin(int32_t servers);
void sim_bench_begin_with(const struct sim_ensemble_config *config);
struct sim_ensemble_config sim_bench_config(int32_t servers);
void sim_bench_end(void);

/* So much time passes. */
void sim_bench_run(int64_t ms);
/* Until everything that is alive is up to date; fails after a minute. */
void sim_bench_settle(void);
/* The leader, and the first and second follower, of three. */
int32_t sim_bench_leader(void);
int32_t sim_bench_follower(int32_t nth);
/* Until another one leads; fails after ten seconds. */
void sim_bench_await_other_leader(int32_t old);
/* Does it exist, in truth? */
bool sim_bench_exists(const char *path);
/* Both ways between a server and all others, clients excepted. */
void sim_bench_isolate(int32_t server, bool isolated);

/* Ask for a session at a server, of two seconds, or for the one it had; pinging from then on. The connection before is
 * left. */
void sim_player_dial(struct sim_player *p, int32_t server);
/* That, and wait for the answer. */
void sim_player_connect(struct sim_player *p, int32_t server);
/* The client gives up the connection. Packets that it sent may still arrive. */
void sim_player_leave(struct sim_player *p);
void sim_player_send(struct sim_player *p, const struct sim_packet *packet);
void sim_player_ask(struct sim_player *p, uint64_t tag, enum sim_op op, const char *path);
void sim_player_create(struct sim_player *p, uint64_t tag, const char *path, enum sim_mode mode);
void sim_player_watch(struct sim_player *p, uint64_t tag, const char *path);
/* Checks what it has heard since the last time. */
void sim_player_check(struct sim_player *p, const char *text);

/* By an admin. */
void sim_bench_create(const char *path, enum sim_mode mode);

#endif
