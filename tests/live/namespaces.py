#!/usr/bin/env python3
# skips
"""A program in PID and mount namespaces of its own, as in a container: it is attached to by the
number that it has here, signals reach it once, its files are found though none of them is here, and
its tracepoints are pads whose frames tell threads by the numbers that they have here."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, symbols, wait_until  # noqa: E402
from replay_common import gdb, listening  # noqa: E402
from serve_common import INFERIORS, TRACEWELL, check, folder, need, same  # noqa: E402
from trace_common import has_fast_tracepoints, records  # noqa: E402

OWN = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c",
       'mount -t tmpfs tmpfs "$0" && cp "$1" "$0/program" && place=$0; shift; '
       'exec "$place/program" "$@"']
# It may not follow the links in /proc/PID/map_files, and has names alone.
NO_LINKS = ["setpriv", "--bounding-set", "-sys_admin,-checkpoint_restore"]
USR1 = "1e"  # as GDB counts


def runs(pid):
    """It has been loaded, and computes."""
    return any("/program" in pathlib.Path(f"/proc/{child}/maps").read_text() and
               int(pathlib.Path(f"/proc/{child}/stat").read_text().split()[13]) > 5
               for child in child_of(pid))


def child_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@contextlib.contextmanager
def contained(place, program, *words):
    """Yields its number here, once it runs."""
    with subprocess.Popen([*OWN, str(place), str(program),
                           *(words or ("2000000000",))], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as run:
        try:
            wait_until(lambda: runs(run.pid), "the program")
            yield int(child_of(run.pid)[0])
        finally:
            run.kill()


def in_namespace(pid):
    return re.search(r"^NSpid:.*\s(\d+)$", pathlib.Path(f"/proc/{pid}/status").read_text(),
                     re.MULTILINE)[1]


@contextlib.contextmanager
def attached(pid, *words):
    with serving("--once", *words, "--attach", "localhost:0", str(pid)) as (server, port, _):
        yield server, Client(port)


def stopped(client):
    client.socket.sendall(b"\x03")
    return client.receive()


def signals(place):
    """A signal that the debugger gives is delivered; it is no news."""
    with contained(place, INFERIORS / "ticks") as pid:
        same(in_namespace(pid), "1", "its number there")
        with attached(pid) as (_, client):
            check(client.say("?")[0] == "T", "it stands")
            client.send("vCont;c")
            stopped(client)
            same(client.say(f"vCont;C{USR1}"), "W07", "what its handler makes of it")


def signals_of_others(place):
    """One from outside is news, once: also the very one that the debugger gives, by another."""
    with contained(place, INFERIORS / "ticks") as pid:
        with attached(pid) as (_, client):
            client.say("?")
            client.send("vCont;c")
            os.kill(pid, 10)
            check(client.receive().startswith(f"T{USR1}"), "a signal of somebody else's")
            same(client.say(f"vCont;C{USR1}"), "W07", "what its handler makes of it")


def traces(place, env):
    program = INFERIORS / "ticks"
    with contained(place, program) as pid:
        check(not (place / "program").exists(), "its file is there alone")
        os.environ.update(env)
        with attached(pid, "--fast-tracepoints", "none") as (_, client):
            tick = symbols(program)["tick"] + bias(pid, place / "program")
            client.trace([tick])
            (buffer,) = json.loads(tracewell("buffers", "--json"))
            same(buffer["program"], str(place / "program"), "program")
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(50), "frames")
            info = json.loads(tracewell("info", "--json", buffer["path"]))
            module = next(one for one in info["modules"] if one["path"].endswith("/program"))
            same(module["build_id"], build_id(program), "build-id of what has no file here")
            client.say("D")


def by_pads(place, env, *words):
    """Threads come and go, in the end all of them; each frame is of the one that hit."""
    program = INFERIORS / "nested_threads"
    with contained(place, program, *words) as pid:
        os.environ.update(env)
        with attached(pid, "--fast-tracepoints", "all") as (_, client):
            hit = symbols(program)["hit"] + bias(pid, place / "program")
            client.trace([hit])
            same(client.notes(), "tracepoint 1: a pad, about 0.1 us a hit", "how")
            buffer, = (one for one in json.loads(tracewell("buffers", "--json"))
                       if one["in_use"] and one["program"] == str(place / "program"))
            client.send("vCont;c")
            wait_until(lambda: client.stands_after(300), "frames")
            client.ask("QTStop")
            told = [one for one in records(buffer["path"]) if one.get("kind") == "frame"]
            client.say("D")
    pairs = {(own_number(frame), frame["tid"]) for frame in told}
    check((1, pid) in pairs, f"its first thread: {sorted(pairs)[:5]}")
    check(len(pairs) > 50, f"other threads: {len(pairs)}")
    for one in (0, 1):
        same(len({pair[one] for pair in pairs}), len(pairs), f"threads {sorted(pairs)[:9]}")
    check(all(here not in (0, own) for own, here in pairs), f"numbers here: {sorted(pairs)[:9]}")


def own_number(frame):
    return int(frame["registers"]["rdi"], 16)


def shown_by_gdb(place):
    """GDB has none of its files, and reads them as the program names them."""
    secret = place / "secret"
    with contained(place, INFERIORS / "ticks") as pid, folder() as work:
        with serving("--once", "--attach", "localhost:0", str(pid)) as (_, port, _):
            got = gdb(work, f"""
                run("set sysroot target:")
                run("target remote localhost:{port}")
                result([run("info address tick"), run("remote get {place}/none {work}/got")])
                """)
        check(re.match(r'Symbol "tick" is .*at address 0x', got[0]), got)
        check("No such file" in got[1], got)
        with attached(pid) as (_, client):
            client.say(f"vFile:setfs:{pid:x}")
            for flags in ("1", "602", "202"):
                same(open_there(client, secret, flags), "F-1,d", f"to write: {flags}")
            same(client.say(f"vFile:unlink:{hexed(place / 'program')}"), "F-1,d", "to remove")
            # The kernel's own files, and what is none, are not opened there.
            for path in ("/proc/1/environ", "/dev/null", "/"):
                check(open_there(client, path, "0").startswith("F-1,"), path)
            check(open_there(client, place / "program", "0") == "F0", "what it runs")
            parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            same(client.say(f"vFile:setfs:{parent:x}"), "F-1,58", "another, which nobody traces")
            same(client.say("vFile:setfs:0"), "F0", "ours again")
            same(open_there(client, place / "program", "0"), "F-1,2", "which is not here")
            # Whoever runs in a container may give his program the name of any file here.
            (place / "program").write_bytes(b"ours")
            same(open_there(client, place / "program", "0"), "F1", "which is here now")
            same(client.say("vFile:pread:1,10,0"), "F4;ours", "the file that has the name here")
            (place / "program").unlink()


def hexed(path):
    return str(path).encode().hex()


def open_there(client, path, flags):
    return client.say(f"vFile:open:{hexed(path)},{flags},0")


def markers(place):
    """Of them, the program's file tells."""
    with contained(place, INFERIORS / "probes") as pid:
        with attached(pid) as (_, client):
            told(client)
            same(client.say(f"qXfer:exec-file:read:{pid:x}:0,1000"), f"l{place}/program", "name")
            client.say("D")
        with listening([*NO_LINKS, *TRACEWELL, "--once", "--attach", "localhost:0",
                        str(pid)]) as server:
            client = Client(int(re.search(r"Listening on port (\d+)", server.said)[1]))
            told(client)


