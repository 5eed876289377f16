#!/usr/bin/env python3
# skips
"""A program has a stack of its own beside its code, which grows as it is needed: what is mapped for
a tracepoint leaves it the room."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import symbols  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "grows_down"
PAGES = (1, 2, 3, 20, 200, 800)


def traced(which):
    with program(PROGRAM, unable=77) as running:
        if not running:
            print("skipped: the program's place for its stack is not free here")
            return
        maps = pathlib.Path(f"/proc/{running.pid}/maps")
        with attached(running.pid, *fast(which)) as (client, _):
            before = maps.read_text()
            client.ask("QPassSignals:b")  # SIGSEGV
            client.trace([symbols(PROGRAM)["hit"]])
            check(maps.read_text() != before, "something was mapped")
            client.send("vCont;c")
            for pages in PAGES:
                print(pages, file=running.stdin, flush=True)
                same(running.stdout.readline(), f"{pages}\n", f"the stack grows ({which})")
            client.socket.sendall(b"\3")
            check(client.receive().startswith("T"), "it stops")
            same(client.frames_created(), len(PAGES), "hits")
            client.ask("QTStop")
            client.ask("D")


def main():
    for which in ("none", "all"):
        traced(which)


main()
