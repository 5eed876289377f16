#!/usr/bin/env python3
"""Vector and mask registers, as a program loaded them: collected by a tracepoint and read live. The
processor's own layout of the XSAVE area decides where they stand, so each width is looked at."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from replay_common import PATIENT  # noqa: E402

BIN = os.environ["TRACEWELL_BIN"]
PROGRAM = os.path.join(os.environ["TRACEWELL_INFERIORS"], "vectors")
PATTERN = bytes((3 * i + 1) & 0xFF for i in range(64))


def words(size):
    """The first `size` bytes as GDB prints an array of 64-bit integers in hex."""
    parts = [int.from_bytes(PATTERN[i:i + 8], "little") for i in range(0, size, 8)]
    return "{" + ", ".join(f"{part:#x}" for part in parts) + "}"


EXPECTED = {
    "sse_loaded": [("$xmm5.v2_int64", words(16))],
    "avx_loaded": [("$ymm5.v4_int64", words(32))],
    "avx512_loaded": [("$zmm6.v8_int64", words(64)), ("$zmm21.v8_int64", words(64)),
                      ("$xmm21.v2_int64", words(16)), ("$ymm21.v4_int64", words(32)),
                      ("$k3", "0x1234")],
}


def flags():
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        return next(line for line in cpuinfo if line.startswith("flags")).split()


def script(places):
    lines = ["set pagination off",
             f"target remote | {BIN}/tracewell-gdbserver --once stdio {PROGRAM}",
             "break main", "continue"]
    for place in places:
        lines += [f"trace {place}", "actions", "collect $regs", "end", f"break {place}"]
    lines.append("tstart")
    for place in places:
        lines.append("continue")
        lines += [f"echo live {name}\nprint/x {name}" for name, _ in EXPECTED[place]]
    lines.append("tstop")
    for number, place in enumerate(places):
        lines.append(f"tfind {number}")
        lines += [f"echo frame {name}\nprint/x {name}" for name, _ in EXPECTED[place]]
    return "\n".join(lines + ["kill"]) + "\n"


def main():
    places = ["sse_loaded"]
    places += ["avx_loaded"] if "avx" in flags() else []
    places += ["avx512_loaded"] if "avx512f" in flags() else []
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(script(places))
        file.flush()
        done = subprocess.run(["gdb", "-q", "-nx", "-batch", *PATIENT, "-x", file.name, PROGRAM],
                              text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    wrong = 0
    for place in places:
        for name, value in EXPECTED[place]:
            for kind in ("live", "frame"):
                found = [line.partition(" = ")[2] for line in done.stdout.splitlines()
                         if line.startswith(f"{kind} {name}$")]
                if found != [value]:
                    print(f"{kind} {name}: {found}, not {value}")
                    wrong += 1
    print(f"{' '.join(places)}: {wrong} wrong")
    if wrong:
        print(done.stdout, done.stderr)
    sys.exit(1 if wrong else 0)


main()
