"""What was measured, and its ratios."""
import statistics
from dataclasses import dataclass, field
from typing import NamedTuple

from counts import Counts
from idle import Idle
from sides import Slice


class Ratio(NamedTuple):
    low: float  # the first quartile
    median: float
    high: float  # the third


@dataclass
class Row:
    name: str
    rounds: list = field(default_factory=list)  # {side: Slice}
    counts: dict = field(default_factory=dict)  # {side: Counts of a grant}
    out: dict = field(default_factory=dict)  # {side: why it is out of the row}

    def value(self, side, unit):
        """The median of the slices; None without any."""
        found = [round_[side].value(unit) for round_ in self.rounds if side in round_]
        return statistics.median(found) if found and side not in self.out else None

    def ratio(self, side, unit):
        """Our speed by that of the side, of each round; None when there is none."""
        found = [round_["paddock"].speed(unit) / round_[side].speed(unit) for round_ in self.rounds if side in round_]
        if len(found) < 2 or side in self.out:
            return None
        low, median, high = statistics.quantiles(found, n=4, method="inclusive")
        return Ratio(low, median, high)


@dataclass
class Results:
    rows: dict  # {name: Row}
    idle: dict  # {case: Idle}
    machine: dict
    quick: bool

    def dump(self):
        rows = {name: {"rounds": row.rounds, "counts": row.counts, "out": row.out} for name, row in self.rows.items()}
        return {"rows": rows, "idle": self.idle, "machine": self.machine, "quick": self.quick}

    @staticmethod
    def load(kept):
        def row(name, one):
            return Row(name, [{side: Slice(*of) for side, of in found.items()} for found in one["rounds"]],
                       {side: Counts(*of) for side, of in one["counts"].items()}, one["out"])
        return Results({name: row(name, one) for name, one in kept["rows"].items()},
                       {case: Idle(*of) for case, of in kept["idle"].items()}, kept["machine"], kept["quick"])
