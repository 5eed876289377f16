"""What the live tests of tracepoints share: a program under `serve`, and GDB with a script.

Not a test itself (not executable).
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from replay_common import (  # noqa: F401
    TRACEWELL, check, fast_option, folder, gdb, listening, need, same)

INFERIORS = pathlib.Path(os.environ["TRACEWELL_INFERIORS"])
SOURCES = pathlib.Path(os.environ["TRACEWELL_SOURCE"]) / "tests/inferiors"


def runs_32_bit_programs():
    """Some kernels and hypervisors do not: what needs one is left out there, and that is said."""
    try:
        return subprocess.run([INFERIORS / "ends_32", "exit", "0"]).returncode == 0
    except OSError:
        print("not tested: this kernel runs no 32-bit programs")
        return False


def has_fast_tracepoints():
    """Pads read the base of fs, which the kernel must allow (AT_HWCAP2;
    Documentation/arch/x86/x86_64/fsgs.rst); some hypervisors do not."""
    vector = subprocess.run(["/bin/true"], env={"LD_SHOW_AUXV": "1"}, capture_output=True,
                            text=True)
    facts = re.search(r"AT_HWCAP2: +(0x)?([0-9a-f]+)", vector.stdout)
    return facts is not None and int(facts[2], 16) & 2 != 0


def need_fast_tracepoints():
    """For a test with `# skips`."""
    if not has_fast_tracepoints():
        print("skipped: no fast tracepoints where programs may not read the base of fs")
        sys.exit(0)


def hardware_breakpoint():
    """GDB's command for one; "break" where debug registers stop nothing, as under some
    hypervisors."""
    if subprocess.run([INFERIORS / "debug_registers"]).returncode == 0:
        return "hbreak"
    print("not tested: debug registers stop nothing here")
    return "break"


def line_of(source, mark):
    """The number of the line of an inferior's source that holds /* mark */."""
    for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise KeyError(mark)


class Address(str):
    """What GDB's `target remote` takes; `program` is the process id of what is served."""

    program = 0


@contextlib.contextmanager
def serve(*words):
    """`tracewell serve` on a free port; yields its Address."""
    words = [*fast_option(), *words[:-1], "localhost:0", words[-1]]
    with listening([TRACEWELL, "serve", *words]) as server:
        port = re.search(r"Listening on port (\d+)", server.said)
        check(port, f"no port in {server.said!r}")
        address = Address(f"localhost:{port.group(1)}")
        program = re.search(r"pid = (\d+)", server.said)
        address.program = int(program.group(1)) if program else 0
        yield address


def wait_until_gone(process):
    """The process has ended and its tracer knows."""
    end = time.monotonic() + 30
    while os.path.exists(f"/proc/{process}"):
        check(time.monotonic() < end, f"process {process} does not end")
        time.sleep(0.02)


def records(trace_file):
    """Frames in a file, by our own reader."""
    printed = subprocess.run([TRACEWELL, "print", "--format", "jsonl", trace_file],
                             capture_output=True, text=True, check=True)
    return [json.loads(line) for line in printed.stdout.splitlines()[1:]]
