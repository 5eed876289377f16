#!/usr/bin/env python3
"""Every way to reach the server, with stock GDB at the other end; what it says when it cannot
listen; and what is left when it ends."""
# timeout: 240

import os
import pathlib
import pty
import select
import signal
import socket
import stat
import subprocess
import sys
import threading
import tty

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_common import (  # noqa: E402
    AS_GDBSERVER, BIN, PROGRAM, TRACEWELL, Server, alive, check, folder, gdb, need, on_port, same,
    server)

SCRIPT = """
said = run("target remote %s")
run("break inner")
run("continue")
value = int(gdb.parse_and_eval("value"))
where = gdb.selected_frame().name()
run("delete")
run("continue")
result([said if said.startswith("error") else "connected", where, value,
        int(gdb.parse_and_eval("$_exitcode"))])
"""
EXPECTED = ["connected", "inner", 21, 19]


def debug(work, remote, what):
    same(gdb(work, SCRIPT % remote, PROGRAM), EXPECTED, what)
    print(what)


def tcp(work):
    with on_port(PROGRAM) as running:
        debug(work, running.remote, "TCP")
        same(running.ended(), 0, "status after --once")
    with server("--once", ":0", PROGRAM) as running:
        port = running.wait_for(r"port (\d+)").group(1)
        command = ["ss", "-Hltn", f"sport = :{port}"]
        listening = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        where = {line.split()[3].rsplit(":", 1)[0] for line in listening.splitlines()}
        check("127.0.0.1" in where <= {"127.0.0.1", "[::1]"}, f"not only loopback: {listening!r}")
        debug(work, f":{port}", "TCP without a host")
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return
    with server("--once", "[::1]:0", PROGRAM) as running:
        port = running.wait_for(r"port (\d+)").group(1)
        debug(work, f"tcp6:[::1]:{port}", "IPv6")


def unix_socket(work):
    path = work / "socket"
    with server("--once", f"unix:{path}", PROGRAM) as running:
        same(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, "others' rights on the socket")
        second = Server([*TRACEWELL, "--multi", f"unix:{path}"])
        same(second.ended(), 4, "status when somebody listens there")
        check(f"{path}: Can't bind address: Address already in use" in second.said(), second.said())
        debug(work, path, "Unix socket")
        same(running.ended(), 0, "status")
        check(not path.exists(), "the socket is removed")
    # What a killed server left.
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with server("--multi", f"unix:{path}") as running:
        same(running.stop(), 128 + signal.SIGTERM, "status after SIGTERM")
    check(not path.exists(), "the socket is removed after SIGTERM")
    path.write_text("precious")
    running = Server([*TRACEWELL, "--multi", f"unix:{path}"])
    same(running.ended(), 4, "status when a file is there")
    same(path.read_text(), "precious", "the file")


def stdio(work):
    for program in ("tracewell serve", "tracewell-gdbserver"):
        debug(work, f"| {BIN}/{program} --once - {PROGRAM}", f"stdio of {program}")


def serial(work):
    """Two pseudo-terminals, joined."""
    ours, server_side = pty.openpty()
    theirs, gdb_side = pty.openpty()
    for fd in (ours, theirs):
        tty.setraw(fd)
    ending = threading.Event()

    def join():
        while not ending.is_set():
            for fd in select.select([ours, theirs], [], [], 0.1)[0]:
                os.write(theirs if fd == ours else ours, os.read(fd, 65536))

    thread = threading.Thread(target=join)
    thread.start()
    running = Server([*TRACEWELL, "--once", os.ttyname(server_side), PROGRAM])
    try:
        running.wait_for("Remote debugging using /dev/")
        debug(work, os.ttyname(gdb_side), "serial")
    finally:
        running.stop()
        ending.set()
        thread.join()
        for fd in (ours, server_side, theirs, gdb_side):
            os.close(fd)


