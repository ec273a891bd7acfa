"""What an outsider sees on the servers."""
import time

from company import DONE_S
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError


def children(zk, path):
    try:
        return [f"{path}/{name}" for name in zk.get_children(path)]
    except NoNodeError:
        return []


def left_over(hosts, paths, seconds):
    """The children of these paths that are still there after so long."""
    zk = KazooClient(hosts=hosts)
    zk.start(timeout=10)
    try:
        end = time.monotonic() + seconds
        while True:
            zk.sync("/")
            left = [name for path in paths for name in children(zk, path)]
            if not left or time.monotonic() > end:
                return sorted(left)
            time.sleep(0.05)
    finally:
        zk.stop()
        zk.close()


def rest(company, players, paths, seconds):
    """Nobody takes turns any more, though all are still there: then nothing is left on the paths, or it is a fault."""
    for player in players:
        player.say("rest")
    for player in players:
        player.expect("rested", DONE_S)
    left = left_over(company.hosts, paths, seconds)
    return [f"left behind: {', '.join(left)}"] if left else []
