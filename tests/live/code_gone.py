#!/usr/bin/env python3
"""A program takes its file's own code back where a tracepoint's trap is: that hits may be lost is
said when the trace ends. So is an int3 that is there before a tracepoint is."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, symbols, wait_until  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "drops_code"


def main():
    with program(PROGRAM) as running, attached(running.pid, *fast("none")) as (client, _):
        base = bias(running.pid, PROGRAM)
        hit, trap = (base + symbols(PROGRAM)[name] for name in ("hit", "trap"))
        client.ask("QTinit")
        client.ask(f"QTDP:1:{hit:x}:E:0:0")
        client.ask(f"QTDP:2:{trap:x}:E:0:0")
        said = client.console("QTStart")
        check("tracepoint 2 at" in said and "int3" in said, f"of the int3: {said}")
        check("tracepoint 1 at" not in said, f"of another one: {said}")
        client.send("vCont;c")
        wait_until(lambda: client.stands_after(5), "hits")
        said = client.console(f"QTDP:3:{trap:x}:E:0:0")
        check("tracepoint 3 at" in said and "int3" in said, f"of one that comes later: {said}")
        client.send("vCont;c")
        print(file=running.stdin, flush=True)
        same(running.stdout.readline(), "dropped\n", "its code is its file's again")
        client.socket.sendall(b"\3")
        check(client.receive().startswith("T"), "it stops")
        said = client.console("QTStop")
        same(said, f"Hits of the tracepoint at {hit:#x} may be lost: the code there is not "
                   "what it was\n", "what is said at the end")
        client.ask("D")


main()
