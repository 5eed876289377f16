#!/usr/bin/env python3
# waits
"""A server that is held in the kernel, by memory whose file system does not answer, can be ended:
what traces is left behind, which is said, and ends once the file system is gone."""
# timeout: 120

import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

import serve_client  # noqa: E402
from rsp_client import status, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, folder, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402


def is_over(pid):
    return status(pid, "State")[:1] in ("", "Z")


def skip(what):
    print(f"skipped: it takes {what}")
    sys.exit()


def reads_page(tracer, page):
    """Its number, descriptor, buffer, size and offset."""
    call = pathlib.Path(f"/proc/{tracer}/syscall").read_text().split()
    return call[0] == "17" and int(call[4], 16) == int(page, 16)  # pread64


def main():
    if os.getuid() != 0:
        skip("root, for a file system of its own")
    with folder() as work:
        inside = pathlib.Path(work, "files")
        inside.mkdir()
        with subprocess.Popen([INFERIORS / "unanswered", inside], stdout=subprocess.PIPE,
                              text=True) as program:
            line = program.stdout.readline()
            if not line:
                skip("FUSE")
            page, answering = line.split()
            server = Server([*TRACEWELL, "--attach", "localhost:0", str(program.pid)])
            port = server.wait_for(r"Listening on port (\d+)").group(1)
            client = serve_client.Client(f"localhost:{port}")
            face = server.process.pid
            tracer = int(pathlib.Path(f"/proc/{face}/task/{face}/children").read_text())
            client.send(f"m{page},8")
            wait_until(lambda: reads_page(tracer, page), "it is held")
            server.process.send_signal(signal.SIGTERM)
            same(server.process.wait(timeout=60), 1, "exit status")
            check(status(tracer, "State").startswith("D"), "it is held still")
            os.kill(int(answering), signal.SIGKILL)
            wait_until(lambda: is_over(tracer), "the process that traces ends")
            check("is held in the kernel" in server.said(), server.said())
            same(status(program.pid, "TracerPid"), "0", "the program is let go")
            program.kill()


main()
