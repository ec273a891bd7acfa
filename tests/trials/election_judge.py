"""What the logs of the election trial have to show."""
import statistics
from dataclasses import dataclass

from play.exclusion import conflicts
from play.logbook import MS, S
from play.spans import spans
from play.tables import median_max, table
from play.tokens import disordered

import validity

HEAR_NS = 250 * MS  # within which a healthy observer hears of a leader,
HEAR_MEDIAN_NS = 100 * MS  # and the bound of the median
RECOVER_NS = 3 * S  # after a pause or a cut, until an observer counts as healthy again
LEAST_OF_A_KIND = 0.1  # of all changes; fewer prove nothing


@dataclass
class Bounds:
    vacant_ns: int  # from the fault of a leader to the next election
    resigned_ns: int  # median, from a resignation to the next election


@dataclass
class Term:
    who: str
    token: int
    begin: int
    end: int = None  # when the next one began

    @property
    def grant(self):
        return self.token, 0


@dataclass
class Change:
    kind: str
    who: str
    token: int
    at: int
    term: Term = None  # of the next leader


def is_latch(name):
    return name.startswith("latch")


def terms_of(logbook):
    terms = [Term(event.who, event.number("token"), event.ns) for event in logbook.named("elected")]
    for term, following in zip(terms, terms[1:]):
        term.end = following.begin
    last = logbook.named("ending")[0].ns
    # At the end the candidates leave one after the other. Each that is left may lead for a moment.
    settled = [term for term in terms if term.begin < last]
    settled[-1].end = last
    return terms, settled


def changes_of(logbook, terms):
    found = []
    for event in logbook.named("change"):
        change = Change(event["kind"], event["who"], event.number("token"), event.number("at"))
        change.term = next(term for term in terms if term.token > change.token)
        if change.kind == "resign":
            change.at = next(one.ns for one in logbook.by(change.who) if one.what == "resign" and one.ns >= change.at)
        found.append(change)
    return found


def judge_exclusion(found, logbook, terms):
    faults = []
    for conflict in conflicts(found):
        who, how_long = validity.between(conflict, lambda span: f"{span.who} (token {span.token})")
        faults.append(f"{who} both led, {how_long}")
    seen = {(span.who, span.token) for span in found}
    faults += [f"{term.who} was elected and its hold never seen valid, token {term.token}"
               for term in terms if (term.who, term.token) not in seen]
    faults += [f"token {term.token} of {term.who} came after {least[0]}"
               for term, least in disordered(terms, kind=lambda _: "leader")]
    return validity.untold(logbook) + faults


def judge_pairs(logbook, killed):
    """In every process elected and deposed alternate. A term ends with deposed unless its process was killed."""
    faults, leading = [], {}
    for event in logbook.named("elected", "deposed"):
        if (event.what == "elected") == leading.get(event.who, False):
            faults.append(f"{event.who}: {event.what} twice in a row, at {event.ns}")
        leading[event.who] = event.what == "elected"
    faults += [f"{who} was elected and never deposed" for who, leads in leading.items() if leads and who not in killed]
    faults += [f"{event.who} failed: {event['status']}" for event in logbook.named("failed")]
    return faults


def judge_reasons(logbook, changes):
    """The reason is NONE after a resignation, and after nothing else."""
    faults = []
    for change in changes:
        if change.kind == "kill" or is_latch(change.who):
            continue
        ends = [event for event in logbook.since(change.at) if event.who == change.who and event.what == "deposed"]
        if not ends:
            faults.append(f"{change.who} was not deposed by {change.kind}")
        elif (ends[0]["reason"] == "NONE") != (change.kind == "resign"):
            faults.append(f"{change.who} was deposed by {change.kind} with reason {ends[0]['reason']}")
    return faults


def troubles(logbook):
    """By process, the times in which it could not hear, and the time to recover after each."""
    begin, found = {}, {}
    for event in logbook.named("stopping", "cutting", "resumed", "healed"):
        who = event["who"]
        if event.what in ("stopping", "cutting"):
            begin[who] = event.ns
        else:
            found.setdefault(who, []).append((begin.pop(who), event.ns + RECOVER_NS))
    return found


def failing(logbook, who, ns):
    """Whether that process was dead, leaving, paused or cut off at that time or soon after it, when it could not know
    yet what others heard. Or whether it may still have been recovering."""
    if any(event["who"] == who and event.ns <= ns + HEAR_NS for event in logbook.named("killing", "finishing")):
        return True
    since = [event.ns for event in logbook.named("stopping", "cutting") if event["who"] == who and event.ns <= ns + HEAR_NS]
    until = [event.ns for event in logbook.named("resumed", "healed") if event["who"] == who and event.ns <= ns]
    return bool(since) and (len(until) < len(since) or ns < until[-1] + RECOVER_NS)


def well_within(term, life, trouble):
    """For how long of a term the process could hear of it."""
    begin, end = max(term.begin, life[0]), min(term.end, life[1])
    lost = sum(max(0, min(end, until) - max(begin, since)) for since, until in trouble)
    return max(0, end - begin) - lost


def lives(logbook):
    """By process that hears of leaders: from when it joined until it was killed, or told to end."""
    found = {event.who: [event.ns, None] for event in logbook.named("joined")}
    for event in logbook.named("killing", "finishing"):
        if event["who"] in found:
            found[event["who"]][1] = event.ns
    return found


