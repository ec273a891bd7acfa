#!/usr/bin/python3 -B
"""What the logs of a chaos run have to show of our client, and what they show of all.

    judge.py --logs FOLDER     judges a run again whose logs were kept, and prints its tables

    judge_exclusion   no two rights that exclude each other are believed at one instant; never more permits than there are
    judge_taken       (whose rights an administrator took, of which word has to come first)
    judge_tokens      tokens rise in the order of the grants (readers: as rwlock.h says), and each is one right's
    judge_resources   the fenced resource takes no stale write, nor refuses a fresh one; the naive one is seen to suffer
    judge_ends        one end for each grant, soon; one LOST for a loss, in time, none after a release, no belief after it; no
                      node lost that nobody deleted; every claim answered; nobody ends by itself, or not at all
    judge_liveness    in every calm each claim that waits is answered in time and each path served; everybody claims; nothing
                      left at the end
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


ROLES = ("turns", "keep")


@dataclass
class Findings:
    """What the logs show of one client."""
    client: str
    holds: int
    handovers: int  # of these, from one thread of a process to another, without the servers
    overlaps: list
    damage: judge_resources.Damage
    severed: list  # judge_ends.Severed
    progress: judge_liveness.Progress
    left: dict
    costs: dict  # by fault

    @classmethod
    def of(cls, record, client):
        overlaps = judge_exclusion.overlaps(record, client)
        holds = [hold for hold in record.holds if hold.player.client == client]
        return cls(client, len(holds), sum(hold.handover > 0 for hold in holds), overlaps,
                   judge_resources.damage(record, client), judge_ends.severed(record, client),
                   judge_liveness.progress_of(record, client), judge_liveness.left(record, client),
                   judge_recovery.costs(record, client, overlaps))


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
    players = record.of(OURS)
    faults += [f"vacuous: fewer than two claimed {path}" for path in record.paths(OURS)
               if sum(player.path == path and player.claims > 0 for player in players) < 2]
    played = {(player.recipe, player.role) for player in players}
    faults += [f"vacuous: nobody played {recipe}-{role}" for recipe in record.settings.recipes for role in ROLES
               if (recipe, role) not in played]
    if record.settings.everything and not sum(cost.losses for cost in found.costs.values()):
        faults.append("vacuous: nobody lost anything")
    return faults


def judge_ours(record, found):
    return [*judge_exclusion.judge(found.overlaps), *judge_tokens.judge(record, OURS),
            *judge_resources.judge(record, OURS, found.damage), *judge_ends.judge(record, OURS, found.severed),
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
    for fault in judgement.faults:
        print(f"FAULT: {fault}")
    print(f"{len(judgement.faults) or 'no'} faults; {report.unexplained(judgement)}")
    return bool(judgement.faults)


if __name__ == "__main__":
    sys.exit(main())
