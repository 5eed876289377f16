#!/usr/bin/env python3
"""Debuggers that interrupt, go away without a word, detach, and come back, with and without a trace
that runs on alone."""
# timeout: 240

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_client import Client  # noqa: E402
from serve_common import PROGRAM, alive, check, folder, gdb, need, on_port, same  # noqa: E402

# Runs `continue`, and presses Ctrl-C when the program says in its file that it runs.
INTERRUPT = """
import os, signal, threading
def press():
    open(%(ready)r).read()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
"""


def spin(work):
    ready = work / "ready"
    ready.unlink(missing_ok=True)
    os.mkfifo(ready)
    return ["spin", ready]


def watched(work, remote, wait=""):
    """The program's counter, seen by another debugger that leaves everything as it was."""
    return gdb(work, f"""
        said = run("target remote {remote}")
        value = int(gdb.parse_and_eval("watched"))
        run("disconnect")
        result([said, value])
        """, PROGRAM)[1]


def interrupted(work):
    with on_port(PROGRAM, *spin(work)) as server:
        got = gdb(work, f"run('target remote {server.remote}')" + INTERRUPT % {
            "ready": str(work / "ready")} + """
run("continue")
stopped = run("info program")
frames = run("backtrace")
again = run("print watched > 0")
run("kill")
result([stopped, frames, again])
""", PROGRAM)
        check("It stopped with signal SIGINT" in got[0], got[0])
        check("main (" in got[1], got[1])
        same(got[2], "$1 = 1\n", "the program ran")
        same(server.ended(), 0, "status after kill")
    print("Ctrl-C")


def vanished(work):
    """A debugger that dies: its breakpoints go, a running program runs on."""
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        client = Client(server.remote)
        client.send("vCont;c")
        (work / "ready").read_text()
        client.vanish()
        server.wait_for("will reopen the connection")
        first = watched(work, server.remote)
        server.wait_for("will reopen the connection", 2)
        second = watched(work, server.remote)
        same(first, second, "a program that stands still when its debugger leaves stays so")
        client = Client(server.remote)
        same(client.say("?")[:3], "T00", "why it stands")
        client.send("vCont;c")
        client.vanish()
        server.wait_for("will reopen the connection", 4)
        deadline = time.monotonic() + 60
        while watched(work, server.remote) == second:
            check(time.monotonic() < deadline, "the program runs on")
            client = Client(server.remote)
            client.send("vCont;c")
            client.vanish()
    print("vanished debuggers")


def breakpoint_left(work):
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        address = gdb(work, f"""
            run("target remote {server.remote}")
            run("break main")
            run("continue")
            result(int(gdb.parse_and_eval("(long)&outer")))
            """, PROGRAM)
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        pid = server.wait_for(r"pid = (\d+)").group(1)
        client = Client(server.remote)
        before = client.say(f"m{address:x},1")
        same(client.say(f"Z0,{address:x},1"), "OK", "Z0")
        client.send("vCont;c")
        check(client.receive().startswith("T05"), "the breakpoint is hit")
        same(client.say(f"m{address:x},1"), before, "breakpoints do not show")
        same(client.say(f"Z0,{address:x},1"), "OK", "Z0 again")
        client.vanish()
        server.wait_for("will reopen the connection")
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(address)
            same(memory.read(1).hex(), before, "the patch is gone with its debugger")
        check(alive(pid), "the program is there")
    print("breakpoints of vanished debuggers")


TRACE = """
run("target remote %(remote)s")
run("source %(work)s/definitions")
run("set disconnected-tracing %(alone)s")
said = run("tstart")
"""


def definitions(work, place):
    (work / "definitions").write_text(
        f"trace {place} if watched != -7\nactions\ncollect $regs, watched\nend\n")


LOOK = """
connected = run("target remote %(remote)s")
status = run("tstatus")
"""


def frames_of(status):
    return int(status.split("Collected ")[1].split()[0])


def tracing_alone(work, leave):
    """Disconnected tracing: the trace and its program go on without a debugger."""
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        definitions(work, "turn")
        values = {"remote": server.remote, "alone": "on", "work": work}
        gdb(work, TRACE % values + leave % {"ready": str(work / "ready"),
                                                "pid": server.process.pid}, PROGRAM)
        if leave is DETACHED:
            (work / "ready").read_text()
        seen = []
        deadline = time.monotonic() + 60
        while len(seen) < 2 or seen[-1] == seen[0]:
            check(time.monotonic() < deadline, f"the trace goes on: {seen}")
            status = gdb(work, LOOK % values + """
run("detach")
result([connected, status])
""", PROGRAM)
            check("Trace is already running on the target" in status[0], status[0])
            check("Trace is running on the target" in status[1], status[1])
            seen.append(frames_of(status[1]))
        got = gdb(work, LOOK % values + """
stopped = run("tstop")
points = run("info tracepoints")
found = run("tfind start")
place = gdb.selected_frame().name()
run("tfind none")
result([stopped, points, found, place, run("kill")])
""", PROGRAM)
        same(got[0], "", "tstop")
        check("collect $regs, watched" in got[1], got[1])
        check("trace only if watched != -7" in got[1], got[1])
        check("Found trace frame 0" in got[2], got[2])
        same(got[3], "turn", "the frame")
        same(server.ended(), 0, "status after kill")


