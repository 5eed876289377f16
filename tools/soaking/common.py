"""What the parts of the soak share: how something that went wrong is told, processes that end with
the soak, and what /proc says of them.
"""

import contextlib
import ctypes
import os
import pathlib
import re
import socket
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
ANSWER_SECONDS = 1
SETTLE_SECONDS = 10


class Finding(Exception):
    """Something that may not be so: one sentence, which says where."""


def demand(condition, sentence):
    if not condition:
        raise Finding(sentence)


def take_orphans_in():
    """Processes whose parent dies become children of this one, so that none is lost sight of."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def settle(condition, sentence, seconds=SETTLE_SECONDS):
    """Waits until it holds. `sentence` may be a function, called when it does not."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Finding(f"{sentence() if callable(sentence) else sentence}, "
                          f"{seconds} s later, too")
        time.sleep(0.005)


def read(path, default=""):
    """A file of /proc or a control group's, which may go away meanwhile."""
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return default


def status(pid, key):
    found = re.search(rf"^{key}:\s+(\S+)", read(f"/proc/{pid}/status"), re.MULTILINE)
    return found[1] if found else ""


def threads_of(pid):
    try:
        return [int(one.name) for one in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def children_of(pid):
    return [int(one) for task in threads_of(pid)
            for one in read(f"/proc/{pid}/task/{task}/children").split()]


def family_of(pid):
    """It and all that come from it."""
    found = [pid]
    for one in found:
        found += [child for child in children_of(one) if child not in found]
    return found


def command_of(pid):
    return read(f"/proc/{pid}/cmdline").replace("\0", " ").strip() or f"process {pid}"


def waited_for_processor(pid):
    """Seconds during which this thread and threads of that process could run, but others did."""
    paths = [f"/proc/{pid}/task/{task}/schedstat" for task in threads_of(pid)]
    fields = [read(path).split() for path in (*paths, "/proc/thread-self/schedstat")]
    return sum(int(one[1]) for one in fields if len(one) > 1) / 1e9


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(words, log, **more):
    """A process of a session of its own, which says what it says to that file."""
    with open(log, "ab") as out:
        return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                stdout=out, stderr=out, start_new_session=True, **more)


def end(process):
    """Whatever it is doing, and what it started. It goes first: a master that lives begins another
    worker in place of one that was killed."""
    if process is None or process.poll() is not None:
        return
    for pid in family_of(process.pid):
        with contextlib.suppress(ProcessLookupError):
            kill(pid)
    process.wait()


def kill(pid, number=9):
    os.kill(pid, number)
