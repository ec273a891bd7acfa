"""Mutants of how a server that is no ZooKeeper is known, and of what it is asked; tests/unit/test_client.c judges them.

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

FOREIGN, CLIENT = "src/zk/foreign.c", "src/zk/client.c"
MUTANTS = {
    "a ZooKeeper without a password is taken for another server": (FOREIGN, "client", [
        ("session < COUNTED_TO && memcmp", "memcmp")]),
    "a ZooKeeper with a small number is taken for another server": (FOREIGN, "client", [
        (" && memcmp(password, nothing, sizeof nothing) == 0;", ";\n    (void)password;")]),
    "a server that hangs up on create2 is used": (FOREIGN, "client", [
        ("code != ZUNIMPLEMENTED && result != PDK__UNKNOWN;", "code != ZUNIMPLEMENTED || result != PDK__UNKNOWN;")]),
    "there is a session before the server has answered": (CLIENT, "client", [
        ("on_foreign, zk))\n        return;\n", "on_foreign, zk))\n        zk->session = session;\n")]),
    "a server that hangs up on containers is asked for one": (CLIENT, "client", [
        ("r->container && !atomic_load(&call->zk->foreign) ?", "r->container ?")]),
}
