"""The records beside locks (docs/adr/0027), as they change: what jobs ran, and for whom lease locks stand.

A thread reads them a few times a second, and notes what is new:

    ran path=P token=T state=R|F|D start=MS end=MS outcome=O who=W     a run of a job, by the servers' clocks; 0: none yet
    stands path=P token=T state=H|N written=NS who=W                   a lease lock; written: on the clock of the logs, or before
"""
import threading
import time

from kazoo.exceptions import KazooException, NoNodeError
from play.event_log import now

LOOK_S = 0.25
RECORDED = ("job", "lease")


def runs(text, mtime_ms):
    """The runs in a job's record, the newest first: a dict each. The moment of the newest one's last write is the znode's."""
    found = []
    for line in text.splitlines()[1:]:
        state, token, start, end, _least, _every, _most, outcome, _node, who = line.split(" ", 9)
        found.append({"token": int(token), "state": state, "start": int(start), "end": int(end), "outcome": int(outcome),
                      "who": who})
    if found and found[0]["state"] in "RF":
        moment = "start" if found[0]["state"] == "R" else "end"
        found[0][moment] = max(found[0][moment], mtime_ms)
    return found


def stands(text):
    """What a lease lock's record has."""
    state, token, *more = text.splitlines()[1].split(" ", 4)
    return {"token": int(token), "state": state, "who": more[-1] if state == "H" else "-"}


class Records:
    def __init__(self, admin, players):
        self.admin, self.players = admin, players
        self.paths = [path for path, recipe in players.recipes.items() if recipe in RECORDED]
        self.seen, self.known = {}, {}  # by path: the version that was read last; the runs that are noted
        self.over, self.lock = threading.Event(), threading.Lock()
        self.thread = threading.Thread(target=self.keep_looking, name="records", daemon=True)

    def start(self):
        if self.paths:
            self.thread.start()

    def stop(self):
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()

    def keep_looking(self):
        while not self.over.wait(LOOK_S):
            try:
                self.look()
            except (KazooException, OSError):
                pass  # the servers are away

    def look(self):
        with self.lock:
            for path in self.paths:
                self.look_at(path)

    def look_at(self, path):
        try:
            data, stat = self.admin.get(f"{path}/record")
        except NoNodeError:
            return
        if self.seen.get(path) == stat.mzxid or not data:
            return
        self.seen[path] = stat.mzxid
        if self.players.recipes[path] == "lease":
            behind = time.time_ns() - now()  # of the clock of the logs
            self.players.note("stands", path=path, written=stat.mtime * 1_000_000 - behind, **stands(data.decode()))
        else:
            self.note_runs(path, runs(data.decode(), stat.mtime))

    def note_runs(self, path, found):
        known = self.known.setdefault(path, {})
        for run in reversed(found):
            if known.get(run["token"]) != run:
                known[run["token"]] = run
                self.players.note("ran", path=path, **run)
