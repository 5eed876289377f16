#!/usr/bin/env python3
# timeout: 240
"""kill -9 of a server at random moments of a trace, four threads hitting tracepoints: a program
that it attached to goes on as if nothing had been and ends as it would have, none of our bytes left
in its code; one that it started ends with it, unless its trace was to do without a debugger.

  server_killed.py [ROUNDS]
"""

import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import INFERIORS, TRACEWELL, check, listening, same  # noqa: E402

PROGRAM = INFERIORS / "hammer"
ENDS_WITH = 44  # hammer's exit status after SIGTERM
SITES = ("site_push", "site_call", "site_icall", "site_loop", "site_ret")


def link_addresses():
    """Of the program's symbols, and the load address of its first byte."""
    text = subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout
    return {name: int(value, 16) for value, _, name in re.findall(r"(\w+) (\w) (\w+)\n", text)}


def bias(pid):
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith(str(PROGRAM)):
            return int(line.split("-")[0], 16)
    raise LookupError("the program is not mapped")


def code(pid, address, size=16):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(address)
        return memory.read(size)


def status(pid, key):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return re.search(rf"^{key}:\s+(\S+)", text, re.MULTILINE)[1]


def wait_until(condition, what):
    end = time.monotonic() + 30
    while not condition():
        check(time.monotonic() < end, f"{what}: not within 30 s")
        time.sleep(0.001)


class Client:
    """As much of a debugger as it takes to trace."""

    def __init__(self, port):
        self.socket = socket.create_connection(("localhost", port), timeout=30)
        self.rest = b""
        self.ask("QStartNoAckMode")
        self.socket.sendall(b"+")

    def send(self, packet):
        data = packet.encode()
        self.socket.sendall(b"$%s#%02x" % (data, sum(data) % 256))

    def reply(self):
        while True:
            whole = re.search(rb"\$([^#]*)#..", self.rest)
            if whole:
                self.rest = self.rest[whole.end():]
                return whole[1].decode()
            more = self.socket.recv(65536)
            check(more, "the server hung up")
            self.rest += more

    def ask(self, packet, expected="OK"):
        self.send(packet)
        got = self.reply()
        check(expected is None or got == expected, f"{packet}: {got}")
        return got


@contextlib.contextmanager
def tracing(pid_of, words, disconnected):
    """A server that traces all sites while the program runs: (server, pid, addresses)."""
    with listening([TRACEWELL, "serve", *words]) as server:
        port = int(re.search(r"Listening on port (\d+)", server.said)[1])
        pid = pid_of(server.said)
        client = Client(port)
        client.ask("QTinit")
        client.ask(f"QTDisconnected:{int(disconnected)}")
        client.ask("QTBuffer:circular:1")
        base = bias(pid)
        addresses = [base + SYMBOLS[site] for site in SITES]
        for number, address in enumerate(addresses, 1):
            client.ask(f"QTDP:{number}:{address:016x}:E:0:0-")
            client.ask(f"QTDP:-{number}:{address:016x}:R0fff")
        client.ask("QTStart")
        client.send("vCont;c")
        yield server, pid, addresses


def kill(server):
    os.kill(server.pid, signal.SIGKILL)
    server.wait(timeout=30)


def attached(rng):
    program = subprocess.Popen([PROGRAM, "4", "0"], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: status(program.pid, "Threads") == "5", "threads")
        original = [code(program.pid, bias(program.pid) + SYMBOLS[site]) for site in SITES]
        words = ["--once", "--attach", "localhost:0", str(program.pid)]
        with tracing(lambda said: program.pid, words, rng.random() < 0.5) as traced:
            server, pid, addresses = traced
            time.sleep(rng.random() * 0.02)
            kill(server)
            wait_until(lambda: status(pid, "TracerPid") == "0", "detaching")
        same([code(pid, address) for address in addresses], original, "code")
        check(status(pid, "State") not in "tT", "it stands still")
        program.terminate()
        same(program.wait(timeout=30), ENDS_WITH, "exit status")
    finally:
        program.kill()
        program.wait()


def started(rng, disconnected):
    words = ["--once", "--no-disable-randomization", "localhost:0", PROGRAM, "4", "0"]
    pid_of = lambda said: int(re.search(r"pid = (\d+)", said)[1])  # noqa: E731
    with tracing(pid_of, words, disconnected) as (server, pid, addresses):
        time.sleep(rng.random() * 0.02)
        kill(server)
        if not disconnected:
            wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "its end")
            return
        wait_until(lambda: status(pid, "TracerPid") == "0", "detaching")
    for address in addresses:
        check(code(pid, address, 1) != b"\xcc", "a patch is left")
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not os.path.exists(f"/proc/{pid}") or status(pid, "State") == "Z", "its end")


SYMBOLS = link_addresses()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rng = random.Random(5)
    for _ in range(rounds):
        attached(rng)
        started(rng, rng.random() < 0.5)
    print(f"{rounds} rounds")


main()
