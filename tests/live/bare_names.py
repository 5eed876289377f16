#!/usr/bin/env python3
# skips
"""`serve NAME`: a program in the working folder comes before those along PATH, as with gdbserver,
but none that another user may have put there, or puts there while it is started."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client  # noqa: E402
from serve_common import TRACEWELL, check, folder, same, server  # noqa: E402

OTHER = 65534
ROUNDS = 60
RENAME_EXCHANGE = 2


def program(path, answer):
    """One that ends with this exit status."""
    source = path.parent / "program.c"
    source.write_text(f"int main(void) {{ return {answer}; }}\n")
    path.unlink(missing_ok=True)
    subprocess.run(["gcc", source, "-o", path], check=True)
    source.unlink()


def started(name, where):
    """How `serve NAME` ends that is started in this folder: the program's exit status, None where
    nothing starts; and what the server says."""
    words = [*TRACEWELL, "--once", "localhost:0", name]
    with subprocess.Popen(words, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as running:
        said = ""
        for line in running.stderr:
            said += line
            port = re.search(r"Listening on port (\d+)", line)
            if port:
                client = Client(int(port[1]))
                reply = client.say("vCont;c")
                client.socket.close()
                return int(reply[1:3], 16), said
        return None, said


def own_and_others(work):
    """Along PATH there is a `less` that ends with 1, and nothing by the name of `prog`."""
    own, shared = work / "own", work / "shared"
    own.mkdir()
    shared.mkdir()
    os.chmod(shared, 0o1777)
    program(own / "less", 2)
    same(started("less", own)[0], 2, "an own one in an own folder")
    shutil.copy(own / "less", shared / "less")
    same(started("less", shared)[0], 2, "an own one where others may put files")
    (own / "saunter").write_text("#!/bin/sh\nexit 3\n")
    os.chmod(own / "saunter", 0o755)
    same(started("saunter", own)[0], 3, "an own script in an own folder")

    shutil.copy(own / "saunter", shared / "saunter")
    status, said = started("saunter", shared)
    check(status is None and "saunter is a script" in said, f"a script in a shared one: {said}")
    (shared / "less").unlink()
    os.link(own / "less", shared / "less")
    status, said = started("less", shared)
    check(status == 1 and "./less is in a folder where others may put files" in said,
          f"a second name: {status} {said}")
    (shared / "less").unlink()
    if os.getuid() != 0:
        print("SKIPPED: files of other users, which takes root")
        return
    (shared / "less").symlink_to(own / "less")
    os.chown(shared / "less", OTHER, OTHER, follow_symlinks=False)
    status, said = started("less", shared)
    check(status == 1 and "symbolic link of" in said, f"another user's link: {status} {said}")
    (shared / "less").unlink()
    shutil.copy(own / "less", shared / "less")
    os.chown(shared / "less", OTHER, OTHER)
    status, said = started("less", shared)
    check(status == 1 and "belongs to" in said, f"another user's program: {status} {said}")


def exchanged(work):
    """The own one, or nothing; never another one that takes its name in between."""
    open_to_all = work / "open"
    open_to_all.mkdir()
    os.chmod(open_to_all, 0o777)
    program(open_to_all / "tool", 2)
    program(open_to_all / "other", 9)
    os.chown(open_to_all / "other", OTHER, OTHER)
    libc = ctypes.CDLL(None, use_errno=True)
    names = [os.fsencode(open_to_all / name) for name in ("tool", "other")]
    done = threading.Event()

    def exchange():
        while not done.wait(0.0003):
            libc.renameat2(-100, names[0], -100, names[1], RENAME_EXCHANGE)

    swaps = threading.Thread(target=exchange)
    swaps.start()
    try:
        ends = [started("tool", open_to_all)[0] for _ in range(ROUNDS)]
    finally:
        done.set()
        swaps.join()
    check(9 not in ends, f"another one was started: {ends}")


def elsewhere(work):
    """`set cwd`: the program is the one in the server's folder, whatever the other folder has."""
    home, public = work / "home", work / "public"
    home.mkdir()
    public.mkdir()
    program(home / "prog", 2)
    program(public / "prog", 9)
    with server("--multi", "localhost:0", program=TRACEWELL, cwd=home) as running:
        client = Client(int(running.wait_for(r"Listening on port (\d+)").group(1)))
        same(client.say("!"), "OK", "extended mode")
        for where in (public, work):
            same(client.say("QSetWorkingDir:" + os.fsencode(where).hex()), "OK", "the folder")
            reply = client.say("vRun;" + b"prog".hex())
            check(reply.startswith("T05"), f"started: {reply}")
            same(client.say("vCont;c"), "W02", f"in {where}")


def main():
    with folder() as work:
        os.chmod(work, 0o755)
        path = work / "path"
        path.mkdir()
        program(path / "less", 1)
        os.environ["PATH"] = f"{path}:{os.environ['PATH']}"
        own_and_others(work)
        elsewhere(work)
        if os.getuid() == 0:
            exchanged(work)


main()
