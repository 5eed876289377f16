#!/usr/bin/env python3
"""Templates that somebody else writes to while they are read: a command tells of what it read, or
says what is wrong with it, and does not end otherwise."""

import contextlib
import mmap
import multiprocessing
import os
import pathlib
import subprocess
import tempfile

BIN = pathlib.Path(os.environ["TRACEWELL_BIN"])
RUNS = 12

TEMPLATES = "".join(f'{0x100 + i:03X} 1.0 L=APPL "x" X4 D4 $D1%D4, 1 "a", 999999999999999 "b" \n'
                    for i in range(0xd00)).encode()
# Letters that are codes and such that are none, and digits of a number and what is no number.
OTHER = TEMPLATES.replace(b"X4", b"Q4").replace(b"9999999", b"\x1b[31mX\x07")


def flip(path, first, second, begun):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        while True:
            memory[:] = second
            begun.set()
            memory[:] = first


@contextlib.contextmanager
def flipping(path, first, second):
    path.write_bytes(first)
    begun = multiprocessing.Event()
    process = multiprocessing.Process(target=flip, args=(path, first, second, begun), daemon=True)
    process.start()
    try:
        begun.wait()
        yield
    finally:
        process.kill()
        process.join()


def runs(*words):
    for _ in range(RUNS):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
        assert done.returncode in (0, 1, 2), (words, done.returncode, done.stderr[-300:])


def main():
    tracewell = str(BIN / "tracewell")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "changed.trcfmt")
        with flipping(file, TEMPLATES, OTHER):
            runs(tracewell, "report", "-c", "-t", file)
            runs(tracewell, "trcupdate", "-x", "100,101,DFF", file)


main()
