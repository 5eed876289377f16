#!/usr/bin/env python3
"""A name and a port belong to one server: whatever address of the name a debugger tries first, it
meets that server or nobody. With a file of hosts as most systems have it, ::1 is the first that GDB
tries for `localhost:PORT` and `:PORT`. In a network of its own."""
# timeout: 120
# skips

import os
import pathlib
import re
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_client  # noqa: E402
from serve_common import (  # noqa: E402
    AS_GDBSERVER, BIN, PROGRAM, TRACEWELL, Server, check, folder, gdb, need, same, server)

USER = 54321
HOSTS = """127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
10.9.8.7 wide.test
fd00::7 wide.test
127.0.1.1 mixed.test
fd00::7 mixed.test
"""
SQUAT = """
import socket, sys
taken = []
for host, port in zip(sys.argv[1::2], sys.argv[2::2]):
    taken.append(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET))
    taken[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken[-1].bind((host, int(port)))
    taken[-1].listen()
print("taken", flush=True)
sys.stdin.read()
"""
SUPPORTED = "+" + serve_client.frame("qSupported:swbreak+").decode()


class Squatter:
    """Another user who listens at such addresses."""

    def __init__(self, *where):
        self.process = subprocess.Popen(
            ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", sys.executable,
             "-c", SQUAT, *[str(word) for word in where]], cwd="/", text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.has_it = self.process.stdout.readline() == "taken\n"

    def __enter__(self):
        check(self.has_it, f"the squatter has nothing: {self.process.stderr}")
        return self

    def __exit__(self, *_):
        self.process.communicate()


def squats(host, port):
    squatter = Squatter(host, port)
    squatter.process.communicate()
    return squatter.has_it


def port_of(running):
    return int(running.wait_for(r"Listening on port (\d+)").group(1))


def listening(port):
    said = subprocess.run(["ss", "-Hltn", f"sport = :{port}"], capture_output=True, text=True,
                          check=True).stdout
    return sorted(line.split()[3].rsplit(":", 1)[0] for line in said.splitlines())


def answer(host, port):
    """What this user's debugger is answered there; None: nobody is there."""
    try:
        with socket.create_connection((host, port), timeout=30) as client:
            client.sendall(SUPPORTED.encode())
            got = b""
            while b"#" not in got and (more := client.recv(65536)):
                got += more
            return got.decode("latin-1")
    except ConnectionRefusedError:
        return None


def serves(work):
    for comm in (":0", "localhost:0"):
        with server("--multi", comm) as running:
            port = port_of(running)
            same(listening(port), ["127.0.0.1", "[::1]"], f"{comm}: who listens")
            for host in ("127.0.0.1", "::1"):
                check("PacketSize=" in answer(host, port), f"{comm}: own, at {host}")
            for host in ("127.0.0.1", "::1", "0.0.0.0", "::"):
                check(not squats(host, port), f"{comm}: another takes {host}")
            told = "+" + SUPPORTED
            code = ("import socket, sys\nclient = socket.create_connection(('::1', "
                    f"{port}))\nclient.sendall({told!r}.encode())\n"
                    "print(client.recv(4096).decode())")
            said = subprocess.run(
                ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                 sys.executable, "-c", code], cwd="/", capture_output=True, text=True, timeout=60,
                check=False)
            check("E.this server is for" in said.stdout, f"another user at ::1: {said}")
    for comm in ("localhost", ""):
        with server("--once", f"{comm}:0", PROGRAM) as running:
            port = port_of(running)
            got = gdb(work, f'run("target remote {comm}:{port}")\nresult(run("info inferiors"))',
                      PROGRAM)
            check("process" in got, got)
            check(re.search(r"from host (::1|127\.0\.0\.1)", running.said()), running.said())
    print("both")


