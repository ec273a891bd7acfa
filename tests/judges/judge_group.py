"""The group: what watchers are told, and what members believe.

A view is numbered, and differs from the one before by what it says. A member's data never get older, and a registration that has left
does not come back. In a calm each watcher comes to see the members that there are, and nobody else. When a watcher is told that a
registration has left, its member does not believe in it any more.

A member has one node in a session. One of a session before may stand beside it: a leader that was deposed, and does not know yet, says
that a session has ended which the others keep until its timeout.
"""
from dataclasses import dataclass

from play.logbook import S
from play.tables import few

from judges.judge_liveness import bound, is_torn
from judges.judge_record import NEVER, listed

RECIPE = "group"
LATE_NS = 3 * S  # before the end of a calm: by then each watcher sees who is there


@dataclass
class View:
    """What a watcher was told. members: by token, (the zxid of the newest change, the session, the data)."""
    ns: int
    who: str
    watcher: str
    number: int
    exact: bool
    members: dict
    joined: set
    left: set
    altered: set

    def tell(self):
        return f"{self.who}'s watcher {self.watcher}, view {self.number}"


def tokens(text):
    return {int(token) for token in listed(text)}


def view_of(event):
    members = {}
    for one in listed(event["all"]):
        token, changed, session, data = one.split(":", 3)
        members[int(token)] = int(changed), session, data
    return View(event.ns, event.who, event["w"], event.number("number"), event["exact"] == "1", members, tokens(event["joined"]),
                tokens(event["left"]), tokens(event["altered"]))


def views(record):
    """By watcher, in order. A watcher is a process and a number."""
    found = {}
    for event, _ in record.notes.get("view", []):
        view = view_of(event)
        found.setdefault((view.who, view.watcher), []).append(view)
    return found


def author(data):
    """The member whose data these are, and their counter."""
    name, _, counter = data.rpartition("/")
    return name, int(counter) if counter.isdigit() else None


def judge_step(before, view):
    """One view after the one before, which is empty at first."""
    old, new = before.members, view.members
    if view.number != before.number + 1:
        yield f"{view.tell()} came after view {before.number}"
    altered = {token for token in old.keys() & new.keys() if old[token] != new[token]}
    if (view.joined, view.left, view.altered) != (new.keys() - old.keys(), old.keys() - new.keys(), altered):
        yield f"{view.tell()} differs from the one before by other members than it says"
    for token in altered:
        if new[token][0] <= old[token][0]:
            yield f"{view.tell()} has older data of {token}"


def tell_registration(token, known, ns):
    """One of a view of that moment, and when its member knew of its end."""
    hold = known.get(token)
    if hold is None:
        return f"{token}, of which no log tells"
    if hold.over() == NEVER:
        return f"{hold.tell()}, never over"
    return f"{hold.tell()}, {', '.join(sorted(hold.reasons)) or 'released'} at {(hold.over() - ns) / 1e6:+.0f} ms"


def tell_twice(view, name, its, those, known):
    """Enough to say where the second one came from."""
    until = next((later.ns for later in those if later.ns > view.ns and not set(its) <= later.members.keys()), None)
    lasted = f"for {(until - view.ns) / 1e6:.0f} ms" if until else "to its end"
    return f"{view.tell()} has {name} twice, {lasted}: {'; '.join(tell_registration(token, known, view.ns) for token in its)}"


def judge_watcher(those, known):
    """The views of one watcher. known: the registrations that the logs have, by token."""
    before, gone, newest = View(0, "", "", 0, True, {}, set(), set(), set()), set(), {}
    for view in those:
        yield from judge_step(before, view)
        yield from (f"{view.tell()} has {token} again, which had left" for token in view.members if token in gone)
        names = {}
        for token, (_, session, data) in sorted(view.members.items()):
            name, counter = author(data)
            if counter is None:
                yield f"{view.tell()} has data that no member wrote: {data}"
                continue
            last, most = newest.get(name, (0, 0))
            if token >= last:
                if counter < most:
                    yield f"{view.tell()} has data {counter} of {name} after {most}"
                newest[name] = token, max(counter, most)
            names.setdefault((name, session), []).append(token)
        yield from (tell_twice(view, name, its, those, known) for (name, _), its in names.items() if view.exact and len(its) > 1)
        gone |= view.left
        before = view


