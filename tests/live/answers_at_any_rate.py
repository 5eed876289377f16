#!/usr/bin/env python3
# skips
# serial
# timeout: 200
"""Two threads hit a fast tracepoint as fast as they can. Meanwhile the server stops the program,
tells of its trace, and ends when it is told to, each within a fifth of a second."""

import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, serving, status  # noqa: E402
from sustained import Traced, stop, traced, traced_running  # noqa: E402
from trace_common import check, need_fast_tracepoints, same  # noqa: E402

THREADS, MEGABYTES = 2, 100
WITHIN = 0.2
ROUNDS, ENDS = 15, 5
PAUSE = 0.1


def timed(what):
    begin = time.monotonic()
    what()
    return time.monotonic() - begin


def answers_within(what, times):
    """A machine may be busy for a moment: it is their median that has to."""
    times = sorted(times)
    told = f"{what}: {' '.join(f'{1000 * one:.0f}' for one in times)} ms"
    print(told, flush=True)
    check(times[len(times) // 2] <= WITHIN, f"within {1000 * WITHIN:.0f} ms; {told}")


def interrupts():
    with traced(THREADS, MEGABYTES) as (_, client):
        times = []
        for _ in range(ROUNDS):
            time.sleep(PAUSE)
            times.append(stop(client))
            client.send("vCont;c")
        answers_within("Ctrl-C", times)


def tells():
    """What `tstatus` asks for: the status, and each tracepoint's hits."""
    with traced_running(THREADS, MEGABYTES) as (program, client):
        times = []
        for _ in range(ROUNDS):
            time.sleep(PAUSE)
            before = sum(program.calls())
            times.append(timed(lambda: client.ask("qTStatus", None)))
            times.append(timed(lambda: client.ask(f"qTP:1:{program.place:x}", None)))
        check(sum(program.calls()) > before, "it hits on meanwhile")
        answers_within("tstatus", times)


def ends():
    times = []
    for _ in range(ENDS):
        program = Traced(THREADS)
        try:
            with serving("--attach", "localhost:0", str(program.pid)) as (server, port, _):
                program.begin(Client(port), MEGABYTES, True)
                time.sleep(PAUSE)
                server.send_signal(signal.SIGTERM)
                times.append(timed(server.wait))
            same(status(program.pid, "TracerPid"), "0", "its tracer")
        finally:
            program.end()
    answers_within("SIGTERM", times)


def main():
    need_fast_tracepoints()
    interrupts()
    tells()
    ends()


main()
