"""What the sampler's lines must show in every trial: faults in words."""
from play.spans import unclosed


def untold(logbook):
    return [f"{event.who} does not tell how long token {event['token']} was valid" for event in unclosed(logbook)]


def lost(logbook, excused=()):
    """Holds that ended before they were released, but for those of the excused players."""
    return [f"{event.who}'s hold was lost: {event['reason']}" for event in logbook.named("valid")
            if event["reason"] != "NONE" and event.who not in excused]


def never_valid(logbook):
    return [f"{event.who}: never valid, token {event['token']}" for event in logbook.named("valid")
            if event.number("first") == 0]


def between(conflict, tell):
    """The players of a conflict in words, and for how long."""
    return f"{' and '.join(map(tell, conflict.spans))}", f"for {conflict.ns / 1e6:.3f} ms"
