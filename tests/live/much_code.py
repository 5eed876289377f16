#!/usr/bin/env python3
# skips
# timeout: 300
"""Programs that map much as code: what is known of it takes memory for what is code, and where a
system call is looked for without end, a tracepoint does without."""

import contextlib
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, status, wait_until  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "much_code"
MAPS_MAX = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text())


@contextlib.contextmanager
def traced(what, much, *options):
    """Yields the program, the process that traces it, and where it has a tracepoint."""
    with subprocess.Popen([PROGRAM, what, str(much)], stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            place = int(program.stdout.readline(), 16)
            with server("--once", *options, "--attach", "localhost:0", str(program.pid),
                        program=TRACEWELL) as running:
                port = int(running.wait_for(r"Listening on port (\d+)").group(1))
                client = Client(port)
                tracer = int(status(program.pid, "TracerPid"))
                client.trace([place])
                client.send("vCont;c")
                yield program, tracer, place
                has_slept = sleeps(program)
                wait_until(lambda: sleeps(program) > has_slept + 2, "it goes on")
                client.socket.sendall(b"\x03")
                check(client.receive().startswith("T02"), "Ctrl-C")
                check(client.frames_created() > 0, "hits")
        finally:
            program.kill()


def main():
    need_fast_tracepoints()
    with traced("empty", 500) as (program, tracer, place):
        with open(f"/proc/{program.pid}/mem", "rb") as memory:
            memory.seek(place)
            check(memory.read(1) != b"\xcc", "the tracepoint is fast")
        peak = int(status(tracer, "VmHWM"))
        check(peak < 250 << 10, f"for a function in 500 MiB of nothing: {peak} kB")
    # As many as the kernel lets it have, so that a look at each would take minutes.
    with traced("maps", min(60000, MAPS_MAX - 1000), "--fast-tracepoints", "none"):
        pass


def sleeps(program):
    """How often it has gone to sleep."""
    return int(status(program.pid, "voluntary_ctxt_switches"))


main()
