#!/usr/bin/env python3
# skips
"""How hits of each tracepoint are collected, why so, and what a hit costs is told: by the server as
the trace begins, in its status (GDB's tstatus), by `monitor tracepoints`, and in the trace file.
So is why hits have no frame."""

import json
import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast  # noqa: E402
from replay_common import TRACEWELL, folder, gdb  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import INFERIORS, check, on_port, same  # noqa: E402
from trace_common import need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "ticks"
PAD = "a pad, about 0.02 us a hit"
STEPS = "a trap, about 15 us a hit: it steps"
BREAKPOINT = "a trap, about 15 us a hit: a breakpoint or another tracepoint is in its way"


class Ticks:
    def __enter__(self):
        self.process = subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True)
        self.tick = int(self.process.stdout.readline(), 16)
        self.pid = self.process.pid
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def define(client, number, address, steps=0):
    client.ask(f"QTDP:{number}:{address:016x}:E:{steps:x}:0-")
    client.ask(f"QTDP:-{number}:{address:016x}:{'S' if steps else ''}M-1,{address:x},8")


def each_is_told():
    with Ticks() as program:
        with attached(program.pid, *fast("all")) as (client, server):
            tick, steps = program.tick, symbol(program, "main")
            client.ask("QTinit")
            client.ask("QTNotes:user:;notes:" + b"mine".hex() + ";")
            client.ask("QTBuffer:circular:1")
            define(client, 1, tick)
            define(client, 2, steps, steps=2)
            same(client.monitor("tracepoints"), f"Tracepoint 1 at 0x{tick:x}: in no program\n"
                 f"Tracepoint 2 at 0x{steps:x}: in no program\n", "before")
            same(client.notes(), "mine", "before")
            same(client.console("QTStart"), "", "what nobody asked for otherwise")
            told = f"tracepoint 1: {PAD}; tracepoint 2: {STEPS}"
            by_address = sorted([(tick, 1, PAD), (steps, 2, STEPS)])
            same(client.monitor("tracepoints"), "".join(
                f"Tracepoint {number} at 0x{at:x}: {way}\n" for at, number, way in by_address),
                "each")
            same(client.notes(), "mine", "what the user has written")
            client.ask("QTNotes:notes:;")
            same(set(client.notes().split("; ")), set(told.split("; ")), "in the status")
            server.wait_for("The trace begins: tracepoint")
            client.ask(f"Z0,{tick:x},1")
            check(f"tracepoint 1: {BREAKPOINT}" in client.notes(), client.notes())
            client.ask(f"z0,{tick:x},1")
            client.ask("QTStop")
            check("tracepoint 2: " + STEPS in client.notes(), client.notes())
            client.ask("D")


def symbol(program, name):
    return bias(program.pid, PROGRAM) + symbols(PROGRAM)[name]


RUN = """
run("target extended-remote %(remote)s")
run("source %(definitions)s")
said = run("tstart")
status = run("tstatus")
run("tstop")
run("tsave %(file)s")
result({"said": said, "status": status, "more": run("monitor tracepoints"),
        "saved": run("target tfile %(file)s"), "again": run("tstatus")})
"""
DEFINITIONS = """
tbreak tick
continue
delete
trace tick
trace main
actions
while-stepping 1
collect $pc
end
end
"""


def in_gdb():
    """Stock GDB shows it, saves it, and reads it back."""
    with folder() as work:
        (work / "definitions").write_text(DEFINITIONS)
        with on_port(PROGRAM) as server:
            got = gdb(work, RUN % {"remote": server.remote, "file": work / "saved.tf",
                                   "definitions": work / "definitions"}, PROGRAM)
        same(got["said"], "", "tstart")
        check("a pad, about 0.0" in got["status"] or "a pad, about 0.1" in got["status"], got)
        for text in (got["status"], got["more"], got["again"]):
            check("about 15 us a hit: " in text, got)
        info = tracewell("info", "--json", work / "saved.tf")
        check("about 15 us a hit: " in info, info)


def losses_are_told():
    """A server that stands still makes no room: hits wait in vain, and its status says so."""
    with Ticks() as program, folder() as top:
        run = top / "run"
        run.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(run)
        with attached(program.pid, *fast("all")) as (client, _):
            tracer = int(status(program.pid, "TracerPid"))
            client.ask("QTinit")
            client.ask("QTBuffer:circular:1")
            client.ask(f"QTDP:1:{program.tick:016x}:E:0:0:F1-")
            client.ask(f"QTDP:-1:{program.tick:016x}:M-1,{program.tick:x},8")
            same(client.console("QTStart"), "", "tstart")
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(50), "frames")
            check("lost" not in client.notes(), client.notes())
            client.send("vCont;c")
            before = cpu_ticks(program.pid)
            wait_until(lambda: cpu_ticks(program.pid) > before + 1, "it runs")
            os.kill(tracer, signal.SIGSTOP)
            before = cpu_ticks(program.pid)
            # Longer than a hit of `ftrace` waits, and than it takes to fill a ring.
            wait_until(lambda: cpu_ticks(program.pid) > before + 50, "hits that find no room")
            os.kill(tracer, signal.SIGCONT)
            client.socket.sendall(b"\x03")
            client.receive()
            client.ask("QTStop")
            told = client.notes()
            check("waited in vain for room in their thread's ring" in told, told)
            check("Hits lost: " in client.monitor("tracepoints"), "monitor tracepoints")
            (buffer,) = json.loads(tracewell("buffers", "--json"))
            kept = tracewell("info", "--json", buffer["path"])
            check("waited in vain" in kept, kept)
            client.ask("D")


def cpu_ticks(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().split()[13])


def tracewell(*words):
    return subprocess.run([TRACEWELL, *words], capture_output=True, text=True, check=True).stdout


def main():
    need_fast_tracepoints()
    each_is_told()
    in_gdb()
    losses_are_told()


main()
