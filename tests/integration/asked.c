#include "asked.h"

#include <glib.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_record.h"

struct asked {
    int count, freed;
    char *who;
    int64_t until_ms;
    bool lets_go;
};

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    asked *a = user;
    ts_record_lock();
    a->count++;
    g_free(a->who);
    a->who = g_strdup(who);
    a->until_ms = until_ms;
    bool lets_go = a->lets_go;
    a->lets_go = false;
    ts_record_unlock();
    if (lets_go)
        pdk_hold_release(hold);
}

static void on_freed(void *user) {
    asked *a = user;
    ts_record_lock();
    a->freed++;
    ts_record_unlock();
}

static void asked_free(void *what) {
    asked *a = what;
    g_free(a->who);
    g_free(a);
}

static asked *watch(pdk_hold *hold, bool lets_go) {
    asked *a = g_new0(asked, 1);
    a->lets_go = lets_go;
    ts_paddock_keep(a, asked_free);
    ck_assert_int_eq(pdk_hold_on_request(hold, on_asked, a, on_freed), PDK_OK);
    return a;
}

asked *asked_watch(pdk_hold *hold) { return watch(hold, false); }
asked *asked_watch_and_let_go(pdk_hold *hold) { return watch(hold, true); }

bool asked_wait(asked *a, int count, int64_t timeout_ms) { return ts_record_reaches(&a->count, count, timeout_ms); }
int asked_count(asked *a) { return ts_record_count(&a->count); }
int64_t asked_until_ms(asked *a) { return ts_record_number(&a->until_ms); }
bool asked_wait_freed(asked *a, int64_t timeout_ms) { return ts_record_reaches(&a->freed, 1, timeout_ms); }
int asked_freed(asked *a) { return ts_record_count(&a->freed); }

char *asked_who(asked *a) {
    ts_record_lock();
    char *who = g_strdup(a->who);
    ts_record_unlock();
    return who;
}
