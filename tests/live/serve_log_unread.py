#!/usr/bin/env python3
"""A server whose standard error is a pipe that nobody reads goes on serving, says how many lines
are missing once somebody does, and can be ended; so can one whose --debug-file is such a pipe."""
# timeout: 120

import os
import select
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import serve_client
from serve_common import BIN, PROGRAM, check, folder, same

STEPS = ('{"catalog":{"endian":"little","machine":"x86-64"}}\n'
         '{"kind":"step","tid":7,"pc":"0x401000","opcode":"90","before":{"rip":"0x401000"}}\n')


class Unread:
    """Its standard error is read to the line that names its port, and filled up then."""

    def __init__(self, *words):
        self.reading, self.writing = os.pipe()
        self.process = subprocess.Popen([BIN / "tracewell", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.writing)
        said = b""
        while b"Listening on port" not in said or not said.endswith(b"\n"):
            said += os.read(self.reading, 4096)
        self.port = int(said.rsplit(b"Listening on port", 1)[1].split()[0])

    def fill(self):
        # Non-blocking for a moment, which the server shares: it is idle now.
        os.set_blocking(self.writing, False)
        try:
            while True:
                os.write(self.writing, b"x" * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(self.writing, True)

    def stranger(self):
        """Of whom the server has something to say; and it has said it."""
        with socket.create_connection(("localhost", self.port)) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            while stranger.recv(4096):
                pass

    def read_to(self, wanted):
        said = b""
        while wanted not in said:
            more = os.read(self.reading, 65536)
            check(more, f"no {wanted!r} in {said!r}")
            said += more
        return said

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        same(self.process.wait(timeout=30), 128 + signal.SIGTERM, "exit status")
        os.close(self.reading)
        os.close(self.writing)


def goes_on(*words):
    server = Unread(*words)
    server.fill()
    for _ in range(3):
        server.stranger()
    client = serve_client.Client(f"localhost:{server.port}")
    check(client.say("?").startswith("T"), "a debugger is served")
    client.vanish()
    # The pipe is empty now; what comes next is written, behind the number of what was not.
    os.set_blocking(server.reading, False)
    try:
        while os.read(server.reading, 65536):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(server.reading, True)
    server.stranger()
    said = server.read_to(b"closed: it does not speak")
    check(b" lines are missing here: nobody read them\n" in said, f"{said!r}")
    server.fill()
    server.stranger()
    server.end()


def waits_and_ends(fifo, number):
    """It waits until its debugging output is read, and no longer when it is to end."""
    os.mkfifo(fifo)
    unread = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    server = Unread("serve", "--multi", "--remote-debug", "--debug-file", fifo, "localhost:0")
    client = serve_client.Client(f"localhost:{server.port}")
    client.socket.sendall(serve_client.frame("vMustReplyEmpty") * 3000)  # more than a pipe holds
    room = select.poll()
    room.register(unread, select.POLLOUT)
    while room.poll(0):
        time.sleep(0.01)
    server.process.send_signal(number)
    try:
        same(server.process.wait(timeout=30), 128 + number, "exit status")
    finally:
        os.close(unread)  # lets go of one that waits
        client.vanish()


def main():
    goes_on("serve", "--multi", "localhost:0", PROGRAM)
    with folder() as work:
        trace = os.path.join(work, "steps.jsonl")
        with open(trace, "w", encoding="ascii") as out:
            out.write(STEPS)
        goes_on("replay", trace, "localhost:0")
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            waits_and_ends(os.path.join(work, f"fifo-{number}"), number)


main()
