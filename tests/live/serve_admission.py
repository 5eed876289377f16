#!/usr/bin/env python3
"""Who may connect to `serve` and `replay`, over TCP on loopback and Unix sockets, and what becomes
of the others: other users, a connection that its user has closed again, browsers, and those who say
nothing. docs/threat-model.md, "Connections"."""
# timeout: 300
# skips

import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_client  # noqa: E402
from rsp_client import status, wait_until  # noqa: E402
from serve_common import (  # noqa: E402
    AS_GDBSERVER, BIN, PROGRAM, TRACEWELL, Server, check, folder, gdb, need, same, server)

USER, OTHER, NOBODY = 54321, 54322, 65534
WORDS = ("--allow-users", "unix:PATH")
CLIENT = """
import socket, sys
kind, where, *texts = sys.argv[1:]
if kind == "unix":
    client = socket.socket(socket.AF_UNIX)
    client.connect(where)
else:
    client = socket.create_connection(("127.0.0.1" if kind == "tcp" else kind, int(where)))
client.settimeout(30)
for text in texts:
    client.sendall(text.encode("latin-1"))
if kind == "unix" or texts:
    got = b""
    try:
        while b"#" not in got and (more := client.recv(65536)):
            got += more
    except ConnectionResetError:
        pass
    sys.stdout.buffer.write(got)
"""
SUPPORTED = serve_client.frame("qSupported:swbreak+").decode()


def as_user(uid, words, **more):
    """Runs it as that user; uid 0 is who runs the test."""
    if uid:
        words = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *words]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          errors="replace", timeout=90, cwd="/", **more)


def talk(uid, where, *texts, kind="tcp"):
    """What a client of that user is answered."""
    done = as_user(uid, [sys.executable, "-c", CLIENT, kind, where, *texts])
    return done.stdout if done.returncode == 0 else done.stderr


def port_of(running):
    return running.wait_for(r"Listening on port (\d+)").group(1)


def admitted(uid, where, what, kind="tcp"):
    check("PacketSize=" in (said := talk(uid, where, "+" + SUPPORTED, kind=kind)),
          f"{what}: {said!r}")


def refused(uid, where, what, running, kind="tcp"):
    """With a sentence, for the client and in the log, and an end."""
    said = talk(uid, where, "+" + SUPPORTED, kind=kind)
    check(said.startswith("+$E."), f"{what}: {said!r}")
    for word in WORDS:
        check(word in said, f"{what}: no {word} in {said!r}")
    wait_until(lambda: "refused: " in running.said(), f"{what}: the log")
    return said


def users(work):
    """Own, root, others, one without a number."""
    with server("--multi", "localhost:0") as running:
        port = port_of(running)
        said = refused(USER, port, "another user", running)
        check(f"--allow-users {USER}" in said, said)
        refused(NOBODY, port, "nobody", running)
        admitted(0, port, "own")
        same(talk(USER, port), "", "who says nothing")
        admitted(0, port, "own, again")
        if pathlib.Path("/proc/net/if_inet6").exists():
            refused(USER, port, "another user, at ::1", running, kind="::1")
            admitted(0, port, "own, at ::1", kind="::1")
    program = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *TRACEWELL]
    with server("--multi", "localhost:0", program=program, cwd="/") as running:
        port = port_of(running)
        admitted(USER, port, "a user's own")
        admitted(0, port, "root to a user's server")
        refused(OTHER, port, "another user", running)
    # A client's socket may be an IPv6 one.
    with server("--multi", "127.0.0.1:0") as running:
        port = port_of(running)
        said = talk(USER, port, SUPPORTED, kind="::ffff:127.0.0.1")
        check(said.startswith("+$E."), said)
        said = talk(0, port, SUPPORTED, kind="::ffff:127.0.0.1")
        check("PacketSize=" in said, said)
    with server("--multi", "[::1]:0") as running:
        port = port_of(running)
        check(talk(USER, port, SUPPORTED, kind="::1").startswith("+$E."), "IPv6")
        check("PacketSize=" in talk(0, port, SUPPORTED, kind="::1"), "IPv6, own")
    print("users")


