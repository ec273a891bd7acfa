/* A signal wakes the main thread of Python in a call that waits.
 *
 * Python's own handler of a signal only takes a note. The function that signal.signal() was given
 * runs on the main thread, as soon as that executes Python again. A thread that waits in C for a
 * lock would never do so: an interrupt from the keyboard would have to wait until the lock is
 * granted. So between begin and end each signal that has a handler raises the interrupt of the
 * main thread as well, behind its handler. The call answers PDK_CANCELED then, Python runs the
 * function, and the caller waits again unless that has raised an exception.
 *
 * The main thread alone calls these. The handler may run on any thread: so the interrupt is one
 * that is never freed.
 */
#include <paddock/interrupt.h>
#include <signal.h>
#include <stdbool.h>

static struct sigaction paddock_before[NSIG];
static bool paddock_changed[NSIG];
static pdk_interrupt *paddock_main;
static volatile sig_atomic_t paddock_arrived;

static void paddock_on_signal(int number, siginfo_t *info, void *context) {
    const struct sigaction *before = &paddock_before[number];

    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else
        before->sa_handler(number);
    paddock_arrived = 1;
    pdk_interrupt_raise(paddock_main);
}

/* These end the process, or tell of an error in the instruction that runs. */
static bool paddock_is_fault(int number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP ||
           number == SIGABRT || number == SIGSYS;
}

static void paddock_signals_begin(pdk_interrupt *interrupt) {
    paddock_main = interrupt;
    paddock_arrived = 0;
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

/* Has one come since begin? A second call changes nothing. */
static bool paddock_signals_end(void) {
    for (int number = 1; number < NSIG; number++) {
        if (paddock_changed[number])
            sigaction(number, &paddock_before[number], NULL);
        paddock_changed[number] = false;
    }
    return paddock_arrived;
}
