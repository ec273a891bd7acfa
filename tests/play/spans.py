"""Spans: from when until when a player saw that its grant was valid."""
from dataclasses import dataclass, field


@dataclass
class Span:
    who: str
    kind: str
    token: int
    handover: int
    first: int  # ns; first and last are instants at which the answer was: valid
    last: int
    fields: dict = field(default_factory=dict)
    cut_short: bool = False  # its player was killed: valid at most until then

    @property
    def grant(self):
        return self.token, self.handover

    @property
    def owner(self):
        """Spans of one owner do not exclude each other."""
        return self.who, self.token, self.handover

    @property
    def permits(self):
        return int(self.fields.get("count", 1))


def spans(logbook):
    """All spans. The span of a player that was killed lasts until its release had returned, or the player was certainly dead, or stopped."""
    found, open_grants = [], {}
    end_of = last_instants(logbook)
    released = {(event.who, event.get("n")): event.ns for event in logbook.named("ended") if event.get("how") == "released"}
    for event in logbook.named("granted", "valid"):
        key = event.who, event.get("n"), event["token"], event.get("handover")
        if event.what == "granted":
            open_grants.setdefault(key, event)
            continue
        open_grants.pop(key, None)
        if event.number("first"):
            found.append(span(event, event.number("first"), event.number("last")))
    for (who, n, *_), event in open_grants.items():
        if who in end_of:
            whole = n and n.partition(".")[0]  # whose part it may be
            last = min(end_of[who], released.get((who, whole), end_of[who]))
            found.append(span(event, event.ns, max(event.ns, last), cut_short=True))
    return sorted(found, key=lambda one: one.first)


def span(event, first, last, cut_short=False):
    return Span(event.who, event.get("kind", ""), event.number("token"), int(event.get("handover", "0")), first, last,
                event.fields, cut_short)


def last_instants(logbook):
    """By player that was killed, the last instant at which it can have run: when it was killed, or stopped before that."""
    stopped, until = {}, {}
    for event in logbook.named("stopped", "resuming", "killed"):
        who = event["who"]
        if event.what == "stopped":
            stopped[who] = event.ns
        elif event.what == "resuming":
            stopped.pop(who, None)
        else:
            until[who] = stopped.get(who, event.ns)
    return until
