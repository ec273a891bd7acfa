"""The settings of a run, from the first line of the driver's log, so that a folder of logs can be judged by itself."""
from dataclasses import dataclass, field

from play.logbook import MS

DRIVER = "driver"
ROLES = ("turns", "keep")


def listed(text):
    return [] if text in (None, "-", "") else text.split(",")


def numbers(text):
    """By recipe, of "recipe:number,…"."""
    return {recipe: int(number) for recipe, number in (pair.split(":") for pair in listed(text))}


@dataclass
class Settings:
    session_ms: int
    tick_ms: int
    clients: list
    recipes: list
    seed: int
    permits: int
    hold_us: dict  # by recipe, the longest use of the resource
    faults: list  # by name, or "all"
    guarded: list = field(default_factory=list)  # the recipes whose holders also write to a guarded znode
    counted: bool = False  # players of ours tell at their end what the library has counted
    plays: list = field(default_factory=list)  # "recipe-role"
    turns: dict = field(default_factory=dict)  # by recipe: for so many turns of each of the others a claim may wait
    extra_ms: dict = field(default_factory=dict)  # by recipe: for so long a claim may wait although nobody holds
    delay_ms: int = 0  # the lock-delay
    lease_ms: int = 0  # for so long a lease lock stands after it was written
    job_ms: list = field(default_factory=list)  # the period; at least for; at most for
    late_ms: int = 0  # so long after nobody is in its way a claim may be granted; 0: that is not judged
    needs: dict = field(default_factory=dict)  # how often something has to happen (judge_needs)

    @classmethod
    def of(cls, logbook):
        told = next(event for event in logbook.named("settings") if event.who == DRIVER)
        recipes = told["recipes"].split(",")
        return cls(told.number("session"), told.number("tick"), told["clients"].split(","), recipes,
                   told.number("seed"), told.number("permits"), numbers(told["hold_us"]),
                   listed(told["faults"]), listed(told.get("guarded")), told.get("counted") == "1",
                   listed(told.get("plays")) or [f"{recipe}-{role}" for recipe in recipes for role in ROLES],
                   numbers(told.get("turns")), numbers(told.get("extra_ms")), int(told.get("delay_ms", 0)),
                   int(told.get("lease_ms", 0)), [int(ms) for ms in listed(told.get("job_ms"))],
                   int(told.get("late_ms", 0)), numbers(told.get("needs")))

    @property
    def session_ns(self):
        return self.session_ms * MS

    @property
    def everything(self):
        return self.faults == ["all"]
