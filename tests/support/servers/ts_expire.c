/* Ends a session on the server while its client is alive. */
#include "ts_expire.h"

#include "ts_wire.h"

int ts_expire_session(const char *server, const ts_session_key *key) {
    ts_wire wire;
    int rc = ts_wire_open(&wire, server, key->timeout_ms, key);

    if (rc != 0) {
        return rc;
    }
    rc = ts_wire_call(&wire, TS_OP_CLOSE_SESSION, NULL, NULL);
    ts_wire_shut(&wire);
    return rc;
}

int ts_expire(ts_proxy *proxy, const char *server) {
    const ts_proxy_mode before = ts_proxy_get_mode(proxy);
    ts_session_key key;
    int rc;

    if (!ts_proxy_last_session(proxy, &key)) {
        return TS_EXPIRED; /* there is none to expire */
    }
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    rc = ts_expire_session(server, &key);
    ts_proxy_set_mode(proxy, before);
    return rc;
}
