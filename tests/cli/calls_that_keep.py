"""calls_that_keep.py COMMAND...: runs the command, and prints on standard error, a line each, what
makes names and makes them last: `name`, `sync file`, `sync folder`."""

import os
import sys

from traced import Traced

NAMES = {82: "rename", 264: "renameat", 316: "renameat2", 86: "link", 265: "linkat"}
SYNCS = {74: "fsync", 75: "fdatasync"}


def main():
    traced = Traced(sys.argv[1:])
    told = []
    for _ in traced.ends_of_calls():
        number = traced.get("number")
        if traced.get("result") != 0:
            continue
        if number in NAMES:
            told.append("name")
        elif number in SYNCS:
            folder = os.path.isdir(traced.file_of(traced.get("rdi")))
            told.append("sync folder" if folder else "sync file")
    print(*told, sep="\n", file=sys.stderr)
    return traced.status


sys.exit(main())
