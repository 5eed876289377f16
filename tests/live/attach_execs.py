#!/usr/bin/env python3
"""Attaching to programs that call exec meanwhile, and to one whose exec does not get on: the server
attaches once that is over, and can be ended before."""
# timeout: 120

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import status, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

SECONDS = 3


def seizes(server):
    """Its tracer is inside PTRACE_SEIZE."""
    try:
        of = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        tracer = of.read_text().split()[0]
        return pathlib.Path(f"/proc/{tracer}/syscall").read_text().startswith("101 0x4206 ")
    except (OSError, IndexError):
        return False


@contextlib.contextmanager
def becoming():
    """The program whose exec waits, its helper, and the server that attaches to it."""
    with subprocess.Popen([INFERIORS / "becomes_slowly"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        helper = int(program.stdout.readline())
        wait_until(lambda: status(program.pid, "State").startswith("D"), "exec")
        server = Server([*TRACEWELL, "--attach", "localhost:0", str(program.pid)])
        try:
            wait_until(lambda: seizes(server), "the server waits")
            yield program, helper, server
            program.stdin.close()
            same(program.wait(timeout=60), 7, f"the program's own end: {server.said()}")
        finally:
            program.kill()
            server.stop()


def it_is_ended():
    with becoming() as (_, helper, server):
        server.process.send_signal(signal.SIGTERM)
        check(server.process.wait(timeout=20) != 0, "the exit status")
        check("about to run another program (exec)" in server.said(), server.said())
        os.kill(helper, signal.SIGUSR1)


def it_attaches_then():
    with becoming() as (program, helper, server):
        os.kill(helper, signal.SIGUSR1)
        server.wait_for("Listening on")
        same(status(program.pid, "Threads"), "1", "it is the new program")
        check(server.stop() != 0, "the exit status")


def it_does_so_all_the_time(name):
    program = subprocess.Popen([INFERIORS / name])
    end = time.monotonic() + SECONDS
    attached = 0
    try:
        while time.monotonic() < end:
            server = Server([*TRACEWELL, "--attach", "localhost:0", str(program.pid)])
            # One that is quick enough at it may be missed, which is told.
            wait_until(lambda: "Listening on" in server.said() or
                       server.process.poll() is not None, "the server has attached or says why not")
            attached += "Listening on" in server.said()
            server.stop()
            check(program.poll() is None, f"the program goes on: {server.said()}")
        check(attached > 0, "not once")
    finally:
        program.kill()
        program.wait()


def main():
    it_is_ended()
    it_attaches_then()
    it_does_so_all_the_time("becomes_again")
    it_does_so_all_the_time("leader_ends")


main()
