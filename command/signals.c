#include "signals.h"

static bool ignored[NSIG];

void cmd_signals_begin(void) {
    struct sigaction left;
    for (int i = 1; i < NSIG; i++)
        ignored[i] = sigaction(i, NULL, &left) == 0 && left.sa_handler == SIG_IGN;
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error in words */
}

bool cmd_signal_is_ignored(int number) { return ignored[number]; }

void cmd_signals_hand_on(void) {
    for (int i = 1; i < NSIG; i++)
        signal(i, ignored[i] ? SIG_IGN : SIG_DFL);
}
