#!/usr/bin/env python3
"""Packets whose answers take as long as the address space is wide: the server is no less there for
whoever wants it to end them, or to end itself."""
# timeout: 120

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

import serve_client  # noqa: E402
from long_packet_talk import PACKETS, Talk  # noqa: E402
from serve_common import Server, TRACEWELL, check  # noqa: E402

SIZE = 1 << 40
SOME = 1 << 24  # several looks at the connection long
NORESERVE = 0x4022  # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
PROGRAM = f"""
import mmap, os, signal
wide = mmap.mmap(-1, {SIZE}, flags={NORESERVE})
os.kill(os.getpid(), signal.SIGUSR1)
"""


def wide_memory(running):
    """Where it is, once the program has it."""
    pid = running.wait_for(r"pid = (\d+)").group(1)
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if end - begin >= SIZE:
            return end - SIZE
    print("skipped: the system gives no program so much of its address space")
    sys.exit()


def begun(kind):
    """A server with the program, and a client that has run it to where it has its memory."""
    running = Server([*TRACEWELL, "--remote-debug", "localhost:0", sys.executable, "-c", PROGRAM])
    remote = f"localhost:{running.wait_for(r'Listening on port ([0-9]+)').group(1)}"
    client = serve_client.Client(remote)
    check(client.say("vCont;c").startswith("T"), "it stops")
    return Talk(running, client, remote, kind, wide_memory(running), SIZE, SOME)


def from_a_pipe():
    """What does little work takes a look as well (qTfSTM), and so may every packet behind it."""
    packets = [b"qSupported:multiprocess+", b"qTfSTM", b"qC", b"qTfSTM", b"qC", b"k"]
    sent = b"+" + b"".join(serve_client.frame(packet.decode()) + b"+" for packet in packets)
    done = subprocess.run([*TRACEWELL, "-", "sleep", "60"], input=sent, capture_output=True,
                          timeout=60)
    check(b"E." not in done.stdout and done.stdout.count(b"$QC") == 2, done.stdout)


def main():
    for kind in PACKETS:
        begun(kind).all_of_it(sends_all=kind == "qCRC")
    from_a_pipe()


main()
