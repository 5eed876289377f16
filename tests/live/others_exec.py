#!/usr/bin/env python3
# skips
"""A process that nobody traces, and that stays in the middle of exec, holds neither the server nor
the program that it attaches to, nor commands that ask whether that process lives."""

import pathlib
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from rsp_client import Client  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402


def begun(folder):
    held = subprocess.Popen([INFERIORS / "stays_in_exec", folder], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    line = held.stdout.readline()
    if not line:
        print("skipped: no file system of a program's own may be mounted here")
        sys.exit()
    return held, int(line)


def attaches(program):
    with server("--attach", "localhost:0", str(program.pid), program=TRACEWELL) as running:
        port = int(running.wait_for(r"Listening on port (\d+)").group(1))
        client = Client(port)
        client.say("qSupported:multiprocess+")
        check(client.say("?").startswith("T"), "it stands")
        same(running.stop(), 128 + signal.SIGTERM, "status")
    same(pathlib.Path(f"/proc/{program.pid}/status").read_text().count("TracerPid:\t0"), 1,
         "nobody traces it")


def main():
    with tempfile.TemporaryDirectory() as work:
        held, pid = begun(work)
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        check("VmExe:\t       0 kB" in status, status)
        program = subprocess.Popen(["sleep", "1000"])
        try:
            attaches(program)
            same(program.poll(), None, "it goes on")
        finally:
            program.kill()
            program.wait()
            held.stdin.close()
            held.wait()


main()
