"""What the library counted, and what its player's log has. A player that lives to its end tells the library's counts in its last
line (player.h). They must agree with the other lines, which it noted as it was answered and called back.

The library counts a grant when it is decided. Where the lease was over before the player had it, the claim goes on, and the log shows
nothing of the grant: `lapsed` counts those. They may also be counted as lost, or as a hand-over. The grants of a candidate or a member are
delivered inside the library, which tells a term only if it has begun; and of sets, jobs, stripes and lease locks a call has claims of its
own. There the log may have fewer.
"""
from collections import Counter
from dataclasses import dataclass, field

from judges.judge_record import NEVER, SEVERAL

ANSWERS = {"busy": "PDK_BUSY", "unavailable": "PDK_UNAVAILABLE", "canceled": "PDK_CANCELED"}
INSIDE = {"election", "all", "striped", "job", "lease", "group"}
REASONS = ("EXPIRED", "LEASE", "NODE_GONE", "CLOSED", "OVERDUE")


@dataclass
class Counted:
    """The sums of all that told: by the library, and in their logs."""
    players: int = 0
    library: Counter = field(default_factory=Counter)
    logs: Counter = field(default_factory=Counter)


def claim_of_several(hold):
    return hold.claim.kind == SEVERAL


class One:
    """One player: numbers of the library by their names, and what its log has."""

    def __init__(self, record, player):
        self.who, self.inside = player.who, player.recipe in INSIDE
        self.says = {name: int(value) for name, value in player.counted.items() if name != "closed"}
        claims = [claim for claim in record.claims.values() if claim.player is player]
        holds = [claim.hold for claim in claims if claim.hold]
        grants = [one for hold in holds for one in (hold.parts if claim_of_several(hold) else [hold])]
        self.granted = len(grants)
        self.handovers = sum(hold.handover > 0 for hold in grants)
        self.failed = Counter(claim.status for claim in claims if claim.status)
        self.told = Counter(reason for hold in holds if hold.lost for reason in sorted(hold.told)[:1])
        self.untold = sum(hold.was_lost() and not hold.lost for hold in holds)

    def lost(self):
        return sum(self.says[reason] for reason in REASONS)

    def differ(self, what, counted, seen, more=0):
        """The library may have counted so many more."""
        if not seen <= counted <= seen + more:
            yield f"{self.who}: the library counted {counted} {what}, and its log has {seen}"

    def faults(self):
        says, unseen = self.says, self.says["lapsed"]
        inside = NEVER if self.inside else 0
        yield from self.differ("grants", says["granted"] - says["lapsed"], self.granted, inside)
        yield from self.differ("hand-overs", says["handovers"], self.handovers, unseen + inside)
        yield from self.differ("losses", self.lost(), sum(self.told.values()) + self.untold, unseen + inside)
        for reason in REASONS:
            yield from self.differ(f"losses by {reason}", says[reason], self.told[reason], self.untold + unseen + inside)
        if not self.inside:
            for name, status in ANSWERS.items():
                yield from self.differ(f"answers {status}", says[name], self.failed[status])
            late = self.failed["PDK_TIMEOUT"]  # also of those whose grant had lapsed, and whose time was over
            yield from self.differ("answers PDK_TIMEOUT", says["timeout"], max(late - unseen, 0), min(late, unseen))
        yield from self.left()

    def left(self):
        """At its end nothing is held or waits, and each grant has been a hold, and is over."""
        for what in ("waiting", "holds"):
            if self.says[what]:
                yield f"{self.who}: at its end the library counts {what}={self.says[what]}"
        for what in ("over", "waited"):
            if self.says[what] != self.says["granted"]:
                yield f"{self.who}: the library counted {self.says['granted']} grants, and {self.says[what]} times of them ({what})"


def those(record, client):
    """The players whose close has ended: else something may have been under way."""
    return [One(record, player) for player in record.of(client)
            if player.counted and player.counted["closed"] == "PDK_OK" and player.killed == NEVER]


def counted(record, client):
    sums = Counted()
    for one in those(record, client):
        sums.players += 1
        sums.library.update(grants=one.says["granted"] - one.says["lapsed"], losses=one.lost(), handovers=one.says["handovers"])
        sums.logs.update(grants=one.granted, losses=sum(one.told.values()) + one.untold, handovers=one.handovers)
    return sums


def judge(record, client):
    found = those(record, client)
    faults = [fault for one in found for fault in one.faults()]
    if record.settings.counted and not found:
        faults.append("vacuous: no player told what the library has counted")
    return faults
