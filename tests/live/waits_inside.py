#!/usr/bin/env python3
# skips
# timeout: 120
"""Threads that cannot be led out of the code of a trace at once: what a hit collects is in a page
that another process or another thread of the program has to supply (userfaultfd), which stands
still with all others, or is in a hit itself; or the program has written over that code. The
debugger is answered, the server can be ended, and the program has its own result."""

import atexit
import pathlib
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from rsp_client import Client, bias, symbols, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

RDI = 5
SUM = "sum 80\n"


class Run:
    """A program that waits for its first line of input, and a server for it."""

    def __init__(self, fast, name, *what):
        self.file = INFERIORS / name
        self.program = subprocess.Popen([self.file, *what], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.program.stdout.readline() != "ready\n":
            same(self.program.wait(timeout=60), 77, "the program's own word")
            print(f"skipped: no userfaultfd here ({what})")
            sys.exit(0)
        self.server = Server([*TRACEWELL, "--fast-tracepoints", fast, "--attach", "localhost:0",
                              str(self.program.pid)])
        port = self.server.wait_for(r"Listening on port (\d+)").group(1)
        self.client = Client(port)
        self.at = bias(self.program.pid, self.file)
        self.traced = 0
        # A server that hangs ends with its program.
        atexit.register(self.program.kill)

    def trace(self, name, *actions):
        place = self.at + symbols(self.file)[name]
        self.traced += 1
        self.client.ask(f"QTDP:{self.traced:x}:{place:x}:E:0:0-")
        for action in actions:
            self.client.ask(f"QTDP:-{self.traced:x}:{place:x}:{action}")

    def line(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()

    def says(self, expected):
        same(self.program.stdout.readline(), expected, f"the program: {self.server.said()}")

    def to_its_end(self):
        """All further faults are answered at once."""
        try:
            for _ in range(64):
                self.line()
        except BrokenPipeError:
            pass
        said = [line for line in self.program.stdout if line != "fault\n"]
        same((said, self.program.wait(timeout=60)), ([SUM], 0), "the program's own result")

    def interrupt(self):
        self.client.socket.sendall(b"\x03")
        check(self.client.socket_has_data(30), "no answer to Ctrl-C")
        return self.client.receive()

    def missing(self):
        """The trace has ended with a value that could not be read."""
        status = self.client.ask("qTStatus", None)
        reason = re.search(r"terror:(\w+):", status)
        check(reason and "memory access error" in bytes.fromhex(reason[1]).decode(), status)
        check("tframes:1;" in status, status)

    def ends(self):
        self.server.process.send_signal(signal.SIGTERM)
        try:
            self.server.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            check(False, "the server does not end")


def looking(what):
    """One that has begun to use its pages; a tracepoint collects each."""
    run = Run("all", "userfaults", what)
    run.client.ask("QTinit")
    run.trace("look", f"M{RDI:x},0,8")
    run.client.console("QTStart")
    run.client.send("vCont;c")
    run.line()
    return run


def in_a_hit():
    """One whose main thread waits for a page in the middle of a hit. It began to do without pages,
    which another process has, when the trace ran already."""
    run = looking("behind")
    run.says("fault\n")
    return run


def it_is_interrupted():
    run = in_a_hit()
    check(run.interrupt().startswith("T02"), "Ctrl-C")
    run.missing()
    run.client.send("vCont;c")
    run.to_its_end()
    check(run.client.receive().startswith("W00"), "the end is told")
    run.ends()


def place_of(pid):
    """Where its main thread waits in the kernel, or did; None while it runs."""
    words = pathlib.Path(f"/proc/{pid}/syscall").read_text().split()
    return int(words[-1], 16) if len(words) > 1 else None


def waits_in_its_own_code(run):
    wanted = run.at + symbols(run.file)["take"]
    wait_until(lambda: place_of(run.program.pid) == wanted, "it waits in its own code")


def it_is_let_on():
    """Also where nobody asks: the server sees it soon. The thread waits for the same page then, in
    its own code."""
    run = in_a_hit()
    waits_in_its_own_code(run)
    run.to_its_end()
    check(run.client.receive().startswith("W00"), "the end is told")
    run.ends()


def seen_at_the_start():
    """Traps from the beginning."""
    run = looking("apart")
    waits_in_its_own_code(run)
    run.to_its_end()
    check(run.client.receive().startswith("W00"), "the end is told")
    run.ends()


def the_server_ends():
    run = in_a_hit()
    run.ends()
    run.to_its_end()


def over_our_code():
    """One whose thread is in the code of the trace, which the program has written over."""
    run = Run("all", "overwrites")
    run.client.ask("QTinit")
    run.trace("hit", "R03")
    run.client.console("QTStart")
    run.client.send("vCont;c")
    run.line()
    said = run.program.stdout.readline()
    check(re.fullmatch(r"overwritten [1-9]\d*\n", said), said)
    return run


def it_is_written_over():
    run = over_our_code()
    check(run.interrupt().startswith("T02"), "Ctrl-C")
    run.client.send("vCont;c")
    run.server.wait_for("cannot be led out of the code of the trace")
    check(run.interrupt().startswith("T02"), "Ctrl-C, again")
    run.client.ask("QTStop")
    run.ends()
    same(run.program.poll(), None, "the program runs")


def the_server_of_such_ends():
    run = over_our_code()
    run.ends()
    same(run.program.poll(), None, "the program runs")


def a_trap_reads_it():
    """The page is supplied while the hit waits, or by a thread that waits for us itself: then what
    the hit collects is missing."""
    run = Run("none", "userfaults", "kernel")
    run.client.ask("QTinit")
    run.trace("look", f"M{RDI:x},0,8")
    run.client.console("QTStart")
    run.client.send("vCont;c")
    run.to_its_end()
    check(run.client.receive().startswith("W00"), "the end is told")
    frames = run.client.ask("qTBuffer:0,1000", None)
    same(frames.count("0800" + "05" + 14 * "0"), 16, f"hits {frames}")
    run.ends()

    run = Run("none", "userfaults", "pass")
    run.client.ask("QTinit")
    run.trace("look", f"M{RDI:x},0,8")
    run.trace("passing", f"R{1 << RDI:x}")
    run.client.console("QTStart")
    run.client.send("vCont;c")
    run.line()
    check(run.client.socket_has_data(30), "no answer")
    check(run.client.receive().startswith("W00"), "the end is told")
    run.missing()
    run.to_its_end()
    run.ends()


def its_supplier_passes():
    """A thread that is to supply the page collects it, too: it does not wait for itself. Whether it
    could do so before the run began, or is found out while it waits."""
    for what in ("pass", "late"):
        run = Run("all", "userfaults", what)
        run.client.ask("QTinit")
        run.trace("passing", f"M{RDI:x},0,8")
        run.client.console("QTStart")
        run.client.send("vCont;c")
        run.line()
        check(run.client.socket_has_data(30), f"no answer ({what})")
        check(run.client.receive().startswith("W00"), "the end is told")
        run.missing()
        run.to_its_end()
        run.ends()


PARTS = (its_supplier_passes, it_is_interrupted, it_is_let_on, seen_at_the_start, the_server_ends,
         it_is_written_over, the_server_of_such_ends, a_trap_reads_it)


def main():
    need_fast_tracepoints()
    for part in chosen(PARTS):
        part()


main()
