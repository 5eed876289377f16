#!/usr/bin/env python3
# skips
"""Where the kernel does not tell whose numbers a system call means (PTRACE_GET_SYSCALL_INFO, of
Linux 5.3), programs make calls for us all the same, but for those whose calls are filtered. A
filter of the server's own makes this kernel such a one."""

import ctypes
import errno
import pathlib
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, symbols, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

PROGRAM = INFERIORS / "dispatched"
SYS_PTRACE, REQUEST, INFO = 101, 16, 0x420E  # x86-64; where seccomp_data has the first argument
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
ALLOWED, REFUSED = 0x7FFF0000, 0x00050000 | errno.EIO


def filter_words():
    """linux/filter.h: load a word, go on if it equals, return."""
    load, equals, gives = 0x20, 0x15, 0x06
    return [(load, 0, 0, 0), (equals, 0, 3, SYS_PTRACE), (load, 0, 0, REQUEST),
            (equals, 0, 1, INFO), (gives, 0, 0, REFUSED), (gives, 0, 0, ALLOWED)]


def be_older():
    words = filter_words()
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *word) for word in words))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(words),
                                                      ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, MODE_FILTER, program, 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def anonymous_code(pid):
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [line for line in lines if " r-xp 00000000 00:00 0" in line and "[" not in line]


def traced(program, mapped):
    """Through a server on an older kernel, which maps so many stretches for code of its own."""
    server = Server([*TRACEWELL, "--once", "--fast-tracepoints", "none", "--attach", "localhost:0",
                     str(program.pid)], preexec_fn=be_older)
    client = Client(int(server.wait_for(r"Listening on port (\d+)").group(1)))
    client.ask("QPassSignals:0c")  # SIGSYS
    client.trace([bias(program.pid, PROGRAM) + symbols(PROGRAM)["tick"]])
    client.send("vCont;c")
    wait_until(lambda: client.stands_after(20), "hits")
    same(len(anonymous_code(program.pid)), mapped, "room for copies of instructions")
    client.ask("QTStop")
    client.ask("D")
    same(server.ended(), 0, server.said())
    same(anonymous_code(program.pid), [], "that room, behind the end")


def main():
    for filtered, mapped in ((None, 1), (be_older, 0)):
        program = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   preexec_fn=filtered)
        try:
            if program.stdout.readline() != b"ready\n":
                same(program.wait(timeout=60), 77, "the program's own word")
                print("skipped: no Syscall User Dispatch here")
                return
            traced(program, mapped)
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


main()
