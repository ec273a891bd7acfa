/*
 * Moves money between accounts that each have a lock of their own. A transfer needs both, and a place at the bank's two
 * counters.
 *
 *     set_transfer HOSTS        such as 127.0.0.1:2181
 *
 * One thread names the accounts in one order, the other in the other: with two acquisitions one after the other, each
 * would soon wait for the other. As one set they never do. The ledger gets the token of the account that it books.
 */
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ACCOUNTS = 2, COUNTERS = 2, TRANSFERS = 20 };

static pdk_session *session;
static pdk_lock *account[ACCOUNTS];
static pdk_semaphore *counters;
static long balance[ACCOUNTS] = {1000, 1000}, seen[ACCOUNTS]; /* a ledger, and the largest tokens that it has seen */

static int failed(const char *what, pdk_status status) {
    fprintf(stderr, "set_transfer: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    return 1;
}

/* The ledger refuses a holder that is late. */
static int book(int which, long amount, const pdk_hold *part) {
    if (pdk_hold_token(part) < seen[which])
        return 1;
    seen[which] = pdk_hold_token(part);
    balance[which] += amount;
    return 0;
}

static int transfer(int from, int to, long amount) {
    pdk_right both[] = {pdk_right_lock(account[from]), pdk_right_lock(account[to]), pdk_right_permits(counters, 1)};
    pdk_set *set = NULL;
    pdk_status status = pdk_set_acquire(both, 3, 30000, NULL, &set);
    if (status != PDK_OK)
        return failed("transfer", status);
    usleep(2000); /* work takes time */
    int late = !pdk_set_is_valid(set) || book(from, -amount, pdk_set_part(set, 0)) ||
               book(to, amount, pdk_set_part(set, 1)); /* parts are in the order in which they were named */
    pdk_set_release(set);                              /* all of them */
    return late;
}

static void *there(void *failures) {
    for (int i = 0; i < TRANSFERS; i++)
        *(int *)failures += transfer(0, 1, 10);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    int failures[2] = {0, 0};
    pdk_status status = pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &session);
    if (status != PDK_OK)
        return failed("open", status);
    if ((status = pdk_lock_new(session, "/examples/accounts/a", NULL, &account[0])) != PDK_OK ||
        (status = pdk_lock_new(session, "/examples/accounts/b", NULL, &account[1])) != PDK_OK ||
        (status = pdk_semaphore_new(session, "/examples/counters", COUNTERS, NULL, &counters)) != PDK_OK)
        return failed("new", status);
    pthread_create(&thread, NULL, there, &failures[0]);
    for (int i = 0; i < TRANSFERS; i++)
        failures[1] += transfer(1, 0, 5);
    pthread_join(thread, NULL);
    printf("%d transfers: a has %ld, b has %ld\n", 2 * TRANSFERS, balance[0], balance[1]);
    pdk_lock_unref(account[0]);
    pdk_lock_unref(account[1]);
    pdk_semaphore_unref(counters);
    pdk_session_close(session, 2000);
    pdk_session_unref(session);
    return failures[0] || failures[1];
}
