#!/usr/bin/env python3
# waits
# timeout: 120
"""Breakpoint commands print to a standard output that nobody reads: threads that hit go on, the
server answers and ends when it is told to, and who reads after all is told what is missing."""

import pathlib
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, code, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, TRACEWELL, check, same  # noqa: E402

PROGRAM = INFERIORS / "sustains"
OWN_BYTES = 128
TEXT = "what a command of a breakpoint prints, " + 9 * "and once more, " + "%d\\n\\0"
MISSING = r"tracewell: (\d+) texts are missing here: nobody read what breakpoint commands print"
PIPE_BYTES = 1 << 16
QUEUE_BYTES = 1 << 20
ENDS_WITHIN = 2  # seconds, as docs/threat-model.md has it


def printing():
    """Bytecode: printf of the text with 4711."""
    text = TEXT.encode().decode("unicode_escape").encode()
    number = b"\x23\x12\x67"  # const16
    return number + b"\x22\x00\x22\x00\x34\x01" + len(text).to_bytes(2, "big") + text + b"\x27"


class Session:
    def __init__(self):
        self.program = subprocess.Popen([PROGRAM, "1", "300"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.owns = int(self.program.stdout.readline(), 16)
        self.server = subprocess.Popen(
            [TRACEWELL, "serve", "--attach", "localhost:0", str(self.program.pid)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = b""
        while b"Listening on port" not in said:
            said = self.server.stderr.readline()
            check(said, "the server says where it listens")
        self.client = Client(re.search(r"port (\d+)", said.decode())[1])

    def begin(self):
        place = bias(self.program.pid, PROGRAM) + symbols(PROGRAM)["hit"]
        body = printing()
        self.client.ask("QNonStop:1")
        told = self.client.say("?")
        while told != "OK":
            told = self.client.say("vStopped")
        self.client.ask(f"Z0,{place:x},1;cmds:0,X{len(body):x},{body.hex()}")
        self.client.ask("vCont;c")
        self.program.stdin.write("x")
        self.program.stdin.flush()

    def hits(self):
        return int.from_bytes(code(self.program.pid, self.owns, 8), "little")

    def stands(self):
        """Each of its threads, for a tracer."""
        return all("\nState:\tt" in (task / "status").read_text()
                   for task in pathlib.Path(f"/proc/{self.program.pid}/task").iterdir())

    def end(self):
        self.server.stdout.close()  # who waits for a reader waits no more
        for one in (self.server, self.program):
            one.kill()
            one.wait()


def unread(session):
    """As many hits as fill pipe and queue three times."""
    wanted = 3 * (PIPE_BYTES + QUEUE_BYTES) // len(TEXT)
    wait_until(lambda: session.hits() > wanted, "the program goes on while nobody reads")
    begin = time.monotonic()
    check(session.client.say("qC").startswith("QC"), "the server answers")
    took = time.monotonic() - begin
    check(took < 1, f"{took} s until it answered")


def read_after_all():
    session = Session()
    try:
        session.begin()
        unread(session)
        session.client.ask("vCont;t")
        wait_until(session.stands, "it stands")
        hits = session.hits()
        session.client.ask("D")
        words, notices = session.server.communicate(timeout=30)
        lines = words.decode().splitlines()
        missing = [line for line in lines if "missing" in line]
        same(len(missing), 1, f"notes: {missing}")
        texts = int(re.fullmatch(MISSING, missing[0])[1])
        printed = [line for line in lines if line not in missing]
        same(set(printed), {lines[0]}, "what was printed")
        check(lines[0].endswith("and once more, 4711"), lines[0])
        check(hits - 1 <= len(printed) + texts <= hits + 1,
              f"{len(printed)} lines and {texts} missing, {hits} hits")
        check(b"nobody read" not in notices, notices)
        same(session.server.returncode, 0, "exit status")
        print(f"{len(printed)} lines read, {texts} missing")
    finally:
        session.end()


def never_read():
    """The last words are for standard error."""
    session = Session()
    try:
        session.begin()
        unread(session)
        begin = time.monotonic()
        session.server.send_signal(signal.SIGTERM)
        same(session.server.wait(timeout=30), 128 + signal.SIGTERM, "exit status")
        took = time.monotonic() - begin
        check(took < ENDS_WITHIN, f"{took} s until it ended")
        notices = session.server.stderr.read().decode()
        check(re.search(r"tracewell: nobody read \d+ of the texts that breakpoint commands "
                        "printed", notices), notices)
        wait_until(lambda: status(session.program.pid, "TracerPid") == "0", "it is let go")
        print(f"ended within {took * 1000:.0f} ms")
    finally:
        session.end()


read_after_all()
never_read()
