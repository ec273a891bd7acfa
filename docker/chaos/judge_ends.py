"""Each grant has one end, and whoever lost a right is told once, soon, and never believes in it again."""
from judge_record import NEVER, SLACK_NS
from logbook import MS
from tables import few

# From the end of the belief to the callback: a timer wakes for the one and a thread for the other.
TOLD_NS = 250 * MS
# How a claim may end without a grant, when nobody tampers with the path: as it asked for, or no server was there.
EXPECTED = {"PDK_TIMEOUT", "PDK_CANCELED", "PDK_UNAVAILABLE", "PDK_BUSY"}


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


def judge_severed(record, holds_of):
    """Whoever reaches no server is told within the session timeout."""
    for fault in record.faults:
        limit = fault.struck + record.settings.session_ns + SLACK_NS
        if not fault.severed or min(fault.healing, record.end) <= limit:
            continue
        for who in sorted(fault.who):
            player = record.players.get(who)
            if not player or player.killed < limit or player.running(fault.struck, limit) < limit - fault.struck:
                continue
            for hold in holds_of.get(who, []):
                if hold.granted < fault.struck < hold.over() and hold.over() > limit:
                    yield f"{hold.tell()} was cut off by {fault.name} and not told LOST within the session timeout"


def judge_claims(record, client):
    """Every claim is answered, and refused for no other reason than that somebody tampers with what is on the path."""
    for claim in record.claims.values():
        player = claim.player
        if player.client != client:
            continue
        if claim.answered == NEVER and player.killed == NEVER:
            yield f"{player.who} (n={claim.n}) never had an answer"
        if claim.status and claim.status not in EXPECTED and not tampered(record, claim):
            yield f"{player.who} (n={claim.n}) failed: {claim.status}"


def tampered(record, claim):
    return any(fault.lane == "data" and fault.hits(claim.player) and fault.begin < claim.answered
               and claim.asked < record.until(fault) for fault in record.faults)


def judge(record, client):
    holds_of = {}
    for hold in record.holds:
        if hold.player.client == client:
            holds_of.setdefault(hold.player.who, []).append(hold)
    holds = [hold for those in holds_of.values() for hold in those]
    return [*few([f"{player.who} ended by itself" for player in record.of(client) if player.died]),
            *few([f"{event.who} noted `{event.what}`, out of place" for event in record.stray
                  if event.who not in record.players or record.players[event.who].client == client]),
            *few([fault for hold in holds for fault in judge_words(hold)]),
            *few([fault for hold in holds for fault in judge_delay(hold)]),
            *few(list(judge_severed(record, holds_of))), *few(list(judge_claims(record, client)))]
