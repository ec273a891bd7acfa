#!/usr/bin/python3 -B
"""kazoo's player for what is told step by step (README.md): it holds, or lists who is in the queue.

--mode stock    kazoo's Lock as it is: contends with Paddock's kazoo profile
--mode curator  the two-line subclass that meets Curator and Paddock's Curator profile
"""
import argparse
import sys
import time

from kazoo.client import KazooClient
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock, WriteLock

from chaos_recipes import CuratorLock, LaterReadLock

LOCKS = {"stock": Lock, "curator": CuratorLock}
RECIPES = {"read": LaterReadLock, "write": WriteLock}


def parse():
    parser = argparse.ArgumentParser(description="kazoo player", allow_abbrev=False)
    for name in ("hosts", "path", "identity"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mode", choices=sorted(LOCKS), required=True)
    parser.add_argument("--recipe", choices=("lock", "election", *RECIPES), default="lock")
    return parser.parse_args()


def say(text):
    print(text, flush=True)


def hold():
    """Until the end of standard input, which also comes when the driver dies."""
    say("held")
    while sys.stdin.readline():
        pass


def visit(lock):
    """For each line of standard input: how long it waited, in ms."""
    for _ in sys.stdin:
        began = time.monotonic()
        lock.acquire()
        say(f"visited\t{(time.monotonic() - began) * 1000:.2f}")
        lock.release()


def main():
    options = parse()
    client = KazooClient(hosts=options.hosts, timeout=20.0)
    client.start(timeout=10)
    lock, election = RECIPES.get(options.recipe, LOCKS[options.mode])(client, options.path, options.identity), None
    if options.recipe == "election":
        election = Election(client, options.path, options.identity)
        election.lock = lock  # the lock knows the mode; an election has nothing else
    say("ready")
    command = sys.stdin.readline().strip()
    if command == "list":
        for identity in (election or lock).contenders():
            say(f"contender\t-\t{identity}")
    elif command == "visit":
        visit(lock)
    elif command == "hold" and election:
        election.run(hold)
    elif command == "hold":
        with lock:
            hold()
    client.stop()
    client.close()
    say(f"done {options.identity}")


if __name__ == "__main__":
    main()
