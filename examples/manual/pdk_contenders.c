/* Print the queue of a lock, the holder first. */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_contenders *list;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/orders", NULL, &lock));
    must(pdk_lock_list(lock, 5000, &list));
    printf("%zu in line\n", pdk_contenders_count(list));
    for (size_t i = 0; i < pdk_contenders_count(list); i++) {
        int64_t since = pdk_contenders_since_ms(list, i) / 1000;
        printf("%s for %" PRId64 " s, token %" PRId64 "\n",
               i == 0 ? "holds" : "waits", (int64_t)time(NULL) - since,
               pdk_contenders_token(list, i));
    }
    pdk_contenders_free(list);
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
