#!/usr/bin/env python3
# timeout: 200
"""A trace begins in a program whose threads run (non-stop): everything is made ready while they do,
and the program as a whole stands still no more often than it has to, however many tracepoints there
are. Nobody waits for a ring that is not read yet."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from clock_watcher import PLACES, watching  # noqa: E402
from rsp_client import Client, serving  # noqa: E402
from trace_common import check, need_fast_tracepoints  # noqa: E402

BUSY, IDLE = 24, 21
# For what is shared with the program, for the threads' registers, and for the jumps.
STOPS = 3


def starts(client, watcher, megabytes, places):
    client.ask("QTinit")
    client.ask(f"QTBuffer:size:{megabytes << 20:x}")
    client.ask("QTBuffer:circular:1")
    for number in range(places):
        place = watcher.address(f"place_{number}")
        client.ask(f"QTDP:{number + 1}:{place:x}:E:0:0:F5-")
        client.ask(f"QTDP:-{number + 1}:{place:x}:R0fff")
    return watcher.stops(lambda: client.ask("QTStart"))


def main():
    need_fast_tracepoints()
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
