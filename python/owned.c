/* The reference of a hold's owner stands in a cell, which Python's object has from before the grant.
 *
 * A handler of a signal may raise its exception between any two instructions of Python. Between a
 * grant and the object that has it, such an exception would lose the lock; between a release and the
 * note of it, it would release twice. So a grant goes into the cell, and a release takes it out, in
 * one call of C. The exchange is atomic, since other threads of Python run meanwhile.
 */
#include <paddock/paddock.h>
#include <stddef.h>

static pdk_hold *paddock_take(pdk_hold **cell) { return __atomic_exchange_n(cell, NULL, __ATOMIC_ACQ_REL); }

static void paddock_give(pdk_hold **cell, pdk_hold *hold) { __atomic_store_n(cell, hold, __ATOMIC_RELEASE); }

static pdk_status paddock_hold_release(pdk_hold **cell) {
    pdk_hold *hold = paddock_take(cell);
    pdk_status status = hold ? pdk_hold_release(hold) : PDK_NOT_HELD;

    if (status == PDK_FORKED)
        paddock_give(cell, hold);
    return status;
}

static void paddock_hold_drop(pdk_hold **cell) { pdk_hold_unref(paddock_take(cell)); }

static pdk_status paddock_set_release(pdk_set **cell) {
    pdk_set *set = __atomic_exchange_n(cell, NULL, __ATOMIC_ACQ_REL);
    pdk_status status = set ? pdk_set_release(set) : PDK_NOT_HELD;

    if (status == PDK_FORKED)
        __atomic_store_n(cell, set, __ATOMIC_RELEASE);
    return status;
}

static void paddock_set_drop(pdk_set **cell) { pdk_set_unref(__atomic_exchange_n(cell, NULL, __ATOMIC_ACQ_REL)); }

static pdk_status paddock_job_finish(pdk_job *job, pdk_hold **cell, int32_t outcome, int64_t timeout) {
    pdk_hold *hold = paddock_take(cell);
    pdk_status status = hold ? pdk_job_finish(job, hold, outcome, timeout) : PDK_NOT_HELD;

    if (status != PDK_OK)
        paddock_give(cell, hold);
    return status;
}

static pdk_status paddock_lease_lock_release(pdk_lease_lock *lock, pdk_hold **cell, int64_t timeout) {
    pdk_hold *hold = paddock_take(cell);
    pdk_status status = hold ? pdk_lease_lock_release(lock, hold, timeout) : PDK_NOT_HELD;

    if (status == PDK_LOST)
        pdk_hold_release(hold); /* nothing is left to be given up */
    else if (status != PDK_OK)
        paddock_give(cell, hold);
    return status;
}
