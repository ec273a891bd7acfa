"""The witness, as witness.h describes it, for players in Python."""
import os


class Witness:
    def __init__(self, path, identity, shared):
        self.path, self.identity, self.shared = path, identity, shared
        self.overlaps = self.together = self.visits = 0

    def readers(self):
        folder, name = os.path.split(self.path)
        return sum(entry.startswith(name + ".in.") for entry in os.listdir(folder))

    def enter(self):
        """Makes the file first and looks then. The file, or None where there was one already."""
        self.visits += 1
        mine = f"{self.path}.in.{self.identity}.{self.visits}" if self.shared else self.path
        try:
            os.close(os.open(mine, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            self.overlaps += 1
            return None
        others = self.readers() - self.shared
        if self.shared:
            self.together += others > 0
            self.overlaps += os.path.exists(self.path)
        else:
            self.overlaps += others > 0
        return mine

    def leave(self, mine):
        if mine:
            os.unlink(mine)
