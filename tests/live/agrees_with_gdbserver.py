#!/usr/bin/env python3
# timeout: 240
"""The same program, traced by the same GDB script under gdbserver and under `tracewell serve`,
saved by GDB, printed by Tracewell: the two traces must agree field by field. What may differ is
named below, each with its reason; anything else is a failure."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from replay_common import PATIENT  # noqa: E402
from serve_common import by_names  # noqa: E402

BIN = os.environ["TRACEWELL_BIN"]
SOURCE = os.environ["TRACEWELL_SOURCE"]
INFERIORS = os.environ["TRACEWELL_INFERIORS"]
PROGRAM = os.path.join(INFERIORS, "agree")

# In the catalog's `status`.
STATUS_MAY_DIFFER = {
    "start_time_us": "gdbserver counts from the machine's start, not from the Unix epoch",
    "stop_time_us": "the same",
    "buffer_free": "frames take less room in our buffer",
}
# In each tracepoint.
TRACEPOINT_MAY_DIFFER = {
    "usage": "gdbserver prints decimal digits where GDB reads hexadecimal; compared as such below",
}
# Registers: gdbserver 13 looks for AVX-512 and protection keys where Intel's processors keep them
# in the XSAVE area, and finds other things on others (AMD's), which keep them where CPUID leaf 0xd
# says. On Intel's they must agree. (live/vectors checks ours against values that a program loads.)
REGISTERS_MAY_DIFFER = re.compile(r"k[0-7]|[xy]mm(1[6-9]|2\d|3[01])h?|zmm\d+h|pkru")
with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
    INTEL = "GenuineIntel" in cpuinfo.read()
# Globals whose value is not the program's doing.
MEMORY_MAY_DIFFER = {
    "process_id": "another process",
    "canary": "the stack protector's secret: 16 random bytes from the kernel at each start",
}

# Not compared: while-stepping behind a condition. gdbserver steps, and makes step frames, at hits
# whose condition was false. The order of variables in a list means nothing.
SCRIPT = """
set pagination off
set confirm off
target remote | {server}
break main
continue
tvariable $hits = 5
tvariable $copy
trace agree.c:{inner}
actions
  collect $regs, $args, $locals, counter, ratio, points, process_id
  collect $_ret, *name@3, points[1].y + 1, $hits
  teval $hits = $hits + 2
end
trace agree.c:{leaf}
actions
  collect $args, $regs, text
  while-stepping 4
    collect $regs, counter
  end
end
trace agree.c:{loop}
actions
  collect/s20 names[i % 4]
  collect i, sum, points[i % 3], $hits
  teval $copy = $hits * 3
  collect $copy
end
trace agree.c:{leaf} if n % 3 == 1
actions
  collect n, counter