def judge_belief(holds, found):
    """A member that is seen to have left does not believe any more, unless an administrator deleted its node."""
    seen = {}
    for those in found.values():
        for view in those:
            for token in view.left:
                seen[token] = min(view.ns, seen.get(token, NEVER))
    for hold in holds:
        left = seen.get(hold.token, NEVER)
        if hold.last > left and not hold.taken_at(left):
            yield f"{hold.tell()} was seen to have left, and believed in its registration for {(hold.last - left) / 1e6:.3f} ms more"


@dataclass
class Calm:
    """One calm, of one path of a group."""
    path: str
    begin: int
    end: int
    limit: int


def there_at(holds, ns):
    """The registrations that stand at that moment."""
    return {hold.token for hold in holds if hold.granted <= ns < min(hold.over(), hold.player.killed)}


def agrees(holds, those, begin, end):
    """Whether at some moment in between the watcher saw those who were there."""
    moments = sorted({begin, end, *(view.ns for view in those), *(hold.granted for hold in holds),
                      *(min(hold.over(), hold.player.killed) for hold in holds)})
    shown = {view.ns: set(view.members) for view in those}
    seen = next((set(view.members) for view in reversed(those) if view.ns <= begin), None)
    for ns in (ns for ns in moments if begin <= ns <= end):
        seen = shown.get(ns, seen)
        if seen is not None and seen == there_at(holds, ns):
            return True
    return False


def calms(record, path):
    for begin, end in record.calms:
        calm = Calm(path, begin, end, begin + bound(record, RECIPE, 0))
        if not is_torn(record, calm):
            yield calm


def judge_calm(record, calm, holds, found):
    """(whether it came right, in words): of each process that watches in that calm."""
    for player in record.players.values():
        lives = player.path == calm.path and player.started < calm.begin and calm.end < player.killed
        those = sorted((view for (who, _), its in found.items() if who == player.who for view in its), key=lambda view: view.ns)
        if lives and player.claims:
            right = agrees(holds, those, max(calm.begin, calm.end - LATE_NS), calm.end)
            yield right, (f"{player.who} did not come to see who is in {calm.path}, in the calm that began after "
                          f"{(calm.begin - record.begin) / S:.1f} s")


def looks(record, found):
    """All (whether it came right, in words) of calms."""
    for path, holds in record.of_recipe(RECIPE).items():
        for calm in calms(record, path):
            yield from judge_calm(record, calm, holds, found)


def judge(record):
    if RECIPE not in record.settings.recipes:
        return []
    found = views(record)
    holds = [hold for those in record.of_recipe(RECIPE).values() for hold in those]
    known = {hold.token: hold for hold in holds}
    faults = few([fault for those in found.values() for fault in judge_watcher(those, known)])
    faults += few([f"{event.who} was answered {event['status']}, to set" for event, _ in record.notes.get("set", [])
                   if event["status"] not in ("PDK_OK", "PDK_UNAVAILABLE")])
    faults += few(list(judge_belief(holds, found)))
    seen = list(looks(record, found))
    faults += few([words for right, words in seen if not right])
    if record.thorough and not seen:
        faults.append("vacuous: no watcher of a group was looked at in a calm")
    return faults


def figures(record):
    found = views(record)
    if not found:
        return None
    those = [view for its in found.values() for view in its]
    changes = sum(len(view.joined) + len(view.left) + len(view.altered) for view in those)
    return (f"group: {len(found)} watchers were told {len(those)} views with {changes} changes, {sum(view.exact for view in those)} of the "
            f"views exact; {len(list(looks(record, found)))} times a watcher was compared with the members in a calm")