def allowed(work):
    with server("--multi", "--allow-users", f"nobody,{USER}", "localhost:0") as running:
        port = port_of(running)
        for uid in (USER, NOBODY, 0):
            admitted(uid, port, f"--allow-users: {uid}")
        refused(OTHER, port, "another one", running)
        check("warning" not in running.said(), running.said())
    with server("--multi", "--allow-users=any", "localhost:0") as running:
        running.wait_for("warning: every user of this machine")
        admitted(OTHER, port_of(running), "any")
    for address in ("0.0.0.0:0", "[::]:0"):
        with server("--multi", address) as running:
            running.wait_for("warning: whoever reaches this address")
            admitted(OTHER, port_of(running), "a wide address")
    for words, code, text in (
            (["--allow-users", "no-such-user", "localhost:0"], 2, "no user 'no-such-user'"),
            (["--allow-users", "nobody", "0.0.0.0:0"], 2, "whoever reaches this address"),
            (["--allow-users", "nobody", "-"], 2, "sockets only")):
        for program, ends in ((TRACEWELL, code), (AS_GDBSERVER, 1)):
            running = Server([*program, "--multi", *words])
            same(running.ended(), ends, f"status of {words}")
            check(text in running.said(), running.said())
    print("--allow-users")


def sudo(work):
    """A root server, and the GDB of the user who has started it."""
    environment = {**os.environ, "SUDO_UID": str(USER), "SUDO_USER": "somebody"}
    with server("--multi", "localhost:0", env=environment) as running:
        port = port_of(running)
        done = as_user(USER, ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
                              "-ex", f"target remote localhost:{port}"], env={
                                  "HOME": "/", "PATH": os.environ["PATH"], "LC_ALL": "C"})
        said = " ".join((done.stdout + done.stderr).split())
        for word in (*WORDS, "who started it through sudo", f"--allow-users {USER}"):
            check(word in said, f"no {word!r} in what GDB says: {said}")
        admitted(0, port, "root")
    print("sudo")


def forwarder(work):
    """What forwards (ssh -L) is who connects."""
    with server("--multi", "localhost:0") as running:
        port = port_of(running)
        for uid, expected in ((0, "PacketSize="), (OTHER, "$E.")):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                here = probe.getsockname()[1]
            words = ["socat", f"TCP-LISTEN:{here},bind=127.0.0.1,reuseaddr,fork",
                     f"TCP:127.0.0.1:{port}"]
            if uid:
                words = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *words]
            with subprocess.Popen(words, cwd="/") as forward:
                wait_until(lambda: listens(here), "the forwarder")
                said = talk(USER, str(here), SUPPORTED)
                forward.terminate()
            check(expected in said, f"through {uid}: {said!r}")
    print("forwarder")


