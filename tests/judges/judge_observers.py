"""The election: each process that listens hears of each leader, in their order, with its name.

A leader that had little time while the listener could hear may be left out. A candidate that has failed and is first in the queue is
told as the leader until its session ends: it does not know.
"""
import statistics
from dataclasses import dataclass

from play.logbook import MS, S
from play.tables import few

from judges.judge_record import NEVER

RECIPE = "election"
HEAR_NS = 1 * S  # within which a healthy listener hears of a leader,
HEAR_MEDIAN_NS = 500 * MS  # and the bound of the median
RECOVER_NS = 3 * S  # after a fault, until a player counts as healthy again


@dataclass
class Term:
    hold: object
    begin: int
    end: int  # when the next one began

    @property
    def who(self):
        return self.hold.player.who


def terms_of(record, path):
    """Those of before the end, in which all leave one after the other."""
    holds = [hold for hold in record.of_recipe(RECIPE).get(path, []) if hold.granted < record.play_end]
    return [Term(hold, hold.granted, after.granted if after else record.play_end)
            for hold, after in zip(holds, [*holds[1:], None])]


def troubles(record, player):
    """From when until when it may hear of nothing, or not be heard."""
    found = [(fault.begin, record.until(fault) + RECOVER_NS) for fault in record.faults if fault.hits(player)]
    return [*found, *((halt, min(resumed, record.end) + RECOVER_NS) for halt, (*_, resumed) in zip(player.halts, player.stops))]


def failing(record, player, ns):
    """Whether at that time, or soon after it, when it could not know yet what others heard, it was dead or out of reach."""
    return player.killing <= ns + HEAR_NS or any(since <= ns + HEAR_NS and ns < until for since, until in troubles(record, player))


def well_within(record, term, since, player):
    """For how much of a term the player could hear of it. Troubles that overlap are counted twice, in favour of it."""
    begin, end = max(term.begin, since), min(term.end, player.killing)
    lost = sum(max(0, min(end, until) - max(begin, from_)) for from_, until in troubles(record, player))
    return max(0, end - begin) - lost


def listeners(record, path):
    """(player, since when it listens, what it heard)."""
    since = {event.who: event.ns for event, _ in reversed(record.notes.get("listening", []))}
    told = {}
    for event, _ in record.notes.get("leader", []):
        told.setdefault(event.who, []).append(event)
    for who, ns in sorted(since.items()):
        if record.players[who].path == path:
            yield record.players[who], ns, told.get(who, [])


def judge_listener(record, terms, player, since, told, delays):
    by_token, heard = {term.hold.token: term for term in terms}, {}
    for event in told:
        token, who = event.number("token"), event["identity"]
        if not token or event.ns >= record.play_end:
            continue
        last = next(reversed(heard), 0)
        if token < last:
            yield f"{player.who} heard of token {token} after {last}"
        if token in by_token and who != by_token[token].who:
            yield f"{player.who} heard that {who} leads, and it was {by_token[token].who}"
        named = record.players.get(who)
        if named and not named.ours:
            continue  # its log does not tell the token
        if token not in by_token and event.ns < player.killing and not (named and failing(record, named, event.ns)):
            yield f"{player.who} heard of a leader {who}, token {token}, that was never elected"
        heard.setdefault(token, event.ns)
    for term in terms[1:]:  # of the first they may hear late: it makes the directory
        well = well_within(record, term, since, player)
        if term.hold.token in heard:
            if well == min(term.end, player.killing) - term.begin:
                delays.append(heard[term.hold.token] - term.begin)
        elif well > HEAR_NS:
            yield f"{player.who} never heard of {term.who}, token {term.hold.token}, which led for {well / 1e6:.0f} ms"


def heard(record):
    return sum(event.number("token") > 0 for event, _ in record.notes.get("leader", []))


def judge(record):
    if not record.notes.get("listening"):
        return []
    faults, delays = [], []
    for path in record.of_recipe(RECIPE):
        terms = terms_of(record, path)
        for player, since, told in listeners(record, path):
            faults += judge_listener(record, terms, player, since, told, delays)
    if delays and statistics.median(delays) > HEAR_MEDIAN_NS:
        faults.append(f"leaders are heard of late: median {statistics.median(delays) / 1e6:.0f} ms")
    return few(faults)


def figures(record):
    players = {event.who for event, _ in record.notes.get("listening", [])}
    return f"election: {len(players)} processes listened, and heard {heard(record)} times of a leader" if players else None
