"""Stock GDB in its machine interface, which hears of what happens while nobody asks it anything.

Not a test itself (not executable).
"""

import re
import subprocess
import threading
import time

from serve_common import PATIENT, check


class Gdb:
    """GDB in its machine interface. What is told of stops is kept until it is asked for."""

    def __init__(self, *settings, program):
        self.process = subprocess.Popen(
            ["gdb", "-nx", "-q", "-i=mi3", "-iex", "set debuginfod enabled off", *PATIENT, program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []
        self.news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        self.at = 0  # stops are looked for from here on
        for setting in ("set pagination off", "set confirm off", "set mi-async on", *settings):
            self.do(setting)

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line)
                self.news.notify_all()

    def await_line(self, start, pattern):
        """The number of the first one that is like this, once it is there."""
        with self.news:
            while True:
                for number in range(start, len(self.lines)):
                    if re.match(pattern, self.lines[number]):
                        return number
                check(self.news.wait(60), f"no {pattern} after {''.join(self.lines[-20:])}")

    def do(self, command):
        """Its result record."""
        with self.news:
            start = len(self.lines)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.lines[self.await_line(start, r"\^")].strip()

    def stops(self, count):
        """The next stops: a sorted list of (thread, why, function)."""
        found = []
        for _ in range(count):
            number = self.await_line(self.at, r"\*stopped")
            self.at = number + 1
            line = self.lines[number]
            pieces = [re.search(pattern, line) for pattern in
                      (r'thread-id="(\d+)"', r'reason="([^"]+)"', r'func="([^"]+)"')]
            why = [piece.group(1) if piece else "" for piece in pieces]
            if why[1] == "signal-received":
                why[1] += " " + re.search(r'signal-name="([^"]+)"', line).group(1)
                why[2] = ""  # anywhere
            if "exited" in why[1]:
                why[1] += " " + re.search(r'exit-code="([^"]+)"', line).group(1)
            found.append(tuple(why))
        return sorted(found)

    def states(self):
        """Which threads run."""
        text = self.do("-thread-info")
        return re.findall(r'[{,]id="(\d+)".*?state="(\w+)"', text)

    def value(self, expression):
        found = re.search(r'value="(.*)"', self.do(f"-data-evaluate-expression {expression}"))
        return found.group(1) if found else "none"

    def moves(self, who):
        """Does this thread's counter go on? Until it does; the watchdog is the caller's."""
        before = self.value(f"turns[{who}]")
        for _ in range(3000):
            if self.value(f"turns[{who}]") != before:
                return True
            time.sleep(0.01)
        return False

    def quit(self):
        self.process.stdin.write("-gdb-exit\n")
        self.process.stdin.flush()
        self.process.wait(timeout=60)
