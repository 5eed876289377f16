#!/usr/bin/env python3
# timeout: 200
"""Nonsense at a server with a live program: whole sessions of real packets, cut,
joined, mutated, out of order, too long or without an end. It must answer, live, stay small, and
leave nothing behind. Packets that reach beyond the program (files, other processes) are left out.

  packet_storm.py [SECONDS [SEED]]     (20 seconds; `make long`: a minute and more)
"""

import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import bias, serving, status, symbols, wait_until  # noqa: E402
from serve_client import frame  # noqa: E402
from trace_common import INFERIORS, SOURCES, check  # noqa: E402

PROGRAM = INFERIORS / "hammer"
BEYOND = (b"vFile", b"vAttach", b"vRun", b"qRcmd", b"QSetWorkingDir", b"QTSave", b"R")
MEGABYTES_MAX = 300


def corpus():
    """Every packet of the transcripts."""
    found = set()
    for path in (SOURCES.parent / "agent").glob("*.rsp"):
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("-> "):
                text = re.sub(r"\\x(..)", lambda hit: chr(int(hit[1], 16)), line[3:])
                found.add(text.encode("latin-1"))
    return sorted(packet for packet in found if not packet.startswith(BEYOND))


def mutate(rng, packet, packets):
    data = bytearray(packet)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.choice((b"0", b"f" * 16, b"-1", b":", b";", b",", b"8" * 40))
        elif kind == 2:
            del data[at:at + rng.randrange(8)]
        elif kind == 3:
            data[at:] = rng.choice(packets)[rng.randrange(8):]
        elif kind == 4:
            data += data[at:]
        elif kind == 5 and at < len(data):
            data[at:at + 1] = b"0123456789abcdefEFRXMS-:;,"[rng.randrange(26):][:1]
    return bytes(data)


class Storm:
    def __init__(self, seconds, seed):
        self.rng = random.Random(seed)
        self.packets = corpus()
        check(len(self.packets) > 200, f"{len(self.packets)} packets to begin with")
        self.end = time.monotonic() + seconds
        self.sent = 0

    def packet(self, places):
        text = mutate(self.rng, self.rng.choice(self.packets), self.packets)
        if self.rng.random() < 0.3:  # about places that there are
            text = re.sub(rb"\b0*401[0-9a-f]{3}\b", b"%x" % self.rng.choice(places), text)
        return b"?" if text.startswith(BEYOND) else text

    def bytes(self, places):
        whole = frame(self.packet(places))
        luck = self.rng.random()
        if luck < 0.03:
            return whole[:self.rng.randrange(len(whole))]
        if luck < 0.05:
            return b"\x03"
        if luck < 0.06:
            return b"$" + b"m" * 300000 + b"#00"
        if luck < 0.07:
            return self.rng.randbytes(50)
        return whole

    def session(self, port, places):
        """Until the server hangs up, or enough has been said."""
        with socket.create_connection(("localhost", port), timeout=30) as client:
            client.sendall(frame("qSupported:"))  # else few sessions get beyond the first packet
            client.sendall(frame("QStartNoAckMode") + b"+" if self.rng.random() < 0.8 else b"")
            for _ in range(self.rng.randrange(1, 400)):
                client.sendall(self.bytes(places))
                self.sent += 1
                if self.rng.random() < 0.2 and not self.listen(client):
                    return

    def listen(self, client):
        client.settimeout(0.001)
        try:
            return bool(client.recv(1 << 20))
        except TimeoutError:
            return True
        finally:
            client.settimeout(30)


def answers(port, server):
    """To a sane debugger; a server that is busy with the last one lets it wait for a moment. False:
    it was told to end (`k` without extended mode)."""
    try:
        ask(port)
    except ConnectionError:
        check(server.wait(timeout=30) == 0, "the server ended by itself")
        return False
    return True


def ask(port):
    with socket.create_connection(("localhost", port), timeout=30) as client:
        client.sendall(frame("qSupported:swbreak+"))
        got = b""
        while b"PacketSize=" not in got:
            more = client.recv(65536)
            if not more:
                raise ConnectionResetError
            got += more


def one_program(storm):
    """Packets may end the program; then the next one is taken."""
    program = subprocess.Popen([PROGRAM, "2", "0"], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: status(program.pid, "Threads") == "3", "threads")
        base = bias(program.pid, PROGRAM)
        places = [base + at for name, at in symbols(PROGRAM).items() if name.startswith("site_")]
        os.environ["TRACEWELL_FAST"] = random.choice(("all", "none"))
        words = ["--multi", "--attach", "localhost:0", str(program.pid)]
        with serving(*words) as (server, port, _):
            tracer = int(status(program.pid, "TracerPid"))
            while time.monotonic() < storm.end and status(program.pid, "TracerPid") == str(tracer):
                try:
                    storm.session(port, places)
                except (BrokenPipeError, ConnectionResetError, TimeoutError):
                    pass  # the server may hang up on those who break the protocol
                if not answers(port, server):
                    break
                used = int(status(tracer, "VmRSS")) // 1024
                check(used < MEGABYTES_MAX, f"the server takes {used} MB")
            server.terminate()
            code = server.wait(timeout=30)
            check(code in (0, 128 + 15), f"the server's exit status is {code}")
        state = status(program.pid, "State")
        # Job control (T) is what a signal among the packets may have asked for.
        check(state != "t", f"the program stands: {state}")
    finally:
        program.kill()
        program.wait()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    storm = Storm(seconds, seed)
    programs = 0
    while time.monotonic() < storm.end:
        one_program(storm)
        programs += 1
    print(f"{storm.sent} packets, {programs} programs")


main()
