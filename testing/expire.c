/* Ends a session on the server while its client is alive. */
#include "expire.h"

#include "clock.h"
#include "fail.h"
#include "links.h"
#include "wire.h"

int pdk__test_expire_session(const char *server, const pdk__test_session_key *key) {
    pdk__test_wire wire;
    int rc = pdk__test_wire_open(&wire, server, key->timeout_ms, key);

    if (rc != 0) {
        return rc;
    }
    rc = pdk__test_wire_call(&wire, PDK__TEST_OP_CLOSE_SESSION, NULL, NULL);
    pdk__test_wire_shut(&wire);
    return rc;
}

int pdk__test_expire(pdk_test_proxy *proxy, const char *server) {
    const pdk_test_proxy_mode before = pdk_test_proxy_get_mode(proxy);
    pdk__test_session_key key;
    int rc;

    if (!pdk__test_proxy_last_session(proxy, &key)) {
        return PDK__TEST_EXPIRED; /* there is none to expire */
    }
    pdk_test_proxy_set_mode(proxy, PDK_TEST_SILENT);
    rc = pdk__test_expire_session(server, &key);
    pdk_test_proxy_set_mode(proxy, before);
    return rc;
}

/* The key of a session that was seen by any proxy of the ensemble. */
static bool find(const pdk_test_ensemble *e, int64_t session, pdk__test_session_key *key) {
    for (int i = 0; i < pdk_test_ensemble_size(e); i++) {
        if (pdk__test_proxy_find_session(pdk_test_ensemble_proxy(e, i), session, key)) {
            return true;
        }
    }
    return false;
}

bool pdk_test_ensemble_expire(pdk_test_ensemble *e, int64_t session) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();
    const int size = pdk_test_ensemble_size(e);
    pdk_test_proxy_mode before[PDK__TEST_NODES];
    pdk__test_session_key key;
    int rc = -1;

    if (!find(e, session, &key)) {
        pdk__test_fail("no session 0x%" G_GINT64_MODIFIER
                       "x has connected through a proxy of this ensemble; let its client connect to "
                       "pdk_test_ensemble_proxied_hosts",
                       (guint64)session);
        return false;
    }
    for (int i = 0; i < size; i++) {
        before[i] = pdk_test_proxy_get_mode(pdk_test_ensemble_proxy(e, i));
        pdk_test_proxy_set_mode(pdk_test_ensemble_proxy(e, i), PDK_TEST_SILENT);
    }
    for (int i = 0; i < size && rc != 0 && rc != PDK__TEST_EXPIRED; i++) {
        rc = pdk__test_expire_session(pdk_test_ensemble_host(e, i), &key);
    }
    for (int i = 0; i < size; i++) {
        pdk_test_proxy_set_mode(pdk_test_ensemble_proxy(e, i), before[i]);
    }
    if (rc != 0) {
        pdk__test_fail(rc == PDK__TEST_EXPIRED ? "session 0x%" G_GINT64_MODIFIER "x is over already"
                                               : "no server ended session 0x%" G_GINT64_MODIFIER
                                                 "x; do a majority of them serve?",
                       (guint64)session);
    }
    return rc == 0;
}
