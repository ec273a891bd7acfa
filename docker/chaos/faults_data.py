"""What administrators and strangers do to the nodes on the servers, once these answer: other faults strike meanwhile."""
import re

from faults import Fault, Missed, Target
from kazoo.exceptions import ConnectionLoss, NodeExistsError, NoNodeError, NotEmptyError, SessionExpiredError

FOREIGN = ["README", "nodash", "0000000000", "x--000000001", "_c_11111111-1111-1111-1111-111111111111-other-0000000000",
           "2f9e__barrier__0000000000", "n" * 200, "größe-ключ-鍵"]
ROUNDS = 4


def tree(admin, path):
    """All below a path with what the servers know of it, children before their parents."""
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
    """The nodes below that are somebody's, and what the servers know of them."""
    return admin.retry(lambda: {node: stat for node, stat in tree(admin, path) if stat.ephemeralOwner})


def delete(admin, node):
    """Whether it was there. If that cannot be known, it was: then this may have deleted it."""
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


def take(scene, node, stat):
    """Whether it was there; somebody's right went with it, of which that is the token."""
    if not delete(scene.admin, node):
        return False
    if stat.ephemeralOwner:
        scene.cast.note("deleted", node=node, token=stat.czxid)
    return True


class DataFault(Fault):
    lane = "data"

    def aim(self, scene, random):
        return Target(random.choice(scene.cast.paths), what=random.random())


class NodeDeleted(DataFault):
    takes = True

    def strike(self, scene, target):
        stats = ephemerals(scene.admin, target.words)
        nodes = sorted(stats, key=sequence)
        if not nodes:
            raise Missed("nobody has a node")
        # Every other time the first: mostly the holder's.
        node = nodes[max(0, int((target.what - 0.5) * 2 * len(nodes)))]
        if not take(scene, node, stats[node]):
            raise Missed("the node was gone")


class Foreign(DataFault):
    def strike(self, scene, target):
        for folder in [target.words, f"{target.words}/locks", f"{target.words}/leases"]:
            if folder == target.words or scene.admin.retry(scene.admin.exists, folder):
                self.litter(scene, folder)

    def litter(self, scene, folder):
        for name in FOREIGN:
            node = f"{folder}/{name}"
            scene.foreign.add(node)
            try:
                scene.admin.retry(scene.admin.create, node, b"not one of them", makepath=True)
            except NodeExistsError:
                pass

    def undo(self, scene, target):
        remove_foreign(scene, target.words)


def remove_foreign(scene, path):
    for node in [node for node in scene.foreign if node.startswith(path + "/")]:
        try:
            scene.admin.retry(scene.admin.delete, node)
        except NoNodeError:
            pass  # with its path
        scene.foreign.discard(node)


class Ahead(DataFault):
    """With a name as if it were one of them, but nobody's: all who wait have to wait for it too."""

    def strike(self, scene, target):
        nodes = sorted(ephemerals(scene.admin, target.words), key=sequence)
        if not nodes or int(sequence(nodes[0])) == 0:
            raise Missed("nobody is there to get ahead of")
        mark = f"{int(target.what * 2**32):08x}"
        folder, name = nodes[0].rsplit("/", 1)
        node = f"{folder}/{re.sub('[0-9a-f]{8}', mark, name[:-10], count=1)}{int(sequence(name)) - 1:010}"
        scene.foreign.add(node)
        try:
            scene.admin.retry(scene.admin.create, node, b"not one of them")
        except NodeExistsError:
            pass  # it was done when no answer came
        except NoNodeError:
            raise Missed("all of them were gone") from None

    def undo(self, scene, target):
        remove_foreign(scene, target.words)


class Wiped(DataFault):
    takes = True

    def strike(self, scene, target):
        taken = 0
        for _ in range(ROUNDS):
            try:
                for node, stat in scene.admin.retry(lambda: list(tree(scene.admin, target.words))):
                    taken += take(scene, node, stat)
                taken += delete(scene.admin, target.words)
                break
            except NotEmptyError:
                pass  # somebody came meanwhile; if in each round, those who were there first have lost theirs all the same
        if not taken:
            raise Missed("nothing was there")


FAULTS = [
    NodeDeleted("node-deleted", [31], "an administrator deletes the node of a holder, or of one that waits"),
    Foreign("children-foreign", [32], "nodes appear that no recipe made: README, digits alone, another recipe's, 200 bytes, "
            "UTF-8", (0.2, 0.8)),
    Ahead("child-ahead", [33], "a node with a contender's name, but nobody's, gets ahead of all on a path", (0.1, 0.5)),
    Wiped("path-wiped", [8, 9], "all nodes of a path and the path itself are deleted: numbers begin again at 0"),
]
