"""One of several processes that count in one file, and hold one lock while they do.

    worker.py HOSTS FILE [--no-lock]     such as 127.0.0.1:2181; it takes its orders from the standard input

    count N    N times: read the number in the file, wait a little, write the next one
    try        take the lock if it is free
    hold       take the lock, and keep it until it is lost or released
    lost       wait until it is lost
    release
"""
import contextlib
import os
import pathlib
import queue
import sys
import time

import paddock


def say(*words):
    print(*words, flush=True)


def count(lock, file, times):
    for _ in range(times):
        with lock.acquire() if lock else contextlib.nullcontext():
            number = int(file.read_text())
            time.sleep(0.005)
            own = file.with_suffix(f".{os.getpid()}")
            own.write_text(str(number + 1))
            own.replace(file)  # at once: readers never see half a file
    say("counted")


def main(hosts, file, *options):
    lost = queue.Queue()
    with paddock.Session(hosts) as session:
        lock, hold = paddock.Lock(session, "/examples/python"), None
        say("ready")
        for order, *numbers in map(str.split, sys.stdin):
            if order == "count":
                count(None if "--no-lock" in options else lock, pathlib.Path(file), int(numbers[0]))
            elif order == "try":
                try:
                    lock.acquire(0).release()
                    say("free")
                except paddock.Error as error:
                    say(paddock.text(paddock.lib.pdk_status_name(error.status)))
            elif order == "hold":
                hold = lock.acquire(30)
                hold.on_lost(lost.put)
                say("held", hold.token, hold.node)
            elif order == "lost":
                say("LOST", lost.get(timeout=30), "valid" if hold.valid else "not valid")
            elif order == "release":
                say(paddock.text(paddock.lib.pdk_status_name(hold.release())))
    say("closed")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
