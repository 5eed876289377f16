"""Reads the trace buffer of a server that is tracing right then, again and again, as a user may:
what it is told has to make sense at any moment, and the commands end as they are documented.
"""

import contextlib
import json
import os
import re
import subprocess
import threading
import time

from .common import Finding, demand, end, read

READ_SECONDS = 30  # longer than a command may take
PAUSE = 0.2  # at most, between two
FEW = 2000  # frames that are looked at one by one, where there are many
WHOLE_BYTES = 1 << 20  # a buffer all of whose frames are looked at is no larger
CLOCKS_DIFFER = 1_000_000_000  # by less than that, in nanoseconds
ADDRESSES_END = 1 << 47  # of a program

WRITTEN_OVER = "a newer frame took its place while it was read"
# What convert may say of a trace file that is whole.
OF_TFILE = re.compile(r"tracewell: \S+: (\d+ places? where instructions are missing .*"
                      r"|.* not known in (any frame|some frames), and GDB shows 0 there)")
# With exit status 1.
NOTHING = re.compile(r"tracewell: (the trace has no events|--from \d+ is behind the last event, "
                     r"\d+|no event fits .*?)(; \S+ is not written)?\n")
TEXT_FRAME = re.compile(r"frame (\d+)  tracepoint (\d+) .*?\bpc 0x([0-9a-f]+)  thread (\d+)")


def stack_of(pid):
    """(first, end) of the memory that its first thread's stack is in."""
    found = re.search(r"^(\w+)-(\w+) .*\[stack\]$", read(f"/proc/{pid}/maps"), re.MULTILINE)
    return (int(found[1], 16), int(found[2], 16)) if found else None


class Frames:
    """What those of one event may look like."""

    def __init__(self, pid, points, steps, rdi_is_address):
        self.pid = pid
        self.points = points  # number: what is collected
        self.steps = steps
        self.rdi_is_address = rdi_is_address
        self.began_ns = time.time_ns() - CLOCKS_DIFFER
        self.stack = stack_of(pid)

    def look_at_registers(self, where, pc, registers):
        rip = int(registers.get("rip", hex(pc)), 16)
        demand(rip == pc, f"{where}: rip is {rip:#x}, pc {pc:#x}")
        if "rsp" in registers and self.stack:
            # It may have grown downwards meanwhile, and does not go beyond its end.
            self.stack = stack_of(self.pid) or self.stack
            rsp = int(registers["rsp"], 16)
            demand(self.stack[0] <= rsp < self.stack[1], f"{where}: rsp is {rsp:#x}, and the stack "
                   f"{self.stack[0]:#x} to {self.stack[1]:#x}")
        if "rdi" in registers and self.rdi_is_address and not self.steps:
            rdi = int(registers["rdi"], 16)
            demand(0 < rdi < ADDRESSES_END, f"{where}: rdi is {rdi:#x}, and no address")

    def look_at(self, event, addresses):
        """One, as JSON. Returns its time."""
        where = f"frame {event['seq']}"
        number, pc = event["tracepoint"], int(event["pc"], 16)
        demand(number in self.points, f"{where} is of tracepoint {number}")
        demand(self.steps or addresses[number] == pc, f"{where}: its pc {pc:#x} is not that of "
               f"tracepoint {number}, {addresses[number]:#x}")
        demand(event["tid"] == self.pid, f"{where} is of thread {event['tid']}, and only "
               f"{self.pid} hits tracepoints")
        self.look_at_registers(where, pc, event.get("registers", {}))
        if "@2" in self.points[number] and not self.steps:
            (block,) = event["memory"]
            demand(len(block["bytes"]) == 32, f"{where} has {block} instead of 16 bytes")
            demand(0 < int(block["addr"], 16) < ADDRESSES_END, f"{where}: memory at {block}")
        return event["time_ns"]

    def look_at_lines(self, text, first=0):
        """Of JSON: the catalog, then frames. Returns how many frames and how many that are lost."""
        catalog, *lines = text.splitlines()
        points = json.loads(catalog)["catalog"].get("tracepoints", [])
        addresses = {one["number"]: int(one["address"], 16) for one in points}
        if lines:
            demand(addresses.keys() == self.points.keys(), f"the trace has {list(addresses)}, and "
                   f"tracepoints are {list(self.points)}")
        lost, last = 0, self.began_ns
        for seq, line in enumerate(lines, first):
            event = json.loads(line)
            demand(event["seq"] == seq, f"frame {seq} has the number {event['seq']}")
            if event["kind"] == "lost":
                demand((event["count"], event["why"]) == (1, WRITTEN_OVER), f"lost: {line}")
                lost += 1
                continue
            demand(event["kind"] == "frame", f"an event that is no frame: {line[:200]}")
            now = self.look_at(event, addresses)
            demand(last <= now, f"frame {seq} is {last - now} ns older than the one before it, or "
                   "than its run")
            last = now
        demand(last <= time.time_ns() + CLOCKS_DIFFER, f"a frame's time is to come: {last}")
        return len(lines) - lost, lost

    def look_at_text(self, text, first):
        """As it is printed for people."""
        numbers = []
        for line in text.splitlines():
            if not line.startswith("frame "):
                continue
            found = TEXT_FRAME.match(line)
            demand(found, f"this line tells no frame: {line}")
            numbers.append(int(found[1]))
            demand(int(found[2]) in self.points, f"a frame of tracepoint {found[2]}: {line}")
            demand(int(found[4]) == self.pid, f"a frame of another thread: {line}")
        demand(all(a < b for a, b in zip(numbers, numbers[1:])), "numbers of frames do not ascend")
        demand(not numbers or numbers[0] >= first, f"frame {numbers[:1]} instead of {first}")


