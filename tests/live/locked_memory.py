#!/usr/bin/env python3
# skips
"""Programs that lock memory: some of it, all that they have, all that is to come. Their tracepoints
are pads, and none of the memory that they share with us is filled, locked, or counted against their
limit. Where not even a page can be locked, they are traps, and that is said."""

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

PROGRAM = INFERIORS / "locks_memory"
MORE_KB = 16 << 10
LIMIT_KB = 256
BUFFER_KB, PAGE_KB = 128, 4
LIMITED = ["setpriv", "--inh-caps", "-ipc_lock", "--bounding-set", "-ipc_lock", "prlimit",
           f"--memlock={LIMIT_KB << 10}"]


def locked(pid):
    """KiB: what is counted against its limit, and the size of mappings that are locked."""
    text = pathlib.Path(f"/proc/{pid}/smaps").read_text()
    sizes = re.findall(r"^Size: +(\d+) kB$(?:.|\n)*?^VmFlags:(.*)$", text, re.MULTILINE)
    check(len(sizes) == text.count("VmFlags:"), text)
    return int(status(pid, "VmLck")), sum(int(kb) for kb, flags in sizes if "lo" in flags.split())


def traced(pid, least_kb, most_kb=None):
    """`least_kb`, `most_kb`: what it has locked."""
    before = locked(pid)
    check(least_kb <= before[0] and (most_kb is None or before[0] <= most_kb),
          f"locked before: {before}")
    with attached(pid, *fast("all")) as (client, _):
        resident = int(status(pid, "VmRSS"))
        for run in range(2):
            said = client.trace([bias(pid, PROGRAM) + symbols(PROGRAM)["hit"]])
            same(said, "", "nothing is wrong")
            same(client.notes(), "tracepoint 1: a pad, about 0.1 us a hit", "how hits are taken")
            check(int(status(pid, "VmRSS")) < resident + MORE_KB, "it has its memory alone")
            same(locked(pid), before, f"nothing of ours is locked, run {run}")
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(20), "hits")
            same(locked(pid), before, f"nor behind hits, run {run}")
            client.ask("QTStop")
        client.ask("D")
    same(locked(pid), before, "nor later")


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


KINDS = {"future": (0, 0), "buffer": (BUFFER_KB, BUFFER_KB), "code": (PAGE_KB, PAGE_KB),
         "all": (1000,), "onfault": (1000,)}
LIMITED_KINDS = ("future", "buffer", "code")  # what there is of a program is more than the limit


def main():
    need_fast_tracepoints()
    for kind, kb in KINDS.items():
        print(kind, flush=True)
        with program(PROGRAM, kind, unable=77) as running:
            if not running:
                print("skipped: programs may not lock memory here")
                return
            traced(running.pid, *kb)
    if shutil.which("setpriv") is None or shutil.which("prlimit") is None:
        print("not tested: a limit on locked memory, without setpriv and prlimit")
        return
    for kind in LIMITED_KINDS:
        print(f"limited, {kind}", flush=True)
        with program(*LIMITED, PROGRAM, kind, unable=77) as running:
            if running:
                traced(running.pid, *KINDS[kind])
    with program(*LIMITED, PROGRAM, "future", unable=77) as running:
        if running:
            without_any(running.pid)


main()
