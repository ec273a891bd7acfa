"""The tables of a chaos run. What each column means stands in docs/chaos.md."""
from collections import Counter

from play.tables import median_max, table

from judges.judge import NEWER
from judges.judge_record import NEVER, OURS

UNEXPLAINED = "no fault"


def milliseconds(overlaps):
    return f"{sum(overlap.ns for overlap in overlaps) / 1e6:.0f}" if overlaps else "0"


def fault_rows(record, found):
    lanes = {fault.name: fault.lane for fault in record.faults}
    for name, cost in sorted(found.costs.items(), key=lambda item: (lanes.get(item[0], "~"), item[0] or "~")):
        kept = f"{cost.kept} of {cost.keepers}" if cost.keepers else "-"
        yield (name or UNEXPLAINED, lanes.get(name, "-"), cost.times or "-", cost.losses, kept,
               min(cost.least, default="-"), median_max(cost.detection),
               median_max(cost.outage), milliseconds(cost.overlaps))


def print_faults(record, found):
    print(f"{found.client}, by fault (ms: median / longest)")
    print(table(("fault", "lane", "times", "losses", "kept", "least left, ms", "knew after, ms", "no grant for, ms",
                 "overlap, ms"), fault_rows(record, found)))


def untold(overlaps):
    """Overlaps in which no player was ever told of a loss, and no player died."""
    return [overlap for overlap in overlaps if not any(hold.lost or hold.cut_short() for hold in overlap.holds)]


def client_row(record, found):
    overlaps = [overlap for overlap in found.overlaps if not overlap.taken]
    longest = max((overlap.ns for overlap in overlaps), default=0)
    fenced = len(found.damage.backwards) if found.client == OURS else "-"
    guarded = len(found.guarded.wrong) if found.guarded.opens else "-"
    holds = [hold for hold in record.holds if hold.player.client == found.client]
    told = sum(bool(hold.lost) for hold in holds)
    stuck = {id(claim) for claim in found.progress.stuck} | {
        id(claim) for claim in record.claims.values() if claim.player.client == found.client
        and claim.answered == NEVER and claim.player.killed == NEVER}
    costs = found.costs.values()
    return (found.client, len(holds), len(overlaps), milliseconds(overlaps), f"{longest / 1e6:.0f}", found.damage.naive,
            fenced, guarded, told, len(untold(overlaps)), len(stuck), sum(map(len, found.left.values())),
            f"{sum(cost.kept for cost in costs)} of {sum(cost.keepers for cost in costs)}",
            median_max([ns for cost in costs for ns in cost.detection]),
            median_max([ns for cost in costs for ns in cost.outage]))


def print_clients(judgement):
    print("head to head (ms: median / longest)")
    print(table(("client", "grants", "overlaps", "sum, ms", "longest, ms", "stale writes: naive", "fenced", "guarded", "told", "untold",
                 "stuck", "orphans", "kept", "knew after, ms", "no grant for, ms"),
                [client_row(judgement.record, found) for found in judgement.findings]))
    for found in judgement.findings:
        taken = [overlap for overlap in found.overlaps if overlap.taken]
        if taken:
            print(f"  {found.client}: {len(taken)} times, {milliseconds(taken)} ms, a holder had yet to hear that an "
                  "administrator had deleted its node")
        print_trouble(judgement.record, found.client)


def unexplained(judgement):
    """How many losses of ours had no fault near."""
    for found in judgement.findings:
        if found.client == OURS:
            losses = sum(cost.losses for cost in found.costs.values())
            alone = found.costs[None].losses if None in found.costs else 0
            return f"{alone} of {losses} losses had no fault near"
    return f"{OURS} did not play"


def print_trouble(record, client):
    """Prints what the driver noted of processes."""
    words = Counter(words for player in record.of(client) for words in player.trouble)
    if words:
        print(f"  {client}: of {len(record.of(client))} processes " + ", ".join(f"{n} {what}" for what, n in words.items()))


def print_guarded(found):
    guarded, refused, open_fate = found.guarded, "PDK_LOST", ("PDK_UNAVAILABLE", None)
    print(f"  {found.client}: {len(guarded.writes)} writes to guarded znodes, after {guarded.opens} opens: {guarded.count('PDK_OK')} "
          f"confirmed; {guarded.count(refused)} told LOST, of which {guarded.landed(refused)} had landed; "
          f"{guarded.count(*open_fate)} not confirmed in time, of which {guarded.landed(*open_fate)} had landed")


def print_counted(found):
    library, logs = found.counted.library, found.counted.logs
    print(f"  {found.client}: {found.counted.players} players lived to tell what the library counted: " + ", ".join(
        f"{library[what]} {words} (their logs: {logs[what]})"
        for what, words in (("grants", "grants"), ("losses", "losses"), ("handovers", "hand-overs"))))


def print_totals(judgement):
    record, settings = judgement.record, judgement.record.settings
    lanes = [fault.lane for fault in record.faults]
    by_lane = ", ".join(f"{lanes.count(lane)} {lane}" for lane in sorted(set(lanes)))
    print(f"  seed {settings.seed}, session timeout {settings.session_ms} ms, tick {settings.tick_ms} ms: "
          f"{(record.end - record.begin) / 6e10:.1f} minutes, {len(lanes)} faults ({by_lane}), {len(record.calms)} calms, "
          f"{len(record.players)} processes")
    for found in judgement.findings:
        print(f"  {found.client}: {found.holds} grants ({found.handovers} of them from thread to thread), "
              f"{found.damage.uses} uses, of which the fenced resource refused {found.damage.refused}; "
              f"{found.progress.judged.total()} claims waited when a calm began, {len(found.progress.stuck)} of them in "
              f"vain; {len(found.severed)} grants were lost far from any server, "
              f"{sum(one.late for one in found.severed)} of them late")
        if found.guarded.opens:
            print_guarded(found)
        if found.counted.players:
            print_counted(found)
        if found.client == OURS:
            for figures in filter(None, (one.figures(record) for one in NEWER)):
                print(f"  {found.client}: {figures}")
        if found.progress.torn:
            print(f"  {found.client}: {found.progress.torn} times a claim waited where the servers did not agree on the "
                  "nodes; that is not judged")


def print_report(judgement):
    for found in judgement.findings:
        print_faults(judgement.record, found)
        print()
    print_clients(judgement)
    print_totals(judgement)
