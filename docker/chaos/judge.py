#!/usr/bin/python3 -B
"""What the logs of a chaos run have to show of our client, and what they show of all.

    judge.py --logs FOLDER     judges a run again whose logs were kept, and prints its tables

    judge_exclusion   no two rights that exclude each other are believed at one instant; never more permits than there are
    judge_tokens      tokens rise in the order of the grants (readers: as rwlock.h says), and each is one right's
    judge_resources   the fenced resource takes no stale write, nor refuses a fresh one; the naive one is seen to suffer
    judge_ends        one end for each grant; one LOST for a loss, in time, none after a release, no belief after it; every
                      claim answered
    judge_liveness    in every calm each claim that waits is answered in time and each path served; nothing left at the end
    judge_recovery    nothing; it counts what a fault costs, for the tables of report.py

Time is CLOCK_BOOTTIME of the one machine. Belief is what a player looked at and noted, from the first to the last instant at
which the answer was yes, less the time in which its process was stopped, and until it was certainly dead for one that was
killed. Where that is in doubt it is decided against us and for the others.
"""
import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/trials"))

import judge_ends  # noqa: E402
import judge_exclusion  # noqa: E402
import judge_liveness  # noqa: E402
import judge_recovery  # noqa: E402
import judge_resources  # noqa: E402
import judge_tokens  # noqa: E402
from judge_record import OURS, Record  # noqa: E402
from logbook import Logbook  # noqa: E402


@dataclass
class Findings:
    """What the logs show of one client."""
    client: str
    holds: int
    overlaps: list
    damage: judge_resources.Damage
    progress: judge_liveness.Progress
    left: dict
    costs: dict  # by fault

    @classmethod
    def of(cls, record, client):
        overlaps = judge_exclusion.overlaps(record, client)
        return cls(client, sum(hold.player.client == client for hold in record.holds), overlaps,
                   judge_resources.damage(record, client), judge_liveness.progress_of(record, client),
                   judge_liveness.left(record, client), judge_recovery.costs(record, client, overlaps))


@dataclass
class Judgement:
    record: Record
    findings: list  # one for each client
    faults: list = field(default_factory=list)  # of ours, in words


def judge_substance(record, found):
    """Whether enough has happened for the rest to mean anything."""
    faults = [] if record.faults else ["vacuous: nothing was done"]
    granted = {hold.player.path for hold in record.holds}
    faults += [f"vacuous: nobody was ever granted {path}" for path in record.paths(OURS) if path not in granted]
    played = {player.recipe for player in record.of(OURS)}
    faults += [f"vacuous: nobody played {recipe}" for recipe in record.settings.recipes if recipe not in played]
    if record.settings.everything and not sum(cost.losses for cost in found.costs.values()):
        faults.append("vacuous: nobody lost anything")
    return faults


def judge_ours(record, found):
    return [*judge_exclusion.judge(found.overlaps), *judge_tokens.judge(record, OURS),
            *judge_resources.judge(record, OURS, found.damage), *judge_ends.judge(record, OURS),
            *judge_liveness.judge(record, OURS, found.progress), *judge_substance(record, found)]


def judge(logbook):
    record = Record(logbook)
    judgement = Judgement(record, [Findings.of(record, client) for client in record.settings.clients])
    for found in judgement.findings:
        if found.client == OURS:
            judgement.faults = judge_ours(record, found)
    return judgement


def main():
    import report
    parser = argparse.ArgumentParser(description="Judges a chaos run by the logs that were kept of it.")
    parser.add_argument("--logs", type=Path, required=True, metavar="FOLDER")
    logbook = Logbook(parser.parse_args().logs)
    logbook.poll()
    judgement = judge(logbook)
    report.print_report(judgement)
    print("\n".join(f"FAULT: {fault}" for fault in judgement.faults) or "no fault")
    return bool(judgement.faults)


if __name__ == "__main__":
    sys.exit(main())
