#!/usr/bin/env python3
"""Requests of web pages that hold packets, and others who are no debuggers: nothing of what they
send is obeyed, however it is cut, and the program and its trace are as if they had never come.
Stock GDB and others still come in, whatever they begin with. docs/protocol/framing.md."""
# timeout: 400

import contextlib
import os
import pathlib
import random
import re
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import status, wait_until  # noqa: E402
from serve_client import Client, frame  # noqa: E402
from serve_common import BIN, PROGRAM, alive, check, folder, gdb, need, on_port, same  # noqa: E402

QUIET = frame("QStartNoAckMode")
HEAD = b" / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\r\n"
# Of what a stranger may be told there is nothing that is the program's.
HARMLESS = re.compile(rb"(?:[+-]|\$OK#9a|\$E\.this may be a request of a web page[^#]*#..)*")
ONE_READ = 16384
SEEDS = 12


def packets(work):
    """What a page would like to be done."""
    touch = ("/bin/sh", "-c", f"touch {work}/ran")
    return b"".join(frame(body) for body in (
        "!", f"vFile:open:{str(work / 'made').encode().hex()},601,1ff",
        "vFile:pwrite:0,0,written by a page\n",
        "vRun" + "".join(";" + word.encode().hex() for word in touch), "c", "k"))


