"""Tokens rise in the order of the grants, and each token belongs to one grant."""
from play.tables import few
from play.tokens import disordered, owned_twice


def judge_order(path, holds):
    """A grant that an administrator took may be given even after the next one: word of the deletion is on its way."""
    in_order = sorted((hold for hold in holds if hold.spans), key=lambda one: one.spans[0].first)
    return [f"{path}: {hold.tell()} came after {least[0]}.{least[1]}"
            for hold, least in disordered(in_order, kind=lambda one: one.claim.kind)
            if not hold.taken_at(hold.spans[0].first)]


def judge_owners(path, holds):
    return [f"{path}: {hold.tell()} and {other.tell()} have one token" for hold, other in owned_twice(holds, owner=id)]


def judge(record, client):
    faults = []
    for path, holds in record.grants_by_place(client).items():
        faults += judge_owners(path, holds)
        if any(hold.claim.kind != "permit" for hold in holds):
            faults += judge_order(path, holds)
    return few(faults)
