#!/usr/bin/env python3
# waits
"""A debugger that comes before the trace is there is kept waiting, for longer than GDB waits by
itself, and leaves when it likes."""

import os
import signal
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True

import replay_common as common
import serve_client

STEPS = ('{"catalog":{"endian":"little","machine":"x86-64"}}\n'
         '{"kind":"step","tid":7,"pc":"0x401000","opcode":"90","before":{"rip":"0x401000"}}\n'
         '{"kind":"step","tid":7,"pc":"0x401001","opcode":"c3","before":{}}\n').encode()
PATIENCE = 10  # twice a second; more than three times GDB's timeout of a second


class Replay:
    """Serves steps from a pipe; what is written to it decides when they are there."""

    def __init__(self, work, *options):
        self.server = subprocess.Popen(
            [common.TRACEWELL, "replay", *options, "-", "localhost:0"], stdin=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(work)})
        self.address = ("localhost", int(self.said("Listening on port").split()[-1]))

    def said(self, word):
        for line in self.server.stderr:
            if word in line.decode():
                return line.decode()
        common.check(False, f"the server never said {word}")

    def tell(self, content):
        self.server.stdin.write(content)
        self.server.stdin.close()

    def ended(self, status):
        self.server.stderr.close()
        common.same(self.server.wait(timeout=30), status, "exit status")


class Link:
    """Between GDB and the server; tells when the server has said `patience` pluses."""

    def __init__(self, server, then):
        self.listener = socket.create_server(("localhost", 0))
        self.server, self.then = server, then
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        debugger, _ = self.listener.accept()
        server = socket.create_connection(self.server)
        back = threading.Thread(target=pass_on, args=(debugger, server))
        back.start()
        waited, told = 0, False
        while data := server.recv(4096):
            waited += data.count(b"+") if not told else 0
            debugger.sendall(data)
            if waited >= PATIENCE and not told:
                told = True
                self.then()
        debugger.close()
        back.join()


def pass_on(source, target):
    try:
        while data := source.recv(4096):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other side was faster to leave


def coming(replay):
    """A debugger; who says nothing is none."""
    debugger = socket.create_connection(replay.address)
    debugger.sendall(serve_client.frame("qSupported"))
    return debugger


def gdb_waits(work):
    replay = Replay(work, "--once")
    link = Link(replay.address, lambda: replay.tell(STEPS))
    port = link.listener.getsockname()[1]
    said = common.gdb(work, f"""
run("set remotetimeout 1")
connected = run("target remote localhost:{port}")
result([connected, run("output/x $pc"), run("stepi"), run("output/x $pc"), run("x/i $pc")])
""")
    link.thread.join()
    link.listener.close()
    common.same(said[1], "0x401000", f"the pc: {said}")
    common.same(said[3], "0x401001", f"the pc: {said}")
    replay.ended(0)


def one_that_leaves_does_not_matter(work):
    """Nor what it said; nobody has told the trace yet."""
    replay = Replay(work, "--once")
    first = socket.create_connection(replay.address)
    first.sendall(serve_client.frame("qSupported") + serve_client.frame("?"))
    common.same(first.recv(1), b"+", "patience")
    first.close()
    replay.ended(0)  # --once
    replay = Replay(work)
    first = coming(replay)
    first.close()
    replay.said("Remote debugging from")
    replay.tell(STEPS)
    client = serve_client.Client("localhost:%d" % replay.address[1])
    common.check(client.say("?").startswith("T05"), "the second is served")
    client.vanish()
    replay.server.terminate()
    replay.ended(128 + signal.SIGTERM)


def a_stranger_uses_up_nobodys_turn(work):
    """Whatever it said, unless only a debugger says that."""
    replay = Replay(work, "--once")
    for said in (serve_client.frame("qSupported"), serve_client.frame("!")):
        stranger = socket.create_connection(replay.address)
        stranger.sendall(said)
        common.same(stranger.recv(1), b"+", "patience")
        stranger.close()
        replay.said("Remote debugging from")
    replay.tell(STEPS)
    client = serve_client.Client("localhost:%d" % replay.address[1])
    common.check(client.say("?").startswith("T05"), "the debugger is served")
    client.vanish()
    replay.ended(0)


def an_interrupt_ends_the_wait(work):
    """Also while standard input is read, and nothing is left."""
    replay = Replay(work)
    waiting = coming(replay)
    common.same(waiting.recv(1), b"+", "patience")
    replay.server.send_signal(signal.SIGINT)
    replay.ended(128 + signal.SIGINT)
    waiting.close()
    common.same(os.listdir(work), [], "files that are left")


def what_is_no_trace_ends_it(work):
    replay = Replay(work)
    waiting = coming(replay)
    replay.tell(b"no trace")
    replay.said("not a trace")
    replay.ended(3)
    waiting.close()


def main():
    common.need("gdb")
    with common.folder() as work:
        an_interrupt_ends_the_wait(work)
        one_that_leaves_does_not_matter(work)
        a_stranger_uses_up_nobodys_turn(work)
        what_is_no_trace_ends_it(work)
        gdb_waits(work)


main()