def judge_observers(logbook, terms, settled):
    faults, delays, heard_count = [], [], 0
    by_token = {term.token: term for term in terms}
    trouble = troubles(logbook)
    for who, life in lives(logbook).items():
        heard = {}
        for event in logbook.by(who):
            if event.what != "leader" or event.number("token") == 0:
                continue
            token, last = event.number("token"), next(reversed(heard), 0)
            if token < last:
                faults.append(f"{who} heard of token {token} after {last}")
            # A candidate that has failed and is first in the queue is told as the leader until its session ends. It does not know.
            if token not in by_token and event.ns < life[1] and not failing(logbook, event["identity"], event.ns):
                faults.append(f"{who} heard of a leader {event['identity']}, token {token}, that was never elected")
            elif token in by_token and event["identity"] != by_token[token].who:
                faults.append(f"{who} heard that {event['identity']} leads, and it was {by_token[token].who}")
            heard.setdefault(token, event.ns)
        for term in settled:
            well = well_within(term, life, trouble.get(who, ()))
            if term.token in heard:
                heard_count += 1
                # They may hear late of the first: see Trial.await_first.
                if term is not settled[0] and well == min(term.end, life[1]) - term.begin:
                    delays.append(heard[term.token] - term.begin)
            elif well > HEAR_NS:
                faults.append(f"{who} never heard of {term.who}, token {term.token}, which led for {well / 1e6:.0f} ms")
    if delays and statistics.median(delays) > HEAR_MEDIAN_NS:
        faults.append(f"leaders are heard of late: median {statistics.median(delays) / 1e6:.0f} ms")
    return faults, delays, heard_count


def judge_times(changes, bounds):
    faults = [f"{change.kind} of {change.who}: {(change.term.begin - change.at) / 1e6:.0f} ms until the next was elected"
              for change in changes if change.kind != "resign" and change.term.begin - change.at > bounds.vacant_ns]
    resigned = [change.term.begin - change.at for change in changes if change.kind == "resign"
                and not is_latch(change.who)]
    if resigned and statistics.median(resigned) > bounds.resigned_ns:
        faults.append(f"resigned to elected: median {statistics.median(resigned) / 1e6:.1f} ms")
    return faults


def judge_substance(changes, trial, logbook):
    """Whether enough has happened for the other judgements to mean something."""
    faults, least = [], int(len(changes) * LEAST_OF_A_KIND)
    if not trial.options.curator:
        least = max(1, least)
    for kind in ("kill", "pause", "cut", "resign"):
        count = sum(change.kind == kind for change in changes if not is_latch(change.who))
        if count < least:
            faults.append(f"vacuous: only {count} of ours met {kind}")
    if trial.options.curator:
        count = sum(is_latch(change.who) for change in changes)
        if count < least:
            faults.append(f"vacuous: Curator led only {count} times")
    if trial.unprovoked > len(changes) / 5:
        faults.append(f"{trial.unprovoked} leaders lost their office though nothing was done to them")
    for change in changes:
        if change.kind in ("pause", "cut") and not any(
                event.who == change.who and event.get("event") == "EXPIRED" for event in logbook.since(change.at)):
            faults.append(f"vacuous: the session of {change.who} outlived its {change.kind}")
    return faults


def gaps(changes, found):
    """By change, the time from the last instant at which the old leader was valid until its successor was elected."""
    last = {(span.who, span.token): span.last for span in found}
    return {id(change): change.term.begin - last[change.who, change.token]
            for change in changes if (change.who, change.token) in last}


def print_tables(changes, found, delays, heard_count, logbook, trial):
    gap = gaps(changes, found)
    rows = []
    for kind in ("kill", "pause", "cut", "resign"):
        for label, of_latch in ((kind, False), (kind + " of a LeaderLatch", True)):
            these = [change for change in changes if change.kind == kind and is_latch(change.who) == of_latch]
            if not these:
                continue
            least = min((gap[id(change)] for change in these if id(change) in gap), default=None)
            digits = 1 if kind == "resign" else 0
            rows.append((label, len(these), median_max([change.term.begin - change.at for change in these], digits),
                         "-" if least is None else f"{least / 1e6:.1f}"))
    print(table(("done to the leader", "times", "until the next is elected, ms", "least after last valid, ms"), rows))
    print(table(("heard of leaders", "times", "after the election, ms"),
                [(f"{len(lives(logbook))} processes", heard_count, median_max(delays, 1))]))
    longest = max((int(span.fields.get("longest", 0)) for span in found), default=0)
    print(f"  {len(changes)} changes in {trial.seconds:.0f} s, {len(found)} spans of validity, "
          f"longest between two looks {longest / 1e6:.0f} ms; {len(logbook.named('tripped'))} times another candidate "
          f"failed with the leader; {trial.unprovoked} lost the office unprovoked")


def judge(logbook, bounds, trial):
    terms, settled = terms_of(logbook)
    changes, found = changes_of(logbook, terms), spans(logbook)
    killed = {event["who"] for event in logbook.named("killed")}
    faults, delays, heard_count = judge_observers(logbook, terms, settled)
    print_tables(changes, found, delays, heard_count, logbook, trial)
    return [*judge_exclusion(found, logbook, terms), *judge_pairs(logbook, killed), *judge_reasons(logbook, changes),
            *faults, *judge_times(changes, bounds), *judge_substance(changes, trial, logbook)]
