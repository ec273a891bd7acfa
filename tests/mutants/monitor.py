"""Mutants of the wake-up of a thread that waits in the monitor: each way to lose it, or to touch what is gone by then.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""
MONITOR = "src/session/monitor.c"

MUTANTS = {
    "monitor: of many that are woken some are not": (MONITOR, "monitor", [
        ("    else\n        pdk__interrupt_wake(waiter->on);", "")]),
    "monitor: a thread that was woken once is due again and again": (MONITOR, "monitor", [
        ("    waiter->woken = true;", "    waiter->woken = false;")]),
    "monitor: a thread that falls asleep wakes nobody": (MONITOR, "monitor", [
        ("    pdk__monitor_give_up(&sleep->s->monitor);",
         "    atomic_store(&sleep->s->monitor.owner, 0);\n    pthread_mutex_unlock(&sleep->s->monitor.mutex);")]),
    "monitor: threads are woken under it": (MONITOR, "monitor", [
        ("    if (due->count < PDK__WOKEN_LATER)", "    if (due->count > PDK__WOKEN_LATER)")]),
    "monitor: a thread that is gone is woken": (MONITOR, "monitor", [
        ("pdk_interrupt_ref(waiter->on);", "waiter->on;"), ("        pdk_interrupt_unref(due.of[i]);\n", "")]),
    "monitor: a wake-up is never made": (MONITOR, "monitor", [
        ("        pdk__interrupt_wake(due.of[i]);\n", "")]),
}
