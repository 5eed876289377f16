#!/usr/bin/env python3
# timeout: 200
"""`serve --attach-running`: the program runs on while the server attaches, while nobody is
connected, and while a debugger in non-stop mode looks at it. One that wants all threads to stop
gets that, and the server says for how long. So it does where `--attach` keeps the program."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from clock_watcher import PROGRAM, watching  # noqa: E402
from replay_common import folder, gdb  # noqa: E402
from rsp_client import Client, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server  # noqa: E402
from trace_common import check, same  # noqa: E402

BUSY, IDLE = 4, 21
STOOD = r"The program stood still for (\d+\.\d{3}) s"


def port_of(server):
    return int(server.wait_for(r"Listening on port (\d+)").group(1))


def never_stands(watcher, what, name):
    switches, still = watcher.stops(what)
    print(f"{name}: {switches:g} switches, at most {still:.1f} ms", flush=True)
    same(switches, 0, f"{name}: stops of all threads")


def looks_around(client, watcher):
    client.ask("QNonStop:1")
    client.ask("?", "OK")
    client.ask("Hgp0.0")
    check(client.say("qfThreadInfo").startswith("m"), "threads")
    for document in ("libraries-svr4:read:", "auxv:read:", f"exec-file:read:{watcher.pid:x}",
                     "threads:read:"):
        check(client.say(f"qXfer:{document}:0,1000")[0] in "lm", document)
    turns = f"m{watcher.address('turns'):x},8"
    before = client.say(turns)
    wait_until(lambda: client.say(turns) != before, "the program runs, and its memory is read")
    client.ask(f"Z0,{watcher.address('main'):x},1")
    client.ask(f"z0,{watcher.address('main'):x},1")


def alone_and_non_stop():
    with watching(BUSY, IDLE) as watcher:
        servers = []
        command = [*TRACEWELL, "--attach-running", "localhost:0", str(watcher.pid)]
        try:
            def attach():
                servers.append(Server(command))
                servers[0].wait_for("Listening on")

            never_stands(watcher, attach, "attaching")

            def debug():
                client = Client(port_of(servers[0]))
                looks_around(client, watcher)
                client.vanish()
                servers[0].wait_for("Remote side has terminated connection")

            never_stands(watcher, debug, "a debugger in non-stop mode")
            check(not re.search(STOOD, servers[0].said()), "it never stood")

            # The next one wants all threads to stop.
            client = Client(port_of(servers[0]))
            client.ask("QNonStop:0")
            check(client.say("?").startswith("T"), "a stop")
            stands = watcher.word("turns")
            check(client.say(f"m{watcher.address('turns'):x},8") ==
                  stands.to_bytes(8, "little").hex(), "the program stands")
            client.send("vCont;c")
            watcher.runs()
            servers[0].wait_for(STOOD)
        finally:
            for server in servers:
                server.stop()
        watcher.runs()


def left_to_its_trace():
    """Whoever looks after a trace that went on without a debugger finds running threads as well."""
    with watching(BUSY, IDLE) as watcher:
        server = Server([*TRACEWELL, "--attach-running", "localhost:0", str(watcher.pid)])
        try:
            client = Client(port_of(server))
            looks_around(client, watcher)
            client.ask("QTinit")
            client.ask(f"QTDP:1:{watcher.address('main'):x}:E:0:0")
            client.ask("QTDisconnected:1")
            client.console("QTStart")
            client.vanish()
            server.wait_for("Remote side has terminated connection")
            client = Client(port_of(server))
            looks_around(client, watcher)
            check(client.say("qTStatus").startswith("T1"), "the trace runs")
            client.ask("QTStop")
        finally:
            server.stop()
        watcher.runs()


def stock_gdb():
    """Where no thread is known to stand still, GDB asks for one that does while it reads symbols.
    Before it leaves the program, which is a stop, it says how often threads have gone to sleep."""
    with watching(BUSY, IDLE) as watcher, folder() as work:
        server = Server([*TRACEWELL, "--attach-running", "--once", "localhost:0",
                         str(watcher.pid)])
        try:
            before = watcher.switches()
            *shown, after = gdb(work, f"""
                run("set non-stop on")
                shown = [run("target remote localhost:{port_of(server)}"),
                         run("info sharedlibrary"), run("info threads")]
                texts = [open("/proc/%d/status" % tid).read() for tid in {watcher.idle}]
                result(shown + [[int(one.split("voluntary_ctxt_switches:")[1].split()[0])
                                 for one in texts]])
                """, PROGRAM)
            more = sorted(now - before[tid] for tid, now in zip(watcher.idle, after))
            print(f"stock GDB in non-stop mode: switches {more}", flush=True)
            same(more[len(more) // 2], 0, "stops of all threads")
            check("libc" in shown[1], f"libraries: {shown}")
            same(shown[2].count("Thread "), BUSY + IDLE, f"threads: {shown}")
            check("(running)" in shown[2], f"{shown}")
        finally:
            server.stop()
        watcher.runs()


def kept():
    """--attach is gdbserver's: the program stands until the debugger lets it go on."""
    with watching(BUSY, IDLE) as watcher:
        server = Server([*TRACEWELL, "--attach", "localhost:0", str(watcher.pid)])
        try:
            client = Client(port_of(server))
            stands = watcher.word("turns")
            check(client.say("?").startswith("T"), "a stop")
            same(watcher.word("turns"), stands, "the program stands")
            check(not re.search(STOOD, server.said()), "it still does")
            client.send("vCont;c")
            watcher.runs()
            server.wait_for(STOOD)
        finally:
            server.stop()
        # Nobody comes at all.
        server = Server([*TRACEWELL, "--attach", "localhost:0", str(watcher.pid)])
        server.wait_for("Listening on")
        server.stop()
        check(re.search(STOOD, server.said()), f"told at the end: {server.said()}")


def main():
    alone_and_non_stop()
    left_to_its_trace()
    stock_gdb()
    kept()


main()