def told(client):
    places = [client.say("qTfSTM")]
    while places[-1] != "l":
        places.append(client.say("qTsSTM"))
    names = [bytes.fromhex(one.split(":")[1]).decode()
             for reply in places[:-1] for one in reply.split(",")]
    same(sorted(names), ["shop:closed", "shop:order"], "markers")


def build_id(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True,
                           check=True).stdout
    return re.search(r"Build ID: (\w+)", notes)[1]


def tracewell(*words):
    return subprocess.run([TRACEWELL[0], *words], capture_output=True, text=True,
                          check=True).stdout


def main():
    need("unshare", "setpriv", "readelf", "nm", "gdb")
    if os.getuid() != 0 or subprocess.run([*OWN[:5], "true"], capture_output=True).returncode != 0:
        print("skipped: this user may make no such namespaces")
        return
    with folder() as top:
        place = top / "there"
        place.mkdir()
        run = top / "run"
        run.mkdir(mode=0o700)
        for part in (signals, signals_of_others, markers, shown_by_gdb):
            part(place)
        traces(place, {"XDG_RUNTIME_DIR": str(run)})
        if not has_fast_tracepoints():
            print("not tested: no fast tracepoints where programs may not read the base of fs")
            return
        by_pads(place, {"XDG_RUNTIME_DIR": str(run)})
        by_pads(place, {"XDG_RUNTIME_DIR": str(run)}, "bare")


main()
