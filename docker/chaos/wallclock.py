"""The wall clock of a site: what processes there take for the time of day, by way of docker/wallclock.c."""
import mmap
import struct


class WallClock:
    def __init__(self, path, library):
        path.write_bytes(struct.pack("q", 0))
        with open(path, "r+b") as file:
            self.ahead = mmap.mmap(file.fileno(), 0)
        self.path, self.library = path, library

    def under(self, *argv):
        """The command, by this clock."""
        return ["env", f"LD_PRELOAD={self.library}", f"PADDOCK_WALLCLOCK={self.path}", *argv]

    def set(self, seconds):
        """So much ahead of the true time."""
        self.ahead[:] = struct.pack("q", seconds)