DETACHED = """
run("detach")
result(said)
"""
# A debugger that is killed while the program runs.
KILLED = """
import threading, os, signal
result(said)
def die():
    open(%(ready)r).read()
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=die).start()
run("continue")
"""


def trace_ends(work):
    """Without disconnected tracing the run ends with the connection, the program goes on."""
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        definitions(work, "turn")
        values = {"remote": server.remote, "alone": "off", "work": work}
        gdb(work, TRACE % values + KILLED % {"ready": str(work / "ready")}, PROGRAM)
        server.wait_for("will reopen the connection")
        got = gdb(work, LOOK % values + 'run("kill")\nresult([connected, status])', PROGRAM)
        check("Trace stopped because of disconnection" in got[1], got[1])


def exit_alone(work):
    """The program ends while nobody is there: its trace waits for whoever comes next."""
    with on_port(PROGRAM, "exit", "3", options=[]) as server:
        definitions(work, "inner")
        values = {"remote": server.remote, "alone": "on", "work": work}
        got = gdb(work, TRACE % values + DETACHED, PROGRAM)
        same(got, "", "tstart")
        server.wait_for("Child exited with status 3")
        said = gdb(work, (LOOK % values).replace("target remote", "target extended-remote") +
                   "result([connected, status])", PROGRAM)
        check("Trace stopped by an error (the program exited with status 3)." in said[1], said)
        client = Client(server.remote)
        text = b"the program exited with status 3".hex()
        check(client.say("qTStatus").startswith(f"T0;terror:{text}:0;tframes:1;"),
              "the status is kept, with the reason")
        same(client.say("qTP:7:401000"), "V0:0", "a tracepoint that there is not")
        same(client.say("QTFrame:0"), "F0T1", "the frame is kept")
        client.say("qSupported:multiprocess+")
        client.vanish()
        same(server.ended(), 0, "status after the last debugger")


def ended_while_running(work):
    """SIGTERM while the program runs: what was started dies, what was attached to runs on."""
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        pid = server.wait_for(r"pid = (\d+)").group(1)
        client = Client(server.remote)
        client.send("vCont;c")
        (work / "ready").read_text()
        same(server.stop(), 128 + signal.SIGTERM, "status after SIGTERM")
        check(not alive(pid), "the program is dead")
    other = subprocess.Popen([PROGRAM, *spin(work)])
    (work / "ready").read_text()
    with on_port(str(other.pid), options=["--attach"]) as server:
        client = Client(server.remote)
        client.send("vCont;c")
        client.send("qC")
        same(server.stop(), 128 + signal.SIGTERM, "status after SIGTERM")
        same(other.poll(), None, "the attached program")
        state = pathlib.Path(f"/proc/{other.pid}/status").read_text()
        check("TracerPid:\t0" in state and "State:\tt" not in state and "State:\tT" not in state,
              state)
    other.kill()
    other.wait()


def hostile(work):
    with on_port(PROGRAM, *spin(work), options=[]) as server:
        client = Client(server.remote)
        client.send("vCont;c")
        for _ in range(100):
            client.send("qC")
        check(client.socket.recv(1) == b"", "who sends too much is cut off")
        client = Client(server.remote)
        client.socket.sendall(b"$" + b"m" * 5_000_000 + b"#00")
        same(client.receive(), "E01", "a packet without an end")
        check(client.say("?").startswith("T0"), "and the session goes on")
        client.socket.sendall(b"\x03" * 1000)
        client.send("k")
        same(server.ended(), 0, "status after k")


need("gdb")
with folder() as folder_:
    interrupted(folder_)
    vanished(folder_)
    breakpoint_left(folder_)
    tracing_alone(folder_, DETACHED)
    print("disconnected tracing after detach")
    tracing_alone(folder_, KILLED)
    print("disconnected tracing after a killed debugger")
    trace_ends(folder_)
    print("a trace that ends with the connection")
    exit_alone(folder_)
    print("a program that ends alone")
    ended_while_running(folder_)
    print("servers that end while the program runs")
    hostile(folder_)
    print("hostile clients")
