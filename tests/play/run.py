"""The frame of every run: its settings for the judges, its end, and how all of it is taken down."""
import contextlib
import signal

from play.faults_data import ephemerals, guarded
from play.ground import in_words
from play.players import GUARDED
from play.recipes import (DELAY_MS, EXTRA_MS, HOLD_US, JOB_AT_LEAST_MS, JOB_AT_MOST_MS, JOB_EVERY_MS, LEASE_MS, PERMITS, TURNS,
                          by_recipe)

LEFT_EXTRA_S = 2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end(chaos):
    """All players rest. Notes the nodes that are left when every lost session must be over. Then the players end."""
    players = chaos.players
    players.note("resting")
    players.rest()
    players.note("rested")
    chaos.pause(LEFT_EXTRA_S + (chaos.session_s + chaos.options.tick_ms / 1000 if chaos.options.faults else 0))
    chaos.admin.retry(chaos.admin.sync, "/chaos")  # else the administrator's server may not know everything yet
    chaos.records.look()
    for path in players.paths:
        nodes = ephemerals(chaos.admin, path)
        players.note("left", path=path, nodes=",".join(nodes) or "-")
    for path, node in sorted({(slot.path, slot.guarded) for slot in players.slots if slot.guarded}):
        players.note("guarded", path=path, **guarded(chaos.admin, node))
    players.finish()
    players.note("finished")


def settings(options, plays, hold_us=HOLD_US, **more):
    """For the judges, which know nothing but the logs. plays: "recipe-role"."""
    return {"session": options.session_ms, "tick": options.tick_ms, "clients": ",".join(options.clients),
            "recipes": ",".join(options.recipes), "seed": options.seed, "minutes": options.minutes or 0,
            "times": options.times or 0, "faults": (",".join(options.faults) or "-") if options.fault is not None else "all", "permits": PERMITS,
            "hold_us": ",".join(f"{recipe}:{hold_us}" for recipe in options.recipes),
            "plays": ",".join(plays),
            "turns": by_recipe(TURNS, options.recipes), "extra_ms": by_recipe(EXTRA_MS, options.recipes),
            "delay_ms": DELAY_MS, "lease_ms": LEASE_MS, "job_ms": f"{JOB_EVERY_MS},{JOB_AT_LEAST_MS},{JOB_AT_MOST_MS}",
            "counted": 1, "guarded": ",".join(recipe for recipe in options.recipes if recipe in GUARDED) or "-", **more}


@contextlib.contextmanager
def undisturbed():
    """Signals interrupt neither this process nor those that it starts now."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def take_down(steps):
    """Takes all steps, the last first, also when one fails. What went wrong, in words."""
    faults = []
    with undisturbed():
        for step in reversed(steps):
            try:
                step()
            except Exception as error:
                faults.append(f"taking all of it down: {in_words(error)}")
    return faults
