"""Do the servers agree on the nodes of a path?

They have to when all is whole again. ZooKeeper 3.8 does not always manage. A server that is killed while it learns
from a new leader may write transactions to its log twice. When it executes them again ("Digests are not matching",
it says then), nodes come back that were deleted. A player that asks that server waits for them.
"""


def disagreements(looks):
    """Pairs of servers: the first showed a node every time, and the second never did.

    looks: by server, the set of names at each time it was asked. The servers were asked in turns. So a node that
    comes or goes meanwhile is not there every time on one server and never on another."""
    return [(one, other) for one in sorted(looks) for other in sorted(looks)
            if one != other and set.intersection(*looks[one]) - set.union(*looks[other])]
