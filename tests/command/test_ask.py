#!/usr/bin/python3
"""`paddock ask` and `paddock break` on a real server."""
import json
import unittest

from bench import Case, wait_for

CURATORS = "_c_00000000-0000-4000-8000-000000000000-lock-0000000000"


class Ask(Case):
    def data(self, node):
        return self.server.client.get(f"{self.path}/{node}")[0]

    def test_ask(self):
        """The wish is in the node, in front of the identity, and the holder goes on."""
        self.assertIn("nobody", self.paddock(1, "ask", self.path)[1])
        holder = self.hold("--label", "first")
        [node] = self.nodes()
        identity = self.data(node)
        self.paddock(0, "ask", "--who", "deploy 1.7", "--within", "60", self.path)
        self.assertEqual(self.data(node), b"__REVOKE__ 60000 deploy 1.7\n" + identity)
        self.paddock(0, "ask", "--node", node, "--who", "me", self.path)
        self.assertEqual(self.data(node), b"__REVOKE__ 0 me\n" + identity)
        out, _ = self.paddock(0, "show", "--json", self.path)
        self.assertEqual(json.loads(out)["contenders"][0]["identity"].encode(), identity)
        self.assertIsNone(holder.poll())
        holder.terminate()
        self.finish(holder, 143)
        self.assertIn(node, self.paddock(1, "ask", "--node", node, self.path)[1])

    def test_curator(self):
        self.server.client.ensure_path(self.path)
        self.server.client.create(f"{self.path}/{CURATORS}", b"10.0.0.1", ephemeral=True)
        self.paddock(0, "ask", self.path)
        self.assertEqual(self.data(CURATORS), b"__REVOKE__")

    def test_break(self):
        holder = self.hold()
        [node] = self.nodes()
        path = f"{self.path}/{node}"
        stat = self.server.client.exists(path)
        self.assertIn("token", self.paddock(1, "break", "--token", stat.czxid + 1, path)[1])
        self.assertEqual(self.nodes(), [node])
        out, _ = self.paddock(0, "break", "--json", "--token", stat.czxid, path)
        shown = json.loads(out)
        self.assertEqual((shown["path"], shown["token"], shown["session"], shown["since_ms"]),
                         (path, str(stat.czxid), hex(stat.ephemeralOwner), stat.ctime))
        self.assertRegex(shown["identity"], rf":{holder.pid}")
        _, err = self.finish(holder, 76)
        self.assertIn("NODE_GONE", err)
        self.assertIn(node, self.paddock(1, "break", "--token", stat.czxid, path)[1])
        self.assert_no_node()

    def test_break_tells(self):
        self.server.client.ensure_path(self.path)
        path = self.server.client.create(f"{self.path}/{CURATORS}", b"\x1b[2Jme", ephemeral=True)
        token = self.server.client.exists(path).czxid
        out, _ = self.paddock(0, "break", "--token", token, path)
        self.assertRegex(out, rf"^deleted {path} of \\x1b\[2Jme, there since 2\S+\n$")
        wait_for("its deletion", lambda: not self.nodes())

    def test_usage(self):
        for arguments in (("ask",), ("ask", self.path, self.path), ("ask", "--within", "-2", self.path), ("ask", "relative"),
                          ("ask", "--who", "a\nb", self.path), ("ask", "--node", "zzz", self.path), ("break",),
                          ("break", f"{self.path}/{CURATORS}"), ("break", "--token", "x", f"{self.path}/{CURATORS}"),
                          ("break", "--token", "0", f"{self.path}/{CURATORS}"), ("break", "--token", "1", f"{self.path}/zzz")):
            self.assertIn("paddock: ", self.paddock(64, *arguments)[1], arguments)
        with open("/dev/full", "w", encoding="ascii") as full:
            self.server.client.ensure_path(self.path)
            path = self.server.client.create(f"{self.path}/{CURATORS}", b"", ephemeral=True)
            token = self.server.client.exists(path).czxid
            self.assertIn("No space left", self.paddock(70, "break", "--token", token, path, stdout=full)[1])


if __name__ == "__main__":
    unittest.main()
