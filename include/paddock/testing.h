/* SPDX-License-Identifier: Apache-2.0 */
/* Servers for tests: throw-away ZooKeepers on loopback, and the faults that they can have.
 *
 *     pdk_test_ensemble ── one server, or three
 *       ├─ server i      ── a process: can be paused, killed, started again
 *       ├─ links         ── between the servers: can be silenced
 *       └─ pdk_test_proxy ── a client's way to a server: can be cut, silenced, slow
 *
 * A library of its own, libpaddock-testing (pkg-config paddock-testing, CMake paddock::testing). It
 * is for test programs and needs GLib, not Paddock's own library. It is an archive alone: a test
 * program keeps the version that its tests were written against.
 *
 * The servers are installed ones: java in PATH, and the jars of PADDOCK_TEST_CLASSPATH, or of the
 * option class_path. Without either the jars of Debian's packages are used, libzookeeper-java and
 * libslf4j-java. The first start on a machine takes a second longer: it makes an archive of classes
 * in the user's cache directory, with which later servers start in half the time.
 *
 * Servers and their data are gone when pdk_test_ensemble_stop returns. When the program ends
 * without it, however it ends, the kernel kills the servers. Data that a killed program left is
 * removed by a later start.
 *
 * Server i is 0, 1 or 2 and listens on 127.0.0.(i+1), on a port that nobody else is given. Another
 * number than the ensemble has ends the program, with a message. Addresses are "ip:port". Silenced
 * links between servers are made for ZooKeeper 3.8.
 *
 * After a failure pdk_test_last_error has the reason and the remedy.
 *
 * Any thread may call every function of this header. None of them is a cancellation point
 * (pthread_cancel): a thread is cancelled when the call has come back. Where descriptor 0, 1 or 2
 * is closed, a start of servers or of a proxy opens /dev/null there. Calls for one ensemble that
 * start, pause, kill or stop its servers are made by one thread at a time.
 */
#ifndef PADDOCK_TESTING_H
#define PADDOCK_TESTING_H

#include <paddock/version.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

/* The reason why a call of this thread failed last, and the remedy. "" before the first failure.
 * The text is valid until the next call of this thread. */
PDK_API const char *pdk_test_last_error(void);

/* ---- one server, or an ensemble of three */

typedef struct pdk_test_ensemble pdk_test_ensemble;

/* How to start servers. Set size, and zero for all others: a number that is 0 and a pointer that is
 * NULL mean the default. A negative number is refused.
 *
 *     pdk_test_options options = {.size = sizeof options, .servers = 3}; */
typedef struct pdk_test_options {
    /* sizeof(pdk_test_options), in bytes. One of an older, smaller size is accepted. */
    size_t size;
    /* How many: 1 or 3. Default 1, which is a standalone server. */
    int32_t servers;
    /* tickTime in ms. Default 500. */
    int32_t tick_ms;
    /* initLimit, in ticks. Default 10. */
    int32_t init_limit;
    /* syncLimit, in ticks. Default 5. */
    int32_t sync_limit;
    /* minSessionTimeout. Default two ticks. */
    int32_t min_session_ms;
    /* maxSessionTimeout. Default 60000. */
    int32_t max_session_ms;
    /* The port for clients, of each server on its own address. Default: free ports. */
    int32_t port;
    /* A folder for the data, which stays. It is made if it is missing. Default: one of the
     * ensemble's own, in memory where there is /dev/shm, and removed with the ensemble. */
    const char *data;
    /* The jars of ZooKeeper and of the libraries that it needs, as java -cp takes them. Default:
     * the environment variable PADDOCK_TEST_CLASSPATH, otherwise Debian's. */
    const char *class_path;
    /* System properties of the servers, each "name=value", ended by NULL. */
    const char *const *java_properties;
    /* Further lines of zoo.cfg, ended by NULL. */
    const char *const *config_lines;
} pdk_test_options;

/* Start servers. Blocks until all of them serve: with three, one leads and two follow. NULL: they
 * do not, and pdk_test_last_error says why, with the end of a server's log. Stop them with
 * pdk_test_ensemble_stop.
 *   options  NULL: all defaults. Copied. */