def refusals():
    with on_port(PROGRAM) as running:
        port = running.remote.split(":")[1]
        for program, status in ((TRACEWELL, 4), (AS_GDBSERVER, 1)):
            second = Server([*program, f"localhost:{port}", PROGRAM])
            same(second.ended(), status, "status when the port is taken")
            words = f"localhost:{port}: Can't bind address: Address already in use"
            check(words in second.said(), second.said())
            check("created" not in second.said(), "nothing is started then")
    for words, gdbserver, own, text in (
        (["no.such.host.invalid:1", PROGRAM], 1, 4, "no.such.host.invalid: cannot resolve name: "),
        (["localhost:0", "/no/such/program"], 1, None, "/no/such/program"),
        (["--attach", "localhost:0", "1999999999"], 1, 4, "1999999999"),
        (["--attach", "localhost:0", "zero"], 1, 2, "PID"),
        (["localhost:0"], 1, 2, "PROG"),
        (["./prog"], 1, 2, "'./prog' is no place to listen"),
        ([PROGRAM], 1, 2, f"such as :0, comes before {PROGRAM}"),
        (["--atach", "localhost:0", "1"], 1, 2, "did you mean --attach?"),
        (["--buffer=/no/such/folder/x", "localhost:0", PROGRAM], 1, 4,
         "--buffer: cannot make /no/such/folder/x: No such file or directory"),
        ([f"--buffer={PROGRAM}/x", "localhost:0", PROGRAM], 1, 4, "Not a directory"),
        ([], 1, 2, "COMM"),
        (["--wrapper", "env", "localhost:0"], 1, 2, "--wrapper"),
        (["--no-such-option", "localhost:0", PROGRAM], None, 2, "--no-such-option"),
        (["nonsense", PROGRAM], 1, 2, "nonsense"),
        (["localhost:99999", PROGRAM], 1, 2, "localhost:99999"),
        (["/no/such/device", PROGRAM], 1, 4, "/no/such/device"),
        (["/dev/null", PROGRAM], 1, 4, "/dev/null"),
        (["--disable-packet=qC,bogus", "localhost:0", PROGRAM], 1, 2, "'bogus'; there are"),
        (["--debug-file=/no/such/folder/x", "localhost:0", PROGRAM], 1, 4, "/no/such/folder/x"),
    ):
        for program, status in ((AS_GDBSERVER, gdbserver), (TRACEWELL, own)):
            running = Server([*program, *words])
            ended = running.ended()
            check(ended == status or (status is None and ended != 0), f"{words}: status {ended}")
            check(text in running.said(), f"{words}: {running.said()!r}")
    for words in (["--help"], ["--version"]):
        for program in (TRACEWELL, AS_GDBSERVER):
            running = Server([*program, *words])
            same(running.ended(), 0, f"status of {words}")
            usage = running.said().splitlines()[1:2]
            check(words == ["--version"] or "[OPTIONS] COMM PROG [ARGS" in usage[0],
                  running.said())
            check("gdbserver" in running.said() or program is TRACEWELL, running.said())


def what_is_given(work):
    """The program's arguments, its environment, wrappers and logs."""
    log = work / "log"
    words = ["--once", "--wrapper", "env", "-u", "TW_KEPT", "TW_SET=by wrapper", "--",
             "--remote-debug", f"--debug-file={log}", "--debug-format=timestamp", "localhost:0",
             PROGRAM, "tell", "a b", "--once"]
    with server(*words, env={**os.environ, "TW_KEPT": "yes"}) as running:
        port = running.wait_for(r"port (\d+)").group(1)
        gdb(work, f'run("target remote localhost:{port}")\nresult(run("continue"))', PROGRAM)
        same(running.ended(), 0, "status")
        for line in ("argument a b", "argument --once", "TW_SET by wrapper", "TW_KEPT (none)"):
            check(line + "\n" in running.said(), running.said())
    check('packet: "qSupported:' in log.read_text(), "packets in the log")


def the_end(work):
    """Whoever was started dies with the server; whoever was attached to lives on."""
    with on_port(PROGRAM, options=[]) as running:
        pid = running.wait_for(r"pid = (\d+)").group(1)
        running.stop()
        check(not alive(pid), "the program dies with its server")
    os.mkfifo(work / "ready")
    other = subprocess.Popen([PROGRAM, "spin", work / "ready"])
    (work / "ready").read_text()
    try:
        with server("--attach", "localhost:0", str(other.pid)) as running:
            running.wait_for(f"Attached; pid = {other.pid}")
            running.stop()
            same(other.poll(), None, "the attached program lives on")
            state = pathlib.Path(f"/proc/{other.pid}/status").read_text()
            check("TracerPid:\t0" in state and "State:\tt" not in state, state)
        with server("--attach", "--multi", "localhost:0", str(other.pid)) as running:
            os.kill(running.process.pid, signal.SIGKILL)
            running.ended()
            same(other.poll(), None, "it lives on when the server is killed")
    finally:
        other.kill()
        other.wait()


need("gdb", "ss")
refusals()
with folder() as folder_:
    for part in (tcp, unix_socket, stdio, serial, what_is_given, the_end):
        part(folder_)
