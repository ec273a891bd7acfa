"""Selftest: a process with our wall clock sees that it was set, in each way to ask. No other clock changes."""
import subprocess
import tempfile
import time
from pathlib import Path

from play.bench import Bench
from play.event_log import now
from play.processes import build_directory

from play.wallclock import WallClock

HOUR_S = 3600
SLACK_S = 60  # for the process to begin
ASK = """
import ctypes, time
libc, pair = ctypes.CDLL(None), (ctypes.c_long * 2)()
libc.time.restype = ctypes.c_long
libc.gettimeofday(pair, None)
print(time.time(), pair[0], libc.time(None), time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic())
"""


def ahead(clock):
    """How far a new process is ahead of the true times: the time of day, asked in three ways, and the other clocks."""
    said = subprocess.run(clock.under("/usr/bin/python3", "-c", ASK), check=True, capture_output=True, text=True).stdout
    true = [time.time()] * 3 + [now() / 1e9, time.monotonic()]
    told = [float(one) - its for one, its in zip(said.split(), true)]
    return told[:3], told[3:]


def near(times, seconds):
    return all(abs(one - seconds) < SLACK_S for one in times)


def checks():
    library = Bench(build_directory(), ".").find("docker/chaos/wallclock.so")
    with tempfile.TemporaryDirectory() as folder:
        clock = WallClock(Path(folder) / "clock", library)
        for what, seconds in ("as it was", 0), ("an hour ahead", HOUR_S), ("an hour back", -HOUR_S), ("right again", 0):
            clock.set(seconds)
            day, others = ahead(clock)
            yield f"a wall clock, {what}: the time of day {day}", near(day, seconds)
            yield f"a wall clock, {what}: the others {others}", near(others, 0)
        clock.set(HOUR_S)
        clock.path.unlink()
        yield "a wall clock that is not there is right", near(ahead(clock)[0], 0)
