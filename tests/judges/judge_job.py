"""The job: at most one start in a period, none too soon after another, no run for too long; and its record is true.

Starts are the moments in the record, which are the servers'. The driver notes the record as it changes. How long a run was believed
to go on is on the clock of the logs. That no two overlap is the matter of judge_exclusion.
"""
from dataclasses import dataclass

from play.logbook import MS
from play.tables import few

RECIPE = "job"


@dataclass
class Run:
    path: str
    token: int
    noted: int  # when it was seen first
    start: int
    state: str = "R"
    outcome: int = 0
    moved: bool = False  # its start changed

    def tell(self):
        return f"the run with token {self.token} of {self.path}"


def runs(record):
    """By path, in the order of their tokens."""
    found = {}
    for event, _ in record.notes.get("ran", []):
        of_path = found.setdefault(event["path"], {})
        one = of_path.setdefault(event.number("token"), Run(event["path"], event.number("token"), event.ns, event.number("start")))
        one.moved |= one.start != event.number("start")
        one.state, one.outcome = event["state"], event.number("outcome")
    return {path: [those[token] for token in sorted(those)] for path, those in sorted(found.items())}


def judge_starts(record, found):
    """Of runs that follow each other in one record."""
    every, least, _ = record.settings.job_ms
    for path, those in found.items():
        for one, other in zip(those, those[1:]):
            if record.wiped(path, one.noted, other.noted):
                continue
            if other.start // every <= one.start // every:
                yield f"{other.tell()} started in the period of the one before, {other.start - one.start} ms after it"
            if other.start - one.start < least:
                yield f"{other.tell()} started {other.start - one.start} ms after the one before"
        yield from (f"{one.tell()} has another start than before" for one in those if one.moved)


def judge_missed(record, found):
    """Where only players are harmed, one of them is always there to ask: no period is without a run."""
    if any(fault.lane != "client" for fault in record.faults):
        return
    every = record.settings.job_ms[0]
    for path, those in found.items():
        for one, other in zip(those, those[1:]):
            if other.start // every > one.start // every + 1:
                yield f"{path}: no run in {other.start // every - one.start // every - 1} periods after {one.tell()}"


def length(hold):
    """For how long it was certainly believed in, in ns."""
    last = min(hold.last, hold.player.killing) if hold.cut_short() else hold.last
    return max(0, last - hold.granted)


def judge_length(record, hold):
    *_, most = record.settings.job_ms
    if length(hold) > most * MS:
        yield f"{hold.tell()} ran for {length(hold) / 1e6:.0f} ms, and may for {most} ms"


def judge_record(record, hold, run, outcomes, finished):
    """The record has each run, and how it ended, unless an administrator deleted it."""
    if record.wiped(hold.player.path, hold.claim.asked, record.end if run is None else run.noted):
        return
    if run is None:
        yield f"{hold.tell()} ran, and the record never had it"
    elif finished.get(id(hold)) == "PDK_OK" and (run.state, run.outcome) != ("F", outcomes[id(hold)]):
        if not record.wiped(hold.player.path, hold.claim.asked, record.end):
            yield f"{hold.tell()} finished with {outcomes[id(hold)]}, and the record has {run.state} {run.outcome}"


def judge(record):
    if RECIPE not in record.settings.recipes:
        return []
    found = runs(record)
    outcomes = {id(hold): event.number("outcome") for event, hold in record.notes.get("finishing", [])}
    finished = {id(hold): event["status"] for event, hold in record.notes.get("finished", [])}
    by_token = {(run.path, run.token): run for those in found.values() for run in those}
    holds = [hold for those in record.of_recipe(RECIPE).values() for hold in those]
    faults = few(list(judge_starts(record, found))) + few(list(judge_missed(record, found)))
    faults += few([fault for hold in holds for fault in judge_length(record, hold)])
    faults += few([fault for hold in holds for fault in judge_record(
        record, hold, by_token.get((hold.player.path, hold.token)), outcomes, finished)])
    if not found:
        faults.append("vacuous: nobody looked at the record of a job")
    if record.thorough and not any("OVERDUE" in hold.reasons for hold in holds):
        faults.append("vacuous: no run of a job went on for too long")
    return faults


def figures(record):
    those = [run for of_path in runs(record).values() for run in of_path]
    holds = [hold for of_path in record.of_recipe(RECIPE).values() for hold in of_path]
    if not those:
        return None
    longest = max((length(hold) for hold in holds), default=0)
    overdue = sum("OVERDUE" in hold.reasons for hold in holds)
    return (f"job: {len(those)} runs in the record, of which {sum(run.state == 'F' for run in those)} finished; {len(holds)} ran, the longest "
            f"for {longest / 1e6:.0f} ms of {record.settings.job_ms[-1] if record.settings.job_ms else 0}; {overdue} were cut off at that")
