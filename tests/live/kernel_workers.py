#!/usr/bin/env python3
# skips
"""A thread that never comes out of the kernel (io_uring's) makes no calls for the server: where
there is one, tracing begins and ends as soon as elsewhere."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, need, same  # noqa: E402

FILE = INFERIORS / "kernel_workers"
IO_WORKER, USER_WORKER = 0x10, 0x4000  # flags of /proc/PID/task/TID/stat


def workers(pid):
    """The program's threads that are the kernel's alone."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        flags = int((task / "stat").read_text().rsplit(")", 1)[1].split()[6])
        if flags & (IO_WORKER | USER_WORKER):
            found.append(int(task.name))
    return found


def private_code(pid):
    """Pages that the server has mapped for code."""
    return [line for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
            if " r-xp " in line and len(line.split()) == 5]


def trace(program):
    with serving("--once", "--fast-tracepoints", "none", "--attach", "localhost:0",
                 str(program.pid)) as (server, port, _):
        client = Client(port)
        client.say("?")
        client.trace([bias(program.pid, FILE) + symbols(FILE)["turn"]])
        check(private_code(program.pid), "the server's code is in the program")
        client.send("vCont;c")
        wait_until(lambda: client.stands_after(20), "frames")
        same(client.say("QTStop"), "OK", "QTStop")
        same(client.say("D"), "OK", "let go")
        same(server.wait(timeout=30), 0, "the server's end")
    same(private_code(program.pid), [], "nothing of the server's stays")


def main():
    need("nm")
    with subprocess.Popen([FILE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        if program.stdout.readline() != "ready\n":
            same(program.wait(timeout=60), 77, "it makes no such thread")
            print("skipped: the kernel has no io_uring for this program")
            return
        check(workers(program.pid), "no thread of the kernel's, though it has io_uring")
        trace(program)
        check(workers(program.pid), "its worker lives")
        program.stdin.write("x")
        program.stdin.close()
        same(program.wait(timeout=60), 0, "its end")


main()
