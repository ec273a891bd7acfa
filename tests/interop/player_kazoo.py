#!/usr/bin/python3 -B
"""The Python player: kazoo's Lock, Election, ReadLock or WriteLock, by the contract in README.md.

--mode stock    kazoo's Lock as it is: contends with Paddock's kazoo profile
--mode curator  the two-line subclass that meets Curator and Paddock's Curator profile
"""
import argparse
import os
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.election import Election
from kazoo.recipe.lock import ForceRetryError, Lock, ReadLock, WriteLock

from witness import Witness


class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class LaterReadLock(ReadLock):
    """As in kazoo 2.9. Before, a reader waited also for writers that came after it, which waited for the reader."""

    def _get_predecessor(self, node):
        children = self.client.get_children(self.path)
        if node not in children:
            raise ForceRetryError()
        ahead = [name for name in children if self._contenders_re.search(name) and name[-10:] < node[-10:]]
        return max(ahead, key=lambda name: name[-10:], default=None)


LOCKS = {"stock": Lock, "curator": CuratorLock}
RECIPES = {"read": LaterReadLock, "write": WriteLock}


def parse():
    parser = argparse.ArgumentParser(description="kazoo player", allow_abbrev=False)
    for name in ("hosts", "path", "witness", "log", "identity"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mode", choices=sorted(LOCKS), required=True)
    parser.add_argument("--recipe", choices=("lock", "election", *RECIPES), default="lock")
    parser.add_argument("--hold-us", type=int, default=1000)
    return parser.parse_args()


def wait_for_end():
    """The end of standard input is the order to stop. It also comes when the driver dies."""
    while sys.stdin.readline():
        pass


def say(text):
    print(text, flush=True)


class Player:
    def __init__(self, options, client):
        self.options = options
        lock = RECIPES.get(options.recipe, LOCKS[options.mode])
        self.lock = lock(client, options.path, options.identity)
        self.election = None
        if options.recipe == "election":
            self.election = Election(client, options.path, options.identity)
            self.election.lock = self.lock  # the lock knows the mode; an election has nothing else
        self.acquisitions = 0
        self.witness = Witness(options.witness, options.identity, shared=options.recipe == "read")
        self.stop = threading.Event()

    def have(self, turn):
        """Calls turn while the lock is held."""
        if self.election:
            self.election.run(turn)
            return
        self.lock.acquire()
        turn()
        self.lock.release()

    def go(self):
        def watch_input():
            wait_for_end()
            self.stop.set()

        threading.Thread(target=watch_input, daemon=True).start()
        log = os.open(self.options.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        while not self.stop.is_set():
            self.have(lambda: self.turn(log))
        os.close(log)

    def turn(self, log):
        mine = self.witness.enter()
        self.acquisitions += 1
        os.write(log, f"{self.options.identity} {self.acquisitions} -\n".encode())
        time.sleep(random.uniform(0, self.options.hold_us / 1e6))
        self.witness.leave(mine)

    def hold(self):
        def turn():
            self.acquisitions += 1
            say("held")
            wait_for_end()

        self.have(turn)

    def list(self):
        for identity in (self.election or self.lock).contenders():
            say(f"contender\t-\t{identity}")


def main():
    options = parse()
    client = KazooClient(hosts=options.hosts, timeout=20.0)
    client.start(timeout=10)
    player = Player(options, client)
    say("ready")
    command = sys.stdin.readline().strip()
    actions = {"go": player.go, "hold": player.hold, "list": player.list, "": lambda: None}
    actions[command]()
    client.stop()
    client.close()
    say(f"done {options.identity} acquisitions={player.acquisitions} overlaps={player.witness.overlaps} "
        f"together={player.witness.together}")


if __name__ == "__main__":
    main()
