#!/usr/bin/env python3
# skips
"""The first thread of a program ends while its memory is collected by other threads' fast
tracepoints: all of it is there as before."""

import subprocess
import sys
import pathlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, status, symbols, wait_until  # noqa: E402
from serve_common import check, same, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "leader_leaves"
HITS = 20


def traced(program, client):
    base = bias(program.pid, PROGRAM)
    hit, memory = (base + symbols(PROGRAM)[name] for name in ("hit", "global"))
    client.ask("QTinit")
    client.ask(f"QTDP:1:{hit:x}:E:0:0-")
    client.ask(f"QTDP:-1:{hit:x}:M-1,{memory:x},4")
    client.ask("QTStart")
    client.send("vCont;c")
    wait_until(lambda: client.stands_after(HITS), "hits")
    print(file=program.stdin, flush=True)
    client.send("vCont;c")
    wait_until(lambda: status(program.pid, "State") == "Z", "the first thread's end")
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
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            same(program.stdout.readline(), "ready\n", "it is there")
            with server("--fast-tracepoints", "all", "--attach", "localhost:0",
                        str(program.pid)) as running:
                traced(program, Client(int(running.wait_for(
                    r"Listening on port (\d+)").group(1))))
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


main()