def listens(port):
    command = ["ss", "-Hltn", f"sport = :{port}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout != ""


def closed_before_it_is_looked_at(work):
    """A connection that its user has closed reads as root's."""
    made = work / "made"
    packets = "".join(serve_client.frame(body).decode() for body in (
        f"vFile:open:{str(made).encode().hex()},602,1b6", f"vFile:unlink:{b'/none'.hex()}"))
    with server("--multi", "localhost:0") as running:
        port = port_of(running)
        face = running.process.pid
        tracer = int(pathlib.Path(f"/proc/{face}/task/{face}/children").read_text())
        os.kill(tracer, signal.SIGSTOP)
        wait_until(lambda: status(tracer, "State") == "T", "a server that stands still")
        script = ("import socket, sys\n"
                  "client = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
                  "client.sendall(sys.argv[2].encode())\n")
        for _ in range(3):
            done = as_user(USER, [sys.executable, "-c", script, port, packets])
            same(done.returncode, 0, done.stderr)
        os.kill(tracer, signal.SIGCONT)
        admitted(0, port, "own")
        wait_until(lambda: running.said().count("refused: ") >= 3, "three refusals")
        check(not made.exists(), "a packet of a closed connection was executed")
    print("closed before it is looked at")


def unix_sockets(work):
    open_folder = pathlib.Path(tempfile.mkdtemp(prefix="tw-admission-", dir="/tmp"))
    open_folder.chmod(0o1777)
    path = open_folder / "socket"
    try:
        before = os.umask(0)
        with server("--multi", f"unix:{path}") as running:
            os.umask(before)
            same(oct(stat.S_IMODE(path.stat().st_mode)), "0o600", "mode of the socket")
            check("Permission denied" in talk(USER, path, SUPPORTED, kind="unix"), "mode 0600")
            admitted(0, path, "own", kind="unix")
            path.chmod(0o666)
            refused(USER, path, "SO_PEERCRED", running, kind="unix")
            admitted(0, path, "own", kind="unix")
        with server("--multi", "--allow-users", str(USER), f"unix:{path}") as running:
            admitted(USER, path, "allowed", kind="unix")
            refused(OTHER, path, "not allowed", running, kind="unix")
        # What another user left there, or has pointed elsewhere.
        as_user(USER, [sys.executable, "-c",
                       f"import socket; socket.socket(socket.AF_UNIX).bind({str(path)!r})"])
        running = Server([*TRACEWELL, "--multi", f"unix:{path}"])
        same(running.ended(), 2, "status")
        check(f"user {USER} left a socket there" in running.said(), running.said())
        path.unlink()
        as_user(USER, ["ln", "-s", "/etc", open_folder / "etc"])
        running = Server([*TRACEWELL, "--multi", f"unix:{open_folder}/etc/tw-socket"])
        same(running.ended(), 2, "status")
        check(not pathlib.Path("/etc/tw-socket").exists(), "a socket behind another user's link")
    finally:
        subprocess.run(["rm", "-r", open_folder], check=True)
    print("Unix sockets")


def browsers(work, connect, running, others_wait=True):
    """Whatever a page can make of a request, nothing of it is executed."""
    made = work / "made"
    evil = "".join(serve_client.frame(body).decode() for body in (
        "qSupported:swbreak+", f"vFile:open:{str(made).encode().hex()},602,1b6"))
    kill = serve_client.frame("k").decode()
    for head in ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\n", "+ / HTTP/1.1\r\n",
                 "-+ / HTTP/1.1\r\n", f"{kill} / HTTP/1.1\r\n", " ", "\r\n", "a", "\0",
                 "\x16\x03\x01\x02", "%x#78 / HTTP/1.1\r\n", f"{kill * 3}x / HTTP/1.1\r\n"):
        with connect() as client:
            try:
                client.sendall((head + evil).encode("latin-1"))
                got = b""
                while more := client.recv(4096):
                    got += more
            except (BrokenPipeError, ConnectionResetError):
                pass
            check(b"#" not in got, f"{head!r} is answered: {got}")
    check(not made.exists(), "a browser's packet was executed")
    running.wait_for("does not speak GDB's remote protocol")
    # Later it is the same, for those who can place the first packet's end by themselves.
    with connect() as client:
        client.sendall(SUPPORTED.encode())
        got = client.recv(65536)
        client.sendall((" / HTTP/1.1\r\nHost: x\r\n\r\n" + evil).encode())
        try:
            while more := client.recv(65536):
                got += more
        except ConnectionResetError:
            pass
        check(b"PacketSize=" in got, "the first packet")
    check(not made.exists(), "a packet behind a request was executed")
    running.wait_for("carries something else than the remote protocol")
    # GDB's BREAK over TCP, and a person who types.
    with connect() as client:
        client.sendall(b"+" + SUPPORTED.encode() + b"\r\n\xff\xf3g" + SUPPORTED.encode())
        got = b""
        while got.count(b"PacketSize=") < 2:
            more = client.recv(65536)
            check(more, f"after BREAK: {got}")
            got += more


