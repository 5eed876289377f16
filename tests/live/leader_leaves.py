#!/usr/bin/env python3
# skips
"""The first thread of a program ends while its memory is collected by other threads' fast
tracepoints: all of it is there as before."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "leader_leaves"
HITS = 20


def traced(running, client):
    base = bias(running.pid, PROGRAM)
    hit, memory = (base + symbols(PROGRAM)[name] for name in ("hit", "global"))
    client.ask("QTinit")
    client.ask(f"QTDP:1:{hit:x}:E:0:0-")
    client.ask(f"QTDP:-1:{hit:x}:M-1,{memory:x},4")
    client.ask("QTStart")
    client.send("vCont;c")
    wait_until(lambda: client.stands_after(HITS), "hits")
    print(file=running.stdin, flush=True)
    client.send("vCont;c")
    wait_until(lambda: status(running.pid, "State") == "Z", "the first thread's end")
    client.socket.sendall(b"\3")
    check(client.receive().startswith("T"), "it stops")
    frames = client.frames_created()
    client.send("vCont;c")
    wait_until(lambda: client.stands_after(frames + HITS), "hits behind its end")
    same(client.say("qTStatus")[:2], "T1", "the trace goes on")
    last = client.frames_created() - 1
    client.ask("QTStop")
    for frame in (0, last):
        client.ask(f"QTFrame:{frame:x}", f"F{frame:x}T1")
        same(client.say(f"m{memory:x},4"), "44332211", f"memory in frame {frame}")
    client.ask("D")


def main():
    need_fast_tracepoints()
    with program(PROGRAM) as running, attached(running.pid, *fast("all")) as (client, _):
        traced(running, client)


main()
