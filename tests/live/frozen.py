#!/usr/bin/env python3
# waits
"""A program that is frozen (cgroup freezer, as `docker pause`) while a trace begins: whatever lets
go of it meanwhile, it goes on unharmed when it is thawed. The server's other programs stand still
meanwhile, so that nothing waits for it. Where the server cannot see it (no /sys/fs/cgroup, as where
it is frozen a moment later), it is left behind at the end. Who attaches to one that is frozen
already is told so at once."""
# timeout: 180

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import rsp_client  # noqa: E402
from rsp_client import status, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")


@contextlib.contextmanager
def group(pid):
    folder = FREEZER / f"tracewell-{pid}"
    folder.mkdir()
    try:
        (folder / "cgroup.procs").write_text(str(pid))
        yield folder
    finally:
        (folder / "freezer.state").write_text("THAWED")
        with contextlib.suppress(ProcessLookupError):
            (FREEZER / "cgroup.procs").write_text(str(pid))
        wait_until(lambda: not (folder / "cgroup.procs").read_text(), "the group is empty")
        folder.rmdir()


BLIND = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh"]


@contextlib.contextmanager
def frozen(sees):
    """The program, frozen since its debugger asked for a trace to begin, and its server, which
    `sees` that."""
    program = subprocess.Popen([INFERIORS / "ticks"], stdout=subprocess.PIPE, text=True)
    address = int(program.stdout.readline(), 16)
    with group(program.pid) as folder:
        server = Server([*([] if sees else BLIND), *TRACEWELL, "--attach", "localhost:0",
                         str(program.pid)])
        client = rsp_client.Client(int(server.wait_for(r"Listening on port (\d+)").group(1)))
        client.ask("?", None)
        client.ask("QTinit")
        client.ask(f"QTDP:1:{address:016x}:E:0:0-")
        client.ask(f"QTDP:-1:{address:016x}:R03")
        (folder / "freezer.state").write_text("FROZEN")
        begin = time.monotonic()
        client.ask("QTStart", None)  # however that ends
        took = time.monotonic() - begin
        check(not sees or took < 3, f"QTStart took {took} s")
        yield program, server, client
        (folder / "freezer.state").write_text("THAWED")
        wait_until(lambda: status(program.pid, "TracerPid") == "0", "it is let go")
        program.send_signal(signal.SIGUSR1)
        same(program.wait(timeout=60), 7, f"the program's own end: {server.said()}")
    program.stdout.close()


def it_is_detached(sees):
    with frozen(sees) as (_, server, client):
        begin = time.monotonic()
        client.ask("D", None)
        took = time.monotonic() - begin
        check(not sees or took < 3, f"D took {took} s")
        client.vanish()
    server.stop()


def the_server_ends(sees):
    with frozen(sees) as (program, server, client):
        tracer = int(status(program.pid, "TracerPid"))
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(timeout=60)
        if not sees:
            check(status(tracer, "State") != "", "what traces has not ended")
            check("stays behind" in server.said(), server.said())
    wait_until(lambda: status(tracer, "State")[:1] in ("", "Z"), "what traced ends")


def it_is_not_attached_to():
    """A debugger would wait in vain for the answer to its first packet."""
    program = subprocess.Popen([INFERIORS / "ticks"], stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    with group(program.pid) as folder:
        (folder / "freezer.state").write_text("FROZEN")
        begin = time.monotonic()
        server = subprocess.Popen([*TRACEWELL, "--attach", "localhost:0", str(program.pid)],
                                  stderr=subprocess.PIPE, text=True)
        said = server.stderr.readline()
        took = time.monotonic() - begin
        check("is frozen" in said and took < 3, f"{took} s: {said}")
        check(server.wait(timeout=10) != 0, "status 0")
        (folder / "freezer.state").write_text("THAWED")
        server.stderr.close()
        wait_until(lambda: status(program.pid, "TracerPid") == "0", "it is let go")
        program.send_signal(signal.SIGUSR1)
        same(program.wait(timeout=60), 7, "the program's own end")
    program.stdout.close()


def main():
    if os.getuid() != 0 or not os.access(FREEZER / "cgroup.procs", os.W_OK):
        print("skipped: it takes root and the freezer of cgroup v1")
        sys.exit()
    it_is_not_attached_to()
    for sees in (True, False):
        it_is_detached(sees)
        the_server_ends(sees)


main()
