#!/usr/bin/env python3
# timeout: 400
"""Whoever is killed, and at whatever moment of a trace with four threads hitting tracepoints: a
program that was attached to goes on as if nothing had been and ends as it would have, none of our
bytes left in its code; one that was started ends with its server, unless its trace was to do
without a debugger. Nothing stays behind.

  faults.py [ROUNDS]   (of four victims each; 15, `make long`: 200)
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, code, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, TRACEWELL, check, same  # noqa: E402

PROGRAM = INFERIORS / "hammer"
ENDS_WITH = 44  # hammer's exit status after SIGTERM
SITES = ("site_push", "site_call", "site_icall", "site_loop", "site_ret")
SYMBOLS = symbols(PROGRAM)
rng = random.Random(5)


def sites(pid):
    base = bias(pid, PROGRAM)
    return [base + SYMBOLS[site] for site in SITES]


@contextlib.contextmanager
def running_program():
    """Untraced, with all its threads; it must live on, and is ended in the end."""
    program = subprocess.Popen([PROGRAM, "4", "0"], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: status(program.pid, "Threads") == "5", "threads")
        original = [code(program.pid, address) for address in sites(program.pid)]
        yield program.pid
        wait_until(lambda: status(program.pid, "TracerPid") == "0", "detaching")
        same([code(program.pid, address) for address in sites(program.pid)], original, "code")
        check(status(program.pid, "State") not in "tT", "it stands still")
        program.terminate()
        same(program.wait(timeout=30), ENDS_WITH, "exit status")
    finally:
        program.kill()
        program.wait()


def start_trace(port, pid, disconnected):
    client = Client(port)
    client.trace(sites(pid), disconnected)
    client.send("vCont;c")
    time.sleep(rng.random() * 0.02)
    return client


def kill(server):
    """By its number; or by its name, and everything that is called so."""
    victims = [server.pid]
    if rng.random() < 0.5:
        name = status(server.pid, "Name")
        victims += [pid for pid in children(server.pid) if status(pid, "Name") == name]
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    server.wait(timeout=30)


def children(pid):
    return map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def cut(client):
    """As when the debugger's machine is gone: no farewell."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.close()


def server_of_an_attached_program(disconnected):
    with running_program() as pid, serving("--once", "--attach", "localhost:0", str(pid)) as (
            server, port, _):
        client = start_trace(port, pid, disconnected)
        kill(server)
        client.socket.close()


def server_of_a_started_program(disconnected):
    words = ["--once", "--no-disable-randomization", "localhost:0", PROGRAM, "4", "0"]
    with serving(*words) as (server, port, pid):
        client = start_trace(port, pid, disconnected)
        kill(server)
        client.socket.close()
        if not disconnected:
            wait_until(lambda: status(pid, "State") in ("", "Z"), "its end")
            return
        wait_until(lambda: status(pid, "TracerPid") == "0", "detaching")
    for address in sites(pid):
        check(code(pid, address, 1) != b"\xcc", "a patch is left")
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: status(pid, "State") in ("", "Z"), "its end")


def connection(disconnected):
    """The next debugger finds the frames, of a run that goes on or has ended, as it was told."""
    with running_program() as pid, serving("--attach", "localhost:0", str(pid)) as (
            server, port, _):
        cut(start_trace(port, pid, disconnected))
        client = Client(port)
        said = client.ask("qTStatus", None)
        check(said.startswith("T1" if disconnected else "T0;tdisconnected:0"), said)
        client.ask("QTStop")
        for address in sites(pid):
            check(code(pid, address, 1) != b"\xcc", "a patch is left")
        client.ask("D")


def program(disconnected):
    """Its frames stay."""
    with serving("--once", "localhost:0", PROGRAM, "4", "0") as (server, port, pid):
        client = start_trace(port, pid, disconnected)
        os.kill(pid, signal.SIGKILL)
        said = client.receive()
        check(said.startswith("X09"), f"the end is told: {said}")
        reason = b"the program was killed by SIGKILL".hex()
        check(client.ask("qTStatus", None).startswith(f"T0;terror:{reason}:0"), "the run has ended")
        if client.frames_created() > 0:
            check(client.ask("QTFrame:0", None).startswith("F0T"), "the first frame")
        cut(client)
        same(server.wait(timeout=30), 0, "the server's exit status")


def left_behind(run):
    """The buffers of those that were killed, and every file there is one of them."""
    def buffers():
        words = [TRACEWELL, "buffers", "--json"]
        return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)

    wait_until(lambda: not any(one["in_use"] for one in buffers()), "servers that were killed")
    found = buffers()
    same([one["problem"] for one in found], [""] * len(found), "problems of the buffers")
    files = sorted(str(path) for path in run.rglob("*") if not path.is_dir())
    same(files, sorted(one["path"] for one in found), "files that are left")
    check(files, "nobody was killed while tracing")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as run:
        os.environ["XDG_RUNTIME_DIR"] = run
        for _ in range(rounds):
            for victim in (server_of_an_attached_program, server_of_a_started_program, connection,
                           program):
                os.environ["TRACEWELL_FAST"] = rng.choice(("all", "none"))
                victim(rng.random() < 0.5)
        left_behind(pathlib.Path(run))
    print(f"{rounds} rounds")


main()
