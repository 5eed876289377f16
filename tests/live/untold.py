#!/usr/bin/env python3
# timeout: 120
"""What the kernel tells no tracer: another program in a process's place, an id that is somebody
else's by now, a process whose traced threads have all ended. Nobody else is traced or killed for
it, and the server ends."""

import atexit
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

import serve_client  # noqa: E402
from parts import chosen  # noqa: E402
from rsp_client import bias, status, symbols, wait_until  # noqa: E402
from serve_common import TRACEWELL, Server, check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

FILE = INFERIORS / "untraced"


def begun(*words):
    """And what it says: a process id."""
    program = subprocess.Popen([FILE, *map(str, words)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    atexit.register(program.kill)
    line = program.stdout.readline().split()
    return program, int(line[1]) if line else None


def attached(pid, fast="none", **more):
    server = Server([*TRACEWELL, "--once", "--fast-tracepoints", fast, "--attach", "localhost:0",
                     str(pid)], **more)
    atexit.register(server.process.kill)
    port = server.wait_for(r"Listening on port (\d+)").group(1)
    return server, serve_client.Client(f"localhost:{port}")


def go_on(program):
    program.stdin.write("x")
    program.stdin.flush()


def a_process_that_has_the_id_now():
    program, pid = begun("execs")
    server, client = attached(pid)
    same(client.say("QNonStop:1"), "OK", "QNonStop")
    client.say("?")
    client.say("vStopped")
    client.say("vCont;c")
    go_on(program)
    same(program.wait(timeout=60), 0, "the other program's end")
    other, taken = begun("takes", pid)
    if taken is None:
        same(other.wait(timeout=60), 77, "a process with that id")
        print("skipped: who may choose the id of a process is root alone")
        server.process.kill()
        return
    client.send("k")
    same(server.ended(), 0, server.said())
    same((other.poll(), taken), (None, pid), f"who has the id now lives: {server.said()}")
    other.kill()


def nobody_is_left_to_stop():
    for ctrl_c in (True, False):
        program, pid = begun("lives")
        server, client = attached(pid)
        client.say("?")
        client.send("vCont;c")
        go_on(program)
        wait_until(lambda: status(pid, "State").startswith("Z"), "the first thread's end")
        if ctrl_c:
            client.socket.sendall(b"\x03")
            check(client.receive()[0] in "TS", "Ctrl-C")
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(timeout=20)
        same(program.poll(), None, "the other thread lives")
        program.kill()


def another_program_in_its_place():
    program, beside = begun("shares")
    library = INFERIORS / "execs_after_kcmp"
    server, client = attached(program.pid, env={**os.environ, "LD_PRELOAD": str(library)})
    client.say("?")
    same(os.readlink(f"/proc/{beside}/exe").split("/")[-1], "sleep", "what runs beside")
    wait_until(lambda: status(beside, "TracerPid") == "0", "nobody traces it")
    place = bias(program.pid, FILE) + symbols(FILE)["hit"]
    client.say("QTinit")
    client.say(f"QTDP:1:{place:x}:E:0:0-")
    same(client.say("QTStart"), "OK", "QTStart")
    client.say("QTStop")
    same(client.say("D"), "OK", "let go")
    same(server.ended(), 0, server.said())
    same(status(beside, "State")[:1], "S", "it sleeps on")
    program.kill()


def code_that_others_run():
    for fast in ("none", "all"):
        program, place = begun("lends")
        server, client = attached(program.pid, fast)
        client.say("?")
        client.say("QTinit")
        client.say(f"QTDP:1:{place:x}:E:0:0{':F7' if fast == 'all' else ''}-")
        said = client.say("QTStart")
        while said.startswith("O") and said != "OK":  # that it is not fast
            said = client.receive()
        check("other processes may share" in said, f"QTStart: {said}")
        same(client.say("D"), "OK", "let go")
        same(server.ended(), 0, server.said())
        program.kill()


def main():
    for part in chosen((a_process_that_has_the_id_now, nobody_is_left_to_stop,
                        another_program_in_its_place, code_that_others_run)):
        part()


main()
