#!/usr/bin/env python3
# skips
"""Two programs of one server: what one of them does to its tracepoints does not keep the other from
running."""

import subprocess
import sys

sys.dont_write_bytecode = True

from rsp_client import Client  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

SECONDS = 6


def begun(what):
    program = subprocess.Popen([INFERIORS / "holds_others", what], stdout=subprocess.PIPE,
                               text=True)
    return program, int(program.stdout.readline(), 16)


def main():
    need_fast_tracepoints()
    programs = [begun("beside"), begun("stalls")]
    try:
        with server("--fast-tracepoints", "all", "--multi", "localhost:0",
                    program=TRACEWELL) as running:
            port = int(running.wait_for(r"Listening on port (\d+)").group(1))
            client = Client(port)
            client.say("qSupported:multiprocess+")
            for program, _ in programs:
                check(client.say(f"vAttach;{program.pid:x}").startswith("T"), "attached")
            beside, (stalls, place) = programs[0][0], programs[1]
            client.ask(f"Hgp{stalls.pid:x}.{stalls.pid:x}")
            client.ask("QTinit")
            client.ask(f"QTDP:1:{place:016x}:E:0:0-")
            client.ask(f"QTDP:-1:{place:016x}:R0fff")
            reply = client.say("QTStart")
            while reply.startswith("O") and reply != "OK":  # what GDB prints
                reply = client.receive()
            same(reply, "OK", "tstart")
            client.send("vCont;c")
            beside.stdout.readline()  # in part from before
            lines = [beside.stdout.readline().split() for _ in range(SECONDS)]
            missed, all_of_it = (sum(int(line[i]) for line in lines) for i in (0, 1))
            print(f"{missed} of {all_of_it} ms")
            check(missed * 2 < all_of_it, f"it stood still for {missed} of {all_of_it} ms")
            same(beside.poll(), None, "it goes on")
    finally:
        for program, _ in programs:
            program.kill()
            program.wait()


main()