def refuses(work):
    trace = work / "empty.jsonl"
    trace.write_text('{"catalog":{"machine":"x86-64"}}\n{"kind":"frame","tracepoint":1}\n')
    for taken in ("::1", "127.0.0.1", "::"):
        with Squatter(taken, 23450):
            for host in ("localhost", "", "ip6-localhost"):
                for words, status in (([*TRACEWELL, "--multi", f"{host}:23450"], 4),
                                      ([*AS_GDBSERVER, "--multi", f"{host}:23450"], 1),
                                      ([BIN / "tracewell", "replay", trace, f"{host}:23450"], 4)):
                    running = Server(words)
                    same(running.ended(), status, f"{words} beside {taken}: {running.said()}")
                    check("Can't bind address: Address already in use" in running.said(),
                          running.said())
                    if taken == "::1":
                        check("at [::1]:23450" in running.said(), running.said())
    with Squatter("::1", 23450), server("--multi", "127.0.0.1:23450") as running:
        same(listening(23450), ["127.0.0.1", "[::1]"], "an address stands for itself")
    print("refusals")


def ports():
    """Of four ports one is free at both."""
    limits = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
    before = limits.read_text()
    limits.write_text("40000 40003")
    taken = ["::1", 40000, "::1", 40001, "::1", 40002]
    with Squatter(*taken), server("--multi", ":0") as running:
        same(port_of(running), 40003, "the port that is free at both")
    with Squatter(*taken, "::1", 40003):
        same(Server([*TRACEWELL, "--multi", ":0"]).ended(), 4, "none is free at both")
    limits.write_text(before)
    print("ports")


def wide():
    """Other addresses of the name are not served, and are nobody else's."""
    with Squatter("fd00::7", 23451):
        running = Server([*TRACEWELL, "--multi", "wide.test:23451"])
        same(running.ended(), 4, "status")
        check("at [fd00::7]:23451" in running.said(), running.said())
    with server("--multi", "wide.test:0") as running:
        running.wait_for("warning: whoever reaches this address")
        port = port_of(running)
        same(listening(port), ["10.9.8.7"], "who listens")
        check("PacketSize=" in answer("10.9.8.7", port), "its first address")
        same(answer("fd00::7", port), None, "its second one")
        check(not squats("fd00::7", port), "another takes it")
    with server("--multi", "mixed.test:0") as running:
        port = port_of(running)
        same(listening(port), ["127.0.0.1", "127.0.1.1", "[::1]"], "who listens")
        check("warning" not in running.said(), running.said())
        check(not squats("fd00::7", port), "another takes the wide one")
    print("wide")


def without_ipv6():
    for name in ("all", "lo"):
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
    for comm in (":0", "localhost:0", "mixed.test:0"):
        with server("--multi", comm) as running:
            port = port_of(running)
            check("[::1]" not in listening(port), "there is no ::1")
            check("PacketSize=" in answer("127.0.0.1", port), comm)
    print("without IPv6")


def inside(work):
    (work / "hosts").write_text(HOSTS)
    for words in (["mount", "--bind", work / "hosts", "/etc/hosts"],
                  ["ip", "link", "set", "lo", "up"],
                  ["ip", "address", "add", "10.9.8.7/32", "dev", "lo"],
                  ["ip", "address", "add", "fd00::7/128", "dev", "lo"]):
        subprocess.run([str(word) for word in words], check=True)
    serves(work)
    refuses(work)
    ports()
    wide()
    without_ipv6()


need("gdb", "ss", "ip", "setpriv", "unshare", "mount")
if sys.argv[1:] == ["inside"]:
    with folder() as folder_:
        folder_.chmod(0o755)
        inside(folder_)
    sys.exit()
OWN = ["unshare", "--mount", "--net"]
if os.geteuid() != 0 or subprocess.run([*OWN, "true"], capture_output=True,
                                       check=False).returncode != 0:
    print("skipped: only root may make a network of its own and be another user")
    sys.exit()
if not pathlib.Path("/proc/net/if_inet6").exists():
    print("skipped: this kernel has no IPv6")
    sys.exit()
os.execvp(OWN[0], [*OWN, sys.executable, str(pathlib.Path(__file__).resolve()), "inside"])
