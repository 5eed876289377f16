#!/usr/bin/env python3
"""Packets about a large image whose answers take hours: a replay is no less there for whoever wants
it to end them, or to end itself. So it is with memory that a recorded run may or may not know."""
# timeout: 120

import struct
import sys

sys.dont_write_bytecode = True

import replay_common as common  # noqa: E402
import serve_client  # noqa: E402
from long_packet_talk import PACKETS, Talk  # noqa: E402
from serve_common import BIN, SOURCE_FOLDER, Server  # noqa: E402

BASE, SIZE = 0x400000, 1 << 40
SOME = 1 << 22  # several looks at the connection long
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


def begun(trace, image, socket_path, kind):
    running = Server([BIN / "tracewell", "replay", "--remote-debug", trace, f"unix:{socket_path}",
                      "--image", image])
    running.wait_for("Listening on")
    remote = f"unix:{socket_path}"
    return Talk(running, serve_client.Client(remote), remote, kind, BASE, SIZE - 0x1000, SOME)


def main():
    with common.folder() as work:
        image, steps = work / "image", work / "steps.jsonl"
        make_image(image)
        steps.write_text(STEPS)
        for trace in (FRAMES, steps):
            for kind in PACKETS:
                begun(trace, image, work / "socket", kind).all_of_it()


main()
