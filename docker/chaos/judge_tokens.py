"""Tokens rise in the order of the grants, and each is one right's."""
from tables import few

EXCLUSIVE = {"lock", "leader", "write"}


def judge_order(path, holds):
    """That of whoever excludes others is larger than all before it, a reader's than the writers' before it. One that an
    administrator took may be granted still, after the next one: the word of it is on its way."""
    faults, largest, largest_exclusive = [], (0, 0), (0, 0)
    for hold in sorted((hold for hold in holds if hold.spans), key=lambda one: one.spans[0].first):
        exclusive = hold.claim.kind in EXCLUSIVE
        least = largest if exclusive else largest_exclusive
        if hold.right <= least and not hold.taken_at(hold.spans[0].first):
            faults.append(f"{path}: {hold.tell()} came after {least[0]}.{least[1]}")
        largest = max(largest, hold.right)
        if exclusive:
            largest_exclusive = max(largest_exclusive, hold.right)
    return faults


def judge_owners(path, holds):
    owners, faults = {}, []
    for hold in holds:
        other = owners.setdefault(hold.right, hold)
        if other is not hold:
            faults.append(f"{path}: {hold.tell()} and {other.tell()} have one token")
    return faults


def judge(record, client):
    faults = []
    for path, holds in record.holds_by_path(client).items():
        faults += judge_owners(path, holds)
        if any(hold.claim.kind != "permit" for hold in holds):
            faults += judge_order(path, holds)
    return few(faults)
