#!/usr/bin/env python3
"""A thread that is about to end is traced until its end was taken, which is its tracer's to do. It
may be the first of its process, whose end comes last, and a debugger may be gone by then: once the
process has ended, its parent's wait() returns within a second all the same.
"""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, serving, status, wait_until  # noqa: E402
from trace_common import INFERIORS, check  # noqa: E402

PROGRAM = INFERIORS / "leader_leaves"  # its first thread ends at a line of its input
DEATH_SECONDS = 1


def detached_behind_its_leader(end):
    """`end` ends the program, which nobody debugs any more while the server lives on."""
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program, serving("--multi", "localhost:0") as (_, port, _):
        try:
            check(program.stdout.readline() == "ready\n", "the program is ready")
            debugger = Client(port)
            debugger.ask("!")
            check(debugger.say(f"vAttach;{program.pid:x}").startswith("T"), "attached")
            debugger.send("vCont;c")
            program.stdin.write("\n")
            program.stdin.flush()
            wait_until(lambda: status(program.pid, "State") == "Z", "the first thread's end")
            debugger.socket.sendall(b"\x03")
            check(debugger.receive().startswith("T"), "stopped")
            check(debugger.say(f"D;{program.pid:x}") == "OK", "detached")
            end(program)
            try:
                program.wait(timeout=DEATH_SECONDS)
            except subprocess.TimeoutExpired:
                check(False, f"{end.__name__}: the program's end is not told to its parent")
        finally:
            program.kill()


def killed(program):
    program.kill()


def ended_by_itself(program):
    program.stdin.close()


for one in (killed, ended_by_itself):
    detached_behind_its_leader(one)
    print(f"{one.__name__}: told")
