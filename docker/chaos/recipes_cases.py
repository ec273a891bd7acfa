"""Selftest: what is played of each recipe, when a calm is over, and what is read in records."""
from types import SimpleNamespace

from kazoo.exceptions import NoNodeError
from play.logbook import Event
from play.processes import ROOT

from play import recipes, schedule
from play.players import slots
from play.present import PathState, Present
from play.records import Records, runs, stands

GROUP, JOB, LEASE = (f"/chaos/paddock/{play}" for play in ("group-keep", "job-turns", "lease-keep"))
HEADER = ROOT / "tests/players/plays.h"
JOB_RECORD = """paddock-job 1
F 31 5000 5100 1000 4000 1500 7 _c_1-lock-0000000007 me
D 30 1000 0 1000 4000 1500 0 _c_2-lock-0000000006 you
"""


def casting():
    plays = {(slot.client, f"{slot.recipe}-{slot.role}") for slot in slots(["paddock", "curator"], recipes.RECIPES)}
    yield "ours play every recipe", {play for client, play in plays if client == "paddock"} == {
        f"{recipe}-{role}" for recipe, roles in recipes.PLAYS.items() for role in roles}
    yield "the peers play four", {play.split("-")[0] for client, play in plays if client == "curator"} == set(recipes.OF_PEERS)
    text = HEADER.read_text()
    for name in ("PERMITS", "DELAY_MS", "JOB_EVERY_MS", "JOB_AT_LEAST_MS", "JOB_AT_MOST_MS", "LEASE_MS"):
        yield f"the players have the same {name}", f"{name} = {getattr(recipes, name)}" in text


def present_of(*events):
    """Two players of a group, with these lines in their logs."""
    present = Present()
    present.paths[GROUP] = PathState()
    for name in ("a", "b"):
        player = SimpleNamespace(name=name, path=GROUP)
        present.pages[name] = player, None
        for ns, who, what in events:
            if who == name:
                present.take(present.paths[GROUP], player, Event.parse(who, f"{ns} {what}"))
    return present


def agreeing():
    joined = [(1, "a", "granted token=7 handover=0 n=1 kind=member"), (2, "b", "granted token=8 handover=0 n=1 kind=member")]
    seen = [(3, name, "view w=1 number=1 exact=1 all=7:7:1:a/0/1,8:8:2:b/0/1 joined=7,8 left=- altered=-") for name in ("a", "b")]
    yield "a group: both see both", present_of(*joined, *seen).agreed(GROUP)
    yield "a group: one sees nobody", not present_of(*joined, seen[0]).agreed(GROUP)
    yield "a group: one has left, and is still seen", not present_of(*joined, *seen, (4, "b", "lost n=1 token=8 reason=LEASE")).agreed(GROUP)
    for agreed in (True, False):
        present = present_of(*joined, *(seen if agreed else seen[:1]))
        chaos = SimpleNamespace(present=present, players=SimpleNamespace(paths=[GROUP], recipes={GROUP: "group"}))
        yield "a calm: a path that was granted", schedule.needs(chaos, set(), 2) == (set(), set() if agreed else {GROUP})
        yield "a calm: a path that was not", schedule.needs(chaos, set(), 3)[0] == {GROUP}


def bounds():
    chaos = SimpleNamespace(session_s=4, players=SimpleNamespace(recipes={"l": "lock", "a": "all", "x": "lease"}))
    yield "the bounds of a calm", [round(schedule.bound_s(chaos, path), 1) for path in "lax"] == [11.8, 17.2, 22.3]


class Admin:
    """A client of servers that have these nodes."""

    def __init__(self, **nodes):
        self.nodes = nodes

    def get(self, node):
        name = node.split("/")[3].partition("-")[0]
        if name not in self.nodes:
            raise NoNodeError
        data, mzxid, mtime = self.nodes[name]
        return data.encode(), SimpleNamespace(mzxid=mzxid, mtime=mtime)


def reading():
    newest, older = runs(JOB_RECORD, 5200)
    yield "a run that finished: its end is the znode's", (newest["start"], newest["end"], newest["outcome"]) == (5000, 5200, 7)
    yield "a run that died", (older["state"], older["start"], older["who"]) == ("D", 1000, "you")
    yield "a run that goes on: its start is the znode's", runs(JOB_RECORD.replace("F 31", "R 31"), 5200)[0]["start"] == 5200
    yield "a record that stands", stands("paddock-lease 1\nH 31 9000 abc planner-1\n") == {"token": 31, "state": "H", "who": "planner-1"}
    yield "one that was given up", stands("paddock-lease 1\nN 31\n") == {"token": 31, "state": "N", "who": "-"}


def noting():
    notes = []
    players = SimpleNamespace(recipes={JOB: "job", LEASE: "lease"}, note=lambda what, **fields: notes.append((what, fields)))
    records = Records(Admin(job=(JOB_RECORD, 5, 5200)), players)
    records.look()
    records.look()
    yield "the runs are noted once, the oldest first", [(what, fields["token"]) for what, fields in notes] == [("ran", 30), ("ran", 31)]
    records.admin = Admin(job=(JOB_RECORD.replace("7 _c", "8 _c"), 6, 5200), lease=("paddock-lease 1\nN 31\n", 1, 1))
    records.look()
    yield "what is new is noted", [(what, fields["token"]) for what, fields in notes[2:]] == [("ran", 31), ("stands", 31)]


def checks():
    for part in (casting, agreeing, bounds, reading, noting):
        yield from part()