def by_port(port):
    return lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=60)


def by_path(path):
    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(60)
        client.connect(str(path))
        return client
    return connect


def browsers_everywhere(work):
    with server("--multi", "localhost:0") as running:
        browsers(work, by_port(port_of(running)), running)
    with server("localhost:0", PROGRAM) as running:
        browsers(work, by_port(port_of(running)), running)
    path = work / "socket"
    with server("--multi", f"unix:{path}") as running:
        browsers(work, by_path(path), running)
    trace = work / "steps.jsonl"
    trace.write_text(
        '{"catalog":{"endian":"little","machine":"x86-64"}}\n'
        '{"kind":"step","tid":7,"pc":"0x401000","opcode":"90","before":{"rip":"0x401000"}}\n'
        '{"kind":"step","tid":7,"pc":"0x401001","opcode":"c3","before":{}}\n')
    replay = [str(BIN / "tracewell"), "replay", str(trace)]
    with server("localhost:0", program=replay) as running:
        port = port_of(running)
        browsers(work, by_port(port), running)
        if os.geteuid() == 0:
            refused(USER, port, "replay", running)
            admitted(0, port, "replay")
    print("browsers")


def the_silent(work):
    """Those who say nothing, or nothing whole, keep nobody out, however many they are; not even
    while a debugger is served, nor those who are refused."""
    with server("--multi", "localhost:0") as running:
        port = port_of(running)
        connect = by_port(port)
        crowd = []
        for begin in (b"", b"+", b"$qSupp", b"\x03", b"$" + b"x" * 1000):
            for _ in range(20):
                client = connect()
                client.sendall(begin)
                crowd.append(client)
        result = gdb(work, f'result(run("target extended-remote localhost:{port}"))')
        check("error" not in result, f"behind a silent crowd: {result}")
        first = serve_client.Client(f"localhost:{port}")
        crowd += [connect() for _ in range(60)]
        second = connect()
        second.sendall(SUPPORTED.encode())
        same(first.say("qC")[:1] in ("Q", "E", ""), True, "the first is served")
        check("Remote debugging" in running.said(), running.said())
        first.vanish()
        check(b"PacketSize=" in second.recv(65536), "the second has its turn")
        second.close()
        if os.geteuid() == 0:
            script = ("import socket, sys, time\n"
                      "all = [socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
                      " for _ in range(60)]\n"
                      "print('there', flush=True)\nsys.stdin.read()\n")
            words = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                     sys.executable, "-c", script, port]
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  cwd="/") as other:
                same(other.stdout.readline(), b"there\n", "a crowd of another user's")
                admitted(0, port, "behind a crowd that is refused")
                other.stdin.close()
        for client in crowd:
            client.close()
    print("the silent")


def keeps_looking(work):
    """A debugger whose machine is gone is noticed in minutes."""
    with server("--multi", "localhost:0") as running:
        port = port_of(running)
        client = serve_client.Client(f"localhost:{port}")

        def timer():
            said = subprocess.run(["ss", "-Htno", f"sport = :{port}"], capture_output=True,
                                  text=True, check=True).stdout
            return re.search(r"timer:\(keepalive,(\d+)min", said)

        # Until the client's machine has acknowledged what it was sent, another timer runs.
        wait_until(timer, "nobody looks whether the debugger is there")
        same(int(timer()[1]) <= 5, True, "minutes until somebody looks")
        client.vanish()
    print("keeps looking")


def main():
    need("gdb", "setpriv", "socat", "ss")
    parts = (browsers_everywhere, the_silent, keeps_looking)
    if os.geteuid() == 0:
        parts += (users, allowed, sudo, forwarder, closed_before_it_is_looked_at, unix_sockets)
    only = sys.argv[1:]
    for part in parts:
        with folder() as work:
            if not only or part.__name__ in only:
                part(work)
    if os.geteuid() != 0:
        print("skipped: other users' connections, since only root can be other users")


main()
