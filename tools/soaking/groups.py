"""Control groups with a memory limit, of version 1 or 2, where this user may make them."""

import contextlib
import os
import pathlib
import re

from .common import Finding, read, settle

V1 = pathlib.Path("/sys/fs/cgroup/memory")
V2 = (pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/unified"))
# What runs a command in a group: it, the group's folder, the command.
ENTER = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"']


class Group:
    def __init__(self, folder, limit_file):
        self.folder = folder
        self.limit_file = limit_file
        self.killed_before = 0

    def command(self, words):
        return [*ENTER, str(self.folder), *words]

    def killed(self):
        """How many processes were killed here since this was asked last."""
        text = read(self.folder / "memory.oom_control") + read(self.folder / "memory.events")
        total = sum(int(one) for one in re.findall(r"^oom_kill (\d+)", text, re.MULTILINE))
        news, self.killed_before = total - self.killed_before, total
        return news

    def remove(self):
        """Once nobody is in it; the kernel takes its time."""
        with contextlib.suppress(Finding):
            settle(self.removed, "")

    def removed(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        return not self.folder.exists()


def parents():
    """(folder where groups can be made, name of a limit's file)"""
    if (V1 / "memory.limit_in_bytes").exists():
        yield V1, "memory.limit_in_bytes"
    for folder in V2:
        if "memory" in read(folder / "cgroup.subtree_control").split():
            yield folder, "memory.max"


def make_group(name, limit):
    """None where that cannot be had."""
    for parent, limit_file in parents():
        folder = parent / f"tracewell-soak-{os.getpid()}-{name}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / limit_file).write_text(str(limit))
            return Group(folder, limit_file)
        except OSError:
            folder.rmdir()
    return None
