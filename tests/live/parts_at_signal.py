#!/usr/bin/env python3
"""A server lets go of a program of one thread that stands by a signal. The program gets the signal
as it was sent, and nothing of ours stays in it."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, has_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "says_signals"
LIBC = ctypes.CDLL(None, use_errno=True)
SI_USER, SI_QUEUE, VALUE = 0, -1, 4711


def kill(pid):
    os.kill(pid, signal.SIGUSR1)
    return f"{signal.SIGUSR1:d} {SI_USER} {os.getpid()} 0\n"


def queue(pid, value=VALUE):
    same(LIBC.sigqueue(pid, int(signal.SIGRTMIN), ctypes.c_void_p(value)), 0, "sigqueue")
    return f"{signal.SIGRTMIN:d} {SI_QUEUE} {os.getpid()} {value}\n"


def unwanted_in(pid):
    """Code that is in no file, and memory that is shared with the server."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [one for one in lines
            if "memfd:tracewell" in one or (len(one.split()) == 5 and "x" in one.split()[1])]


def begin(client, place, kind):
    fast = ":F5" if has_fast_tracepoints() and kind == "fast" else ""
    client.ask("QTinit")
    client.ask(f"QTDP:1:{place:x}:E:0:0{fast}-")
    client.ask(f"QTDP:-1:{place:x}:R1ffff")
    client.ask("QTStart")


def stands_at_signal(client, program, send, attach):
    if attach == "--attach":
        client.send("vCont;c")
    time.sleep(0.15)  # a hit or two
    said = send(program.pid)
    if attach == "--attach":
        check(client.receive().startswith("T"), "stopped")
    else:
        wait_until(lambda: status(program.pid, "State") == "t", "it stands")
    return said


def parts(attach, kind, send, leave):
    what = f"{attach} {kind} {send.__name__} {leave}"
    with subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        try:
            wait_until(lambda: status(program.pid, "voluntary_ctxt_switches") not in ("", "0"),
                       "it runs")
            place = bias(program.pid, PROGRAM) + symbols(PROGRAM)["place"]
            same(unwanted_in(program.pid), [], "before")
            with serving("--once", attach, "localhost:0", str(program.pid)) as (server, port, _):
                client = Client(port)
                if attach != "--attach":
                    client.ask("QNonStop:1")
                    client.ask("?", None)
                begin(client, place, kind)
                said = stands_at_signal(client, program, send, attach)
                if leave == "D":
                    client.send("QTStop")
                    client.send(f"D;{program.pid:x}")
                else:
                    server.send_signal(signal.SIGTERM)
                server.wait()
            same(status(program.pid, "TracerPid"), "0", f"{what}: its tracer")
            same(unwanted_in(program.pid), [], f"{what}: what is left")
            send(program.pid)
            same(program.stdout.readline(), said, what)
            same(program.stdout.readline(), said, f"{what}: no signal twice")
        finally:
            program.kill()


def fast_at(program, what):
    """A traced program is let go behind `what`."""
    place = bias(program.pid, PROGRAM) + symbols(PROGRAM)["place"]
    with serving("--once", "--attach", "localhost:0", str(program.pid)) as (server, port, _):
        client = Client(port)
        begin(client, place, "fast")
        client.send("vCont;c")
        time.sleep(0.15)
        what(client)
        client.send("QTStop")
        client.send(f"D;{program.pid:x}")
        server.wait()
    same(status(program.pid, "TracerPid"), "0", "its tracer")


def stops_and_goes_on():
    """SIGSTOP and SIGCONT do away with each other: none of them is kept and sent again."""
    with subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        try:
            wait_until(lambda: status(program.pid, "State") == "S", "it runs")

            def job_control(client):
                os.kill(program.pid, signal.SIGSTOP)
                check(client.receive().startswith("T"), "stopped")
                os.kill(program.pid, signal.SIGCONT)

            fast_at(program, job_control)
            wait_until(lambda: status(program.pid, "State") == "S", "it goes on")
            same(program.stdout.readline(), f"{signal.SIGCONT:d} {SI_USER} {os.getpid()} 0\n",
                 "SIGCONT")
        finally:
            program.kill()


def another_waits():
    """Of the same number, sent to the same thread: both come, in their order."""
    with subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        try:
            wait_until(lambda: status(program.pid, "State") == "S", "it runs")
            said = []

            def two(client):
                said.append(queue(program.pid))
                check(client.receive().startswith("T"), "stopped")
                said.append(queue(program.pid, VALUE + 1))

            fast_at(program, two)
            same([program.stdout.readline(), program.stdout.readline()], said, "both")
            same(said[0] != said[1], True, "two")
        finally:
            program.kill()


def main():
    stops_and_goes_on()
    another_waits()
    for attach in ("--attach", "--attach-running"):
        for kind in ("fast", "trap"):
            for send in (kill, queue):
                for leave in ("D", "SIGTERM"):
                    parts(attach, kind, send, leave)


main()
