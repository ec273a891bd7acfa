"""Do the servers agree on what is on a path?

They have to, when all is whole again. ZooKeeper 3.8 does not always manage: a server that is killed while it learns from a
new leader may write transactions to its log twice, and when it executes them again ("Digests are not matching", it says then)
nodes come back that were deleted. Whoever asks that server waits for them.
"""


def astray(looks):
    """Pairs of servers of which the first showed twice what the second never did.

    looks: by server, what was there, a set of names for each time it was asked. The servers were asked in turns, so nothing
    that comes or goes meanwhile is there twice with the one and never with the other."""
    return [(one, other) for one in sorted(looks) for other in sorted(looks)
            if one != other and set.intersection(*looks[one]) - set.union(*looks[other])]
