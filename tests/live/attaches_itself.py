#!/usr/bin/env python3
"""A server that is told to attach to itself refuses, as gdbserver does, and signals end it."""

import contextlib
import os
import signal
import sys

sys.dont_write_bytecode = True

from rsp_client import Client, children_of, status  # noqa: E402
from serve_common import TRACEWELL, check, same, server  # noqa: E402


def main():
    with server("--multi", "localhost:0", program=TRACEWELL) as running:
        port = int(running.wait_for(r"Listening on port (\d+)").group(1))
        client = Client(port)
        client.say("qSupported:multiprocess+")
        front = running.process.pid
        tracers = children_of(front)
        try:
            for pid in (front, *tracers):
                reply = client.say(f"vAttach;{pid:x}")
                check(f"process {pid} is this server" in reply, reply)
            same(status(front, "TracerPid"), "0", "who traces the server")
            running.process.send_signal(signal.SIGTERM)
            running.process.wait(timeout=20)
        except BaseException:  # what is traced by its own child hands no signal on
            for pid in tracers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise


main()
