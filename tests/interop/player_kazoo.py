#!/usr/bin/python3 -B
"""The Python player: kazoo's Lock, driven by the contract in README.md.

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
from kazoo.recipe.lock import Lock


class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


LOCKS = {"stock": Lock, "curator": CuratorLock}


def parse():
    parser = argparse.ArgumentParser(description="kazoo player", allow_abbrev=False)
    for name in ("hosts", "path", "witness", "log", "identity"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mode", choices=sorted(LOCKS), required=True)
    parser.add_argument("--hold-us", type=int, default=1000)
    return parser.parse_args()


def wait_for_end():
    """The end of standard input is the sign to stop: it also comes when whoever started us dies."""
    while sys.stdin.readline():
        pass


def say(text):
    print(text, flush=True)


class Player:
    def __init__(self, options, client):
        self.options = options
        self.lock = LOCKS[options.mode](client, options.path, options.identity)
        self.acquisitions = 0
        self.overlaps = 0
        self.stop = threading.Event()

    def enter(self):
        try:
            os.close(os.open(self.options.witness, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return True
        except FileExistsError:
            self.overlaps += 1
            return False

    def go(self):
        def watch_input():
            wait_for_end()
            self.stop.set()

        threading.Thread(target=watch_input, daemon=True).start()
        log = os.open(self.options.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        while not self.stop.is_set():
            self.lock.acquire()
            mine = self.enter()
            self.acquisitions += 1
            os.write(log, f"{self.options.identity} {self.acquisitions} -\n".encode())
            time.sleep(random.uniform(0, self.options.hold_us / 1e6))
            if mine:
                os.unlink(self.options.witness)
            self.lock.release()
        os.close(log)

    def hold(self):
        self.lock.acquire()
        self.acquisitions += 1
        say("held")
        wait_for_end()
        self.lock.release()

    def list(self):
        for identity in self.lock.contenders():
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
    say(f"done {options.identity} acquisitions={player.acquisitions} overlaps={player.overlaps}")


if __name__ == "__main__":
    main()