PDK_API pdk_test_ensemble *pdk_test_ensemble_start(const pdk_test_options *options);
/* Kill the servers, reset the connections through their proxies, and free it all. Data in a folder
 * of the caller's stay. Blocks until the servers are gone, which takes milliseconds. NULL is
 * allowed. */
PDK_API void pdk_test_ensemble_stop(pdk_test_ensemble *ensemble);

/* How many servers it has, killed ones included. Does not wait. */
PDK_API int pdk_test_ensemble_size(const pdk_test_ensemble *ensemble);
/* The addresses of all servers, with commas, as pdk_session_open and zookeeper_init take them.
 * Valid until pdk_test_ensemble_stop. Does not wait. */
PDK_API const char *pdk_test_ensemble_hosts(const pdk_test_ensemble *ensemble);
/* The address of one server. Valid until pdk_test_ensemble_stop. Does not wait. */
PDK_API const char *pdk_test_ensemble_host(const pdk_test_ensemble *ensemble, int i);
/* The addresses of all servers' proxies, with commas. A client that connects to these can be cut
 * off. Valid until pdk_test_ensemble_stop. Does not wait. */
PDK_API const char *pdk_test_ensemble_proxied_hosts(const pdk_test_ensemble *ensemble);
/* The address of one server's proxy. Valid until pdk_test_ensemble_stop. Does not wait. */
PDK_API const char *pdk_test_ensemble_proxied_host(const pdk_test_ensemble *ensemble, int i);
/* The process of a server; 0 while it is killed. To stop or end it, use pdk_test_ensemble_pause and
 * pdk_test_ensemble_kill rather than a signal: they return when it has happened. Does not wait. */
PDK_API int pdk_test_ensemble_pid(const pdk_test_ensemble *ensemble, int i);
/* The path of a server's log. Valid until pdk_test_ensemble_stop, as the file is. Does not wait. */
PDK_API const char *pdk_test_ensemble_log(const pdk_test_ensemble *ensemble, int i);

/* The server that leads, or is standalone; -1 when there is none. An old leader may not know yet
 * that it is deposed: then it is the new one. Blocks until each server has answered, or 2 s have
 * passed. */
PDK_API int pdk_test_ensemble_leader(const pdk_test_ensemble *ensemble);
/* Blocks until another server than `not_this` leads; -1: any. Its number, or -1 after
 * `timeout_ms`. */
PDK_API int pdk_test_ensemble_wait_leader(const pdk_test_ensemble *ensemble, int not_this,
                                          int64_t timeout_ms);
/* Blocks until all servers that are not killed serve, one of them as leader. False after
 * `timeout_ms`, or when one of them has ended. */
PDK_API bool pdk_test_ensemble_wait_ready(const pdk_test_ensemble *ensemble, int64_t timeout_ms);

/* ---- faults of servers */

/* Stop a server's process with SIGSTOP. Blocks until each thread of it has stopped. False: it is
 * not running. */
PDK_API bool pdk_test_ensemble_pause(pdk_test_ensemble *ensemble, int i);
/* Let a paused server run on. Blocks until it does. False: it is not running. */
PDK_API bool pdk_test_ensemble_resume(pdk_test_ensemble *ensemble, int i);
/* Kill a server with SIGKILL. Blocks until it is gone, also when it was paused. Its data stay. */
PDK_API void pdk_test_ensemble_kill(pdk_test_ensemble *ensemble, int i);
/* Start a server that was killed again, on its data and its ports. Does not wait for it:
 * pdk_test_ensemble_wait_ready does. False: it runs already, or there is no process to be had. */
PDK_API bool pdk_test_ensemble_restart(pdk_test_ensemble *ensemble, int i);

/* Silence all links between a server and its peers, both ways. Clients still reach it. Of several
 * servers, call it several times. Nothing happens to a single server. Does not wait. */
PDK_API void pdk_test_ensemble_isolate(pdk_test_ensemble *ensemble, int i);
/* The same, but its peers learn at once that their links are gone. If it leads, it goes on for
 * syncLimit ticks, while they elect another leader. Does not wait. */
