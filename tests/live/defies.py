#!/usr/bin/env python3
# waits
# timeout: 180
"""Programs that work against their tracer: what it has their threads do stays what it wanted, and
neither the server nor the debugger waits for them."""

import atexit
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from rsp_client import Client, bias, code, status, symbols, wait_until  # noqa: E402
from serve_client import Client as Speaker  # noqa: E402
from serve_common import TRACEWELL, Server, check, folder, same, server  # noqa: E402
from trace_common import INFERIORS, has_fast_tracepoints  # noqa: E402

FILE = INFERIORS / "defies"


class Run:
    """A program that defies, and a server that has attached to it."""

    def __init__(self, way, fast="none", **more):
        program = subprocess.Popen([FILE, way], stdout=subprocess.PIPE, text=True)
        atexit.register(program.kill)
        self.can = program.stdout.readline() == "ready\n"
        if self.can:
            self.attach(program, fast, more)
        else:
            same(program.wait(timeout=60), 77, f"{way}: the program's own word")
            print("skipped: no restartable sequences here")

    def attach(self, program, fast, more=None):
        self.program = program
        begin = time.monotonic()
        self.server = Server([*TRACEWELL, "--fast-tracepoints", fast, "--attach", "localhost:0",
                              str(self.program.pid)], **(more or {}))
        port = self.server.wait_for(r"Listening on port (\d+)").group(1)
        self.attached_s = time.monotonic() - begin
        self.client = Client(port)

    def trace_hits(self):
        place = bias(self.program.pid, FILE) + symbols(FILE)["hit"]
        self.client.ask("QTinit")
        self.client.ask(f"QTDP:1:{place:x}:E:0:0-")
        self.client.ask(f"QTDP:-1:{place:x}:R01")
        self.client.ask("QTStart")

    def ends(self):
        begin = time.monotonic()
        self.server.process.send_signal(signal.SIGTERM)
        same(self.server.ended() >= 0, True, f"it ends by itself: {self.server.said()}")
        return time.monotonic() - begin


def a_call_is_not_made_another():
    """One that the program's filter forbids, while the filter is off for ours."""
    run = Run("diverts")
    if not run.can:
        return
    run.trace_hits()
    run.client.send("vCont;c")
    check(run.client.socket_has_data(60), "the program's end")
    same(run.client.receive()[:3], "W00", f"nothing was opened: {run.server.said()}")
    check("tframes:" in run.client.ask("qTStatus", None), "the run")
    run.ends()


def filters_stay_on():
    """But inside the tracer's own calls, from their entry on: a call of the vsyscall page stops at
    no entry."""
    watching = {**os.environ, "LD_PRELOAD": str(INFERIORS / "watches_filters")}
    run = Run("diverts", env=watching)
    if not run.can:
        return
    run.trace_hits()
    run.client.send("vCont;c")
    check(run.client.socket_has_data(60), "the program's end")
    run.ends()
    said = run.server.said()
    check("filters are off in a call" in said, f"no call was made: {said}")
    check("filters are off in the program" not in said, said)


def exec_in_a_step():
    """By a thread that is led out of the code of the trace, and is another one then."""
    if not has_fast_tracepoints():
        return
    run = Run("execs", "all")
    run.trace_hits()
    run.client.send("vCont;c")
    same(run.program.stdout.readline(), "inside\n", "the program")
    rounds = bias(run.program.pid, FILE) + symbols(FILE)["rounds"]
    wait_until(lambda: code(run.program.pid, rounds, 8) != bytes(8), "it is inside")
    run.client.socket.sendall(b"\x03")
    check(run.client.socket_has_data(60), "no answer to Ctrl-C")
    check(run.client.receive()[:1] in ("T", "S"), "a stop")
    run.ends()
    same(run.program.poll(), None, "the program runs")
    run.program.kill()


def many_in_long_hits():
    """Each is led out for a moment at the end; all together are for one as well."""
    if not has_fast_tracepoints():
        return
    run = Run.__new__(Run)
    program = subprocess.Popen([INFERIORS / "hammer", "40", "0"])
    atexit.register(program.kill)
    task = pathlib.Path(f"/proc/{program.pid}/task")
    wait_until(lambda: len(list(task.iterdir())) == 41, "threads")
    run.attach(program, "all")
    place = bias(program.pid, INFERIORS / "hammer") + symbols(INFERIORS / "hammer")["site_rip"]
    run.client.ask("QTinit")
    run.client.ask(f"QTDP:1:{place:x}:E:0:0:X3,210000-")  # a loop, until its budget is used up
    run.client.ask("QTStart")
    run.client.send("vCont;c")
    check(run.ends() < 10, "the end")
    same(program.poll(), None, "the program runs")


def many_signals_wait():
    run = Run("floods")
    check(run.attached_s < 10, f"it took {run.attached_s} s to attach")
    check(run.ends() < 10, "the end")


def a_trap_that_never_comes():
    run = Run("keeps")
    check(run.attached_s < 5, f"it took {run.attached_s} s to attach")
    for task in pathlib.Path(f"/proc/{run.program.pid}/task").iterdir():
        same(status(int(task.name), "State")[:1], "t", "each thread is held")
    check(run.ends() < 5, "the end")


def started(wrapper):
    """Where it runs, and the server waits for it."""
    return [one for one in os.listdir("/proc") if one.isdigit() and
            status(one, "Name") == wrapper.name and status(one, "TracerPid") not in ("", "0") and
            f"{wrapper}\0" in pathlib.Path(f"/proc/{one}/cmdline").read_text()]


def a_start_that_gets_nowhere():
    """What runs in front of the program sleeps: the server can be ended, and gives up by itself
    where another program waits."""
    with folder() as work:
        slow = pathlib.Path(work) / "slow"
        slow.write_text(f"#!/bin/sh\nread line <{work}/never\n")
        slow.chmod(0o755)
        os.mkfifo(f"{work}/never")
        where = f"{work}/socket"
        with server("--multi", "--wrapper", slow, "--", f"unix:{where}") as running:
            wait_until(lambda: os.path.exists(where), "the socket")
            client = Speaker(f"unix:{where}")
            client.say("!")
            other = subprocess.Popen([INFERIORS / "ticks"], stdout=subprocess.DEVNULL)
            atexit.register(other.kill)
            check(client.say(f"vAttach;{other.pid:x}").startswith("T"), "attached")
            reply = client.say("vRun;" + str(FILE).encode().hex())
            check(reply.startswith("E"), reply)
            client.say(f"D;{other.pid:x}")
            other.kill()
            other.wait()
            client.send("vRun;" + str(FILE).encode().hex())
            wait_until(lambda: started(slow), "the wrapper runs")
            (begun,) = started(slow)
            begin = time.monotonic()
            running.process.send_signal(signal.SIGTERM)
            running.ended()
            check(time.monotonic() - begin < 10, "the end")
            check(not pathlib.Path(f"/proc/{begun}").exists(), "what was started is gone")


def main():
    for part in chosen((a_call_is_not_made_another, filters_stay_on, exec_in_a_step,
                        many_in_long_hits, many_signals_wait, a_trap_that_never_comes,
                        a_start_that_gets_nowhere)):
        part()


main()
