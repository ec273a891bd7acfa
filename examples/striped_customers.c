/*
 * Books orders of many customers under few locks, and prints on any printer that is free.
 *
 *     striped_customers HOSTS        such as 127.0.0.1:2181
 *
 * Two threads book for the same customers. A transfer names two of them, in either order: it never deadlocks, also
 * where both customers have the same stripe. The printers are a resource in buckets: any of them will do.
 */
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdio.h>

enum { STRIPES = 16, PRINTERS = 3, CUSTOMERS = 5, TIMES = 10 };
static pdk_striped *customers, *printers;
static int orders[CUSTOMERS], pages[PRINTERS];

static int failed(const char *what) {
    fprintf(stderr, "striped_customers: %s: %s\n", what, pdk_last_error());
    return 1;
}

static int book(int customer) {
    char key[32];
    pdk_hold *hold = NULL;
    snprintf(key, sizeof key, "customer/%d", customer);
    if (pdk_striped_acquire(customers, key, 30000, &hold) != PDK_OK)
        return failed("book");
    orders[customer]++; /* a store is told pdk_hold_token(hold) */
    pdk_hold_release(hold);
    return 0;
}

static int transfer(int from, int to) {
    char keys[2][32];
    const char *both[] = {keys[0], keys[1]};
    pdk_set *set;
    snprintf(keys[0], sizeof keys[0], "customer/%d", from);
    snprintf(keys[1], sizeof keys[1], "customer/%d", to);
    if (pdk_striped_acquire_keys(customers, both, 2, 30000, NULL, &set) != PDK_OK)
        return failed("transfer");
    orders[from]--;
    orders[to]++;
    pdk_set_release(set);
    return 0;
}

static int print(void) {
    pdk_hold *hold = NULL;
    if (pdk_striped_acquire_any(printers, 30000, &hold) != PDK_OK)
        return failed("print");
    pages[pdk_striped_stripe(printers, hold)]++;
    pdk_hold_release(hold);
    return 0;
}

static void *work(void *failures) {
    for (int i = 0; i < TIMES; i++)
        *(int *)failures += book(i % CUSTOMERS) + transfer(i % CUSTOMERS, (i + 2) % CUSTOMERS) + print();
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pdk_session *session;
    int failures[2] = {0, 0};
    if (pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &session) != PDK_OK ||
        pdk_striped_new(session, "/examples/customers", STRIPES, NULL, &customers) != PDK_OK ||
        pdk_striped_new(session, "/examples/printers", PRINTERS, NULL, &printers) != PDK_OK)
        return failed("begin");
    pthread_create(&thread, NULL, work, &failures[0]);
    work(&failures[1]);
    pthread_join(thread, NULL);
    printf("%d orders, %d pages\n", orders[0] + orders[1] + orders[2] + orders[3] + orders[4],
           pages[0] + pages[1] + pages[2]);
    pdk_striped_unref(customers);
    pdk_striped_unref(printers);
    pdk_session_close(session, 2000);
    pdk_session_unref(session);
    return failures[0] || failures[1];
}
