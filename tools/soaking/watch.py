"""Asks a service again and again whether it answers, and knows when it may not."""

import contextlib
import subprocess
import sys
import threading
import time

from .common import ANSWER_SECONDS, Finding, waited_for_processor

PERIOD = 0.05
LATE = 0.05  # of a process that nobody touches: the machine has too much to do to judge others then
PATIENCE = 60


def outside_of(begin, end, intervals):
    """So much of the time from `begin` to `end` is in none of the intervals."""
    free, at = 0.0, begin
    for first, last in sorted(intervals):
        if last > at:
            free += max(0, min(first, end) - at)
            at = max(at, last)
    return free + max(0, end - at)


class Control:
    """A process that does nothing but answer: how late it is, the machine makes everybody."""

    ANSWERS = "import os\nwhile os.read(0, 1): os.write(1, b'.')"

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", self.ANSWERS],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.late = []  # (begin, end) of each answer that took long
        self.longest = 0.0
        self.thread = threading.Thread(target=self.ask, daemon=True)
        self.thread.start()

    def ask(self):
        with contextlib.suppress(OSError, ValueError):
            while True:
                begin = time.monotonic()
                self.process.stdin.write(b".")
                if not self.process.stdout.read(1):
                    return
                time.sleep(PERIOD)
                end = time.monotonic() - PERIOD
                self.longest = max(self.longest, end - begin)
                if end - begin > LATE:
                    self.late.append((begin, end))

    def late_between(self, begin, end):
        return any(first < end and last > begin for first, last in list(self.late))

    def stop(self):
        self.process.kill()
        self.process.wait()


class Watch:
    def __init__(self, service, control, report):
        self.service = service
        self.control = control
        self.report = report
        self.asked = 0
        self.longest = 0.0
        self.unjudged = 0  # answers that were late while the machine made everybody wait
        self.stands = []  # [begin, end or None] when it stood still for a debugger
        self.over = threading.Event()
        targets = [self.watch]
        if hasattr(service, "works"):
            targets.append(self.let_it_work)
        self.threads = [threading.Thread(target=one, daemon=True) for one in targets]
        for one in self.threads:
            one.start()

    def let_it_work(self):
        try:
            self.service.works(self.over)
        except Finding as finding:
            self.report(str(finding))

    def watch(self):
        while not self.over.wait(PERIOD):
            service = self.service
            life = (service.born, service.restarts)
            if service.down:
                continue
            try:
                pid = service.traced_pid()
                waited = waited_for_processor(pid)
                begin = time.monotonic()
                service.ask(PATIENCE)
            except (OSError, LookupError, Finding) as error:
                # Whoever takes it down says so first, and takes it up again after `born` is more.
                if not service.down and life == (service.born, service.restarts):
                    self.report(f"{service.name} does not answer: {error}")
                continue
            if service.down or life != (service.born, service.restarts):
                continue
            took = self.without_stands(begin, time.monotonic())
            self.asked += 1
            if took > ANSWER_SECONDS and (
                    self.control.late_between(begin, time.monotonic()) or
                    took - (waited_for_processor(pid) - waited) <= ANSWER_SECONDS):
                self.unjudged += 1
                continue
            self.longest = max(self.longest, took)
            if took > ANSWER_SECONDS:
                self.report(f"{service.name} answers after {took:.2f} s, during which no debugger "
                            "held it")

    def without_stands(self, begin, end):
        stands = [(first, last or end) for first, last in list(self.stands)]
        return outside_of(begin, end, stands)

    def begin_stand(self):
        if not self.stands or self.stands[-1][1]:
            self.stands.append([time.monotonic(), None])

    def end_stand(self):
        """How long it was; 0 when it did not stand."""
        if not self.stands or self.stands[-1][1]:
            return 0
        self.stands[-1][1] = time.monotonic()
        return self.stands[-1][1] - self.stands[-1][0]

    def stop(self):
        self.over.set()
        for one in self.threads:
            one.join(timeout=PATIENCE)
