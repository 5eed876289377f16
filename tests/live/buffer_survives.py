#!/usr/bin/env python3
"""The trace buffer outlives its server: killed at random moments while four threads run through a
tracepoint, it leaves a file with every frame that it had counted. buffer_survives.py [ROUNDS]"""
# timeout: 300

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_client import Client  # noqa: E402
from serve_common import (  # noqa: E402
    PATIENT, TRACEWELL, check, folder, need, on_port, same)

STORM = pathlib.Path(os.environ["TRACEWELL_INFERIORS"]) / "hit_storm"
READER = TRACEWELL[0]
RDI = 5  # number of the register that holds the count of a thread's calls


def read(*words, status=0, env=None):
    done = subprocess.run([READER, *map(str, words)], capture_output=True, text=True, env=env)
    same(done.returncode, status, f"{words}: {done.stdout[:400]} {done.stderr[:400]}")
    return done.stdout + done.stderr


def elf_entry(path):
    return struct.unpack_from("<Q", path.read_bytes(), 24)[0]


def symbol(path, name):
    for line in subprocess.run(["nm", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        if line.split()[2:] == [name]:
            return int(line.split()[0], 16)
    raise KeyError(name)


def unescaped(text):
    out, raw = bytearray(), iter(text.encode("latin-1"))
    for byte in raw:
        out.append(next(raw) ^ 0x20 if byte == 0x7d else byte)
    return bytes(out)


def address_of(client, name):
    """Where the running program has it."""
    auxv = unescaped(client.say("qXfer:auxv:read::0,1000")[1:])
    entry = dict(struct.iter_unpack("<QQ", auxv))[9]
    return entry - elf_entry(STORM) + symbol(STORM, name)


def begin(client, size, circular):
    """Traces inner(), its argument alone."""
    place = f"{address_of(client, 'inner'):x}"
    for packet in ("QTinit", f"QTDP:1:{place}:E:0:0-", f"QTDP:-1:{place}:R{1 << RDI:x}",
                   f"QTBuffer:size:{size:x}", f"QTBuffer:circular:{circular:d}", "QTStart"):
        same(client.say(packet), "OK", packet)


def status(client):
    fields = [field.split(":") for field in client.say("qTStatus").split(";")]
    return {field[0]: field[-1] for field in fields}


def interrupted(client):
    client.socket.sendall(b"\x03")
    check(client.receive()[0] in "ST", "an interrupt stops the program")


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def kill(pid):
    """A face ends by itself when its tracer did."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def left(env, frames=0):
    """The one buffer that is there, once the kernel has done away with its server."""
    end = time.monotonic() + 30
    while True:
        (found,) = json.loads(read("buffers", "--json", env=env))
        if not found["in_use"]:
            break
        check(time.monotonic() < end, "a buffer in use by a server that was killed")
        time.sleep(0.01)
    same(found["problem"], "", "problem")
    check(found["frames"] >= frames, f"{found['frames']} frames of {frames}")
    return found


def check_frames(path, circular):
    """Each thread's calls, without a gap; from the first one unless that was pushed out."""
    lines = read("print", "--format", "jsonl", path).splitlines()
    calls = {}
    for line in lines[1:]:
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        same(sorted(event["registers"]), ["rdi", "rip"], "registers that were asked for")
        calls.setdefault(event["tid"], []).append(int(event["registers"]["rdi"], 16))
    for thread, numbers in calls.items():
        first = numbers[0] if circular else 0
        same(numbers, list(range(first, first + len(numbers))), f"calls of thread {thread}")
    return sum(map(len, calls.values()))


def started(pid):
    """In nanoseconds since the machine was booted: proc(5), the 22nd field."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) * 10**9 // os.sysconf("SC_CLK_TCK")


def check_process(path, pid, start):
    """All frames are of the traced process, and the file says who that is."""
    catalog, *events = map(json.loads, filter(
        lambda line: line.startswith("{"),
        read("print", "--format", "jsonl", path).splitlines()))
    (who,) = catalog["catalog"]["processes"]
    same([who["pid"], who["start_ns"], who["image"], who["host"]],
         [pid, start, str(STORM), os.uname().nodename], "the process")
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().replace("-", "")
    same(who["boot"], boot[:16], "its machine's boot")
    same({(event["process"], event["pid"]) for event in events}, {(1, pid)}, "whose frames")


def killed(env, moments, circular):
    """One round: a server that is killed; what it had said is there."""
    size = moments.choice([200_000, 5 << 20, 50 << 20])
    os.environ["TRACEWELL_FAST"] = moments.choice(["all", "none"])
    with on_port(STORM, 10**12, env=env) as server:
        client = Client(server.remote)
        begin(client, size, circular)
        named = server.wait_for(r"Trace buffer: (\S+)").group(1)
        client.send("vCont;c")
        time.sleep(moments.uniform(0, 0.1))
        interrupted(client)
        counted = status(client)
        client.send("vCont;c")
        time.sleep(moments.uniform(0, 0.1))
        face = server.process.pid
        (tracer,) = map(int, children(face))
        for pid in moments.choice([[face], [tracer], [face, tracer], [tracer, face]]):
            kill(pid)
        check(server.ended() != 0, "status of the server")
    created = int(counted["tcreated"], 16)
    buffer = left(env)
    same(buffer["path"], named, "the file that the server named")
    info = json.loads(read("info", "--json", named))
    told = read("info", named)
    why = "its server was killed" if info["status"]["stop"] == "unknown" else "buffer was full"
    check(why in told, f"no {why!r} in {told}")
    check(info["status"]["frames_created"] >= created, f"{info['status']} after {counted}")
    if not circular:
        check(info["records"] >= created, f"{info['records']} frames of {created}")
    same(check_frames(named, circular), info["records"], "frames")
    check("sound" in read("check", named), "a sound file")
    first = read("print", "--images-from-trace", "--to", 1, named)
    check("inner" in first, f"the program is found by its build-id: {first}")
    read("convert", named, env["XDG_RUNTIME_DIR"] + "/copy.tf")
    check("in use" not in read("buffers", env=env), "left behind")
    same(read("buffers", "--delete", buffer["name"], env=env), "", "deleting")
    same(json.loads(read("buffers", "--json", env=env)), [], "buffers after deleting")
    check("no trace buffer" in read("buffers", "--delete", buffer["name"], env=env, status=1),
          "deleting once more")
    return info["records"]


def clean_ends(env, work):
    """Who traces nothing has no file, and an end in order removes it, unless nobody has looked at
    the frames of a program that has ended."""
    for look in (False, True):
        clean_end(env, look)
        there = json.loads(read("buffers", "--json", env=env))
        same(len(there), 0 if look else 1, "after the end")
        for one in there:
            same([one["in_use"], one["frames"]], [False, 400], "what stays")
            same(check_frames(one["path"], False), 400, "frames in it")
            read("buffers", "--delete", one["name"], env=env)
    killed_by_its_user(env)
    same(os.listdir(work / "run/tracewell"), [], "files")


def old_ones_go(env, work):
    """What others have left stays within bounds, and the log says what goes."""
    place = work / "run/tracewell"
    now = time.time()
    for number in range(1, 41):
        (place / f"{number}.twb").touch()
        os.utime(place / f"{number}.twb", (now - number, now - number))
    (place / "mine.twb").touch()
    os.utime(place / "mine.twb", (0, 0))
    with on_port(STORM, 100, env=env) as server:
        client = Client(server.remote)
        check(len(list(place.iterdir())) == 41, "files before the first run")
        begin(client, 5 << 20, False)
        named = server.wait_for(r"Trace buffer: (\S+)").group(1)
        for number in range(33, 41):
            check(f"Old trace buffer removed: {place}/{number}.twb (32 newer" in server.said(),
                  server.said())
        same(sorted(os.listdir(place)), sorted(
            [f"{number}.twb" for number in range(1, 33)] + ["mine.twb", pathlib.Path(named).name]),
            "files that stay")
    for path in place.iterdir():
        path.unlink()


def told_through_gdb(env):
    """GDB that has started the server itself reads nothing of it once the program has ended."""
    need("gdb")
    done = subprocess.run(
        ["gdb", *PATIENT, "-nx", "-q", "-batch", "-ex", "set sysroot /", "-ex", f"file {STORM}",
         "-ex", f"target remote | {READER} serve - {STORM} 100", "-ex", "trace inner",
         "-ex", "tstart", "-ex", "continue"],
        capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
    (left,) = json.loads(read("buffers", "--json", env=env))
    said = done.stdout + done.stderr
    check(f"400 frames that nobody has looked at stay in {left['path']}\n"
          f"(tracewell print {left['path']})" in said, said)
    same(said.count("nobody has looked at"), 1, "times that it is told")
    read("buffers", "--delete-all", env=env)


def ends_before_its_program(env, work):
    """Told to end, let go of its program, or left by a debugger: frames that nobody has looked at
    stay, of a run that has ended and of one that has not."""
    for stops in (False, True):
        for leave in ("SIGTERM", "D", "connection"):
            with on_port(STORM, 1000000, env=env, options=("--once",)) as server:
                client = Client(server.remote)
                begin(client, 5 << 20, True)
                while int(status(client)["tframes"], 16) == 0:
                    client.send("vCont;c")
                    interrupted(client)
                if stops:
                    same(client.say("QTStop"), "OK", "QTStop")
                frames = int(status(client)["tframes"], 16)
                if leave == "SIGTERM":
                    server.process.send_signal(signal.SIGTERM)
                elif leave == "D":
                    same(client.say("D"), "OK", "D")
                else:
                    client.socket.close()
                server.ended()
                said = server.said()
            (one,) = json.loads(read("buffers", "--json", env=env))
            same([one["in_use"], one["frames"]], [False, frames], f"what stays: {leave}, {stops}")
            check(f"{frames} frames that nobody has looked at stay in {one['path']}" in said, said)
            same(check_frames(one["path"], True), frames, "frames in it")
            read("buffers", "--delete", one["name"], env=env)


def tells_of_the_last(env):
    """Those too that are in the program's rings when the server is told to end."""
    os.environ["TRACEWELL_FAST"] = "all"
    for number in range(6):
        with on_port(STORM, 10**12, env=env) as server:
            client = Client(server.remote)
            begin(client, 5 << 20, True)
            client.send("vCont;c")
            time.sleep(0.01 + number / 200)
            server.process.send_signal(signal.SIGTERM)
            server.ended()
            said = server.said()
        there = json.loads(read("buffers", "--json", env=env))
        told = re.findall(r"(\d+) frames that nobody has looked at", said)
        same([int(one) for one in told], [one["frames"] for one in there], said)
        read("buffers", "--delete-all", env=env)


def killed_by_its_user(env):
    """Who kills the program does not want its frames."""
    with on_port(STORM, 1000000, env=env) as server:
        client = Client(server.remote)
        begin(client, 5 << 20, True)
        while int(status(client)["tframes"], 16) == 0:
            client.send("vCont;c")
            interrupted(client)
        client.send("k")
        server.ended()
        check("nobody has looked" not in server.said(), server.said())


def clean_end(env, look):
    with on_port(STORM, 100, env=env) as server:
        client = Client(server.remote)
        same(json.loads(read("buffers", "--json", env=env)), [], "before the first run")
        begin(client, 5 << 20, False)
        (found,) = json.loads(read("buffers", "--json", env=env))
        check(found["in_use"], "in use")
        same(found["program"], str(STORM), "program")
        same(found["agent_pid"], server.process.pid, "server")
        traced = int(server.wait_for(r"created; pid = (\d+)").group(1))
        start = started(traced)
        check("in use" in read("buffers", "--delete", found["name"], env=env, status=2), "refusal")
        client.send("vCont;c")
        same(client.receive(), "W00", "end of the program")
        same(status(client)["tframes"], "190", "frames")
        same(check_frames(found["path"], False), 400, "frames in a file that is in use")
        check_process(found["path"], traced, start)
        saved = env["XDG_RUNTIME_DIR"] + "/saved.tf"
        read("convert", found["path"], saved)
        check_process(saved, traced, start)
        os.unlink(saved)
        check("running" not in read("info", found["path"]), "the run ended with the program")
        if look:
            check(client.say("qTBuffer:0,100") != "l", "frames")
        server.process.send_signal(signal.SIGTERM)
        server.ended()
        said = f"400 frames that nobody has looked at stay in {found['path']}"
        same(said in server.said(), not look, server.said())


def own_file(env, work):
    """--buffer FILE, and what is there already."""
    mine = work / "mine.twb"
    with on_port(STORM, 100, env=env, options=("--once", "--buffer", mine)) as server:
        client = Client(server.remote)
        begin(client, 5 << 20, False)
        server.wait_for(f"Trace buffer: {mine}")
        server.process.send_signal(signal.SIGKILL)
        server.ended()
    check("server" in read("info", mine), "info")
    check("exists" in read("serve", "--buffer", mine, "localhost:0", STORM, status=2), "refusal")
    mine.unlink()
    with on_port(STORM, 100, env=env, options=("--once", "--buffer", mine)) as server:
        client = Client(server.remote)
        begin(client, 5 << 20, False)
        check(mine.exists(), "the file")
    check(not mine.exists(), "the file after the end")


def no_place(env, work):
    """Without a folder that is ours alone the buffer is memory, and the run goes on."""
    open_folder = work / "open"
    (open_folder / "tracewell").mkdir(parents=True)
    (open_folder / "tracewell").chmod(0o755)
    linked = work / "linked"
    linked.mkdir()
    (linked / "tracewell").symlink_to(work / "run/tracewell")
    for place in (open_folder, linked, work / "nonexistent"):
        with on_port(STORM, 100, env={**env, "XDG_RUNTIME_DIR": str(place)}) as server:
            client = Client(server.remote)
            begin(client, 5 << 20, False)
            server.wait_for("No trace buffer that outlives this server")
            client.send("vCont;c")
            same(client.receive(), "W00", "end of the program")
            same(status(client)["tframes"], "190", "frames")


# A file system of its own for the buffer, that only the server sees.
SMALL = ["unshare", "--mount", "--map-root-user", "sh", "-c",
         'mount -t tmpfs -o size=1500k,mode=700 tmpfs "$XDG_RUNTIME_DIR" && exec "$@"', "small"]


def no_room(env, work):
    """A file system that fills up ends the run, not the server."""
    place = work / "small"
    place.mkdir()
    env = {**env, "XDG_RUNTIME_DIR": str(place)}
    if subprocess.run([*SMALL, "true"], env=env, capture_output=True).returncode != 0:
        print("no_room: left out, this user may not mount a file system")
        return
    with on_port(STORM, 10**12, program=[*SMALL, *TRACEWELL], env=env) as server:
        client = Client(server.remote)
        begin(client, 50 << 20, False)
        named = server.wait_for(r"Trace buffer: (/\S+)").group(1)
        client.send("vCont;c")
        server.wait_for("No space left on device")
        interrupted(client)
        ended = client.say("qTStatus")
        check("No space left on device".encode().hex() in ended and "terror" in ended, ended)
        frames = int(status(client)["tframes"], 16)
        check(frames > 0, "frames that did have room")
        same(client.say(f"QTFrame:{frames - 1:x}"), f"F{frames - 1:x}T1", "the last of them")
        same(client.say("QTFrame:ffffffff"), "OK", "leaving")
        outside = f"/proc/{server.process.pid}/root{named}"
        same(json.loads(read("info", "--json", outside))["records"], frames, "frames in the file")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    moments = random.Random(20 + rounds)
    with folder() as work:
        run = work / "run"
        run.mkdir(mode=0o700)
        env = {**os.environ, "XDG_RUNTIME_DIR": str(run)}
        clean_ends(env, work)
        ends_before_its_program(env, work)
        tells_of_the_last(env)
        old_ones_go(env, work)
        told_through_gdb(env)
        own_file(env, work)
        no_place(env, work)
        no_room(env, work)
        frames = [killed(env, moments, number % 3 == 2) for number in range(rounds)]
    print("frames left behind:", frames)
    check(sum(frames) > rounds, "rounds that had frames to lose")


main()
