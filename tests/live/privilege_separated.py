#!/usr/bin/env python3
# skips
# timeout: 120
"""A worker that a traced program forks has nothing of what the program shares with its tracer: it
may have fewer rights. It goes on wherever it was forked, and so do those of later, when the server
has been killed and the program's tracepoints are still there."""

import contextlib
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

from rsp_client import Client, status, wait_until  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "privilege_separated"
FORKS = 300


class Program:
    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.pid = self.process.pid
        self.work = int(self.process.stdout.readline(), 16)

    def ask(self, line, answers):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return [self.process.stdout.readline().strip() for _ in range(answers)]

    def has_shared_memory(self):
        with open(f"/proc/{self.pid}/maps") as maps:
            return "memfd:tracewell" in maps.read()


@contextlib.contextmanager
def program():
    it = Program()
    try:
        yield it
    finally:
        it.process.kill()
        it.process.wait()


@contextlib.contextmanager
def traced(it, features="", non_stop=False):
    """By a server whose debugger has let it go on; the debugger."""
    with server("--once", "--fast-tracepoints", "all", "--attach", "localhost:0", str(it.pid),
                program=TRACEWELL) as running:
        client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
        client.ask(f"qSupported:multiprocess+;{features}", None)
        client.ask(f"QNonStop:{int(non_stop)}")
        client.ask("?", None)
        while non_stop and client.ask("vStopped", None) != "OK":
            pass
        client.ask("QPassSignals:b;14")
        client.trace([it.work])
        client.send("vCont;c")
        if non_stop:
            same(client.receive(), "OK", "it goes on")
        yield client


def workers_have_nothing():
    with program() as it:
        with traced(it) as client:
            for how in ("fork", "clone3"):
                same(it.ask(how, 2), ["nothing is shared", "worker ended with 0"], how)
            check(it.has_shared_memory(), "the program's own is still there")
            same(it.ask("inside", 3), ["nothing is shared", "worker ended with 0", "faults"],
                 "forked inside of a hit")
            wait_until(lambda: client.stands_after(100), "hits are recorded")
            client.send("vCont;c")
            print(f"a fork takes {it.ask(f'many {FORKS}', 1)[0]} us")
        print(f"without a tracer {it.ask(f'many {FORKS}', 1)[0]} us")


def nor_have_they_where_threads_stop_one_by_one():
    with program() as it, traced(it, non_stop=True) as client:
        for how in ("fork", "clone3"):
            same(it.ask(how, 2), ["nothing is shared", "worker ended with 0"], how)
        check(it.has_shared_memory(), "the program's own is still there")
        wait_until(lambda: client.frames_created() > 10, "hits are recorded")


def nor_have_those_that_a_debugger_looks_at():
    with program() as it, traced(it, "fork-events+") as client:
        it.process.stdin.write("fork\n")
        it.process.stdin.flush()
        worker = re.search(r"fork:p([0-9a-f]+)\.", client.receive())[1]
        with open(f"/proc/{int(worker, 16)}/maps") as maps:
            check("memfd:tracewell" not in maps.read(), "at its first stop")
        check(it.has_shared_memory(), "the program's own is still there")
        client.ask(f"D;{worker}")
        client.send("vCont;c")
        same([it.process.stdout.readline() for _ in range(2)],
             ["nothing is shared\n", "worker ended with 0\n"], "it goes on")


def a_killed_server_leaves_all_as_it_is():
    with program() as it:
        with traced(it):
            same(it.ask("fork", 2)[1], "worker ended with 0", "a fork")
            os.kill(int(status(it.pid, "TracerPid")), signal.SIGKILL)
            wait_until(lambda: status(it.pid, "TracerPid") == "0", "the program is nobody's")
            check(it.has_shared_memory(), "nothing was taken back")
            for how in ("fork", "clone3"):
                same(it.ask(how, 2)[1], "worker ended with 0", f"{how} with pads, and no server")


def main():
    need_fast_tracepoints()
    workers_have_nothing()
    nor_have_they_where_threads_stop_one_by_one()
    nor_have_those_that_a_debugger_looks_at()
    a_killed_server_leaves_all_as_it_is()


main()
