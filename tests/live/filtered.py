#!/usr/bin/env python3
# skips
# timeout: 120
"""Programs that filter their system calls before a trace begins, as in containers: where all of
their filters allow what hits do, whatever its arguments, tracepoints are pads, and the program's
own count of hits is what was recorded. Elsewhere they are traps, and the program is not killed."""

import contextlib
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

from rsp_client import Client, status, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

MANY = 100000
NO_RIGHT = ["setpriv", "--bounding-set", "-sys_admin"]
GETTID, SCHED_YIELD, PROCESS_VM_READV = 186, 24, 310
MORE_FILTERS = "begun to filter its system calls, or to filter more of them"


class Filtered:
    """The program, under a server."""

    def __init__(self, process):
        self.process = process
        self.work = int(process.stdout.readline(), 16)

    def ask(self, line):
        """How often work() was called by then."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        check(answer, f"{line}: the program has ended by {self.process.poll()}")
        return int(answer)

    def begin(self, server, non_stop=False):
        """Its debugger, with a tracepoint at work() that collects registers and memory."""
        self.client = client = Client(int(server.wait_for(r"Listening on port (\d+)").group(1)))
        client.ask(f"QNonStop:{int(non_stop)}")
        client.ask("?", None)
        client.ask("QPassSignals:14")  # SIGCHLD
        client.ask("QTinit")
        client.ask("QTBuffer:circular:1")
        client.ask(f"QTDP:1:{self.work:016x}:E:0:0-")
        client.ask(f"QTDP:-1:{self.work:016x}:R0fffM5,0,8")  # at rdi
        client.console("QTStart")
        if not non_stop:
            client.send("vCont;c")
        return client

    def stop(self):
        self.client.socket.sendall(b"\x03")
        check(self.client.receive().startswith("T"), "it stops")

    def ends(self):
        self.process.stdin.close()
        same(self.process.wait(timeout=30), 0, "the program's own end")


@contextlib.contextmanager
def filtered(*words, running=False, rights=()):
    how = "--attach-running" if running else "--attach"
    with subprocess.Popen([INFERIORS / "filtered", *map(str, words)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        program = Filtered(process)
        server = Server([*rights, *TRACEWELL, "--once", "--fast-tracepoints", "all", how,
                         "localhost:0", str(process.pid)])
        try:
            yield program, server
        finally:
            process.kill()
            server.stop()


def recorded(program, count):
    """The program stands, and as many hits were recorded as it has counted."""
    program.client.ask("QTStop")
    same(program.client.frames_created(), count, "hits")


def pads(how, *words):
    with filtered(how, *words) as (program, server):
        same(status(program.process.pid, "Seccomp"), "2", "it filters its calls")
        client = program.begin(server)
        same(program.ask("hit 500"), 500, "hits of the first thread")
        same(program.ask("child 50"), 500, "hits of a child are not its own")
        program.ask("busy 4")
        wait_until(lambda: program.ask("hit 1") > MANY, "hits of four threads")
        program.ask("idle")
        for _ in range(20):  # begin when all that was there has been looked at, and are, too
            count = program.ask("thread 1000")
        program.stop()
        check("Tracepoint 1 at" in client.monitor("tracepoints"), client.monitor("tracepoints"))
        check(": a pad" in client.monitor("tracepoints"), client.monitor("tracepoints"))
        recorded(program, count)
        client.send("D")
        program.ends()
        check("trap" not in server.said(), server.said())
        print(f"{how} {words}: {count} hits", flush=True)


def pads_where_threads_run(how):
    """What is to be read then has the program stand for a moment."""
    with filtered(how, running=True) as (program, server):
        program.ask("busy 4")
        client = program.begin(server, non_stop=True)
        check(": a pad" in client.monitor("tracepoints"), client.monitor("tracepoints"))
        program.ask("idle")
        before = program.ask("hit 0")
        count = program.ask("thread 300")
        client.ask("QTStop")
        check(300 <= client.frames_created() <= count, f"of {before} and 300 hits")
        client.ask("D")
        program.ends()
        check("trap" not in server.said(), server.said())


def no_pads(*words, why="", rights=(), how="itself"):
    with filtered(how, *words, rights=rights) as (program, server):
        client = program.begin(server)
        program.ask("hit 20")
        count = program.ask("thread 10")
        program.stop()
        ways = client.monitor("tracepoints")
        check("a trap" in ways and why in ways, ways)
        recorded(program, count)
        client.send("D")
        program.ends()
        check("are traps in this process" in server.said(), server.said())


def traps_once_more_is_filtered():
    with filtered("itself", "handler") as (program, server):
        client = program.begin(server)
        program.ask("hit 100")
        program.ask("thread 100")
        program.ask("forbid")
        server.wait_for(MORE_FILTERS)
        program.ask("hit 10")
        count = program.ask("thread 10")  # whose first hit would ask for its number
        program.stop()
        check("a trap" in client.monitor("tracepoints"), client.monitor("tracepoints"))
        recorded(program, count)
        client.send("D")
        program.ends()


def main():
    need_fast_tracepoints()
    with open("/proc/self/status") as own:
        text = own.read()
    if os.getuid() != 0 or not re.search(r"^Seccomp:\s0$", text, re.MULTILINE):
        print("skipped: it takes root, whose own calls nobody filters, to read filters")
        return
    if "Seccomp_filters:" not in text:
        print("skipped: this kernel does not tell how many filters a thread has")
        return
    pads("itself")
    pads("launcher")
    pads("launcher", "handler")
    pads_where_threads_run("launcher")
    for call, name in ((GETTID, "gettid"), (SCHED_YIELD, "sched_yield"),
                       (PROCESS_VM_READV, "process_vm_readv")):
        no_pads(call, why=f"forbid what hits do, or cannot be read: {name}")
    no_pads("argument", why="process_vm_readv")
    no_pads("twice", why="forbid what hits do, or cannot be read")
    no_pads("over", GETTID, why="forbid what hits do, or cannot be read: gettid")
    no_pads("apart", why="forbid what hits do, or cannot be read")
    no_pads("beside", why="forbid what hits do, or cannot be read", how="none")
    if shutil.which("setpriv"):
        no_pads(why="root alone may read them", rights=NO_RIGHT)
    traps_once_more_is_filtered()


main()
