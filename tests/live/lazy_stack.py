#!/usr/bin/env python3
"""A hit that needs more stack than there is goes on once the program's handler of SIGSEGV has
supplied it, also when the server has let go of the program meanwhile."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

import rsp_client  # noqa: E402
from rsp_client import wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402



def stack_pointer(pid):
    """While it waits in the kernel, or 0."""
    words = pathlib.Path(f"/proc/{pid}/syscall").read_text().split()
    return int(words[-2], 16) if len(words) > 2 else 0


def main():
    program = subprocess.Popen([INFERIORS / "lazy_stack"], stdout=subprocess.PIPE, text=True)
    address, handlers = (int(word, 16) for word in program.stdout.readline().split())
    server = Server([*TRACEWELL, "--once", "--attach", "localhost:0", str(program.pid)])
    port = int(server.wait_for(r"Listening on port (\d+)").group(1))
    client = rsp_client.Client(port)
    client.ask("?", None)
    client.ask("QPassSignals:b")
    client.trace([address])
    client.send("vCont;c")
    # Which the program alone never needs.
    wait_until(lambda: handlers < stack_pointer(program.pid) < handlers + 65536, "the handler")
    client.socket.sendall(b"\3")
    check(client.receive().startswith("T"), "it stops")
    client.ask("QTStop")
    client.ask("D")
    client.vanish()
    server.ended()
    same(program.wait(timeout=60), 7, f"the program's own end: {server.said()}")
    program.stdout.close()


main()
