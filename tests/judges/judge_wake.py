"""A claim is granted soon after nobody is in its way. A claim that nobody wakes looks again after the session timeout, which is later.

Time counts from the last of these: it was asked; a grant of its path ended; what was done to a player of the path, a holder or one
that waited before it, must have ended that one's session.
"""
import bisect
import statistics

from play.logbook import MS, S
from play.tables import few

QUEUED = {"lock", "rwlock", "semaphore", "election"}
MEDIAN_NS = 500 * MS  # of those that waited for another one


def troubles(record, path):
    """Until when each fault may have kept the others waiting."""
    lasts = record.settings.session_ns + record.settings.tick_ms * MS + 1 * S
    return sorted((fault.begin, max(fault.begin, min(fault.struck, record.end)) + lasts) for fault in record.faults
                  if record.touches(fault, path))


def waits(record, client):
    """(the hold, for how long nobody was in its way, whether another one was before that), where no administrator deletes nodes."""
    for path, holds in record.holds_by_path(client).items():
        if not holds or holds[0].player.recipe not in QUEUED or record.takers.get(path):
            continue
        ends = sorted(min(hold.over(), hold.player.killed, record.end) for hold in record.holds if hold.player.path == path)
        bad = troubles(record, path)
        for hold in holds:
            if hold.handover:
                continue
            index = bisect.bisect_left(ends, hold.granted)
            ended = ends[index - 1] if index else 0
            trouble = max((until for begin, until in bad if begin < hold.granted), default=0)
            yield hold, hold.granted - max(hold.claim.asked, ended, trouble), hold.claim.asked < ended and trouble < ended



def in_peace(record, client):
    return sum(behind for *_, behind in waits(record, client))


def judge(record, client):
    late = record.settings.late_ms * MS
    usual = [waited for _, waited, behind in waits(record, client) if late and behind]
    slow = [f"vacated and granted: median {statistics.median(usual) / 1e6:.0f} ms"] if usual and statistics.median(usual) > MEDIAN_NS else []
    return slow + few([f"{hold.tell()} was granted {waited / 1e6:.0f} ms after nobody was in its way"
                for hold, waited, _ in waits(record, client) if late and waited > late])
