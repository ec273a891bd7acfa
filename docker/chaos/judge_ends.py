"""Each grant has one end, and whoever lost a right is told once, soon, and never believes in it again."""
from dataclasses import dataclass

from judge_record import NEVER, SLACK_NS, Fault, Hold
from logbook import MS
from tables import few

# From the end of the belief to the callback: a timer wakes for the one and a thread for the other.
TOLD_NS = 250 * MS
# How a claim may end without a grant, when nobody tampers with the path: it was withdrawn, or ends as it asked for.
WITHDRAWN, OUT_OF_TIME, TRIED = {"PDK_CANCELED"}, {"PDK_TIMEOUT", "PDK_UNAVAILABLE"}, {"PDK_BUSY"}


def judge_words(hold):
    """What was said of one right, and how often."""
    player, ends = hold.player, [how for _, how in hold.ended]
    if len(ends) > 1:
        yield f"{hold.tell()} ended {len(ends)} times"
    if not ends and player.killed == NEVER:
        yield f"{hold.tell()} never ended"
    if len(hold.lost) > 1:
        yield f"{hold.tell()} was told LOST {len(hold.lost)} times"
    if "lost" in ends and not hold.lost and not hold.untold:
        yield f"{hold.tell()} was lost and never told"
    if hold.lost and "released" in ends:
        yield f"{hold.tell()} was told LOST, and its release was answered OK"
    if not hold.spans and player.killed == NEVER:
        yield f"{hold.tell()} does not tell how long it was valid"
    if hold.lost and hold.last > hold.lost[0]:
        yield f"{hold.tell()} was told LOST and valid {(hold.last - hold.lost[0]) / 1e6:.3f} ms later"
    if hold.lost and hold.ended and hold.lost[-1] > hold.ended[0][0]:
        yield f"{hold.tell()} was told LOST {(hold.lost[-1] - hold.ended[0][0]) / 1e6:.3f} ms after its end"


def told_after(hold):
    """From its last belief until it knew, in time in which its process ran; None: was not lost, or died first."""
    if not hold.was_lost():
        return None
    return hold.player.running(hold.last or hold.granted, hold.over())


def judge_delay(hold):
    after = told_after(hold)
    if after is not None and after > TOLD_NS + SLACK_NS:
        yield f"{hold.tell()} was told {after / 1e6:.0f} ms after it was last valid"


def judge_return(record, hold):
    """A release waits for nothing: once nobody believes any more, what is left is the end of a use or two."""
    if not hold.spans and not hold.reasons:
        return  # nobody knows since when
    player, since = hold.player, hold.last or hold.granted
    until = min([*(ns for ns, _ in hold.ended), player.killed, record.end])
    after = player.running(since, until)
    if after > 2 * record.settings.hold_us[player.recipe] * 1000 + TOLD_NS + SLACK_NS:
        yield f"{hold.tell()} was over, and for {after / 1e6:.0f} ms its release did not return"


def judge_killed(hold):
    """One that was lost, and whose player was killed when it had long had to be told."""
    player = hold.player
    if (hold.reasons and not hold.lost and not hold.ended and player.killed != NEVER
            and player.running(hold.last or hold.granted, player.killed) > TOLD_NS + SLACK_NS):
        yield f"{hold.tell()} was lost ({', '.join(sorted(hold.reasons))}) and not told before its player was killed"


def judge_node(hold):
    if hold.node_gone and not hold.taken:
        yield f"{hold.tell()} lost its node, which nobody had deleted"


@dataclass
class Severed:
    """A right, and a fault that cut off whoever had it from all servers for longer than it may believe in it."""
    hold: Hold
    fault: Fault
    limit: int

    @property
    def late(self):
        return self.hold.over() > self.limit


def severed(record, client):
    """But for those that were released before."""
    found = []
    for fault in record.faults:
        limit = fault.struck + record.settings.session_ns + SLACK_NS
        if not fault.severed or min(fault.healing, record.end) <= limit:
            continue
        for hold in record.holds:
            player = hold.player
            hit = player.client == client and player.who in fault.who and hold.granted < fault.struck < hold.over()
            if hit and player.killed >= limit and player.running(fault.struck, limit) == limit - fault.struck:
                found.append(Severed(hold, fault, limit))
    return [one for one in found if one.late or one.hold.was_lost()]


def judge_severed(record, found):
    """Whoever reaches no server is told within the session timeout."""
    faults = few([f"{one.hold.tell()} was cut off by {one.fault.name} and not told LOST within the session timeout"
                  for one in found if one.late])
    if record.thorough and not found:
        faults.append("vacuous: nobody with a right was cut off for longer than a session timeout")
    return faults


def expected(claim):
    """All that it may be refused with. -1 waits for ever, 0 does not wait."""
    return (WITHDRAWN | (set() if claim.timeout_ms == -1 else OUT_OF_TIME)
            | (TRIED if claim.timeout_ms in (None, 0) else set()))


def judge_claims(record, client):
    """Every claim is answered, and refused for no other reason than that somebody tampers with what is on the path."""
    for claim in record.claims.values():
        player = claim.player
        if player.client != client:
            continue
        if claim.answered == NEVER and player.killed == NEVER:
            yield f"{player.who} (n={claim.n}) never had an answer"
        if claim.status and claim.status not in expected(claim) and not tampered(record, claim):
            yield f"{player.who} (n={claim.n}) failed: {claim.status}"


def tampered(record, claim):
    return any(fault.lane == "data" and fault.hits(claim.player) and fault.begin < claim.answered
               and claim.asked < record.until(fault) for fault in record.faults)


def judge(record, client, found):
    holds = [hold for hold in record.holds if hold.player.client == client]
    return [*few([f"{player.who} {words}" for player in record.of(client) for words in player.trouble]),
            *few([f"{event.who} noted `{event.what}`, out of place" for event in record.stray
                  if event.who not in record.players or record.players[event.who].client == client]),
            *few([fault for hold in holds for fault in judge_words(hold)]),
            *few([fault for hold in holds for fault in judge_delay(hold)]),
            *few([fault for hold in holds for fault in judge_return(record, hold)]),
            *few([fault for hold in holds for fault in [*judge_killed(hold), *judge_node(hold)]]),
            *judge_severed(record, found), *few(list(judge_claims(record, client)))]
