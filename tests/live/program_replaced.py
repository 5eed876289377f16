#!/usr/bin/env python3
# timeout: 60
"""A program whose file was deleted, or replaced by another: who asks for its name reads the file
that runs. A name that only looks like that of a deleted file stays as it is."""

import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from file_pieces_common import File  # noqa: E402
from serve_client import Client  # noqa: E402
from serve_common import INFERIORS, check, folder, same, server  # noqa: E402

PROGRAM = INFERIORS / "sustains"
CONTENT = PROGRAM.read_bytes()


def served(work, name, change):
    """What is read under the name of a program that runs, after `change` of its file."""
    path = work / name
    shutil.copy(PROGRAM, path)
    program = subprocess.Popen([path, "1", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        program.stdout.readline()
        change(path)
        where = f"{work}/{name}.socket"
        with server("--attach", f"unix:{where}", program.pid):
            client = Client(f"unix:{where}")
            told = client.say(f"qXfer:exec-file:read:{program.pid:x}:0,1000")
            same(told, f"l{path}", "the program's name")
            file = File(client, path)
            content = b""
            while piece := file.read(len(content)):
                content += piece
            writes = client.say(f"vFile:open:{str(path).encode().hex()},1,0")
            client.vanish()
        return content, writes
    finally:
        program.kill()
        program.wait()


def replace(path):
    other = path.with_suffix(".new")
    other.write_bytes(b"another program")
    other.rename(path)


def main():
    with folder() as work:
        for name, change in (("stays", lambda path: None), ("deleted", pathlib.Path.unlink),
                             ("replaced", replace), ("looks (deleted)", lambda path: None),
                             ("looks (deleted) twice (deleted)", pathlib.Path.unlink)):
            content, writes = served(work, name, change)
            check(content == CONTENT, f"{name}: {len(content)} bytes, {content[:20]}")
            # Whoever writes means the file that has the name.
            check(writes.startswith("F-1,") or (work / name).exists(), f"{name}: {writes}")


main()
