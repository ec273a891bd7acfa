/* A signal wakes the main thread of Python in a call that waits.
 *
 * Python's own handler of a signal only takes a note. The function that signal.signal() was given
 * runs on the main thread, as soon as that executes Python again. A thread that waits in C for a
 * lock would never do so: an interrupt from the keyboard would have to wait until the lock is
 * granted. So between begin and end each signal that has a handler raises the interrupt of the
 * main thread as well, behind its handler. The call answers PDK_CANCELED then, Python runs the
 * function, and the caller waits again unless that has raised an exception.
 *
 * That function may wait for something itself, before the end: begins and ends are nested. It may
 * also raise its exception right behind a begin. So a begin notes in the caller's cell that it was
 * made, and an end without a begin does nothing.
 *
 * The handler may run on any thread: so the interrupt of the main thread is never freed.
 */
#include <paddock/interrupt.h>
#include <signal.h>
#include <stdbool.h>

enum { BEGUN, ATTACHED, HEARS, ARRIVED, WORDS };

static struct sigaction paddock_before[NSIG];
static bool paddock_changed[NSIG];
static int paddock_depth; /* of the main thread's begins that hear */
static pdk_interrupt *paddock_main;
static volatile sig_atomic_t paddock_arrived; /* counts, and may begin again at 0 */

static void paddock_on_signal(int number, siginfo_t *info, void *context) {
    const struct sigaction *before = &paddock_before[number];

    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else
        before->sa_handler(number);
    paddock_arrived = (sig_atomic_t)((unsigned)paddock_arrived + 1);
    pdk_interrupt_raise(paddock_main);
}

/* These end the process, or tell of an error in the instruction that runs. */
static bool paddock_is_fault(int number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP ||
           number == SIGABRT || number == SIGSYS;
}

static void paddock_hook(pdk_interrupt *interrupt) {
    paddock_main = interrupt;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction *before = &paddock_before[number], ours;

        if (paddock_is_fault(number) || sigaction(number, NULL, before))
            continue;
        if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)
            continue;
        ours = *before;
        ours.sa_flags |= SA_SIGINFO;
        ours.sa_sigaction = paddock_on_signal;
        paddock_changed[number] = sigaction(number, &ours, NULL) == 0;
    }
}

/* A handler that was set meanwhile, by a function of a signal, stays. */
static void paddock_unhook(void) {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;

        if (paddock_changed[number] && sigaction(number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == paddock_on_signal)
            sigaction(number, &paddock_before[number], NULL);
        paddock_changed[number] = false;
    }
}

/* hears: on the main thread, signals raise the interrupt. cell: WORDS of them, all 0. */
static void paddock_wait_begin(int *cell, pdk_interrupt *interrupt, bool hears) {
    pdk_interrupt_clear(interrupt);
    cell[BEGUN] = 1;
    cell[ATTACHED] = pdk_interrupt_attach(interrupt) == PDK_OK; /* or the thread has one already */
    cell[HEARS] = hears && (cell[ATTACHED] || paddock_depth > 0);
    cell[ARRIVED] = paddock_arrived;
    if (cell[HEARS] && paddock_depth++ == 0)
        paddock_hook(interrupt);
}

/* Has a signal come since begin? */
static bool paddock_wait_end(int *cell) {
    if (!cell[BEGUN])
        return false;
    cell[BEGUN] = 0;
    if (cell[HEARS] && --paddock_depth == 0)
        paddock_unhook();
    if (cell[ATTACHED])
        pdk_interrupt_detach();
    return cell[HEARS] && cell[ARRIVED] != paddock_arrived;
}

/* In the child of a fork no thread waits. */
static void paddock_wait_forked(void) {
    if (paddock_depth > 0)
        paddock_unhook();
    paddock_depth = 0;
}
