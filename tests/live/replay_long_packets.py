#!/usr/bin/env python3
"""Packets about a large image whose answers take hours: a replay is no less there for whoever wants
it to end them, or to end itself. So it is with memory that a recorded run may or may not know."""
# timeout: 120

import signal
import socket
import struct
import sys

sys.dont_write_bytecode = True

import replay_common as common  # noqa: E402
import serve_client  # noqa: E402
from replay_common import check, same  # noqa: E402
from serve_common import BIN, SOURCE_FOLDER, Server  # noqa: E402

BASE, SIZE = 0x400000, 1 << 40
SOME = 1 << 22  # several looks at the connection long
PACKETS = {"qSearch": "qSearch:memory:{:x};{:x};ABCD", "qCRC": "qCRC:{:x},{:x}"}
FRAMES = SOURCE_FOLDER / "tests/formats/tfile/gdb-tsave/input.tf"
STEPS = ('{"catalog":{"endian":"little","machine":"x86-64"}}\n'
         '{"kind":"step","tid":7,"pc":"0x1000","opcode":"90"}\n'
         '{"kind":"step","tid":7,"pc":"0x1001","opcode":"c3"}\n')


def make_image(path):
    """A program of one segment, which is a hole."""
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, BASE, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, SIZE, SIZE, 0x1000)
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(SIZE)


class Talk:
    def __init__(self, trace, image, socket_path, kind):
        self.running = Server([BIN / "tracewell", "replay", "--remote-debug", trace,
                               f"unix:{socket_path}", "--image", image])
        self.running.wait_for("Listening on")
        self.remote = f"unix:{socket_path}"
        self.kind = kind
        self.packet = PACKETS[kind].format(BASE, SIZE - 0x1000)
        self.client = serve_client.Client(self.remote)
        self.times = 0

    def ask(self, behind=b""):
        """Returns while it works."""
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
    """Who ends its side of the connection may listen on."""
    some = PACKETS[talk.kind].format(BASE, SOME)
    talk.client.socket.sendall(serve_client.frame(some))
    talk.client.socket.shutdown(socket.SHUT_WR)
    check(talk.client.receive()[0] in "C0", some)
    same(talk.client.socket.recv(1), b"", "and that is the end")
    talk.client = serve_client.Client(talk.remote)


def ends(talk):
    talk.ask()
    same(talk.running.stop(), 128 + signal.SIGTERM, "status")


def main():
    with common.folder() as work:
        image, steps = work / "image", work / "steps.jsonl"
        make_image(image)
        steps.write_text(STEPS)
        for trace in (FRAMES, steps):
            for kind in PACKETS:
                talk = Talk(trace, image, work / "socket", kind)
                try:
                    hears_ctrl_c(talk)
                    keeps_it_waiting(talk)
                    misses_its_client(talk)
                    has_sent_all(talk)
                    ends(talk)
                finally:
                    talk.running.process.kill()
                    talk.running.process.wait()


main()
