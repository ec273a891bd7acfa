"""The databases of the test: each is started in a folder of its own, on a unix socket, as a user without rights."""
import glob
import os
import pathlib
import pwd
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples/fencing"
START_SECONDS, STOP_SECONDS = 60, 20


def unprivileged(*command):
    """PostgreSQL does not run as root, and the others need not."""
    if os.geteuid():
        return [*command]
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]


class Store:
    """One running backend. `write` and `read` go through its own client."""

    def __init__(self, folder):
        self.folder, self.server = folder, None
        self.environment = os.environ | {"TMPDIR": str(folder)}  # another user may not write to ours
        if not os.geteuid():
            os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)

    def run(self, *command, **more):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=self.environment, **more)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stdout}")
        return done.stdout

    def serve(self, command, ready):
        """Starts the server, and waits until the command `ready` succeeds."""
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            self.server = subprocess.Popen(unprivileged(*command), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                                           stderr=log, env=self.environment)
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run(ready, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} does not serve: {(self.folder / 'log').read_text()}")
            time.sleep(0.1)

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(self.STOP)
            try:
                self.server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()

    def writer(self, item):
        """The command that writes, but for the token, the hand-over and the amount."""
        return [str(HERE / "write"), self.name, str(self.place), item]

    def write(self, item, token, handover, amount):
        said = self.run(*self.writer(item), token, handover, amount)
        return dict(line.split() for line in said.splitlines())

    def read(self, item):
        return dict(zip(("naive", "record", "beside"), map(int, self.run(HERE / "write", "--read", *self.writer(item)[1:]).split())))


class PostgreSQL(Store):
    name, STOP = "postgresql", 2  # SIGINT: without waiting for clients

    def start(self):
        programs = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
        self.place, data = self.folder, self.folder / "data"
        self.run(*unprivileged(f"{programs}/initdb", "-D", data, "-A", "trust", "-U", "fence", "--no-sync", "--no-locale",
                               "-E", "UTF8"))
        client = ["psql", "-X", "-q", "-h", str(self.folder), "-U", "fence", "-v", "ON_ERROR_STOP=1", "postgres"]
        self.serve([f"{programs}/postgres", "-D", str(data), "-k", str(self.folder), "-c", "listen_addresses=", "-F"],
                   [*client, "-c", "SELECT 1"])
        self.run(*client, "-f", EXAMPLES / "postgresql/schema.sql")


class MariaDB(Store):
    name, STOP = "mariadb", 15

    def start(self):
        self.place, data = self.folder / "socket", self.folder / "data"
        small = ["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"]
        self.run(*unprivileged("mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-name-resolve",
                               "--auth-root-authentication-method=normal", *small))
        client = ["mariadb", "--no-defaults", "-S", str(self.place), "-u", "root", "test"]
        self.serve(["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.place}", "--skip-networking",
                    f"--pid-file={self.folder}/pid", "--performance-schema=OFF", *small], [*client, "-e", "SELECT 1"])
        self.run(*client, input=(EXAMPLES / "mariadb/schema.sql").read_text())


class SQLite(Store):
    name, STOP = "sqlite", 15  # nothing serves

    def start(self):
        self.place = self.folder / "file"
        self.run("sqlite3", "-bail", self.place, input=(EXAMPLES / "sqlite/schema.sql").read_text())


class Redis(Store):
    name, STOP = "redis", 15

    def start(self):
        self.place = self.folder / "socket"
        self.serve(["redis-server", "--port", "0", "--unixsocket", str(self.place), "--save", "", "--appendonly", "no"],
                   ["redis-cli", "-e", "-s", str(self.place), "PING"])

    def numbers(self):
        """What a script does that compares tokens as Lua's numbers: it takes 2^53 after 2^53 + 1."""
        script = "if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1])) then return 'refused' end return 'written'"
        self.run("redis-cli", "-s", self.place, "SET", "number", 2**53 + 1)
        return self.run("redis-cli", "-s", self.place, "EVAL", script, 1, "number", 2**53).strip()


class Files(Store):
    """Local files, and Paddock's own fence. Nothing serves them."""
    name, STOP = "files", 15
    PROGRAM = pathlib.Path(os.environ["PDK_BUILD"]) / "tests/fencing/files"

    def start(self):
        self.place = self.folder

    def writer(self, item):
        return [str(self.PROGRAM), str(self.place), item]

    def read(self, item):
        said = self.run(self.PROGRAM, "--read", self.place, item)
        return dict(zip(("naive", "record", "beside"), map(int, said.split())))


STORES = {store.name: store for store in (PostgreSQL, MariaDB, SQLite, Redis, Files)}
