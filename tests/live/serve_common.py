"""What the live tests of `serve` share: servers of either kind, and GDB with a script.

Not a test itself (not executable).
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

from replay_common import (  # noqa: F401
    PATIENT, check, fast_option, folder, gdb, need, same)

BIN = pathlib.Path(os.environ["TRACEWELL_BIN"])
TRACEWELL = [str(BIN / "tracewell"), "serve"]
AS_GDBSERVER = [str(BIN / "tracewell-gdbserver")]
INFERIORS = pathlib.Path(os.environ["TRACEWELL_INFERIORS"])
SOURCE_FOLDER = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
PROGRAM = str(INFERIORS / "debuggee")
SOURCE = SOURCE_FOLDER / "tests/inferiors/debuggee.c"


def line_of(mark):
    """The number of the line of the program's source that ends with /* mark */."""
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise KeyError(mark)


class Server:
    """A running server. What it and its program print is read all the time."""

    def __init__(self, words, **more):
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **more,
        )
        self.lines = []
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line)
                self.news.notify_all()
        with self.news:
            self.lines.append(None)
            self.news.notify_all()

    def said(self):
        with self.news:
            return "".join(line for line in self.lines if line)

    def wait_for(self, pattern, times=1):
        """Until it has printed the pattern so often; returns the last match."""
        with self.news:
            while True:
                text = "".join(line for line in self.lines if line)
                found = list(re.finditer(pattern, text))
                if len(found) >= times:
                    return found[times - 1]
                check(self.lines[-1:] != [None], f"no {pattern!r} in {text!r}")
                check(self.news.wait(60), f"no {pattern!r} after a minute, only {text!r}")

    def ended(self):
        """Its exit status, once it ends."""
        status = self.process.wait(timeout=60)
        self.reader.join(timeout=60)
        return status

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.ended()


@contextlib.contextmanager
def server(*words, program=TRACEWELL, **more):
    """A server that listens."""
    # The tests' own path says where it is, whatever environment it gets.
    running = Server([shutil.which(program[0]), *program[1:], *words], **more)
    try:
        running.wait_for("Listening on")
        yield running
    finally:
        running.stop()


@contextlib.contextmanager
def on_port(*words, program=TRACEWELL, options=("--once",), **more):
    """One on a free port; `remote` is what GDB's `target remote` takes."""
    if program in (TRACEWELL, AS_GDBSERVER):
        options = (*fast_option(), *options)
    with server(*options, "localhost:0", *words, program=program, **more) as running:
        running.remote = "localhost:" + running.wait_for(r"Listening on port (\d+)").group(1)
        yield running


def shown_by_gdb(work, remote, commands, program):
    """What GDB, connected there, shows for each command."""
    script = f"""
        run("target remote {remote}")
        result([run(command) for command in {list(commands)!r}])
        """
    return gdb(work, script, program)


def alive(pid):
    """Does the process run (and is it no zombie)?"""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def by_names(catalog, events):
    """Variables of frames by name instead of number, since GDB gives numbers by what a server has
    builtin; those of ours alone are taken out of the catalog."""
    names = {str(one["number"]): one["name"] for one in catalog["variables"]}
    for event in events:
        if "variables" in event:
            event["variables"] = {names[key]: value for key, value in event["variables"].items()}
    catalog["variables"] = sorted(
        ({**one, "number": 0} for one in catalog["variables"]
         if one["name"] not in ("trace_thread", "trace_cpu")), key=lambda one: one["name"])
