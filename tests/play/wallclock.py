"""The wall clock of a site: the time of day that its processes see, by way of docker/wallclock.c."""
import mmap
import struct


class WallClock:
    def __init__(self, path, library):
        path.write_bytes(struct.pack("q", 0))
        with open(path, "r+b") as file:
            self.ahead = mmap.mmap(file.fileno(), 0)
        self.path, self.library = path, library

    def under(self, *argv):
        """The command, run with this clock."""
        return ["env", f"LD_PRELOAD={self.library}", f"PADDOCK_WALLCLOCK={self.path}", *argv]

    def set(self, seconds):
        """Sets the clock so many seconds ahead of the true time."""
        self.ahead[:] = struct.pack("q", seconds)
