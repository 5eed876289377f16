#!/usr/bin/env python3
"""With few descriptors, threads or little memory, and where the disk is full, a command says so in
a sentence and ends by a status that it has: by no signal, and with no fault of its own."""
# timeout: 600

import os
import pathlib
import resource
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from serve_client import frame  # noqa: E402
from serve_common import (  # noqa: E402
    AS_GDBSERVER, INFERIORS, PROGRAM, SOURCE_FOLDER, TRACEWELL, check, folder)

FORMATS = SOURCE_FOLDER / "tests/formats"
STEPS = SOURCE_FOLDER / "tests/cli/steps.jsonl"
READER = TRACEWELL[0]
STORM = INFERIORS / "hit_storm"
LOADER_FAILED = 127  # ld.so found no room, or no descriptor, for a library; and says so
NOBODY = 54321  # of whom nothing else runs


def talk():
    """A debugger that traces and goes, as far as it gets."""
    words = ("qSupported:multiprocess+;swbreak+", "?", "QTinit", "QTDP:1:401000:E:0:0-",
             "QTDP:-1:401000:R20", "QTBuffer:size:100000", "QTStart", "qTStatus",
             "vFile:open:2f70726f632f73656c662f6d617073,0,0", "m401000,10", "vCont;c")
    return b"+" + b"+".join(frame(word) for word in words)


def commands(work):
    """Name, words, input."""
    steps, many = work / "steps.jsonl", work / "many.jsonl"
    buffer = FORMATS / "tracebuffer/killed/input.twb"
    yield "info", [READER, "info", steps], b""
    yield "info of a buffer", [READER, "info", buffer], b""
    yield "print", [READER, "print", steps], b""
    yield "print of a pipe", [READER, "print", "-"], STEPS.read_bytes()
    yield "at", [READER, "at", many, "2000"], b""
    yield "find", [READER, "find", many, "value", "42"], b""
    yield "calls", [READER, "calls", many], b""
    yield "diff", [READER, "diff", steps, many], b""
    yield "convert", [READER, "convert", steps, work / "out.tf"], b""
    yield "replay", [READER, "replay", many, "-"], talk()
    yield "serve", [READER, "serve", "--once", "-", STORM, "10"], talk()
    yield "serve without a program", [READER, "serve", "--multi", "-"], talk()
    yield "serve what is not there", [READER, "serve", "--once", "localhost:0", work / "none"], b""
    yield "gdbserver", [*AS_GDBSERVER, "--once", "-", PROGRAM], talk()
    yield "gdbserver without a program", [*AS_GDBSERVER, "--multi", "-"], talk()
    yield "buffers", [READER, "buffers"], b""
    yield "trace", [READER, "trace", "-o", work / "log", "-x", "/bin/true"], b""


def run(words, given, env, limit):
    def narrow():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit()

    return subprocess.run([str(word) for word in words], input=given, capture_output=True, env=env,
                          preexec_fn=narrow, timeout=120)


def judge(what, done, failures):
    """What the command said of its end; a program that it started may have a status of its own."""
    said = done.stderr.decode(errors="replace")
    statuses = (0, 1) if "gdbserver" in what else (0, 1, 4)
    good = done.returncode in statuses or (done.returncode == LOADER_FAILED and "librar" in said)
    mute = done.returncode > 1 and not said
    if not good or mute or "internal error" in said or "std::" in said:
        failures.append(f"{what}: status {done.returncode}: {said[-300:]}")


def anew(work, many):
    for path in work.iterdir():
        if path.is_dir():
            while path.exists():  # a collector that could not go on is ending
                shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    shutil.copy(STEPS, work)
    (work / "many.jsonl").write_bytes(many)


def each(place, what, limits, failures):
    """All commands with each of the limits. Returns how many said that something had run out."""
    work, env = place / "work", {**os.environ, "XDG_RUNTIME_DIR": str(place / "run")}
    head, *steps = STEPS.read_bytes().splitlines(keepends=True)
    many = head + b"".join(steps) * 400
    refused = 0
    for number, limit in limits:
        for name, words, given in commands(work):
            anew(work, many)
            done = run(words, given, env, limit)
            judge(f"{what} {number}, {name}", done, failures)
            refused += done.returncode not in (0, 1, 2)
    check(refused > 0, f"{what}: nothing ran out")


def limit_of(kind, number):
    return number, lambda: resource.setrlimit(kind, (number, number))


def as_nobody(number):
    """Root may have any number of threads."""
    def become():
        resource.setrlimit(resource.RLIMIT_NPROC, (number, number))
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return number, become


def main():
    failures = []
    with folder() as place:
        place.chmod(0o755)
        for name in ("work", "run"):
            (place / name).mkdir(mode=0o700)
        each(place, "descriptors", [limit_of(resource.RLIMIT_NOFILE, n) for n in range(3, 21)],
             failures)
        each(place, "bytes", [limit_of(resource.RLIMIT_AS, n << 20) for n in range(10, 36, 2)],
             failures)
        if os.getuid() == 0:
            os.chown(place / "work", NOBODY, NOBODY)
            os.chown(place / "run", NOBODY, NOBODY)
        each(place, "threads", [as_nobody(n) for n in range(1, 7)], failures)
    check(not failures, f"{len(failures)} failures:\n" + "\n".join(failures))


main()
