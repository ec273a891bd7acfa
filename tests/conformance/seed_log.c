/*
 * Sets a directory's child counter behind the server's back, since requests would need more than a month to reach its
 * end.
 *
 * While the server is down, its transaction log gets another file with two transactions: a child is created, as if it
 * were the directory's N-th, and deleted again. Nothing else of the tree changes.
 */
#include "seed_log.h"

#include <inttypes.h>

#include <ts_requests.h>
#include <ts_support.h>
#include <ts_wire.h>

#define MAGIC 0x5a4b4c47 /* "ZKLG" */
#define FORMAT 2
#define END_OF_RECORD 0x42
#define FAR_AHEAD 1000 /* transactions beyond the newest that we know: sessions may have ended meanwhile */

enum { TXN_CREATE = 1, TXN_DELETE = 2 };

static int64_t adler32(const GByteArray *bytes) {
    uint32_t a = 1, b = 0;
    for (guint i = 0; i < bytes->len; i++) {
        a = (a + bytes->data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return (int64_t)b << 16 | a;
}

static GByteArray *header(int64_t zxid, int32_t type) {
    GByteArray *txn = g_byte_array_new();
    ts_put_long(txn, 0); /* session */
    ts_put_int(txn, 0);  /* the number of its request */
    ts_put_long(txn, zxid);
    ts_put_long(txn, g_get_real_time() / 1000);
    ts_put_int(txn, type);
    return txn;
}

static void append(GByteArray *file, GByteArray *txn) {
    static const guint8 end = END_OF_RECORD;
    ts_put_long(file, adler32(txn));
    ts_put_bytes(file, txn->data, (int32_t)txn->len);
    g_byte_array_append(file, &end, 1);
    g_byte_array_unref(txn);
}

static void put_create(GByteArray *txn, const char *path, int32_t counter) {
    ts_put_string(txn, path);
    ts_put_bytes(txn, "", 0);
    ts_put_open_acl(txn);
    ts_put_bool(txn, false); /* not ephemeral */
    ts_put_int(txn, counter);
}

bool seed_counter(ts_ensemble *server, const char *directory, int32_t counter) {
    int64_t zxid = ts_zxid(ts_ensemble_host(server, 0)) + FAR_AHEAD;
    g_autofree char *folder = g_path_get_dirname(ts_ensemble_log(server, 0));
    g_autofree char *path = g_strdup_printf("%s/version-2/log.%" PRIx64, folder, (uint64_t)zxid);
    g_autofree char *child = g_strconcat(directory, "/seed", NULL);
    g_autoptr(GByteArray) file = g_byte_array_new();

    ts_put_int(file, MAGIC);
    ts_put_int(file, FORMAT);
    ts_put_long(file, 0); /* the database's id */
    GByteArray *create = header(zxid, TXN_CREATE);
    put_create(create, child, counter);
    append(file, create);
    GByteArray *delete = header(zxid + 1, TXN_DELETE);
    ts_put_string(delete, child);
    append(file, delete);

    ts_ensemble_kill(server, 0);
    return g_file_set_contents(path, (const char *)file->data, (gssize)file->len, NULL) &&
           ts_ensemble_restart(server, 0) && ts_ensemble_wait_ready(server, 60000);
}
