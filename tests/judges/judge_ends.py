"""Each grant has one end. A lost grant is told once, soon, and is never valid again."""
from dataclasses import dataclass

from play.logbook import MS
from play.tables import few

from judges.judge_record import NEVER, SLACK_NS, Fault, Hold

# From the last valid instant to the callback: a timer ends the lease, and then a thread has to wake for the callback.
TOLD_NS = 250 * MS
UNPROVOKED = 0.2  # of the grants of a path
# How a claim may end without a grant while nobody tampers with the path: it was withdrawn, its time was over, or it was a try.
WITHDRAWN, OUT_OF_TIME, TRIED = {"PDK_CANCELED"}, {"PDK_TIMEOUT", "PDK_UNAVAILABLE"}, {"PDK_BUSY"}
# By recipe, what else: another one runs, or ran; others asked meanwhile; the hold was lost before its record was written.
ANOTHER_NUMBER = "another-number"  # it asks for a semaphore of more permits than the others
ELSE = {"job": {"PDK_SKIPPED", "PDK_BUSY", "PDK_LOST"}, "lease": {"PDK_LOST"}}


def judge_words(hold):
    """The notes about one grant, and how often each came."""
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
    if not hold.spans and not hold.sampled and player.killed == NEVER:
        yield f"{hold.tell()} does not tell how long it was valid"
    if hold.lost and hold.last > hold.lost[0]:
        yield f"{hold.tell()} was told LOST and valid {(hold.last - hold.lost[0]) / 1e6:.3f} ms later"
    if hold.lost and hold.ended and hold.lost[-1] > hold.ended[0][0]:
        yield f"{hold.tell()} was told LOST {(hold.lost[-1] - hold.ended[0][0]) / 1e6:.3f} ms after its end"


def told_after(hold):
    """How long its process ran from the last valid instant until it was told. None: it was not lost, or its player died
    first."""
    if not hold.was_lost():
        return None
    return hold.player.running(hold.last or hold.granted, hold.over())


def judge_delay(hold):
    after = told_after(hold)
    if after is not None and after > TOLD_NS + SLACK_NS:
        yield f"{hold.tell()} was told {after / 1e6:.0f} ms after it was last valid"


def judge_return(record, hold):
    """A release waits for nothing. After the last valid instant only the end of a use or two may pass until it returns."""
    if not hold.spans and not hold.reasons:
        return  # it is not known since when
    player, since = hold.player, hold.last or hold.granted
    until = min([*(ns for ns, _ in hold.ended), player.killed, record.end])
    after = player.running(since, until)
    if after > 2 * record.settings.hold_us[player.recipe] * 1000 + TOLD_NS + SLACK_NS:
        yield f"{hold.tell()} was over, and for {after / 1e6:.0f} ms its release did not return"


def judge_killed(hold):
    """A lost grant was not told for too long before its player was killed."""
    player = hold.player
    if (hold.reasons and not hold.lost and not hold.ended and player.killed != NEVER
            and player.running(hold.last or hold.granted, player.killed) > TOLD_NS + SLACK_NS):
        yield f"{hold.tell()} was lost ({', '.join(sorted(hold.reasons))}) and not told before its player was killed"


def judge_overslept(record, hold):
    """A player that is stopped for longer than a session lives has lost its grant, and a release says so."""
    if ("released" in (how for _, how in hold.ended) and hold.releasing != NEVER
            and any(hold.granted <= stopped and resumed <= hold.releasing and resuming - stopped > record.settings.session_ns
                    for stopped, resuming, resumed in hold.player.stops)):
        yield f"{hold.tell()} was held by a player that was stopped for longer than its session lives, and its release was answered OK"


def judge_never_valid(record, hold):
    player, until = hold.player, min((ns for ns, _ in hold.ended), default=NEVER)
    if (hold.sampled and not hold.spans and not hold.reasons and not hold.was_lost() and not hold.taken and player.killed == NEVER
            and not any(fault.hits(player) and fault.begin <= until and hold.claim.asked <= record.aftermath(fault) for fault in record.faults)):
        yield f"{hold.tell()} was never seen valid"


def judge_unprovoked(record, client):
    """Where servers and nodes are left alone, who is lost something was done to. A machine may be slow, so that is not always so."""
    if any(fault.lane != "client" for fault in record.faults):
        return
    for path, holds in record.holds_by_path(client).items():
        lost = [hold for hold in holds if hold.was_lost() and "OVERDUE" not in hold.reasons
                and not record.cause([hold.player], hold.over(), hold.node_gone)]
        if lost and (record.unharmed(path) or len(lost) > UNPROVOKED * len(holds)):
            yield f"{path}: {len(lost)} of {len(holds)} grants were lost though nothing was done to their players, first {lost[0].tell()}"


def judge_another_number(claim):
    if claim.fields.get("of") == ANOTHER_NUMBER and claim.hold:
        yield f"{claim.hold.tell()} was granted, though it asked with another number of permits"


def judge_node(hold):
    if hold.node_gone and not hold.taken:
        yield f"{hold.tell()} lost its node, which nobody had deleted"


@dataclass
class Severed:
    """A grant, and a fault that cut its player off from all servers for longer than the grant may be valid."""
    hold: Hold
    fault: Fault
    limit: int

    @property
    def late(self):
        return self.hold.over() > self.limit


def severed(record, client):
    """All such pairs, without the grants that were released before."""
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
    """A player that reaches no server is told LOST within the session timeout."""
    faults = few([f"{one.hold.tell()} was cut off by {one.fault.name} and not told LOST within the session timeout"
                  for one in found if one.late])
    if record.thorough and not found:
        faults.append("vacuous: no player with a grant was cut off for longer than a session timeout")
    return faults


def expected(claim):
    """Every status that it may end with. -1 waits for ever, 0 does not wait."""
    another = {"PDK_MISMATCH"} if claim.fields.get("of") == ANOTHER_NUMBER else set()
    return (another | WITHDRAWN | (set() if claim.timeout_ms == -1 else OUT_OF_TIME)
            | (TRIED if claim.timeout_ms in (None, 0) else set()) | ELSE.get(claim.player.recipe, set()))


def judge_claims(record, client):
    """Each claim is answered. It fails in another way than it asked for only while somebody tampers with its path."""
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
            *few([f"{event.who} noted `{event.what}`, out of place" for event in record.misplaced
                  if event.who not in record.players or record.players[event.who].client == client]),
            *few([fault for hold in holds for fault in judge_words(hold)]),
            *few([fault for hold in holds for fault in judge_delay(hold)]),
            *few([fault for hold in holds for fault in judge_return(record, hold)]),
            *few([fault for hold in holds for fault in [*judge_killed(hold), *judge_node(hold)]]),
            *few([fault for hold in holds for fault in [*judge_overslept(record, hold), *judge_never_valid(record, hold),
                                                  *judge_another_number(hold.claim)]]),
            *judge_unprovoked(record, client),
            *judge_severed(record, found), *few(list(judge_claims(record, client)))]
