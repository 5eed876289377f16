"""Stock GDB, driven by its machine interface, and the server that it talks to."""

import contextlib
import os
import queue
import re
import signal
import subprocess
import threading
import time

from .common import Finding, end, start

SAY_SECONDS = 120
LISTEN_SECONDS = 30


class Ended(Exception):
    """GDB, its connection or the server is gone."""


class Silent(Finding):
    """GDB waits for something that does not come."""


class Refused(Exception):
    """GDB says that something is an error."""


# What tstatus says behind the end of a connection; that end itself is told aside.
NO_TARGET = "Trace can not be run on this target"
GONE = re.compile("Remote connection closed|Connection reset|Broken pipe|not being run|"
                  "Connection timed out|Remote communication error|Ignoring packet error|"
                  "Target disconnected|The program is not being run|Connection refused")


def unquoted(text):
    """Of a string of the machine interface."""
    return re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t"}.get(one[1], one[1]), text)


class Gdb:
    def __init__(self, folder, program, settings=()):
        self.folder = folder
        self.said = []
        words = ["gdb", "-nx", "-q", "-i=mi3", "-iex", "set debuginfod enabled off",
                 "-iex", "set remotetimeout 60", "-iex", "set auto-load no",
                 "-iex", "set confirm off", "-iex", "set pagination off", "-iex", "set sysroot /",
                 "-iex", "set mi-async on", *(word for one in settings for word in ("-iex", one)),
                 program]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace",
                                        start_new_session=True)
        self.pid = self.process.pid
        self.number = 0
        self.stopped = ""
        self.lines = queue.SimpleQueue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next_line(self, seconds, what):
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise Silent(f"GDB says nothing for {SAY_SECONDS} s after {what!r}") from None
        if line is None:
            raise Ended("GDB ended")
        self.said.append(line)
        if line.startswith("*stopped"):
            self.stopped = line
            if "exited" in line:
                raise Ended("the program ended")
        return line

    def send(self, command):
        """One of the machine interface. Returns what it prints to the console."""
        self.number += 1
        try:
            self.process.stdin.write(f"{self.number}{command}\n")
            self.process.stdin.flush()
        except OSError:
            raise Ended("GDB ended") from None
        until = time.monotonic() + SAY_SECONDS
        said = []
        while True:
            line = self.next_line(max(until - time.monotonic(), 0), command)
            if line.startswith('~"'):
                said.append(unquoted(line[2:].rstrip().removesuffix('"')))
            if line.startswith(f"{self.number}^error"):
                if GONE.search(line):
                    raise Ended(line)
                raise Refused(f"{command}: {line.strip()}")
            if line.startswith(f"{self.number}^"):
                if NO_TARGET in "".join(said):
                    raise Ended(NO_TARGET)
                return "".join(said)

    def say(self, command):
        quoted = command.replace("\\", "\\\\").replace('"', '\\"')
        return self.send(f'-interpreter-exec console "{quoted}"')

    def define(self, command, actions):
        """A tracepoint. Actions are read from a file only."""
        said = self.say(command)
        path = self.folder / "actions"
        path.write_text("actions\n" + "\n".join(actions) + "\nend\n")
        self.say(f"source {path}")
        return said

    def go_on(self):
        self.stopped = ""
        self.send("-exec-continue")

    def interrupt(self, by_signal=None):
        """Returns the seconds until the program stands. gdbserver interrupts leaders of process
        groups only: others are sent a signal."""
        begin = time.monotonic()
        if by_signal:
            os.kill(by_signal, signal.SIGINT)
        else:
            self.send("-exec-interrupt")
        while not self.stopped:
            line = self.next_line(SAY_SECONDS - (time.monotonic() - begin), "-exec-interrupt")
            if "^error" in line or "Remote connection closed" in line:
                raise Refused(line)  # its server has ended meanwhile
        return time.monotonic() - begin

    def close(self):
        end(self.process)
        self.reader.join(timeout=10)
        with contextlib.suppress(OSError):  # what it was not told any more
            self.process.stdin.close()
        self.process.stdout.close()

    def last_words(self):
        return "".join(self.said[-12:])


class Server:
    """`tracewell serve --attach`."""

    def __init__(self, binary, folder, pid, options, environment, group=None):
        self.path = folder / "server.log"
        self.path.unlink(missing_ok=True)
        words = [str(binary), "serve", *options, "localhost:0", str(pid)]
        self.process = start(group.command(words) if group else words, self.path,
                             env={**os.environ, **environment})
        self.pid = self.process.pid

    def said(self):
        return self.path.read_text(errors="replace")

    def wait_for_port(self):
        until = time.monotonic() + LISTEN_SECONDS
        while True:
            found = re.search(r"Listening on port (\d+)", self.said())
            if found:
                return int(found[1])
            if self.process.poll() is not None:
                raise Ended(f"the server ended: {self.said().strip()}")
            if time.monotonic() > until:
                raise Finding(f"the server does not listen {LISTEN_SECONDS} s after its start; "
                              f"it says {self.said().strip()!r}")
            time.sleep(0.005)

    def ended(self, seconds):
        """Does it end by itself within that time?"""
        try:
            self.process.wait(timeout=seconds)
            return True
        except subprocess.TimeoutExpired:
            return False
