#!/usr/bin/env python3
"""Disconnected tracing of a program that forks, in stock GDB: a child that GDB does not follow is
let go and nothing else; of several programs the traced one is detached from last."""
# timeout: 120

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    AS_GDBSERVER, INFERIORS, check, folder, gdb, need, on_port, same)

PROGRAM = str(INFERIORS / "families")

# The fourth marker is behind the fork.
BEGIN = """
run("set non-stop %(non_stop)s")
run("set detach-on-fork %(detach)s")
run("target extended-remote %(remote)s")
run("set disconnected-tracing on")
run("trace marker")
run("break marker if counter == 3")
run("tstart")
run("continue")
said = [run("tstatus")]
"""
ON_TO_THE_END = """
said += [run("print counter"), run("continue"), run("print $_exitcode"), run("tstatus")]
result(said)
"""
LEAVE = """
pids = [inferior.pid for inferior in gdb.inferiors()]
for number in (1, 2, 1):
    said.append(run(f"detach inferiors {number}"))
said.append(run("info inferiors"))
result([pids, said])
"""


def unfollowed(work, non_stop):
    """The child goes; the parent, its debugger and its trace are as they were."""
    with on_port(PROGRAM, "fork", program=AS_GDBSERVER) as server:
        words = {"non_stop": non_stop, "detach": "on", "remote": server.remote}
        said = gdb(work, BEGIN % words + ON_TO_THE_END, PROGRAM)
        check("Trace is running" in said[0], said[0])
        check(" = 3\n" in said[1], said[1])
        check(" = 0\n" in said[3], said[3])
        check("Collected 4 trace frames" in said[4], said[4])
        check("staying attached" not in server.said(), server.said())
    print(f"a fork that is not followed, non-stop {non_stop}")


def followed(work):
    """While there is another program, the traced one is not left to its trace: that would end the
    session. After it, it is. GDB 13 crashes when a connection ends by which it reads libraries."""
    with on_port(PROGRAM, "fork", program=AS_GDBSERVER, options=()) as server:
        words = {"non_stop": "off", "detach": "off", "remote": server.remote}
        catch = BEGIN.replace("break marker if counter == 3", "catch fork")
        script = "run('set sysroot /')\n" + catch % words + "run('next')\n" + LEAVE
        (parent, child), said = gdb(work, script, PROGRAM)
        check("Trace is running" in said[0], said[0])
        check(said[1].startswith("error: Can't detach"), said[1])
        check("detached" in said[2] and "detached" in said[3], said[2:4])
        check(str(parent) not in said[4] and str(child) not in said[4], said[4])
        server.wait_for("detach from the other programs first")
        server.wait_for("staying attached")
        server.wait_for("Child exited with status 0")  # its child has run to its end
        same(gdb(work, f"""
            run("target extended-remote {server.remote}")
            result(run("tstatus").splitlines()[1])
            """), "Collected 4 trace frames.", "the trace went on")
    print("a fork that is followed")


need("gdb")
with folder() as where:
    unfollowed(where, "off")
    unfollowed(where, "on")
    followed(where)
