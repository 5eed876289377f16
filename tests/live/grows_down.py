#!/usr/bin/env python3
# skips
"""A program has a stack of its own beside its code, which grows as it is needed: what is mapped for
a tracepoint leaves it the room."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, symbols  # noqa: E402
from serve_common import check, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "grows_down"
PAGES = (1, 2, 3, 20, 200, 800)


def traced(fast):
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        if program.stdout.readline() != "ready\n":
            print("skipped: the program's place for its stack is not free here")
            return
        try:
            with server("--fast-tracepoints", fast, "--attach", "localhost:0",
                        str(program.pid)) as running:
                client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
                before = pathlib.Path(f"/proc/{program.pid}/maps").read_text()
                client.ask("QPassSignals:b")  # SIGSEGV
                client.trace([symbols(PROGRAM)["hit"]])
                check(pathlib.Path(f"/proc/{program.pid}/maps").read_text() != before,
                      "something was mapped")
                client.send("vCont;c")
                for pages in PAGES:
                    print(pages, file=program.stdin, flush=True)
                    same(program.stdout.readline(), f"{pages}\n", f"the stack grows ({fast})")
                client.socket.sendall(b"\3")
                check(client.receive().startswith("T"), "it stops")
                same(client.frames_created(), len(PAGES), "hits")
                client.ask("QTStop")
                client.ask("D")
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


def main():
    for fast in ("none", "all"):
        traced(fast)


main()
