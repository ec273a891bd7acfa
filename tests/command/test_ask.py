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
        out, err = self.paddock(1, "ask", "--json", self.path)
        self.assertIn("nobody", err)
        self.assertEqual(json.loads(out), {"path": self.path, "asked": False})
        holder = self.hold("--label", "first")
        [node] = self.nodes()
        identity = self.data(node)
        self.paddock(0, "ask", "--who", "deploy 1.7", "--within", "60", self.path)
        self.assertEqual(self.data(node), b"__REVOKE__ 60000 deploy 1.7\n" + identity)
        out, _ = self.paddock(0, "ask", "--node", node, "--who", "me", "--json", self.path)
        self.assertEqual(json.loads(out), {"path": self.path, "asked": True})
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

    def test_the_command_hears(self):
        """--on-ask=term: the command gets TERM, once; it may go on. By default nobody hears."""
        deaf = self.hold("--on-ask", "ignore")
        process = self.start("run", "--on-ask=term", self.path + "/heard", "--", "sh", "-c",
                             f"trap 'echo asked; trap \"cat {self.file('told')}; exit 7\" TERM' TERM; echo ready; while :; do sleep 0.02; done")
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.paddock(0, "ask", self.path)
        self.paddock(0, "ask", "--who", "deploy", "--within", "3600", self.path + "/heard")
        self.assertEqual(process.stdout.readline(), "asked\n")
        asked = (line for line in process.stderr if "asks for" in line)
        self.assertRegex(next(asked), r"^paddock: deploy asks for /\S+, until 20\S+: we let go\n")
        self.paddock(0, "ask", self.path + "/heard")
        self.assertRegex(next(asked), r"^paddock: \S+ asks for /\S+: we let go\n")
        self.file("told").write_text("told\n")
        process.terminate()
        self.assertEqual(self.finish(process, 7)[0], "told\n")
        self.assert_no_node(self.path + "/heard")
        self.assertIsNone(deaf.poll())
        deaf.terminate()
        self.finish(deaf, 143)

    def test_hold_hears(self):
        """It releases, with 0; also when it was asked while it waited."""
        first = self.start("hold", "--on-ask=term", self.path)
        wait_for("its node", lambda: len(self.nodes()) == 1)
        second = self.start("hold", "--on-ask=term", self.path)
        wait_for("two nodes", lambda: len(self.nodes()) == 2)
        out, _ = self.paddock(0, "show", "--json", self.path)
        shown = json.loads(out)["contenders"]
        self.paddock(0, "ask", "--node", shown[1]["node"], self.path)
        self.assertEqual(len(self.nodes()), 2)
        self.paddock(0, "ask", self.path)
        self.finish(first, 0)
        self.finish(second, 0)
        self.assert_no_node()

    def test_elect_hears(self):
        """The term ends with the command, and another one follows after --pause."""
        process = self.start("elect", "--on-ask=term", "--pause", "0.1", self.path, "--", "sh", "-c", "echo $PADDOCK_TOKEN; exec sleep 60")
        token = int(process.stdout.readline())
        self.paddock(0, "ask", self.path)
        self.assertGreater(int(process.stdout.readline()), token)
        process.terminate()
        self.finish(process, 143)

    def test_job_hears(self):
        """The run ends as its command does. The job's lock is asked."""
        process = self.start("job", "--every", "1h", "--on-ask=term", self.path, "--", "sh", "-c", "trap 'exit 9' TERM; echo ready; sleep 60 & wait")
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.paddock(0, "ask", self.path + "/lock")
        self.finish(process, 9)

    def test_usage(self):
        for arguments in (("ask",), ("ask", self.path, self.path), ("ask", "--within", "-2", self.path), ("ask", "relative"), ("run", "--on-ask", "maybe", self.path, "--", "true"),
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
