"""A server whose runtime folder cannot be used: its trace buffer is memory of its own, and all else
is as usual.
"""

import os
import pathlib

from .common import demand

KINDS = ("missing", "a file", "open to others", "a link", "not writable")
SAID = "No trace buffer that outlives this server: "


def made(work, kind):
    """Such a folder."""
    folder = work / f"no-folder-{KINDS.index(kind)}"
    if kind == "not writable":
        return pathlib.Path("/sys")  # not for root, either
    if kind == "missing" or folder.exists():
        return folder
    if kind == "a file":
        folder.write_text("no folder")
        return folder
    folder.mkdir(mode=0o700)
    if kind == "a link":
        (folder / "elsewhere").mkdir(mode=0o700)
        (folder / "tracewell").symlink_to(folder / "elsewhere")
    else:
        (folder / "tracewell").mkdir()
        (folder / "tracewell").chmod(0o755)
    return folder


class NoFolder:
    def __init__(self, work, rng):
        self.kind = rng.choice(KINDS)
        self.folder = made(work, self.kind)
        self.path = str(self.folder)

    def __str__(self):
        return self.kind

    def look_at_run(self, server):
        """After a run began: the user was told, once."""
        said = server.said()
        demand(said.count(SAID) == 1, f"a server without a folder ({self.kind}) says "
               f"{said.count(SAID)} times that its buffer does not outlive it: {said!r}")
        demand("Trace buffer: " not in said, f"it names a file though there can be none: {said!r}")

    def look(self, server):
        """At the end: it made no file in other places, either."""
        number = os.getuid()
        places = (self.folder, self.folder / "tracewell", self.folder / "elsewhere",
                  pathlib.Path(f"/tmp/tracewell-{number}"),
                  pathlib.Path(f"/run/user/{number}/tracewell"))
        for place in places:
            if server is None:  # none was begun
                break
            file = place / f"{server.pid}.twb"
            demand(not os.path.lexists(file), f"without a folder ({self.kind}) there is {file}")
        if self.kind == "missing":
            demand(not self.folder.exists(), f"{self.folder} was made")
        if self.kind in ("open to others", "a link"):
            left = os.listdir(self.folder / "tracewell")
            demand(not left, f"a folder that is {self.kind} has {left}")
