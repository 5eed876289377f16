#!/usr/bin/env python3
# waits
# timeout: 180
"""Threads that wait in the kernel for as long as another process likes while they are let go: none
is left with what is the tracer's, nor is the program held when it goes on."""

import atexit
import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_client import Client  # noqa: E402
from serve_common import check, folder, same, server  # noqa: E402
from trace_common import INFERIORS, hardware_breakpoint  # noqa: E402

FILE = INFERIORS / "stalls"


class Run:
    """A program, and a debugger of a server that stays."""

    def __init__(self, what, where):
        self.program = subprocess.Popen([FILE, what], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        atexit.register(self.program.kill)
        self.can = self.program.stdout.readline() == "ready\n"
        if not self.can:
            same(self.program.wait(timeout=60), 77, f"{what}: the program's own word")
            print("skipped: no userfaultfd here")
            return
        self.pid = self.program.pid
        self.place = bias(self.pid, FILE) + symbols(FILE)["hit"]
        self.client = Client(f"unix:{where}")
        self.client.say("!")

    def attach(self):
        return self.client.say(f"vAttach;{self.pid:x}")

    def tell(self, letter):
        self.program.stdin.write(f"{letter}\n")
        self.program.stdin.flush()
        same(self.program.stdout.readline(), f"{letter}\n", "the program beside")

    def interrupt(self):
        self.client.socket.sendall(b"\x03")
        check(self.client.receive()[0] in "TS", "Ctrl-C")


def with_a_server(part):
    with folder() as work, server("--multi", f"unix:{work}/socket") as running:
        wait_until(lambda: os.path.exists(f"{work}/socket"), "the socket")
        part(f"{work}/socket", running)


def in_the_tracers_call(where, running):
    """Its own registers, mask and filter come back before anybody may attach again."""
    run = Run("ours", where)
    if not run.can:
        return
    check(run.attach().startswith("T"), "attached")
    run.client.say("QTinit")
    run.client.say(f"QTDP:1:{run.place:x}:E:0:0-")
    run.client.console("QTStart")
    run.client.send("vCont;c")
    wait_until(lambda: "r-xp 00000000 00:00 0 \n" in
               pathlib.Path(f"/proc/{run.pid}/maps").read_text(), "code of the tracer")
    run.tell("w")
    run.interrupt()
    run.client.say("QTStop")
    run.client.say("D")
    reply = run.attach()
    check(reply.startswith("E"), f"{reply}: {running.said()}")
    run.tell("a")
    wait_until(lambda: status(run.pid, "TracerPid") == "0", "it is let go")
    same(status(run.pid, "SigBlk"), "0" * 16, "its own mask of signals")
    check(run.attach().startswith("T"), "attached again")
    run.client.say("D")
    os.kill(run.pid, signal.SIGTERM)
    same(run.program.wait(timeout=60), -signal.SIGTERM, "the program's end")
    run.client.vanish()


def with_a_hardware_breakpoint(where, running):
    """That was removed while nobody could reach the thread."""
    run = Run("own", where)
    if not run.can:
        return
    if hardware_breakpoint() == "break":
        print("skipped: debug registers stop nothing here")
        return run.program.kill()
    check(run.attach().startswith("T"), "attached")
    same(run.client.say(f"Z1,{run.place:x},1"), "OK", "a hardware breakpoint")
    run.client.send("vCont;c")
    run.tell("m")
    wait_until(lambda: status(run.pid, "State") == "D", "munmap")
    run.interrupt()
    run.client.say(f"z1,{run.place:x},1")
    run.client.say("D")
    run.tell("a")
    same(run.program.wait(timeout=60), 7, f"the program's own end: {running.said()}")
    run.client.vanish()


def in_exec(where, running):
    """Of a thread that is not the leader, whose id it has then."""
    run = Run("exec", where)
    if not run.can:
        return
    check(run.attach().startswith("T"), "attached")
    run.client.send("vCont;c")
    run.tell("m")
    thread = next(int(one) for one in os.listdir(f"/proc/{run.pid}/task") if int(one) != run.pid)
    wait_until(lambda: pathlib.Path(f"/proc/{thread}/syscall").read_text().startswith("59 "),
               "execve")
    run.interrupt()
    run.client.say("D")
    run.tell("a")
    wait_until(lambda: status(run.pid, "Name") == "sleep", "the other program")
    wait_until(lambda: status(run.pid, "TracerPid") == "0", f"it is let go: {running.said()}")
    wait_until(lambda: status(run.pid, "State") == "S", "it sleeps")
    run.client.vanish()


def main():
    for part in chosen((in_the_tracers_call, with_a_hardware_breakpoint, in_exec)):
        with_a_server(part)


main()
