#!/usr/bin/env python3
# skips
# timeout: 200
"""Control groups with a memory limit: a traced program at its limit is not killed for the memory of
the trace, and its tracepoints are traps where there is not enough left to it for anything else; a
server at its own limit refuses a buffer that does not fit, in a sentence."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import rsp_client  # noqa: E402
from attached import attached, fast  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, alive  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints, same  # noqa: E402

GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
PROGRAM = INFERIORS / "busy_leader"
LIMIT = 64 << 20
# A program with less than a mebibyte has no pads. What the kernel counts falls by itself, too: it
# charges by batches, and takes back what was not used.
LEFT_KIB, TOO_LITTLE_KIB = 256, 1024
IN_GROUP = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"']


@contextlib.contextmanager
def group(name, limit=LIMIT):
    folder = GROUPS / f"tracewell-{os.getpid()}-{name}"
    folder.mkdir()
    try:
        (folder / "memory.limit_in_bytes").write_text(str(limit))
        yield folder
    finally:
        wait_until(lambda: not (folder / "cgroup.procs").read_text(), "the group is empty")
        folder.rmdir()


@contextlib.contextmanager
def in_group(folder, *words):
    program = subprocess.Popen([*IN_GROUP, folder, *map(str, words)])
    try:
        yield program
    finally:
        program.kill()
        program.wait()


@contextlib.contextmanager
def served(pid, folder=None):
    """A client of a server, which is in that group."""
    before = [*IN_GROUP, str(folder)] if folder else []
    kept = pathlib.Path(f"/dev/shm/tracewell-{os.getpid()}.twb")  # in memory
    server = Server([*before, *TRACEWELL, "--buffer", str(kept), "--attach", "localhost:0",
                     str(pid)])
    try:
        yield rsp_client.Client(int(server.wait_for(r"Listening on port (\d+)").group(1)))
    finally:
        server.stop()
        kept.unlink(missing_ok=True)


def begin(client, pid, megabytes):
    """What the server says to a run with such a buffer."""
    place = bias(pid, PROGRAM) + symbols(PROGRAM)["turn"]
    client.ask("QTinit")
    client.ask(f"QTBuffer:size:{megabytes << 20:x}")
    client.ask("QTBuffer:circular:1")
    client.ask(f"QTDP:1:{place:x}:E:0:0:F5-")
    client.ask(f"QTDP:-1:{place:x}:R0fff")
    return client.say("QTStart")


def runs(client):
    client.send("vCont;c")
    time.sleep(1)
    client.socket.sendall(b"\x03")
    check(client.receive().startswith("T"), "stopped")
    check(client.frames_created() > 0, "frames")


def program_at_its_limit():
    with group("program") as folder, in_group(folder, PROGRAM, 4, 4) as program:
        wait_until(lambda: status(program.pid, "Threads") == "9", "threads")
        for _ in range(3):
            with served(program.pid) as client:
                same(begin(client, program.pid, 100), "OK", "a run with a buffer of 100 MiB")
                runs(client)
            check(alive(program.pid), "the program lives")
        same((folder / "memory.failcnt").read_text().strip(), "0", "it never met its limit")


def numbers_in(path):
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", path.read_text())}


def kept_by(folder):
    """What its members use, without files' contents, which the kernel can drop."""
    files = numbers_in(folder / "memory.stat")
    return (int((folder / "memory.usage_in_bytes").read_text()) - files["total_inactive_file"] -
            files["total_active_file"])


def turns(pid):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(bias(pid, PROGRAM) + symbols(PROGRAM)["turns"])
        return int.from_bytes(memory.read(8), "little")


def program_without_room():
    """Its hits are traps. With more memory the next run has a pad."""
    with group("full") as folder, in_group(folder, PROGRAM, 4) as program:
        wait_until(lambda: status(program.pid, "Threads") == "5", "threads")
        limit = folder / "memory.limit_in_bytes"
        limit.write_text(str(kept_by(folder) + (LEFT_KIB << 10)))
        place = bias(program.pid, PROGRAM) + symbols(PROGRAM)["turn"]
        with attached(program.pid, *fast("all")) as (client, _):
            why = rf"about 15 us a hit: it may use (\d+) KiB of memory more \({folder}\)"
            for said in (client.trace([place]), client.notes()):
                found = re.search(why, said)
                check(found and int(found[1]) < TOO_LITTLE_KIB, f"a trap, and why: {said}")
            check("tracepoint 1: a trap, " in client.notes(), client.notes())
            maps = pathlib.Path(f"/proc/{program.pid}/maps")
            check("memfd:" not in maps.read_text(), "nothing is shared with it")
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(20), "hits")
            client.ask("QTStop")
            limit.write_text(str(LIMIT))
            same(client.trace([place]), "", "nothing is wrong with more memory")
            same(client.notes(), "tracepoint 1: a pad, about 0.1 us a hit", "a pad")
            check("memfd:" in maps.read_text(), "it shares memory")
            client.ask("D")
        before = turns(program.pid)
        wait_until(lambda: turns(program.pid) > before, "the program goes on")
        same(numbers_in(folder / "memory.oom_control").get("oom_kill", 0), 0, "nobody is killed")


def server_at_its_limit():
    with group("server") as folder, in_group("/sys/fs/cgroup/memory", PROGRAM, 4, 4) as program:
        wait_until(lambda: status(program.pid, "Threads") == "9", "threads")
        with served(program.pid, folder) as client:
            said = begin(client, program.pid, 100)
            found = re.fullmatch(r"E\.a trace buffer of 100 MiB does not fit: this server may use "
                                 r"(\d+) MiB more, of the 64 MiB of control group (\S+); set "
                                 r"trace-buffer-size, or --buffer with a file on a disk", said)
            check(found, said)
            check(0 < int(found[1]) < 64 and found[2] == str(folder), said)
            # What is left is enough, and the rings are as small as they have to be.
            same(begin(client, program.pid, int(found[1]) - 8), "OK", "a run that just fits")
            runs(client)


def main():
    need_fast_tracepoints()
    if os.getuid() != 0 or not (GROUPS / "memory.limit_in_bytes").exists():
        print("skipped: no control groups of version 1 with memory limits here")
        return
    program_at_its_limit()
    program_without_room()
    server_at_its_limit()


main()
