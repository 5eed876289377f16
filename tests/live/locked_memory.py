#!/usr/bin/env python3
# skips
"""A program's memory to come is locked, though none of it is yet: its tracepoints are pads, and
none of the memory that they share with us is filled, locked, or counted against its limit. Where
not even a page can be locked, they are traps, and that is said."""

import pathlib
import re
import resource
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "locks_future"
MORE_KB = 16 << 10
LIMIT_KB = 256
LIMITED = ["setpriv", "--inh-caps", "-ipc_lock", "--bounding-set", "-ipc_lock", "prlimit",
           f"--memlock={LIMIT_KB << 10}"]


def traced(pid):
    with attached(pid, *fast("all")) as (client, _):
        same(status(pid, "VmLck"), "0", "what is locked before")
        before = int(status(pid, "VmRSS"))
        said = client.trace([bias(pid, PROGRAM) + symbols(PROGRAM)["hit"]])
        same(said, "", "nothing is wrong")
        same(client.notes(), "tracepoint 1: a pad, about 0.1 us a hit", "how hits are collected")
        check(int(status(pid, "VmRSS")) < before + MORE_KB, "it has its memory alone")
        same(status(pid, "VmLck"), "0", "what is locked of ours")
        client.send("vCont;c")
        wait_until(lambda: client.stands_after(20), "hits")
        client.ask("QTStop")
        client.ask("D")


def without_any(pid):
    """What it may lock is less than a page by now."""
    with attached(pid, *fast("all")) as (client, _):
        resource.prlimit(pid, resource.RLIMIT_MEMLOCK, (0, 0))
        said = client.trace([bias(pid, PROGRAM) + symbols(PROGRAM)["hit"]])
        check(re.search(r"are traps in this process, about 15 us a hit: it may lock no more", said),
              said)
        check("tracepoint 1: a trap, about 15 us a hit: it may lock no more" in client.notes(),
              client.notes())
        client.send("vCont;c")
        wait_until(lambda: client.stands_after(20), "hits")
        client.ask("QTStop")
        client.ask("D")


def main():
    need_fast_tracepoints()
    with program(PROGRAM, unable=77) as running:
        if not running:
            print("skipped: programs may not lock memory here")
            return
        traced(running.pid)
    if shutil.which("setpriv") is None or shutil.which("prlimit") is None:
        print("not tested: a limit on locked memory, without setpriv and prlimit")
        return
    with program(*LIMITED, PROGRAM, unable=77) as running:
        if running:
            traced(running.pid)
    with program(*LIMITED, PROGRAM, unable=77) as running:
        if running:
            without_any(running.pid)


main()
