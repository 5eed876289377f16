"""The files under check, and what a rule says about them."""

import os
import pathlib
import re
import subprocess
from typing import NamedTuple

from . import cpp

CODE = (".h", ".cc", ".c", ".S", ".def", ".py", ".sh", ".cmake")
PROSE = (".md",)
# Inputs and expected outputs are what they are.
DATA = re.compile(r"^(fuzz/seeds/|web/|LICENSE$|NOTICE$)")
OTHER_NAMES = ("CMakeLists.txt", "Makefile", "LAYERS", "CMakePresets.json")


class Finding(NamedTuple):
    path: str
    line: int
    text: str
    name: str = ""  # what an exception calls it; without one, by its path
    count: int = 1  # what an exception counts of it


class Tree:
    """A folder with the project in it: what git tracks or would track, or all files without git."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = sorted(self._list())
        self._texts = {}
        self._codes = {}

    def _list(self):
        listed = None
        if (self.root / ".git").exists():
            command = ["git", "-C", self.root, "ls-files", "-z", "-co", "--exclude-standard"]
            done = subprocess.run(command, capture_output=True, text=True)
            listed = done.stdout.split("\0") if done.returncode == 0 else None
        if listed is None:
            listed = [str(p.relative_to(self.root)) for p in self.root.rglob("*")]
            listed = [path for path in listed if not path.startswith(("build/", ".git/"))
                      and "__pycache__/" not in path]
        return {path for path in listed if path and (self.root / path).is_file()}

    def text(self, path):
        if path not in self._texts:
            raw = (self.root / path).read_bytes()
            self._texts[path] = raw.decode("utf-8", errors="replace")
        return self._texts[path]

    def lines(self, path):
        return self.text(path).split("\n")

    def code(self, path):
        """The cpp.Code of a file. Raises CannotRead when the braces do not match."""
        if path not in self._codes:
            self._codes[path] = cpp.read(self.text(path))
        return self._codes[path]

    def has(self, path):
        return path in self.files

    def under(self, folder, *suffixes):
        """Files below `folder` ("src/ax/"), those with one of the suffixes if any are given."""
        return [p for p in self.files if p.startswith(folder) and (not suffixes or
                p.endswith(suffixes))]

    def is_script(self, path):
        """A program without a suffix that begins with #!."""
        if "." in os.path.basename(path) or DATA.match(path):
            return False
        with open(self.root / path, "rb") as file:
            return file.read(2) == b"#!"

    def is_code(self, path):
        if DATA.match(path):
            return False
        return (path.endswith(CODE) or os.path.basename(path) in OTHER_NAMES
                or self.is_script(path))

    def written(self):
        """Code and prose: all that a person reads and edits."""
        return [p for p in self.files
                if self.is_code(p) or p.endswith(PROSE) and not DATA.match(p)]
