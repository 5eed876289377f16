#!/usr/bin/env python3
# waits
# timeout: 120
"""A debugger that asks and does not read, while threads of the program hit a tracepoint of the kind
that stops them: they go on, the server stays small and ends when it is told to, and a debugger that
reads after all gets every answer."""

import os
import pathlib
import select
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, code, serving, status, symbols, wait_until  # noqa: E402
from serve_client import frame  # noqa: E402
from trace_common import INFERIORS, TRACEWELL, check, same  # noqa: E402

PROGRAM = INFERIORS / "sustains"
THREADS = 2
OWN_BYTES = 128
ASKS = frame("qXfer:features:read:target.xml:0,1ffff")
PACKETS = 4000  # some 3 KB of an answer each
MEGABYTES_MAX = 100
ENDS_WITHIN = 2  # seconds, as docs/threat-model.md has it


class Program:
    def __init__(self):
        self.process = subprocess.Popen([PROGRAM, str(THREADS), "300"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.owns = int(self.process.stdout.readline(), 16)
        self.place = bias(self.pid, PROGRAM) + symbols(PROGRAM)["hit"]

    def calls(self):
        """Of each thread, so far."""
        memory = code(self.pid, self.owns, THREADS * OWN_BYTES)
        return [int.from_bytes(memory[at:at + 8], "little")
                for at in range(0, len(memory), OWN_BYTES)]

    def goes_on(self, why):
        """Each of its threads, and not only by what it was in."""
        before = self.calls()
        wait_until(lambda: all(now > then + 1000 for now, then in zip(self.calls(), before)), why)

    def end(self):
        self.process.kill()
        self.process.wait()


class ByPipes(Client):
    """The other end of `serve -`."""

    def __init__(self, server):  # no socket: not the parent's
        self.server = server
        self.bytes = b""
        self.say("QStartNoAckMode")
        self.say("qSupported:")

    def send(self, body):
        self.server.stdin.write(frame(body))

    def read_some(self):
        return os.read(self.server.stdout.fileno(), 65536)


def trace_in_the_background(client, program):
    client.ask("QNonStop:1")
    told = client.say("?")
    while told != "OK":
        told = client.say("vStopped")
    client.ask("QTinit")
    client.ask("QTBuffer:circular:1")
    client.ask(f"QTDP:1:{program.place:x}:E:0:0-")
    client.ask(f"QTDP:-1:{program.place:x}:R0fff")
    client.ask("QTStart")
    client.ask("vCont;c")
    program.process.stdin.write("x")
    program.process.stdin.flush()


def ask_without_reading(descriptor):
    """Until nothing more is taken; returns the number of bytes that were."""
    os.set_blocking(descriptor, False)
    everything = memoryview(ASKS * PACKETS)
    sent = 0
    quiet = select.poll()
    quiet.register(descriptor, select.POLLOUT)
    while sent < len(everything) and quiet.poll(1000):
        try:
            sent += os.write(descriptor, everything[sent:])
        except BlockingIOError:
            time.sleep(0.001)
    return sent


def small(server_pid):
    size = int(status(server_pid, "RssAnon")) // 1024
    check(size < MEGABYTES_MAX, f"the server takes {size} MB")


def ends_soon(server):
    begin = time.monotonic()
    server.send_signal(signal.SIGTERM)
    same(server.wait(timeout=30), 128 + signal.SIGTERM, "exit status")
    return time.monotonic() - begin


def by_socket():
    """Returns how long its end took."""
    program = Program()
    try:
        with serving("--fast-tracepoints", "none", "--attach", "localhost:0",
                     str(program.pid)) as (server, port, _):
            client = Client(port)
            trace_in_the_background(client, program)
            program.goes_on("before")
            ask_without_reading(client.socket.fileno())
            program.goes_on("while nobody reads the answers")
            small(int(status(program.pid, "TracerPid")))
            took = ends_soon(server)
        wait_until(lambda: status(program.pid, "TracerPid") == "0", "it is let go")
        program.goes_on("after the server")
        return took
    finally:
        program.end()


def by_pipes():
    """And then it reads."""
    program = Program()
    words = [TRACEWELL, "serve", "--fast-tracepoints", "none", "--attach", "-", str(program.pid)]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, bufsize=0)
    try:
        client = ByPipes(server)
        trace_in_the_background(client, program)
        program.goes_on("before, by pipes")
        sent = ask_without_reading(server.stdin.fileno())
        program.goes_on("while nobody reads the pipe")
        whole, part = divmod(sent, len(ASKS))
        check(whole > 300, f"{whole} packets sent")
        answers = [client.receive() for _ in range(whole)]
        check(answers[0].startswith("l<?xml"), answers[0][:40])
        same(set(answers), {answers[0]}, "the answers")
        os.set_blocking(server.stdin.fileno(), True)
        if part:
            server.stdin.write(ASKS[part:])
            same(client.receive(), answers[0], "the last answer")
        client.ask("vCtrlC")
        client.ask("D")
        same(server.wait(timeout=30), 0, "exit status")
        program.goes_on("after the debugger")
    finally:
        server.kill()
        server.wait()
        program.end()


def main():
    print("by pipes", flush=True)
    by_pipes()
    ends = [by_socket() for _ in range(3)]
    print("ended within", *(f"{one * 1000:.0f} ms" for one in ends))
    check(max(ends) < ENDS_WITHIN, f"{ends} s until it ended")


main()
