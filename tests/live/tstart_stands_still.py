#!/usr/bin/env python3
# timeout: 200
"""A trace begins in a program whose threads run (non-stop): everything is made ready while they do,
and the program as a whole stands still no more often than it has to, however many tracepoints there
are. Nobody waits for a ring that is not read yet. Where it stands already, it is not for long."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from clock_watcher import PLACES, watching  # noqa: E402
from rsp_client import Client, serving, status  # noqa: E402
from trace_common import check, need_fast_tracepoints  # noqa: E402

BUSY, IDLE = 24, 21
# For what is shared with the program, for the threads' registers, and for the jumps.
STOPS = 3
OTHERS = 300


def define(client, watcher, megabytes, places):
    client.ask("QTinit")
    client.ask(f"QTBuffer:size:{megabytes << 20:x}")
    client.ask("QTBuffer:circular:1")
    for number in range(places):
        place = watcher.address(f"place_{number}")
        client.ask(f"QTDP:{number + 1}:{place:x}:E:0:0:F5-")
        client.ask(f"QTDP:-{number + 1}:{place:x}:R0fff")


def starts(client, watcher, megabytes, places):
    define(client, watcher, megabytes, places)
    return watcher.stops(lambda: client.ask("QTStart"))


def waits(client, watcher, tracer):
    """How often the tracer waits for somebody during a `tstart`, in a program that stands."""
    define(client, watcher, 5, 1)
    before = int(status(tracer, "voluntary_ctxt_switches"))
    client.ask("QTStart")
    after = int(status(tracer, "voluntary_ctxt_switches"))
    client.ask("QTStop")
    return after - before


def standing_program():
    """It does not wait for an answer about each process that the machine has."""
    with watching(BUSY, IDLE) as watcher:
        with serving("--attach", "localhost:0", str(watcher.pid)) as (server, port, _):
            client = Client(port)
            client.say("?")
            children = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children")
            tracer = int(children.read_text().split()[0])

            def least():  # others on the machine make it wait, too
                return min(waits(client, watcher, tracer) for _ in range(5))

            few = least()
            others = [subprocess.Popen(["sleep", "1000"]) for _ in range(OTHERS)]
            try:
                many = least()
            finally:
                for one in others:
                    one.kill()
                    one.wait()
            print(f"waits: {few}, with {OTHERS} more processes: {many}")
            check(many < few + OTHERS // 2, "it waits for each process")
            client.say(f"D;{watcher.pid:x}")


def main():
    need_fast_tracepoints()
    standing_program()
    with watching(BUSY, IDLE) as watcher:
        with serving("--attach", "localhost:0", str(watcher.pid)) as (_, port, _):
            client = Client(port)
            client.ask("QNonStop:1")
            client.say("?")
            client.ask("vCont;c")
            watcher.runs()

            def stop_and_go():
                client.ask("QNonStop:0")
                client.ask("QNonStop:1")
                client.ask("vCont;c")

            one, still = watcher.stops(stop_and_go)
            check(one > 0, "a stop of all threads is seen")
            print(f"a stop of all threads: {one:g} switches, {still:.1f} ms")
            for megabytes, places in ((5, 1), (5, PLACES), (500, PLACES)):
                switches, still = starts(client, watcher, megabytes, places)
                print(f"{places} tracepoints, {megabytes} MB: {switches / one:g} stops, "
                      f"at most {still:.1f} ms", flush=True)
                check(switches <= STOPS * one, "the program stands still too often")
                client.ask("QTStop")
                check(client.frames_created() > 0, "frames")


main()
