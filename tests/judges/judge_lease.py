"""The lease lock: while its record stands, nobody is granted it who has another secret.

The driver notes when the record was written, and the name of its secret, which our players have as their identity there. It stands for lease_ms after that, or longer, if it
was written again unseen. Who gives the lock up notes that before. Whom the older one stood in the way of was granted after its
end, then, as far as is known of that.
"""
from dataclasses import dataclass

from play.logbook import MS
from play.tables import few

RECIPE = "lease"
ROUNDED_NS = 50 * MS  # the servers' moments are in ms, and their clock may be put right a little


@dataclass
class Standing:
    """A holder's record, as far as it is known."""
    token: int
    secret: str = None
    written: int = 0  # at the latest that is known
    given: bool = False  # up, perhaps
    hold: object = None  # None: its holder never knew


def standings(record, path, holds):
    """By token. What was written before the grant was told was written after the claim."""
    given = {id(hold) for _, hold in record.notes.get("giving", [])}
    found = {hold.token: Standing(hold.token, hold.claim.fields.get("secret"), hold.claim.asked, id(hold) in given, hold)
             for hold in holds}
    for event, _ in record.notes.get("stands", []):
        if event["path"] != path:
            continue
        one = found.setdefault(event.number("token"), Standing(event.number("token")))
        one.given |= event["state"] == "N"
        if event["state"] == "H":
            one.written = max(one.written, event.number("written"))
            one.secret = one.secret or event["who"]
    return [found[token] for token in sorted(found)]


def successions(record):
    """(path, the older one that stood, the grant after it), where no administrator deleted the record."""
    for path, holds in record.of_recipe(RECIPE).items():
        found = standings(record, path, holds)
        for older, newer in zip(found, found[1:]):
            if newer.hold and older.secret and not record.wiped(path, older.written, newer.hold.granted):
                yield path, older, newer


def too_early(record, older, newer):
    """By how much, in ns."""
    end = older.written + record.settings.lease_ms * MS - ROUNDED_NS
    return 0 if older.given or older.secret == newer.secret else max(0, end - newer.hold.granted)


def judge(record):
    if RECIPE not in record.settings.recipes:
        return []
    found = list(successions(record))
    faults = few([f"{newer.hold.tell()} was granted {early / 1e6:.0f} ms before the lock ended that stood for {older.secret} (token "
                  f"{older.token})" for _, older, newer in found if (early := too_early(record, older, newer))])
    if record.thorough:
        if not [1 for _, older, newer in found if older.secret == newer.secret and not older.given]:
            faults.append("vacuous: no lease lock was taken back")
        if not [1 for _, older, newer in found if older.secret != newer.secret and not older.given]:
            faults.append("vacuous: nobody was granted a lease lock that had stood for another to its end")
    return faults


def figures(record):
    found = [(older, newer) for _, older, newer in successions(record)]
    if not found:
        return None
    back = sum(older.secret == newer.secret and not older.given for older, newer in found)
    waited = [newer.hold.granted - older.written for older, newer in found if older.secret != newer.secret and not older.given]
    return (f"lease lock: {sum(older.given for older, _ in found)} times given up, {back} times taken back, {len(waited)} times "
            f"waited for its end of {record.settings.lease_ms} ms, the first granted {min(waited, default=0) / 1e6:.0f} ms after it was written")