def requests(work):
    """Each as the pieces that are sent one behind the other."""
    evil = b"#00" + packets(work)
    whole = QUIET + b"$" + HEAD + evil
    yield "a method that leaves a packet open", [whole]
    for one in ("k", "D", "c", "R00", "vCtrlC"):
        yield f"the method $#{one}$", [frame(one) + b"$" + HEAD + evil]
        yield f"a method of one read that ends with {one}", [
            b"+" * (ONE_READ - len(frame(one))) + frame(one), HEAD + evil]
    yield "a method that says three things", [QUIET + frame("!") + frame("k") + HEAD + evil]
    for seed in range(SEEDS):
        chosen = random.Random(seed)
        text = chosen.choice([whole, frame("k") + b"$" + HEAD + evil,
                              b"+" * 100 + QUIET + frame("Hc-1") + b"$" + HEAD + evil])
        # Most cuts are where it matters: in the method.
        cuts = sorted({chosen.randrange(1, 40) for _ in range(chosen.randrange(1, 4))} |
                      {chosen.randrange(1, len(text)) for _ in range(chosen.randrange(3))})
        yield f"cut at {cuts}", [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
    cut = len(QUIET)
    yield "cut behind the first packet", [whole[:cut], whole[cut:]]


def unread(port, client):
    """Bytes of that client's that the server has not read."""
    ends = [f":{number:04X}" for number in (port, client)]
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if [word[-5:] for word in words[1:3]] == ends:
            return int(words[4].split(":")[1], 16)
    return 0


def port_of(remote):
    return int(remote.split(":")[1])


def call(remote):
    client = socket.create_connection(("127.0.0.1", port_of(remote)), timeout=60)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def send(remote, pieces):
    """The answer, when the server has hung up. Each piece is read before the next one is sent."""
    got = b""
    with call(remote) as client, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        here = client.getsockname()[1]
        for piece in pieces:
            client.sendall(piece)
            wait_until(lambda: unread(port_of(remote), here) == 0, "a piece is read")
        try:
            while more := client.recv(65536):
                got += more
        except TimeoutError:
            got += b" and then nothing, not even an end"
    return got


def attack(work, server, lives, kind="remote"):
    """`lives(what)`: all is as it was. Returns where stock GDB then finds the program."""
    for what, pieces in requests(work):
        got = send(server.remote, pieces)
        check(HARMLESS.fullmatch(got), f"{what}: answered by {got!r}")
        same(server.process.poll(), None, f"{what}: the server's end")
        lives(what)
        for name in ("made", "ran"):
            check(not (work / name).exists(), f"{what}: obeyed, there is '{name}'")
    said = gdb(work, f"""
        connected = run("target {kind} {server.remote}")
        place = run("print $pc")
        run("disconnect")
        result([connected, place])
        """)
    check("error" not in said[0], f"GDB behind all these: {said}")
    return said[1]


def requests_that_hold_packets(work):
    with on_port(options=["--multi"]) as server:
        same(attack(work, server, lambda what: None, "extended-remote"), "error: No registers.",
             "there is no program")
    print("requests, --multi")

    with on_port(PROGRAM, "spin", work / "ready", options=[]) as server:
        pid = int(server.wait_for(r"pid = (\d+)").group(1))
        stands = lambda what: same(status(pid, "State"), "t", f"{what}: the program")  # noqa: E731
        check("0x" in attack(work, server, stands), "a place in the program")
    print("requests, a program")

    ready = work / "ready"
    os.mkfifo(ready)
    victim = subprocess.Popen([PROGRAM, "spin", ready])
    ready.read_text()
    with on_port(str(victim.pid), options=["--attach"]) as server:
        tracer = status(victim.pid, "TracerPid")

        def stands_attached(what):
            same(victim.poll(), None, f"{what}: the program's end")
            same(status(victim.pid, "State"), "t", f"{what}: the program")
            same(status(victim.pid, "TracerPid"), tracer, f"{what}: who traces it")

        check("0x" in attack(work, server, stands_attached), "a place in the program")
    victim.kill()
    victim.wait()
    print("requests, --attach")

    trace = work / "steps.jsonl"
    trace.write_text(
        '{"catalog":{"endian":"little","machine":"x86-64"}}\n'
        '{"kind":"step","tid":7,"pc":"0x401000","opcode":"90","before":{"rip":"0x401000"}}\n'
        '{"kind":"step","tid":7,"pc":"0x401001","opcode":"c3","before":{}}\n')
    for options in ([], ["--once"]):
        with on_port(program=[str(BIN / "tracewell"), "replay", *options, trace],
                     options=[]) as server:
            check("0x401000" in attack(work, server, lambda what: None), "the first step")
    print("requests, replay")


# What changes the packets that GDB begins with.
SETTINGS = (
    [], ["remote supported-packets-packet off"], ["remote noack-packet off"],
    ["remote noack-packet on"], ["remote noack-packet on", "remote supported-packets-packet off"],
    ["remote trace-status-packet off"], ["remote query-attached-packet off"],
    ["remote target-features-packet off", "remote threads-packet off"],
    ["remote multiprocess-feature-packet off", "remote verbose-resume-packet off"],
    ["remote thread-events-packet off", "remote library-info-svr4-packet off"],
    ["remote interrupt-on-connect on"],
    ["remote interrupt-on-connect on", "remote interrupt-sequence BREAK"],
    ["remote interrupt-on-connect on", "remote interrupt-sequence BREAK-g"],
    ["non-stop on"])
DEFAULTS = {"interrupt-on-connect": "off", "interrupt-sequence": "Ctrl-C", "non-stop": "off"}
COME_IN = """
got = []
for kind in ("remote", "extended-remote"):
    for settings in %(settings)r:
        said = [run("set " + one) for one in settings]
        said.append(run("target " + kind + " %(remote)s"))
        got.append([kind, settings, said, run("print $pc")])
        run("disconnect")
        for one in settings:
            name = one.split()[-2]
            run("set " + one.rsplit(" ", 1)[0] + " " + %(defaults)r.get(name, "auto"))
result(got)
"""
GDB_SAYS = "qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+;fork-events+;xmlRegisters=i386"
# As LLDB 14 begins, and GDB 6.8, 5.3 and one that is told not to ask what there is.
BEGINNINGS = {
    "LLDB": ["QStartNoAckMode", "qSupported:xmlRegisters=i386,arm,mips,arc;multiprocess+",
             "QThreadSuffixSupported", "QListThreadsInStopReply", "qHostInfo", "vCont?",
             "qVAttachOrWaitSupported", "QEnableErrorStrings", "qProcessInfo", "qC", "?"],
    "LLDB, its later words first": ["QStartNoAckMode", "QThreadSuffixSupported",
                                    "QListThreadsInStopReply", "qHostInfo", "qC", "?"],
    "GDB": [GDB_SAYS, "vMustReplyEmpty", "QStartNoAckMode", "!", "Hg0", "qTStatus", "?"],
    "GDB 6.8": ["qSupported", "Hc-1", "qC", "qOffsets", "?"],
    "GDB 5.3": ["Hc-1", "qC", "qOffsets", "?"],
    "GDB, unsupported": ["vMustReplyEmpty", "Hg0", "qTStatus", "qTfV", "qTsV", "!",
                         "qAttached", "?"],
}


def debuggers_come_in(work):
    with on_port(PROGRAM, options=[]) as server:
        for kind, settings, said, place in gdb(work, COME_IN % {
                "settings": SETTINGS, "remote": server.remote, "defaults": DEFAULTS}):
            check(not any("error" in one for one in said), f"{kind} {settings}: {said}")
            check("0x" in place, f"{kind} {settings}: {place}")
        for who, words in BEGINNINGS.items():
            with call(server.remote) as client:
                client.sendall(b"+")
                for word in words:
                    client.sendall(frame(word))
                    answer = b""
                    while not re.search(rb"\$[^#]*#..$", answer):
                        more = client.recv(65536)
                        check(more, f"{who}: the connection is closed at {word}")
                        answer += more
                check(answer[answer.index(b"$") + 1:][:1] == b"T", f"{who}: {answer}")
    print("debuggers")


class Counter:
    """The program's count of its turns, as the kernel shows it."""

    def __init__(self, work, server):
        self.pid = server.wait_for(r"pid = (\d+)").group(1)
        self.address = gdb(work, f"""
            run("target remote {server.remote}")
            address = int(gdb.parse_and_eval("(long)&watched"))
            run("disconnect")
            result(address)
            """, PROGRAM)

    def __call__(self):
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(self.address)
            return int.from_bytes(memory.read(4), "little")

    def goes_on(self, what):
        before = self()
        wait_until(lambda: self() != before, what)


def stranger_comes(remote, meanwhile):
    """One who says what nobody need be a debugger for, stays a while, and turns out to be none."""
    with call(remote) as client:
        client.sendall(QUIET)
        said = b""
        while b"#9a" not in said:
            more = client.recv(100)
            check(more, f"who says QStartNoAckMode is answered; got {said!r}")
            said += more
        client.sendall(frame("Hc-1") + frame("!") + frame("qTStatus"))
        meanwhile()
        client.sendall(b" / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            while client.recv(65536):
                pass
    with call(remote) as client:
        client.sendall(frame("Hc-1"))
        check(client.recv(1), "who says Hc is answered")


def strangers_do_not_stop_a_program(work):
    ready = work / "ready"
    os.mkfifo(ready)
    for non_stop in (False, True):
        with on_port(PROGRAM, "spin", ready, options=[]) as server:
            turns = Counter(work, server)
            client = Client(server.remote)
            if non_stop:
                same(client.say("QNonStop:1"), "OK", "QNonStop")
            client.send("vCont;c")
            ready.read_text()
            client.vanish()
            server.wait_for("will reopen the connection", 2)
            turns.goes_on("the program runs on")
            stranger_comes(server.remote, lambda: turns.goes_on("it runs beside a stranger"))
            server.wait_for("something else than the remote protocol")
            turns.goes_on("it runs behind strangers")
            client = Client(server.remote)
            if non_stop:
                same(client.say("QNonStop:1"), "OK", "QNonStop")
                same(client.say("?"), "OK", "nobody stands")
                turns.goes_on("it runs still, as a debugger without threads that stop comes")
            else:
                same(client.say("?")[:3], "T00", "why it stands")
            client.send("k")
            same(server.ended(), 0, "status after k")
    print("a program that runs")


def strangers_do_not_move_a_program(work):
    """Nor does `--once` end with one."""
    with on_port(PROGRAM, "spin", work / "ready") as server:
        pid = server.wait_for(r"pid = (\d+)").group(1)
        said = pathlib.Path(f"/proc/{pid}/syscall").read_text()

        def stands():
            same(status(pid, "State"), "t", "the program beside a stranger")

        stranger_comes(server.remote, stands)
        wait_until(lambda: server.said().count("Listening on port") == 3, "it listens again")
        stands()
        same(pathlib.Path(f"/proc/{pid}/syscall").read_text(), said, "where it stands")
        client = Client(server.remote)
        same(client.say("?")[:3], "T05", "why it stands")
        client.vanish()
        same(server.ended(), 0, "status after the first debugger")
        check(not alive(pid), "what was started dies")
    print("a program that stands, --once")


START_TRACE = """
run("target remote %(remote)s")
run("trace turn")
run("set disconnected-tracing on")
said = run("tstart")
run("detach")
result(said)
"""
LOOK = """
connected = run("target remote %(remote)s")
status = run("tstatus")
points = run("info tracepoints")
run("tstop")
run("kill")
result([connected, status, points])
"""


def strangers_do_not_end_a_trace(work):
    ready = work / "ready"
    os.mkfifo(ready)
    with on_port(PROGRAM, "spin", ready, options=[]) as server:
        turns = Counter(work, server)
        same(gdb(work, START_TRACE % {"remote": server.remote}, PROGRAM), "", "tstart")
        ready.read_text()
        stranger_comes(server.remote, lambda: turns.goes_on("it runs beside a stranger"))
        got = gdb(work, LOOK % {"remote": server.remote}, PROGRAM)
        check("Trace is already running on the target" in got[0], got)
        check("Trace is running on the target" in got[1], got)
        check("in turn at" in got[2], got)
        same(server.ended(), 0, "status after kill")
    print("a trace that runs alone")


def debuggers_that_break_the_protocol(work):
    """Are gone, as those are that hang up: their breakpoints, too."""
    ready = work / "ready"
    os.mkfifo(ready)
    with on_port(PROGRAM, "spin", ready, options=[]) as server:
        turns = Counter(work, server)
        spot = turns.address
        place = gdb(work, f"""
            run("target remote {server.remote}")
            place = int(gdb.parse_and_eval("(long)&outer"))
            run("disconnect")
            result(place)
            """, PROGRAM)
        client = Client(server.remote)
        before = client.say(f"m{place:x},1")
        for runs in (False, True):
            same(client.say(f"Z0,{place:x},1"), "OK", "Z0")
            if runs:
                same(client.say(f"z0,{place:x},1"), "OK", "z0")
                same(client.say(f"Z2,{spot + 64:x},4"), "OK", "Z2, somewhere")
                client.send("vCont;c")
                ready.read_text()
            client.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                same(client.socket.recv(1), b"", "the connection is closed")
            server.wait_for("something else than the remote protocol", 2 if runs else 1)
            server.wait_for("Listening on port", 5 if runs else 4)
            with open(f"/proc/{turns.pid}/mem", "rb") as memory:
                memory.seek(place)
                same(memory.read(1).hex(), before, "the patch is gone with its debugger")
            if runs:
                turns.goes_on("a program that ran runs on")
            else:
                same(status(turns.pid, "State"), "t", "a program that stood stands")
                client = Client(server.remote)
        check(alive(turns.pid), "the program is there")
    print("debuggers that break the protocol")


def main():
    need("gdb")
    for part in (requests_that_hold_packets, debuggers_come_in, strangers_do_not_stop_a_program,
                 strangers_do_not_move_a_program, strangers_do_not_end_a_trace,
                 debuggers_that_break_the_protocol):
        if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
            with folder() as work:
                part(work)


main()
