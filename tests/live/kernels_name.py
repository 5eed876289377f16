#!/usr/bin/env python3
# skips
"""A program's file may have the name of one of the kernel's files, in a namespace of its user's. A
debugger is not told such a name: the server would open the kernel's file for it, and to read some
of those takes away what they have."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import READY, attached  # noqa: E402
from serve_common import check, same  # noqa: E402
from trace_common import INFERIORS  # noqa: E402

NAME = "/proc/kmsg"
ENTER = f"mount --bind '{INFERIORS / 'locks_memory'}' {NAME} && exec {NAME} future"


def becomes_one():
    """By exec, under a debugger that wants to be told of it."""
    words = ["unshare", "-m", "sh", "-c", f"read go; {ENTER}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            with attached(program.pid) as (client, _):
                client.say("qSupported:multiprocess+;exec-events+;vContSupported+")
                client.say("?")
                print(file=program.stdin, flush=True)
                told = ""
                while NAME not in str(pathlib.Path(f"/proc/{program.pid}/exe").readlink()):
                    client.send("vCont;c")
                    told = client.receive()
                check("exec:;" in told, f"what it has become: {told}")
                client.ask(f"D;{program.pid:x}")
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


def main():
    with subprocess.Popen(["unshare", "-m", "sh", "-c", ENTER], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as program:
        try:
            if program.stdout.readline() != READY:
                print("skipped: no namespace of mounts can be made here")
                return
            same(str(pathlib.Path(f"/proc/{program.pid}/exe").readlink()), NAME, "its name")
            with attached(program.pid) as (client, _):
                said = client.say(f"qXfer:exec-file:read:{program.pid:x}:0,1000")
                check(said.startswith("E"), f"what it runs: {said}")
                libraries = client.say("qXfer:libraries-svr4:read::0,10000")
                check("libc" in libraries and NAME not in libraries, f"libraries: {libraries}")
                for name in (NAME, "/proc/self/environ"):
                    said = client.say(f"vFile:open:{name.encode().hex()},0,0")
                    same(said, "F-1,d", f"opening {name}")
                client.ask("D")
            becomes_one()
            program.stdin.close()
            same(program.wait(timeout=60), 0, "the program's own end")
        finally:
            program.kill()


main()