class Reader:
    def __init__(self, soak, rng, path, frames):
        self.soak = soak
        self.rng = rng
        self.path = path
        self.frames = frames
        self.over = threading.Event()
        self.lock = threading.Lock()  # one command at a time
        self.trouble = None
        self.process = None
        self.records = 0  # of the last look
        self.run = (0, 0)  # when that began which was seen last, and its frames created
        self.may_be_gone = False  # its server may have ended in order
        self.out = soak.work / "read"
        self.thread = threading.Thread(target=self.read_on, daemon=True)
        self.thread.start()

    def read_on(self):
        looks = (self.info, self.info, self.check, self.print_json, self.print_json,
                 self.print_text, self.convert_json, self.convert_tfile)
        while not self.over.wait(PAUSE * self.rng.random()) and not self.trouble:
            try:
                with self.lock:
                    if self.is_whole():
                        self.rng.choice(looks)()
            except Finding as finding:
                self.trouble = finding
            except (ValueError, LookupError, TypeError) as error:
                self.trouble = Finding(f"what is read makes no sense: {type(error).__name__}: "
                                       f"{error}")

    def is_whole(self):
        """A file gets its first bytes last."""
        with contextlib.suppress(OSError), open(self.path, "rb") as file:
            return file.read(8) == b"TWbuffer"
        return False

    def run_command(self, *words, statuses=(0,)):
        """(status, what it says, its errors). None when the file went away, as it may."""
        words = [str(word) for word in words]
        begin = time.monotonic()
        self.process = subprocess.Popen([str(self.soak.binary), *words], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, errors="replace")
        try:
            out, errors = self.process.communicate(timeout=READ_SECONDS)
        except subprocess.TimeoutExpired:
            end(self.process)
            raise Finding(f"tracewell {' '.join(words)} does not end in {READ_SECONDS} s") from None
        took = time.monotonic() - begin
        self.soak.longest(f"reading: {words[0]}", took)
        self.soak.count("times read")
        status = self.process.returncode
        said = f"tracewell {' '.join(words)} ends with {status}: {errors[-600:]!r}"
        demand(status >= 0, f"{said}; that is a signal")
        if status == 4 and self.may_be_gone and not os.path.exists(self.path):
            return None
        demand(status in statuses, f"{said}{out[-600:]!r}" if words[0] == "check" else said)
        return status, out, errors

    def silent(self, *words, statuses=(0,)):
        """One that has nothing to say to standard error but that there is nothing. None then,
        too."""
        got = self.run_command(*words, statuses=statuses)
        if not got:
            return None
        status, _, errors = got
        right = NOTHING.fullmatch(errors) if status else not errors
        demand(right, f"tracewell {' '.join(map(str, words))} says {errors[-600:]!r}")
        return None if status else got

    def part(self):
        """Options for so few frames that they can be looked at, and the first's number."""
        whole = os.path.getsize(self.path) <= 2 * WHOLE_BYTES + (4 << 20)
        if whole and self.rng.random() < 0.7:
            return [], 0
        first = self.rng.randrange(self.records + 1)
        return ["--from", first, "--to", first + FEW - 1], first

    def info(self):
        got = self.silent("info", "--json", self.path)
        if not got:
            return
        told = json.loads(got[1])
        status = told["status"]
        demand(not [one for one in told["problems"] if one["severity"] != "note"],
               f"info finds damage: {told['problems']}")
        self.records = told["records"]
        created, began = status["frames_created"], status.get("start_time_us") or 0
        demand(self.records <= created, f"{self.records} frames of {created} created")
        demand(began == 0 or began >= self.run[0], f"a run of before is told: {began}, after "
               f"{self.run}")
        if status["running"]:
            demand(began != self.run[0] or created >= self.run[1], f"{created} frames were "
                   f"created, and {self.run[1]} of the same run before")
            self.run = (began, created)
        return told

    def check(self):
        got = self.silent("check", "--json", self.path)
        if got:
            told = json.loads(got[1])
            demand(told["sound"] and not told["damaged"], f"check finds damage: {got[1]}")
            self.look_at_lost(sum(one["count"] for one in told["lost"]))

    def look_at_lost(self, lost):
        """Frames that were written over while they were read."""
        self.soak.count("frames gone while they were read", lost)

    def print_json(self):
        part, first = self.part()
        got = self.silent("print", "--format", "jsonl", *part, self.path, statuses=(0, 1))
        if got:
            self.look_at_json(got[1], first)

    def look_at_json(self, text, first=0):
        kept, lost = self.frames.look_at_lines(text, first)
        self.look_at_lost(lost)
        self.soak.count("frames read", kept)
        return kept, lost

    def print_text(self):
        part, first = self.part()
        got = self.silent("print", *part, self.path, statuses=(0, 1))
        if got:
            self.frames.look_at_text(got[1], first)

    def convert_json(self):
        part, first = self.part()
        out = self.out.with_suffix(".jsonl")
        got = self.silent("convert", *part, self.path, out, statuses=(0, 1))
        if got:
            self.look_at_json(out.read_text(), first)
        out.unlink(missing_ok=True)

    def convert_tfile(self):
        part, _ = self.part()
        out = self.out.with_suffix(".tf")
        got = self.run_command("convert", *part, self.path, out, statuses=(0, 1))
        if got and got[0] == 1:
            demand(NOTHING.fullmatch(got[2]), f"convert says {got[2]!r}")
        elif got:
            strange = [one for one in got[2].splitlines() if not OF_TFILE.match(one)]
            demand(not strange, f"convert says {strange}")
            done = subprocess.run([self.soak.binary, "check", out], capture_output=True, text=True)
            demand(done.returncode == 0, f"what convert made is not sound: {done.stdout}"
                   f"{done.stderr}")
        out.unlink(missing_ok=True)

    def compare(self, kept, created):
        """Once the run is over and the program stands: exactly what the server tells is there."""
        with self.lock:
            self.compare_with(kept, created)
        self.soak.count("buffers compared")

    def compare_with(self, kept, created):
        told = self.info()
        demand(told, f"{self.path} is not there, though its server lives")
        numbers = (told["records"], told["status"]["frames"], told["status"]["frames_created"])
        demand(numbers == (kept, kept, created), f"info tells {numbers} of {kept} frames kept, "
               f"{created} created")
        demand(not told["status"]["running"], "info tells of a run that is over that it runs")
        part = ["--from", max(0, kept - FEW)]
        if kept:
            got = self.silent("print", "--format", "jsonl", *part, self.path)
            demand(got, f"{self.path} is not there, though its server lives")
            got = self.frames.look_at_lines(got[1], part[1])
            demand(got == (min(kept, FEW), 0), f"print has {got} frames and lost ones of the last "
                   f"{min(kept, FEW)}")

    def stop(self):
        """What it found is raised."""
        self.over.set()
        self.thread.join(timeout=2 * READ_SECONDS)
        if self.thread.is_alive():
            end(self.process)
        if self.trouble:
            raise Finding(f"reading {self.path}: {self.trouble}")
