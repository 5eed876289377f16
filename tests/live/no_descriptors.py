#!/usr/bin/env python3
"""A server that has no descriptors left: children of the program that it traces run on as they
would, without its traps. And programs that it starts have the limit that it was started with."""

import os
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True

from rsp_client import Client, bias, status, symbols  # noqa: E402
from serve_common import TRACEWELL, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402


def children_run_on():
    program = INFERIORS / "families"
    with server("--once", "--fast-tracepoints", "none", "localhost:0", str(program), "fork",
                program=TRACEWELL) as running:
        port = int(running.wait_for(r"Listening on port (\d+)").group(1))
        pid = int(running.wait_for(r"pid = (\d+)").group(1))
        client = Client(port)
        client.ask("QPassSignals:14")  # SIGCHLD
        client.trace([symbols(program)["marker"] + bias(pid, program)])
        tracer = int(status(pid, "TracerPid"))
        held = {int(name) for name in os.listdir(f"/proc/{tracer}/fd")}
        soft, hard = resource.prlimit(tracer, resource.RLIMIT_NOFILE)
        same(soft, hard, "as many descriptors as there may be")
        # No number is free below it.
        free = min(set(range(max(held) + 2)) - held)
        resource.prlimit(tracer, resource.RLIMIT_NOFILE, (free, hard))
        same(client.say("vCont;c"), "W00", "its child has computed what it should")


def programs_have_their_own_limit():
    shell = "exec \"$0\" serve --once localhost:0 /bin/sh -c 'ulimit -Sn; ulimit -Hn'"
    with subprocess.Popen(["sh", "-c", "ulimit -Sn 321; ulimit -Hn 1234; " + shell, *TRACEWELL[:1]],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        port = None
        for line in run.stderr:
            found = re.search(r"Listening on port (\d+)", line)
            if found:
                port = int(found[1])
                break
        client = Client(port)
        same(client.say("vCont;c"), "W00", "the end")
        client.socket.close()
        same(run.stdout.read().split(), ["321", "1234"], "limits of the program")


def main():
    children_run_on()
    programs_have_their_own_limit()


main()