end
passcount 11 4
break agree.c:{end}
set trace-notes agreed
set trace-user tester
tstart
continue
tstop done
print/x &process_id
print/x $fs_base + 0x28
print/x *(long *) ($fs_base + 0x28)
tsave {file}
kill
"""


def places():
    with open(os.path.join(SOURCE, "tests/inferiors/agree.c"), encoding="utf-8") as source:
        lines = list(source)
    found = {}
    for number, line in enumerate(lines, 1):
        match = re.search(r"/\* place: (\w+) \*/", line)
        if match:
            found[match[1]] = number
    return found


def record(server, name, work):
    """Traces under `server`; returns (catalog, frames, address of process_id, canary's bytes)."""
    file = os.path.join(work, name + ".tf")
    script = os.path.join(work, name + ".gdb")
    with open(script, "w", encoding="utf-8") as out:
        out.write(SCRIPT.format(server=f"env -i PATH=/usr/bin:/bin {server} --once stdio {PROGRAM}",
                                file=file, **places()))
    done = subprocess.run(["gdb", "-q", "-nx", "-batch", *PATIENT, "-x", script, PROGRAM], cwd=work,
                          text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=100)
    values = re.findall(r"^\$\d+ = (0x[0-9a-f]+)$", done.stdout, re.M)
    if not os.path.exists(file) or len(values) < 3:
        sys.exit(f"{name}: GDB said\n{done.stdout}{done.stderr}")
    printed = subprocess.run([os.path.join(BIN, "tracewell"), "print", "--format", "jsonl", file],
                             capture_output=True, text=True, check=True).stdout.splitlines()
    canary = int(values[2], 16).to_bytes(8, "little").hex()
    catalog, frames = json.loads(printed[0])["catalog"], [json.loads(line) for line in printed[1:]]
    numbers = {one["name"]: one["number"] for one in catalog["variables"]}
    by_names(catalog, frames)
    for point in catalog["tracepoints"]:
        point["actions"] = [with_numbers(text, numbers) for text in point["actions"]]
    return catalog, frames, int(values[0], 16), canary


def with_numbers(action, numbers):
    """An expression of getv, setv and tracev with the numbers that gdbserver's run has."""
    for name, number in (("hits", 2), ("copy", 3)):
        for opcode in ("2c", "2d", "2e"):
            action = action.replace(f"{opcode}{numbers[name]:04x}", f"{opcode}{number:04x}")
    return action


class Comparison:
    def __init__(self, theirs, ours):
        self.differences = []
        self.allowed = set()
        self.theirs, self.ours = theirs, ours

    def equal(self, where, a, b):
        if a != b:
            self.differences.append(f"{where}: gdbserver {a!r}, serve {b!r}")

    def keys(self, where, a, b, may_differ):
        for key in sorted(set(a) | set(b)):
            if key in may_differ and a.get(key) != b.get(key):
                self.allowed.add(key)
                continue
            self.equal(f"{where}.{key}", a.get(key), b.get(key))

    def catalogs(self):
        a, b = dict(self.theirs[0]), dict(self.ours[0])
        self.keys("status", a.pop("status"), b.pop("status"), STATUS_MAY_DIFFER)
        # The order is the target's, and means nothing.
        points = [sorted(one["tracepoints"], key=lambda point: (point["number"], point["address"]))
                  for one in (a, b)]
        for x, y in zip(*points, strict=True):
            where = f"tracepoint {x['number']}"
            self.keys(where, x, y, TRACEPOINT_MAY_DIFFER)
            # GDB read gdbserver's decimal digits as hexadecimal ones. Bytes are the buffer's own.
            self.equal(f"{where}.usage.hits", int(f"{x['usage']['hits']:x}"), y["usage"]["hits"])
        a.pop("tracepoints"), b.pop("tracepoints")
        # The description's raw text repeats status and usage; what it says was compared above.
        for catalog in (a, b):
            catalog.pop("extras", None)
            catalog.pop("source_path", None)
        self.keys("catalog", a, b, {})

    def masked(self, side, block):
        """The bytes of a memory block without what may differ."""
        _, _, process_id, canary = side
        data = bytearray.fromhex(block["bytes"])
        start = int(block["addr"], 16)
        at = process_id - start
        if 0 <= at and at + 4 <= len(data):
            data[at:at + 4] = b"\0" * 4
            self.allowed.add("process_id")
        text = data.hex()
        if canary in text:
            self.allowed.add("canary")
        return text.replace(canary, "0" * 16)

    def registers(self, where, a, b):
        left, right = a.get("registers", {}), b.get("registers", {})
        self.equal(where + " names", list(left), list(right))
        canaries = [int.from_bytes(bytes.fromhex(side[3]), "little")
                    for side in (self.theirs, self.ours)]
        for name, value in left.items():
            values = (int(value, 16), int(right.get(name, "0x0"), 16))
            if list(values) == canaries:
                self.allowed.add("canary")
            elif not INTEL and REGISTERS_MAY_DIFFER.fullmatch(name):
                self.allowed.add("registers beyond AVX")
            else:
                self.equal(f"{where}.{name}", *values)

    def frames(self):
        self.equal("number of frames", len(self.theirs[1]), len(self.ours[1]))
        for a, b in zip(self.theirs[1], self.ours[1]):
            where = f"frame {a['seq']}"
            self.registers(where + " registers", a, b)
            self.equal(where + " memory",
                       [(m["addr"], self.masked(self.theirs, m)) for m in a.get("memory", [])],
                       [(m["addr"], self.masked(self.ours, m)) for m in b.get("memory", [])])
            for frame in (a, b):
                for key in ("registers", "memory", "blocks"):
                    frame.pop(key, None)
            self.keys(where, a, b, {})


def main():
    with tempfile.TemporaryDirectory() as work:
        theirs = record("gdbserver", "theirs", work)
        ours = record(os.path.join(BIN, "tracewell-gdbserver"), "ours", work)
    comparison = Comparison(theirs, ours)
    comparison.catalogs()
    comparison.frames()
    for difference in comparison.differences[:40]:
        print(difference)
    print(f"{len(theirs[1])} frames, {len(comparison.differences)} differences; "
          f"differ as they may: {', '.join(sorted(comparison.allowed))}")
    if len(theirs[1]) < 20:
        sys.exit("too few frames to mean anything")
    sys.exit(1 if comparison.differences else 0)


main()