PDK_API void pdk_test_ensemble_depose(pdk_test_ensemble *ensemble, int i);
/* End all isolation. Bytes that were held are delivered, as retransmission would do. Does not
 * wait. */
PDK_API void pdk_test_ensemble_heal(pdk_test_ensemble *ensemble);

/* End a session while its client lives, as if it had expired: the servers delete its ephemeral
 * nodes, and tell the client when it asks next. The client must have connected through a proxy of
 * the ensemble, which is silent meanwhile. Blocks until a server has answered, at most 10 s.
 *   session  its id, as pdk_session_id and zoo_client_id have it; 0: the one that last connected
 *            through a proxy
 *
 * False: no such session was seen, or no server did it. */
PDK_API bool pdk_test_ensemble_expire(pdk_test_ensemble *ensemble, int64_t session);

/* ---- a client's way to a server: a TCP proxy in this process */

typedef struct pdk_test_proxy pdk_test_proxy;

/* The modes of a proxy: how it treats its connections. "Up" is from client to server. */
typedef enum pdk_test_proxy_mode {
    /* A good link. */
    PDK_TEST_PASS,
    /* Silence: bytes and ends are held both ways, so nobody sees an end or a reset. New connections
     * are accepted, and silent. */
    PDK_TEST_SILENT,
    /* Silence from client to server alone. */
    PDK_TEST_SILENT_UP,
    /* Silence from server to client alone. */
    PDK_TEST_SILENT_DOWN,
    /* Requests arrive, replies are thrown away. A connection that lost bytes is reset when this
     * mode ends. */
    PDK_TEST_DROP_REPLIES,
    /* Connections are reset, new ones are refused. */
    PDK_TEST_CUT
} pdk_test_proxy_mode;

/* The proxy in front of a server, whose address is pdk_test_ensemble_proxied_host. It belongs to
 * the ensemble: do not stop it. Does not wait. */
PDK_API pdk_test_proxy *pdk_test_ensemble_proxy(const pdk_test_ensemble *ensemble, int i);
/* A further proxy in front of a server, such as for one client of several. Stop it with
 * pdk_test_proxy_stop. NULL: the address is none, or the system has no port left. Does not wait.
 *   target  "ip:port", such as pdk_test_ensemble_host. Copied. */
PDK_API pdk_test_proxy *pdk_test_proxy_start(const char *target);
/* Reset its connections, and free it. NULL is allowed. Does not wait. */
PDK_API void pdk_test_proxy_stop(pdk_test_proxy *proxy);
/* Where it listens, as "ip:port". Valid until it is stopped. Does not wait. */
PDK_API const char *pdk_test_proxy_address(const pdk_test_proxy *proxy);
/* Set the mode, at once for all connections. Back at PDK_TEST_PASS all bytes that were held are
 * delivered in order, as retransmission would do. Connections that were made and given up in the
 * silence are forgotten. Does not wait. */
PDK_API void pdk_test_proxy_set_mode(pdk_test_proxy *proxy, pdk_test_proxy_mode mode);
/* The mode that it has. Does not wait. */
PDK_API pdk_test_proxy_mode pdk_test_proxy_get_mode(pdk_test_proxy *proxy);
/* pdk_test_proxy_set_mode with PDK_TEST_PASS. Does not wait. */
PDK_API void pdk_test_proxy_heal(pdk_test_proxy *proxy);
/* Reset the connections there are. The mode stays. Does not wait. */
PDK_API void pdk_test_proxy_reset(pdk_test_proxy *proxy);
/* Delay all bytes by so many microseconds in each direction: 5000 and 5000 make a round trip 10 ms
 * longer. They are delayed, not slowed down: requests that were sent together arrive together.
 * Bytes that are on their way keep their delay. 0 and 0 end it. Does not wait. */
PDK_API void pdk_test_proxy_set_delay(pdk_test_proxy *proxy, uint32_t up_us, uint32_t down_us);

PDK_END_DECLS

#endif
