#!/usr/bin/env python3
# timeout: 200
"""A server is told to end while many threads do nothing but hit a fast tracepoint. To lead all of
them out of its code takes a while; nothing of it is left in the program then."""

import pathlib
import signal
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, serving, status, wait_until  # noqa: E402
from sustained import OWN_BYTES, Sustained  # noqa: E402
from trace_common import check, need_fast_tracepoints, same  # noqa: E402

THREADS = 60
END_SECONDS = 100


def calls(program):
    """Of each thread, so far."""
    with open(f"/proc/{program.pid}/mem", "rb", 0) as memory:
        memory.seek(program.owns)
        owns = memory.read(THREADS * OWN_BYTES)
    return [struct.unpack_from("<Q", owns, i * OWN_BYTES)[0] for i in range(THREADS)]


def main():
    need_fast_tracepoints()
    program = Sustained(THREADS, seconds=2 * END_SECONDS)
    try:
        with serving("--attach", "localhost:0", str(program.pid)) as (server, port, _):
            client = Client(port)
            client.ask("QTinit")
            client.ask(f"QTBuffer:size:{100 << 20:x}")
            client.ask("QTBuffer:circular:1")
            client.ask(f"QTDP:1:{program.place:x}:E:0:0:F5-")
            client.ask(f"QTDP:-1:{program.place:x}:RFFFFFFFF")
            client.console("QTStart")
            client.send("vCont;c")
            program.poke()
            wait_until(lambda: min(calls(program)) > 0, "all threads hit")
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=END_SECONDS)
        same(status(program.pid, "TracerPid"), "0", "its tracer")
        maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text()
        check("memfd:tracewell" not in maps, f"what is left in the program: {maps}")
        before = calls(program)
        wait_until(lambda: all(now > then for now, then in zip(calls(program), before)),
                   "all threads run on")
    finally:
        program.end()


main()
