"""Fencing tokens: do they rise in the order of the grants, and does each belong to one owner?"""
from play.exclusion import SHARED


def disordered(grants, kind=lambda one: one.kind):
    """Pairs (grant, the token before it) that are out of order, of `grants` in the order in which they were given.

    An exclusive grant's token is larger than all before it, a reader's than all exclusive ones before it. After a
    downgrade a writer's token is not looked at again.
    """
    largest, largest_exclusive = (0, 0), (0, 0)
    for one in grants:
        exclusive = kind(one) not in SHARED
        least = largest if exclusive else largest_exclusive
        if one.grant <= least and kind(one) != "downgraded":
            yield one, least
        largest = max(largest, one.grant)
        if exclusive:
            largest_exclusive = max(largest_exclusive, one.grant)


def owned_twice(grants, owner):
    """Pairs (grant, an earlier one) with one token and different owners."""
    owners = {}
    for one in grants:
        other = owners.setdefault(one.grant, one)
        if owner(other) != owner(one):
            yield one, other
