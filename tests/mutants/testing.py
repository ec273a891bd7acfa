"""Mutants of libpaddock-testing, which its own tests judge.

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

TESTING = "testing"

MUTANTS = {
    "servers outlive a program that was killed": ("testing/process.c", TESTING, [
        ("    prctl(PR_SET_PDEATHSIG, SIGKILL);\n", "")]),
    "servers end with the thread that asked for them": ("testing/starter.c", TESTING, [
        ("    task mine = {.argv = argv, .folder = folder, .log = log};\n",
         "    task mine = {.argv = argv, .folder = folder, .log = log};\n    if (s) return pdk__test_spawn_server(argv, folder, log);\n")]),
    "older options are read to the end of newer ones": ("testing/ensemble.c", TESTING, [
        ("memcpy(full, given, size);", "memcpy(full, given, sizeof *full);")]),
    "the variable goes before the option": ("testing/jvm.c", TESTING, [
        ("wanted = wanted != NULL ? wanted : g_getenv(VARIABLE);",
         "wanted = g_getenv(VARIABLE) != NULL ? g_getenv(VARIABLE) : wanted;")]),
    "proxies stay silent after an expiry": ("testing/expire.c", TESTING, [
        ("pdk_test_proxy_set_mode(pdk_test_ensemble_proxy(e, i), before[i]);", "(void)before[i];")]),
    "a server that is paused is not waited for": ("testing/process.c", TESTING, [
        ("bool pdk__test_pause(pid_t pid) { return signal_and_see(pid, SIGSTOP, true); }",
         "bool pdk__test_pause(pid_t pid) { return pid > 0 && signal_and_see(pid, SIGCONT, false); }")]),
}
