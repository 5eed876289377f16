#!/usr/bin/env python3
"""A command whose output nobody reads any more (a FIFO, a pipe) ends at the first signal."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
TRACEWELL = str(pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell")
TRACE = SOURCE / "tests/formats/data/synthetic_threads_fixed.trace64"
WAITS = ("1", "7", "271")  # x86-64: write, poll, ppoll
PATIENCE = 20  # seconds; one that does not end then does not end


def full():
    """A pipe without room: both ends."""
    reading, writing = os.pipe()
    fill(writing)
    return reading, writing


def fill(writing):
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"." * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)


def waits(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0] in WAITS
    except OSError:
        return False


def ends(number, words, output):
    process = subprocess.Popen([TRACEWELL, *words], stdin=subprocess.DEVNULL, stdout=output,
                               stderr=subprocess.PIPE)
    while process.poll() is None and not waits(process.pid):
        time.sleep(0.005)
    process.send_signal(number)
    try:
        said = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit(f"{words}: does not end at {number}")
    if process.returncode != -number or said:
        sys.exit(f"{words}: ended with {process.returncode} at {number}: {said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        held = os.open(fifo, os.O_RDWR)
        fill(held)
        trace = os.path.join(folder, "run.trace64")
        pathlib.Path(trace).write_bytes(TRACE.read_bytes())
        _, writing = full()
        for number in (signal.SIGINT, signal.SIGTERM):
            for words in (["report", trace, "-o", fifo],
                          ["report", "--format", "jsonl", trace, "-o", fifo],
                          ["convert", trace, fifo, "--format", "jsonl"]):
                ends(number, words, subprocess.DEVNULL)
            for words in (["print", trace], ["print", "--format", "jsonl", trace],
                          ["report", trace], ["convert", "--format", "jsonl", trace, "-"],
                          ["at", trace, "5", "--mem", "0x140000000,262144"]):
                ends(number, words, writing)


main()
