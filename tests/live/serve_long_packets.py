#!/usr/bin/env python3
"""Packets whose answers take as long as the address space is wide: the server is no less there for
whoever wants it to end them, or to end itself."""
# timeout: 120

import pathlib
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True

import serve_client  # noqa: E402
from serve_common import Server, TRACEWELL, check, same  # noqa: E402

SIZE = 1 << 40
SOME = 1 << 24  # several looks at the connection long
NORESERVE = 0x4022  # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
PROGRAM = f"""
import mmap, os, signal
wide = mmap.mmap(-1, {SIZE}, flags={NORESERVE})
os.kill(os.getpid(), signal.SIGUSR1)
"""
PACKETS = {"qSearch": "qSearch:memory:{:x};{:x};ABCD", "qCRC": "qCRC:{:x},{:x}"}


def wide_memory(running):
    """Where it is, once the program has it."""
    pid = running.wait_for(r"pid = (\d+)").group(1)
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if end - begin >= SIZE:
            return end - SIZE
    print("skipped: the system gives no program so much of its address space")
    sys.exit()


class Talk:
    """A server with the program, and a client that has run it to where it has its memory."""

    def __init__(self, kind):
        self.running = Server([*TRACEWELL, "--remote-debug", "localhost:0", sys.executable, "-c",
                               PROGRAM])
        port = self.running.wait_for(r"Listening on port (\d+)").group(1)
        self.remote = f"localhost:{port}"
        self.client = serve_client.Client(self.remote)
        check(self.client.say("vCont;c").startswith("T"), "it stops")
        self.packet = PACKETS[kind].format(wide_memory(self.running), SIZE)
        self.times = 0

    def ask(self, behind=b""):
        """Returns while the server works."""
        self.client.socket.sendall(serve_client.frame(self.packet) + behind)
        self.times += 1
        self.running.wait_for(f'packet: "{self.packet[:12]}', self.times)

    def is_interrupted(self):
        same(self.client.receive(), "E.interrupted", self.packet)
        check(self.client.say("qC").startswith("QC"), "it goes on")


def hears_ctrl_c(talk):
    talk.ask(b"\x03")
    talk.is_interrupted()
    talk.ask()
    talk.client.socket.sendall(b"\x03")
    talk.is_interrupted()


def keeps_it_waiting(talk):
    """GDB gives up on an answer that has not begun after two seconds."""
    talk.ask()
    same([talk.client.socket.recv(1) for _ in range(3)], [b"+"] * 3, "while it works")
    talk.client.socket.sendall(b"\x03")
    talk.is_interrupted()


def misses_its_client(talk):
    talk.ask()
    talk.client.vanish()
    talk.client = serve_client.Client(talk.remote)
    check(talk.client.say("qC").startswith("QC"), "the next one is served")


def has_sent_all(talk):
    """Who ends its side of the connection may listen on: `nc -N`, and packets from a pipe."""
    some = f"qCRC:{int(talk.packet[5:].split(',')[0], 16):x},{SOME:x}"
    talk.client.socket.sendall(serve_client.frame(some))
    talk.client.socket.shutdown(socket.SHUT_WR)
    check(talk.client.receive().startswith("C"), some)
    same(talk.client.socket.recv(1), b"", "and that is the end")
    talk.client = serve_client.Client(talk.remote)


def ends(talk):
    talk.ask()
    same(talk.running.stop(), 128 + signal.SIGTERM, "status")


def from_a_pipe():
    """What does little work takes a look as well (qTfSTM), and so may every packet behind it."""
    packets = [b"qSupported:multiprocess+", b"qTfSTM", b"qC", b"qTfSTM", b"qC", b"k"]
    sent = b"+" + b"".join(serve_client.frame(packet.decode()) + b"+" for packet in packets)
    done = subprocess.run([*TRACEWELL, "-", "sleep", "60"], input=sent, capture_output=True,
                          timeout=60)
    check(b"E." not in done.stdout and done.stdout.count(b"$QC") == 2, done.stdout)


def main():
    for kind in PACKETS:
        talk = Talk(kind)
        try:
            hears_ctrl_c(talk)
            keeps_it_waiting(talk)
            misses_its_client(talk)
            if kind == "qCRC":
                has_sent_all(talk)
            ends(talk)
        finally:
            talk.running.process.kill()
            talk.running.process.wait()
    from_a_pipe()


main()
