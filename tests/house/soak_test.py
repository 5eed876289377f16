#!/usr/bin/env python3
"""What tools/soak finds: it sees what is wrong, and takes nothing that is right for it."""

import os
import pathlib
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
sys.path.insert(0, str(ROOT / "tools"))

from soaking import common, events, looks, watch  # noqa: E402
from soaking.common import Finding  # noqa: E402


class Slow:
    """A service that takes so long to answer, once."""

    name, born, restarts, down = "slow", 1, 0, False

    def __init__(self, seconds):
        self.seconds = seconds
        self.asked = threading.Event()

    def traced_pid(self):
        return os.getpid()

    def ask(self, _):
        seconds, self.seconds = self.seconds, 0
        if self.asked.wait(seconds):
            return
        self.asked.set()


class Control:
    late = False

    def late_between(self, begin, end):
        return self.late


class Texts(unittest.TestCase):
    def test_counts_of_gdb(self):
        self.assertEqual(events.counted("Collected 12 trace frames.\n"), (12, 12))
        text = "Buffer contains 7 trace frames (of 40 created total).\n"
        self.assertEqual(events.counted(text), (7, 40))
        with self.assertRaises(Finding):
            events.counted("Trace is not running.\n")

    def test_hits_of_each_tracepoint(self):
        text = ("Num     Type            Disp Enb Address            What\n"
                "1       fast tracepoint keep y   0x0000 <getCommand+4>\n"
                "\ttracepoint already hit 12 times\n\ttrace buffer usage 9 bytes\n"
                "\tcollect $regs\n"
                "2       tracepoint      keep y   0x0000 <setCommand+4>\n\tnot installed\n"
                "3       tracepoint      keep y   0x0000 <x>\n\ttracepoint already hit 1 time\n")
        self.assertEqual(events.hits_of(text), [12, 0, 1])


class Answers(unittest.TestCase):
    def late(self, seconds, is_held=False, control=False):
        """What is reported of a service that is so late."""
        said = []
        slow = Slow(seconds)
        machine = Control()
        machine.late = control
        one = watch.Watch(slow, machine, said.append)
        if is_held:
            one.begin_stand()
        slow.asked.wait(10)
        one.stop()
        return said

    def test_a_late_answer_is_found(self):
        self.assertIn("slow answers after 1.", self.late(1.2)[0])

    def test_no_answer_in_time_is_no_finding(self):
        self.assertEqual(self.late(0.2), [])

    def test_a_debugger_holds_it(self):
        self.assertEqual(self.late(1.2, is_held=True), [])

    def test_the_machine_is_busy(self):
        self.assertEqual(self.late(1.2, control=True), [])

    def test_time_outside_of_stands(self):
        self.assertAlmostEqual(watch.outside_of(0, 10, [(1, 3), (2, 4), (9, 12)]), 6)
        self.assertAlmostEqual(watch.outside_of(0, 10, [(-5, 20)]), 0)
        self.assertAlmostEqual(watch.outside_of(0, 10, []), 10)


@unittest.skipIf(os.getuid() != 0, "code of others is root's to change")
class Looks(unittest.TestCase):
    def setUp(self):
        self.process = subprocess.Popen(["sleep", "100"])
        common.settle(lambda: any("/sleep" in one[4] for one in looks.mappings(self.process.pid)),
                      "sleep begins")

    def tearDown(self):
        self.process.kill()
        self.process.wait()

    def test_its_code_is_as_its_file_has_it(self):
        common.settle(lambda: not looks.changed_code(self.process.pid), "unchanged")

    def test_a_byte_that_was_left_is_found(self):
        pid = self.process.pid
        common.settle(lambda: common.status(pid, "State") == "S", "it sleeps")
        first, _, _, offset, path = next(one for one in looks.mappings(pid)
                                         if "x" in one[2] and one[4].endswith("/sleep"))
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(first + 64)
            memory.write(b"\xcc\xcc")
        self.assertIn(f"{path} + {offset + 64:#x} has cc cc", looks.changed_code(pid))

    def test_a_process_that_is_left_is_found(self):
        common.settle(lambda: self.process.pid in looks.strangers([]), "it is a stranger")
        self.assertEqual(looks.strangers([self.process.pid]), [])


MASTER = """
import os, signal, sys, time
def worker():
    pid = os.fork()
    if pid == 0:
        while True: time.sleep(60)
    print(pid, flush=True)
worker()
while True:
    os.wait()
    worker()
"""


class Ending(unittest.TestCase):
    def test_a_master_begins_no_worker_in_place_of_one_that_was_ended(self):
        for _ in range(10):
            master = subprocess.Popen([sys.executable, "-c", MASTER], stdout=subprocess.PIPE,
                                      text=True)
            workers = [int(master.stdout.readline())]
            common.end(master)
            workers += [int(line) for line in master.stdout]  # until all of them are gone
            master.stdout.close()
            self.assertEqual(len(workers), 1)


if __name__ == "__main__":
    unittest.main()
