#!/usr/bin/python3 -B
"""kazoo's player of the chaos, with kazoo's default retry policies.

A listener is told the connection's states. What the player believes to hold depends on them, see chaos_beliefs. A
lost grant is released, as after every use.
"""
import argparse
import os
import random
import sys
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/, which has the package play

from kazoo.client import KazooClient  # noqa: E402
from kazoo.exceptions import CancelledError, ConnectionClosedError, KazooException, LockTimeout  # noqa: E402
from kazoo.handlers.threading import KazooTimeoutError  # noqa: E402
from play.event_log import EventLog  # noqa: E402

from chaos_beliefs import Beliefs  # noqa: E402
from chaos_recipes import RECIPES  # noqa: E402

CONNECT_S, END_S = 20, 5
USE_EVERY_S, REFUSED_S = 0.1, 0.05
IMPATIENT, IMPATIENT_S = 0.25, 0.3
WIDTH = 21


def parse():
    parser = argparse.ArgumentParser(description="kazoo player of the chaos", allow_abbrev=False)
    for name in ("hosts", "path", "identity", "log", "resource"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--session", type=int, required=True, metavar="MS")
    parser.add_argument("--recipe", choices=sorted(RECIPES), required=True)
    parser.add_argument("--role", choices=("turns", "keep"), required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hold-us", type=int, default=20000)
    parser.add_argument("--think-us", type=int, default=20000)
    parser.add_argument("--mode", choices=("stock", "curator", "later"), default="stock", help="see chaos_recipes")
    parser.add_argument("--write", type=int, default=40, metavar="PERCENT", help="of a read/write lock's turns")
    return parser.parse_args()


def pause(longest_s):
    time.sleep(random.uniform(0, longest_s))


def give_up():
    """A broken player says so at once."""
    traceback.print_exc()
    os._exit(2)


class Resource:
    """A number in a file. A use reads it, and later writes one more."""

    def __init__(self, folder, path):
        self.fd = os.open(os.path.join(folder, path.replace("/", "_") + ".naive"), os.O_RDWR | os.O_CREAT, 0o600)

    def read(self):
        return int(os.pread(self.fd, WIDTH, 0) or 0)

    def write(self, value):
        os.pwrite(self.fd, b"%020d\n" % value * 2, 0)


class Connection:
    """The client, and a new one when the client has closed itself for good."""

    def __init__(self, options, log, beliefs):
        self.options, self.log, self.beliefs = options, log, beliefs
        self.renewing = threading.Lock()
        self.client = self._open()

    def _open(self):
        """Waits as long as it takes: there may be no server now."""
        while True:
            client = KazooClient(hosts=self.options.hosts, timeout=self.options.session / 1000)
            client.add_listener(self._listen)
            try:
                client.start(timeout=CONNECT_S)
                return client
            except (KazooTimeoutError, KazooException):
                self.log.note("session event=UNREACHABLE")

    def _listen(self, state):
        self.beliefs.on_state(state)
        self.log.note(f"session event={state}")

    def renew(self, client):
        """Makes a new client, unless another thread has done so."""
        with self.renewing:
            if self.client is client:
                self.log.note("session event=RENEWING")
                self.client = self._open()

    def close(self):
        self.client.stop()
        self.client.close()


class Worker(threading.Thread):
    """Claims, holds and gives back, until the order to rest."""

    def __init__(self, player):
        super().__init__(daemon=True)  # the process does not wait for a library that never answers
        self.player, self.options, self.note = player, player.options, player.log.note
        self.keeps = player.options.role == "keep"
        self.changed = threading.Condition()
        self.resting = self.waiting = False
        self.yields = 0
        self._renew()

    def _renew(self):
        self.client = self.player.connection.client
        self.recipe = RECIPES[self.options.recipe](self.client, self.options)

    def rest(self):
        with self.changed:
            self.resting = True
            if self.waiting:
                self.recipe.cancel()
            self.changed.notify()

    def yield_held(self):
        with self.changed:
            self.yields += 1
            self.changed.notify()

    def use(self, belief, number):
        """Asks whether the grant stands, then uses the resource, and does not ask again within the use."""
        hold_s, resource = self.options.hold_us / 1e6, self.player.resource
        if not self.recipe.exclusive:
            pause(hold_s)
        elif belief.stands:
            seen = resource.read()
            pause(hold_s)
            resource.write(seen + 1)
            self.note(f"used n={number} naive={seen} fence=-")

    def keep(self, yields_before):
        """False when the grant is to be given back."""
        with self.changed:
            return not self.changed.wait_for(lambda: self.resting or self.yields != yields_before, USE_EVERY_S)

    def enjoy(self, number, kind):
        """Holds until the grant is to be given back. True when it had been lost before."""
        with self.changed:
            self.waiting, yields_before = False, self.yields
        belief = self.player.beliefs.begin(number, kind)
        self.use(belief, number)
        while self.keeps and self.keep(yields_before) and not belief.lost:
            self.use(belief, number)
        return self.player.beliefs.drop(belief)

    def granted(self, number, kind):
        try:
            return self.enjoy(number, kind)
        except Exception:  # not an error of kazoo
            give_up()

    def claim(self, number, kind):
        """The status when the claim failed without a grant, otherwise None."""
        with self.changed:
            self.waiting = not self.resting
            if self.resting:
                return "CANCELED"
        impatient = not self.keeps and random.random() < IMPATIENT
        lost = []
        try:
            status = self.recipe.have(lambda: lost.append(self.granted(number, kind)),
                                      random.uniform(0, IMPATIENT_S) if impatient else None)
        except LockTimeout:
            status = "TIMEOUT"
        except CancelledError:
            status = "CANCELED"
        except Exception as error:  # kazoo's errors have no common class
            status = type(error).__name__
            if isinstance(error, ConnectionClosedError):
                self.player.connection.renew(self.client)
            self._renew()
        finally:
            self.waiting = False
        if not lost:
            return status
        if status:
            self.note(f"unreleased n={number} status={status}")
        self.note(f"ended n={number} how={'lost' if lost[0] else 'released'}")
        return None

    def run(self):
        try:
            self.work()
        except Exception:
            give_up()

    def work(self):
        while not self.resting:
            number, kind = self.player.next_number(), self.recipe.choose()
            self.note(f"claim n={number} kind={kind}")
            status = self.claim(number, kind)
            if status:
                self.note(f"failed n={number} status={status}")
                time.sleep(REFUSED_S)
            pause(self.options.think_us / 1e6)


class Player:
    def __init__(self, options):
        self.options = options
        self.log = EventLog(options.log)
        self.beliefs = Beliefs(self.log)
        self.connection = Connection(options, self.log, self.beliefs)
        self.resource = Resource(options.resource, options.path)
        self.log.note("opened")
        self.numbers, self.number_lock = 0, threading.Lock()
        self.workers = []

    def next_number(self):
        with self.number_lock:
            self.numbers += 1
            return self.numbers - 1

    def go(self):
        self.workers = [Worker(self) for _ in range(self.options.threads)]
        for worker in self.workers:
            worker.start()

    def yield_held(self):
        for worker in self.workers:
            worker.yield_held()

    def rest(self):
        """Does not wait: a worker may never come back, and orders must go on."""
        leaving = list(self.workers)

        def wait():
            for worker in leaving:
                worker.join()
            print("rested", flush=True)

        for worker in leaving:
            worker.rest()
        threading.Thread(target=wait, daemon=True).start()

    def obey(self):
        orders = {"go": self.go, "yield": self.yield_held, "rest": self.rest}
        for line in sys.stdin:
            orders[line.strip()]()

    def end(self):
        for worker in self.workers:
            worker.rest()
        for worker in self.workers:
            worker.join(END_S)
            if worker.is_alive():
                self.log.note(f"stuck thread={worker.name}")
        closing = threading.Thread(target=self.connection.close, daemon=True)
        closing.start()
        closing.join(2 * END_S)
        if closing.is_alive():
            self.log.note("stuck thread=close")


def main():
    player = Player(parse())
    print("ready", flush=True)
    player.obey()
    player.end()
    print("done", flush=True)
    os._exit(0)  # kazoo's threads may wait for ever


if __name__ == "__main__":
    main()
