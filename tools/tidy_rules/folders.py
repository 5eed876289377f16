"""How many files a folder has, and how many lines a command."""

import collections
import fnmatch
import math
import os
import stat

from . import tables
from .tree import Finding

FILES_MAX = 40
LINES_A_COMMAND_MAX = 200
# What a table or a scan of the directory finds by its name is an entry, and does not count: who
# looks for it knows where it is. Beside these, each command's and format's <name>.cc.
ENTRIES = (
    "src/agent/packets/*.cc",  # packets.def
    "src/report/codes/*.cc",  # codes.def
    "tests/agent/*.rsp",
    "tests/inferiors/*",
    "tests/*/cases/*",
)
SCRIPTS = "tests/"  # what is executable there is a test


def _entries(tree):
    names = [f"src/cli/{words[0].strip('_')}.cc"
             for _, words in tables.rows(tree, tables.COMMANDS, "COMMAND|HIDDEN_COMMAND")]
    names += [f"src/formats/{name}.cc" for name in tables.format_names(tree)]
    names += [path for path in tree.under(SCRIPTS, ".py", ".sh")
              if os.stat(tree.root / path).st_mode & stat.S_IXUSR]
    return set(names).union(*(fnmatch.filter(tree.files, pattern) for pattern in ENTRIES))


def folder_files(tree):
    entries = _entries(tree)
    counts = collections.Counter(os.path.dirname(path) for path in tree.under(
        ("src/", "tools/", "tests/")) if path not in entries)
    for folder, count in sorted(counts.items()):
        if count > FILES_MAX:
            yield Finding(folder, 1, f"{count} files, at most {FILES_MAX} beside entries of tables "
                          "and of scans: put those that are for one thing into a folder of their "
                          "own", folder, count)


def command_lines(tree):
    """All lines of the .cc and .h files under src/cli, for each command that is listed in help."""
    commands = sum(1 for _ in tables.rows(tree, tables.COMMANDS, "COMMAND"))
    lines = sum(tree.text(path).count("\n") for path in tree.under("src/cli/", ".cc", ".h"))
    average = math.ceil(lines / max(commands, 1))
    if average > LINES_A_COMMAND_MAX:
        yield Finding("src/cli", 1, f"{lines} lines for {commands} commands, {average} each, at "
                      f"most {LINES_A_COMMAND_MAX}: cli/ has options and printing; what answers a "
                      "question belongs into a room below it", "src/cli", average)


RULES = {"folder-files": folder_files, "command-lines": command_lines}
