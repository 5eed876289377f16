#!/usr/bin/env python3
# waits
# timeout: 180
# skips
"""Whose a number is: of a child that no event tells of, of one whose creator is killed, and of a
process that was replaced without a word. In a PID namespace of its own, where the next number can
be chosen."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_client  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import INFERIORS, check, need, same, server  # noqa: E402

FILE = INFERIORS / "numbers"
LAST = pathlib.Path("/proc/sys/kernel/ns_last_pid")
INSIDE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
ROUNDS, REUSED = 25, 20


class Program:
    """A running program that says a process id first."""

    def __init__(self, name, *words):
        self.process = subprocess.Popen([INFERIORS / name, *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = int(self.line().split()[-1])

    def line(self):
        return self.process.stdout.readline()

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        same(self.process.wait(timeout=60), 0, "its end")


class Debugger(serve_client.Client):
    """Of several programs."""

    def __init__(self, running):
        super().__init__(running.remote)
        self.say("qSupported:multiprocess+")
        self.say("!")

    def attach(self, pid):
        reply = self.say(f"vAttach;{pid:x}")
        check(reply.startswith("T"), f"attach to {pid}: {reply}")

    def breakpoint(self, pid):
        same(self.say(f"Hgp{pid:x}.{pid:x}"), "OK", "Hg")
        place = bias(pid, FILE) + symbols(FILE)["hit"]
        same(self.say(f"Z0,{place:x},1"), "OK", "a breakpoint")
        return place

    def stop(self):
        self.socket.sendall(b"\x03")
        reply = self.receive()
        check(reply.startswith("T"), f"stopped: {reply}")


def multi():
    return server("--multi", "--fast-tracepoints", "none", "localhost:0")


def end_of(child):
    """Of a child of this process's: its exit status, or the signal, negative."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pid, how = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return os.waitstatus_to_exitcode(how)
        time.sleep(0.002)
    return f"none: {status(child, 'State')}"


def connected(running):
    running.remote = "localhost:" + running.wait_for(r"Listening on port (\d+)").group(1)
    return Debugger(running)


def a_child_that_is_not_told_of(how):
    """It goes on while its creator lives, and has no traps of ours."""
    with multi() as running:
        debugger = connected(running)
        program = Program("numbers", how)
        debugger.attach(program.pid)
        debugger.breakpoint(program.pid)
        debugger.send("vCont;c")
        program.ask()
        same(end_of(int(program.line())), 0, "the child's end")
        debugger.stop()
        check(debugger.say(f"D;{program.pid:x}") == "OK", "let go")
        program.end()


def another_program_ends_meanwhile():
    with multi() as running:
        debugger = connected(running)
        programs = [Program("numbers", "untold"), Program("numbers", "threads")]
        for program in programs:
            debugger.attach(program.pid)
        debugger.breakpoint(programs[0].pid)
        debugger.send("vCont;c")
        programs[0].ask()
        child = int(programs[0].line())
        programs[1].end()
        same(debugger.receive(), f"W00;process:{programs[1].pid:x}", "the other program's end")
        debugger.send("vCont;c")
        same(end_of(child), 0, "the child's end")
        debugger.stop()
        debugger.say(f"D;{programs[0].pid:x}")
        programs[0].end()


def creators_are_killed():
    children = 0
    for number in range(ROUNDS):
        with multi() as running:
            debugger = connected(running)
            program = Program("numbers", "killed")
            debugger.attach(program.pid)
            debugger.breakpoint(program.pid)
            debugger.send("vCont;c")
            os.kill(program.pid, 10)
            wait_until(lambda: status(program.pid, "Threads") == "9", "its threads")
            time.sleep(number % 10 / 200)  # any moment will do
            os.kill(program.pid, 9)
            same(debugger.receive()[:4], "X09;", "its end")
            debugger.vanish()
            ended, by_signal = map(int, program.line().split())
            same(by_signal, 0, f"of {ended} children a signal ended some")
            children += ended
            same(program.process.wait(timeout=60), 0, "the status")
    check(children > 0, "no children")


def a_process_is_replaced():
    """Nobody waits for it any more, and who has its number later is not taken for it."""
    with multi() as running:
        debugger = connected(running)
        replaced, other = Program("untraced", "execs"), Program("numbers", "threads")
        debugger.attach(replaced.pid)
        debugger.attach(other.pid)
        debugger.send("vCont;c")
        replaced.ask()
        same(replaced.process.wait(timeout=60), 0, "the end of what it has become")
        same(debugger.receive(), f"W00;process:{replaced.pid:x}", "its end is told")
        running.wait_for(f"process {replaced.pid} was replaced by another program")
        debugger.send("vCont;c")
        reused = 0
        for _ in range(100 * REUSED):
            LAST.write_text(str(replaced.pid - 1))
            other.ask()
            reused += int(other.line()) == replaced.pid
            if reused == REUSED:
                break
        same(reused, REUSED, "threads that have its number")
        debugger.stop()
        debugger.say(f"D;{other.pid:x}")
        other.end()


def fatal_program(folder):
    """Its segment is where no program's memory may be: exec finds that out when there is no way
    back any more, and the process ends."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 1 << 62, 64, 0, 0,
                         64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 1 << 62, 1 << 62, 120, 120, 0x1000)
    path = pathlib.Path(folder, "fatal")
    path.write_bytes(header + segment)
    path.chmod(0o755)
    return path


def a_process_dies_in_exec():
    """The thread has its leader's number by then, and is that process still."""
    with tempfile.TemporaryDirectory() as folder, multi() as running:
        debugger = connected(running)
        program = Program("numbers", "execs", fatal_program(folder))
        debugger.attach(program.pid)
        debugger.send("vCont;c")
        program.ask()
        reply = debugger.receive()
        if reply.startswith("T0b"):  # kernels differ in whether the signal is told first
            debugger.send("vCont;C0b")
            reply = debugger.receive()
        signal = -program.process.wait(timeout=60)
        same(reply, f"X{signal:02x};process:{program.pid:x}", "its end")


def inside():
    for how in ("untold", "shares"):
        print(how, flush=True)
        a_child_that_is_not_told_of(how)
    for part in (another_program_ends_meanwhile, a_process_is_replaced, a_process_dies_in_exec,
                 creators_are_killed):
        print(part.__name__, flush=True)
        part()


def main():
    if sys.argv[1:] == ["inside"]:
        inside()
        return
    need("unshare", "nm")
    if os.getuid() != 0 or subprocess.run([*INSIDE, "true"], capture_output=True).returncode != 0:
        print("skipped: this user may make no such namespaces")
        return
    sys.exit(subprocess.run([*INSIDE, sys.executable, __file__, "inside"]).returncode)


main()
