"""Writes an event log, as event_log.h does for the players in C."""
import os
import threading
import time


def now():
    """The clock of all logs, in ns."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class EventLog:
    """One line for each event, one write for each line. Lines are in the order of their times, also of several threads."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.lock = threading.Lock()

    def note(self, what, **fields):
        """`what` may have fields of its own after it. The time of the event."""
        words = " ".join([what, *(f"{key}={value}" for key, value in fields.items())])
        with self.lock:
            ns = now()
            os.write(self.fd, f"{ns} {words}\n".encode())
        return ns

    def close(self):
        os.close(self.fd)
