"""What may not be left in a program, in the list of processes, or on a disk."""

import os
import re

from .common import (children_of, command_of, demand, family_of, read, settle, status, threads_of)
from .services import described

OURS = ("tracewell", "memfd:")


def mappings(pid):
    """(first, end, rights, offset, path) of each."""
    for line in read(f"/proc/{pid}/maps").splitlines():
        words = line.split(maxsplit=5)
        first, end = (int(one, 16) for one in words[0].split("-"))
        yield first, end, words[1], int(words[2], 16), words[5] if len(words) > 5 else ""


def code_without_file(pid):
    return {(first, end) for first, end, rights, _, path in mappings(pid)
            if "x" in rights and not path}


def changed_code(pid):
    """The first place where a process's code is not what its file has, as a sentence; or None."""
    for first, end, rights, offset, path in mappings(pid):
        if "x" not in rights or not path.startswith("/"):
            continue
        try:
            with open(f"/proc/{pid}/mem", "rb") as memory, open(path, "rb") as file:
                memory.seek(first)
                there = memory.read(end - first)
                file.seek(offset)
                expected = file.read(end - first)
        except OSError:
            continue  # it ended
        if there[:len(expected)] != expected:
            at = next(i for i, (a, b) in enumerate(zip(there, expected)) if a != b)
            return f"{path} + {offset + at:#x} has {there[at:at + 8].hex(' ')} instead of " \
                   f"{expected[at:at + 8].hex(' ')}"
    return None


def shared_with_tracer(pid):
    return [path for *_, path in mappings(pid) if any(word in path for word in OURS)]


def strange_descriptors(pid):
    found = []
    try:
        for one in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{one}")
            if any(word in target for word in OURS) and "soak" not in target:
                found.append(target)
    except OSError:
        pass  # it ended, or closed it meanwhile
    return found


def stopped_or_traced(pid):
    """A thread of it that is, as a sentence; or None."""
    for task in threads_of(pid):
        text = read(f"/proc/{pid}/task/{task}/status")
        found = re.search(r"^State:\s+([tT]) .*?^TracerPid:\s+(\d+)|^TracerPid:\s+([1-9]\d*)", text,
                          re.MULTILINE | re.DOTALL)
        if found:
            return f"thread {task} of {described(pid)} is stopped or traced still"
    return None


class Before:
    """What a process had before something happened to it."""

    def __init__(self, pid):
        self.pid = pid
        self.code = code_without_file(pid)
        self.threads = set(threads_of(pid))

    def look(self, pads_may_stay=False):
        """Nothing was added. Not for one that ended."""
        pid = self.pid
        settle(lambda: not stopped_or_traced(pid), lambda: stopped_or_traced(pid))
        if pads_may_stay or not os.path.exists(f"/proc/{pid}"):
            return
        settle(lambda: code_without_file(pid) <= self.code,
               lambda: f"{described(pid)} has code of ours mapped: "
               f"{code_without_file(pid) - self.code}")
        settle(lambda: set(threads_of(pid)) <= self.threads,
               lambda: f"{described(pid)} has threads that it had not: "
               f"{set(threads_of(pid)) - self.threads}")


def look_at_family(root):
    """Of a service: all of its processes are as their files are, and free."""
    for pid in family_of(root):
        settle(lambda: not stopped_or_traced(pid), lambda: stopped_or_traced(pid))
        settle(lambda: not changed_code(pid),
               lambda: f"the code of {described(pid)} is not what it was: {changed_code(pid)}")
        settle(lambda: not shared_with_tracer(pid), lambda: f"{described(pid)} has memory of its "
               f"tracer's: {shared_with_tracer(pid)}")
        settle(lambda: not strange_descriptors(pid), lambda: f"{described(pid)} has descriptors "
               f"that are not its own: {strange_descriptors(pid)}")


def strangers(known):
    """Processes that came from this one and are of nobody that is known."""
    ours = {pid for one in known for pid in family_of(one)}
    return [pid for pid in family_of(os.getpid())[1:]
            if pid not in ours and status(pid, "State") not in ("", "Z")]


def reap(known):
    """Orphans that this process took in, and that have ended."""
    for pid in children_of(os.getpid()):
        if pid not in known and status(pid, "State") == "Z":
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def look_for_strangers(known):
    """Of the processes known, all may live on; all others have to end."""
    def none_left():
        reap(known)
        return not strangers(known)

    settle(none_left, lambda: "processes were left behind: " +
           ", ".join(f"{pid} ({command_of(pid)[:60]})" for pid in strangers(known)))


class Files:
    """Those that a server leaves: trace buffers, whose number and bytes are bounded."""

    MOST, MOST_BYTES = 33, (2 << 30) + (512 << 20)

    def __init__(self, folder):
        self.folder = folder

    def names(self):
        try:
            return {one for one in os.listdir(self.folder) if one.endswith(".twb")}
        except FileNotFoundError:
            return set()

    def bytes(self):
        return sum((self.folder / one).stat().st_blocks * 512 for one in self.names())

    def look(self):
        demand(len(self.names()) <= self.MOST, f"{len(self.names())} trace buffers were left in "
               f"{self.folder}")
        demand(self.bytes() <= self.MOST_BYTES, f"trace buffers in {self.folder} take "
               f"{self.bytes() >> 20} MiB")
