"""The nodes on the servers, as another client sees them."""
import time

from kazoo.exceptions import NoNodeError


def children(zk, path):
    try:
        return {f"{path}/{name}" for name in zk.get_children(path)}
    except NoNodeError:
        return set()


def left_over(zk, paths, seconds, foreign=()):
    """The children that are still there after so many seconds. Of the foreign ones, nodes that no recipe made, those
    that are missing."""
    end = time.monotonic() + seconds
    while True:
        zk.sync("/")
        wrong = set().union(*(children(zk, path) for path in paths)) ^ set(foreign)
        if not wrong or time.monotonic() > end:
            return sorted(wrong)
        time.sleep(0.05)
