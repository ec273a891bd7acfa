"""Faults of the nodes, done by an administrator or a stranger. Other faults strike meanwhile."""
import re

from kazoo.exceptions import ConnectionLoss, NoNodeError, NodeExistsError, NotEmptyError, SessionExpiredError

from play.faults import Fault, Missed, Target

FOREIGN = ["README", "nodash", "0000000000", "x--000000001", "_c_11111111-1111-1111-1111-111111111111-other-0000000000",
           "2f9e__barrier__0000000000", "n" * 200, "größe-ключ-鍵"]
# The directories of contenders, below the path or the path itself.
FOLDERS = ["", "/locks", "/leases", "/lock", "/any", "/0000", "/0002", "/orders", "/prices", "/slots/locks", "/slots/leases"]
ROUNDS = 4
HEADER = 72  # bytes, of a guarded znode


def tree(admin, path):
    """All nodes below a path with their stat, children before their parents."""
    try:
        names = admin.get_children(path)
    except NoNodeError:
        return
    for name in sorted(names):
        node = f"{path}/{name}"
        yield from tree(admin, node)
        try:
            _, stat = admin.get(node)
            yield node, stat
        except NoNodeError:
            pass


def sequence(node):
    return node[-10:]


def ephemerals(admin, path):
    """The ephemeral nodes below a path, and their stats."""
    return admin.retry(lambda: {node: stat for node, stat in tree(admin, path) if stat.ephemeralOwner})


def guarded(admin, node):
    """What a guarded znode has: its payload, which names the last write, and its version."""
    try:
        data, stat = admin.retry(admin.get, node)
    except NoNodeError:
        return {"id": "-", "version": 0}
    return {"id": data[HEADER:].decode() or "-", "version": stat.version}


def delete(admin, node):
    """Whether the node was there. If that is unknown, it counts as there: then this call may have deleted it."""
    try:
        admin.delete(node)
        return True
    except NoNodeError:
        return False
    except (ConnectionLoss, SessionExpiredError):
        try:
            admin.retry(admin.delete, node)
        except NoNodeError:
            pass
        return True


def take(chaos, node, stat):
    """Whether the node was there. Notes it with the token of the grant that it stood for."""
    if not delete(chaos.admin, node):
        return False
    if stat.ephemeralOwner:
        chaos.players.note("deleted", node=node, token=stat.czxid)
    return True


class DataFault(Fault):
    lane = "data"

    def aim(self, chaos, random):
        return Target(random.choice(chaos.players.paths), what=random.random())


class NodeDeleted(DataFault):
    takes = True

    def strike(self, chaos, target):
        stats = ephemerals(chaos.admin, target.words)
        nodes = sorted(stats, key=sequence)
        if not nodes:
            raise Missed("no player has a node")
        # In half of the cases the first one, which is mostly the holder's.
        node = nodes[max(0, int((target.what - 0.5) * 2 * len(nodes)))]
        if not take(chaos, node, stats[node]):
            raise Missed("the node was gone")


class Foreign(DataFault):
    def strike(self, chaos, target):
        for folder in [target.words + folder for folder in FOLDERS]:
            if folder == target.words or chaos.admin.retry(chaos.admin.exists, folder):
                self.litter(chaos, folder)

    def litter(self, chaos, folder):
        for name in FOREIGN:
            node = f"{folder}/{name}"
            chaos.foreign.add(node)
            try:
                chaos.admin.retry(chaos.admin.create, node, b"not one of them", makepath=True)
            except NodeExistsError:
                pass

    def undo(self, chaos, target):
        remove_foreign(chaos, target.words)


def remove_foreign(chaos, path):
    for node in [node for node in chaos.foreign if node.startswith(path + "/")]:
        try:
            chaos.admin.retry(chaos.admin.delete, node)
        except NoNodeError:
            pass  # with its path
        chaos.foreign.discard(node)


class Ahead(DataFault):
    """A node with a name like a contender's, which no client owns. All that wait have to wait for it too."""

    def strike(self, chaos, target):
        nodes = sorted(ephemerals(chaos.admin, target.words), key=sequence)
        if not nodes or int(sequence(nodes[0])) == 0:
            raise Missed("no node is there to get ahead of")
        mark = f"{int(target.what * 2**32):08x}"
        folder, name = nodes[0].rsplit("/", 1)
        node = f"{folder}/{re.sub('[0-9a-f]{8}', mark, name[:-10], count=1)}{int(sequence(name)) - 1:010}"
        chaos.foreign.add(node)
        try:
            chaos.admin.retry(chaos.admin.create, node, b"not one of them")
        except NodeExistsError:
            pass  # the create was executed, though no answer came
        except NoNodeError:
            raise Missed("all of them were gone") from None

    def undo(self, chaos, target):
        remove_foreign(chaos, target.words)


class Wiped(DataFault):
    takes = True

    def strike(self, chaos, target):
        taken = 0
        for _ in range(ROUNDS):
            try:
                for node, stat in chaos.admin.retry(lambda: list(tree(chaos.admin, target.words))):
                    taken += take(chaos, node, stat)
                taken += delete(chaos.admin, target.words)
                break
            except NotEmptyError:
                pass  # a new node came meanwhile. If one comes in each round, the first nodes are gone all the same.
        if not taken:
            raise Missed("nothing was there")


FAULTS = [
    NodeDeleted("node-deleted", [31], "an administrator deletes the node of a holder, or of a waiter"),
    Foreign("children-foreign", [32], "nodes appear that no recipe made: README, digits alone, another recipe's, 200 bytes, "
            "UTF-8", (0.2, 0.8)),
    Ahead("child-ahead", [33], "a node like a contender's, which no client owns, gets ahead of all on a path", (0.1, 0.5)),
    Wiped("path-wiped", [8, 9], "all nodes of a path and the path itself are deleted: numbers begin again at 0"),
]
