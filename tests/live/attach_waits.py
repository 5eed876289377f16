#!/usr/bin/env python3
# waits
"""Attaching to a program one of whose threads cannot be stopped, since it is inside vfork(2): the
server can be ended meanwhile, gives up by itself, and the program goes on as before, also under a
server that goes on, too."""
# timeout: 120

import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_client  # noqa: E402
from rsp_client import children_of, status, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, folder, same, server  # noqa: E402
from trace_common import INFERIORS  # noqa: E402


def child_of(pid):
    return children_of(pid)[0]


def counting_thread(pid):
    return next(int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid)


def attaching(ends):
    """`ends` is given the server while the program's other thread stands; it ends the server."""
    with subprocess.Popen([INFERIORS / "vforks"], stdout=subprocess.PIPE, text=True) as program:
        same(program.stdout.readline(), "ready\n", "the program")
        wait_until(lambda: status(program.pid, "State").startswith("D"), "vfork")
        other = counting_thread(program.pid)
        server = Server([*TRACEWELL, "--attach", "localhost:0", str(program.pid)])
        wait_until(lambda: status(other, "State").startswith("t"), "the server has attached")
        said = ends(server)
        same(status(other, "TracerPid"), "0", f"the thread is let go: {said}")
        os.kill(child_of(program.pid), signal.SIGUSR1)
        same(program.wait(timeout=60), 7, f"the program's own end: {said}")
        check(int(program.stdout.read()) > 0, "its count")


def by_a_signal(server):
    server.process.send_signal(signal.SIGTERM)
    check(server.ended() != 0, "the exit status")
    said = server.said()
    check("the server is to end" in said, said)
    return said


def by_itself(server):
    check(server.ended() != 0, "the exit status")
    said = server.said()
    check("cannot be stopped (state D)" in said, said)
    return said


def refused(where, client=None, *words):
    """The program that the server could not attach to, and the debugger that asked it to."""
    program = subprocess.Popen([INFERIORS / "vforks", *words], stdout=subprocess.PIPE, text=True)
    same(program.stdout.readline(), "ready\n", "the program")
    wait_until(lambda: status(program.pid, "State").startswith("D"), "vfork")
    client = client or serve_client.Client(f"unix:{where}")
    client.say("!")
    reply = client.say(f"vAttach;{program.pid:x}")
    check(reply.startswith("E"), reply)
    same(status(counting_thread(program.pid), "TracerPid"), "0", "the other thread is let go")
    return program, client


def goes_on(program):
    os.kill(child_of(program.pid), signal.SIGUSR1)
    same(program.wait(timeout=60), 7, "the program's own end")
    program.stdout.close()


def by_a_server_that_goes_on():
    with folder() as work, server("--multi", f"unix:{work}/socket") as running:
        where = f"{work}/socket"
        wait_until(lambda: pathlib.Path(where).exists(), "the socket")
        program, client = refused(where)
        goes_on(program)  # while the debugger says nothing
        program, client = refused(where, client)
        client.vanish()
        goes_on(program)  # while there is no debugger
        program, client = refused(where, None, "stays")
        os.kill(child_of(program.pid), signal.SIGUSR1)
        reply = client.say(f"vAttach;{program.pid:x}")
        check(reply.startswith("T"), f"{reply}: {running.said()}")
        client.say("D")
        os.kill(program.pid, signal.SIGUSR1)
        same(program.wait(timeout=60), 7, "the program's own end")
        program.stdout.close()
        client.vanish()


def tracers(pid):
    """Of the threads that are not inside vfork, and of their children."""
    found = set()
    for tid in os.listdir(f"/proc/{pid}/task"):
        if int(tid) == pid:
            continue
        children = pathlib.Path(f"/proc/{pid}/task/{tid}/children").read_text().split()
        found |= {status(one, "TracerPid") for one in (tid, *children)}
    return found - {""}


def those_who_are_born_meanwhile():
    """A child that a thread has just made is traced, too, though nobody has told of it yet."""
    with folder() as work, server("--multi", f"unix:{work}/socket"):
        wait_until(lambda: pathlib.Path(f"{work}/socket").exists(), "the socket")
        program = subprocess.Popen([INFERIORS / "vforks_and_forks"], stdout=subprocess.PIPE,
                                   text=True, start_new_session=True)
        try:
            same(program.stdout.readline(), "ready\n", "the program")
            wait_until(lambda: children_of(program.pid) and
                       status(program.pid, "State").startswith("D"), "vfork")
            client = serve_client.Client(f"unix:{work}/socket")
            client.say("!")
            reply = client.say(f"vAttach;{program.pid:x}")
            check(reply.startswith("E"), reply)
            wait_until(lambda: tracers(program.pid) == {"0"}, "all are let go")
            client.vanish()
        finally:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait(timeout=60)
            program.stdout.close()


def main():
    attaching(by_a_signal)
    attaching(by_itself)
    by_a_server_that_goes_on()
    those_who_are_born_meanwhile()


main()
