#!/usr/bin/python3 -B
"""kazoo as a player of the bench: play.h says what a player does. A Lock is no thread's but one's, so each thread has its own."""
import os
import statistics
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock

CONNECT_S, CLOSE_S, STACK = 20, 5, 256 * 1024


class Gate:
    """Every holder passes it. Only the one that is inside touches the grants."""

    def __init__(self):
        self.changed = threading.Condition()
        self.waits, self.slices, self.open = False, 0, False
        self.inside = threading.Lock()
        self.opened = self.last = 0
        self.steps = []

    def passed(self):
        if not self.inside.acquire(blocking=False):
            raise RuntimeError("two threads hold the lock")
        now = time.monotonic_ns()
        self.steps.append(now - self.last)
        self.last = now
        if not self.open:
            self.wait()
        self.inside.release()

    def wait(self):
        with self.changed:
            before, self.waits = self.slices, True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.slices != before)
        self.steps = []
        self.opened = self.last = time.monotonic_ns()

    def await_holder(self):
        with self.changed:
            self.changed.wait_for(lambda: self.waits)

    def slice(self, ms):
        with self.changed:
            self.waits, self.open = False, True
            self.slices += 1
            self.changed.notify_all()
        time.sleep(ms / 1000)
        self.open = False
        self.await_holder()
        return f"slice {len(self.steps)} {self.last - self.opened} {statistics.median_high(self.steps)}"


def work(lock, gate):
    try:
        while True:
            with lock:
                gate.passed()
    except Exception as error:  # pylint: disable=broad-except
        if not closing.is_set():
            print(f"kazoo_bench: {error!r}", file=sys.stderr, flush=True)
            os._exit(2)


def main():
    hosts, path, timeout_ms, sessions, objects, threads = sys.argv[1:3] + [int(word) for word in sys.argv[3:]]
    gate = Gate()
    threading.stack_size(STACK)
    clients = [KazooClient(hosts=hosts, timeout=timeout_ms / 1000) for _ in range(sessions)]
    for client in clients:
        client.start(timeout=CONNECT_S)
    for number in range(sessions * objects * threads):
        lock = Lock(clients[number % sessions], path, f"some-machine:{number}")
        threading.Thread(target=work, args=(lock, gate), daemon=True).start()
    if objects:
        gate.await_holder()
    print("ready", flush=True)
    for order in sys.stdin:
        print(gate.slice(int(order.split()[1])), flush=True)
    closing.set()
    ends = [threading.Thread(target=client.stop, daemon=True) for client in clients]
    for end in ends:
        end.start()
    for end in ends:
        end.join(CLOSE_S)
    os._exit(0)


closing = threading.Event()
if __name__ == "__main__":
    main()
