/*
 * A fenced write to SQLite: the table, not the writer, decides which write is too late.
 *
 *     fenced_sqlite HOSTS        such as 127.0.0.1:2181
 *
 * A lock can be lost between the call of pdk_hold_is_valid and the effect of a write. So the row keeps the largest
 * (token, hand-over) that has written it. An UPDATE with a smaller one changes no row, and so the writer knows that it
 * is too late. Two sessions stand for two processes here. The first one writes again with its old hold.
 */
#include <paddock/paddock.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "fenced_sqlite: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static void check_db(sqlite3 *db, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        fprintf(stderr, "fenced_sqlite: %s\n", sqlite3_errmsg(db));
        exit(EXIT_FAILURE);
    }
}

/* Returns the number of rows changed: 1, or 0 when a newer holder has written. */
static int set_stock(sqlite3 *db, int amount, const pdk_hold *hold) {
    sqlite3_stmt *update = NULL;
    const char *sql = "UPDATE stock SET amount = ?1, token = ?2, handover = ?3"
                      " WHERE item = 'hay' AND (token, handover) <= (?2, ?3)";
    check_db(db, sqlite3_prepare_v2(db, sql, -1, &update, NULL));
    sqlite3_bind_int(update, 1, amount);
    sqlite3_bind_int64(update, 2, pdk_hold_token(hold));
    sqlite3_bind_int64(update, 3, pdk_hold_handover(hold));
    check_db(db, sqlite3_step(update));
    sqlite3_finalize(update);
    printf("token %lld sets %d: %s\n", (long long)pdk_hold_token(hold), amount,
           sqlite3_changes(db) ? "written" : "refused, a newer holder has written");
    return sqlite3_changes(db);
}

static pdk_hold *acquire(const char *hosts, pdk_session **session) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    check("open", pdk_session_open(hosts, NULL, session), PDK_OK);
    check("lock", pdk_lock_new(*session, "/examples/stock", NULL, &lock), PDK_OK);
    check("acquire", pdk_lock_acquire(lock, 10000, &hold), PDK_OK);
    pdk_lock_unref(lock); /* the hold outlives it */
    return hold;
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *first = NULL, *second = NULL;
    sqlite3 *db = NULL;

    check_db(db, sqlite3_open(":memory:", &db));
    const char *schema = "CREATE TABLE stock (item TEXT PRIMARY KEY, amount INT, token INT, handover INT);"
                         "INSERT INTO stock VALUES ('hay', 0, 0, 0)";
    check_db(db, sqlite3_exec(db, schema, NULL, NULL, NULL));
    pdk_hold *old = acquire(hosts, &first);
    int good = set_stock(db, 10, old);
    check("close", pdk_session_close(first, 2000), PDK_OK); /* the first one loses its hold, and does not notice it */
    pdk_hold *fresh = acquire(hosts, &second);
    good += set_stock(db, 20, fresh);
    int stale = set_stock(db, 11, old); /* too late, and it did not ask pdk_hold_is_valid */
    printf("had it asked: valid %s, lost because %s\n", pdk_hold_is_valid(old) ? "yes" : "no",
           pdk_reason_name(pdk_hold_reason(old)));
    check("release", pdk_hold_release(old), PDK_LOST); /* it drops the reference all the same */
    check("release", pdk_hold_release(fresh), PDK_OK);
    check("close", pdk_session_close(second, 2000), PDK_OK);
    pdk_session_unref(first);
    pdk_session_unref(second);
    sqlite3_close(db);
    return good == 2 && stale == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
