#!/usr/bin/env python3
# skips
"""Hardware breakpoints at instructions that lie under a fast tracepoint's jump: the program stops
at each of them, whichever of the two came first. Copies of the instructions ran elsewhere, and
nothing stopped."""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, symbols  # noqa: E402
from trace_common import (  # noqa: E402
    INFERIORS, check, hardware_breakpoint, need, need_fast_tracepoints)

PROGRAM = INFERIORS / "forks_and_hits"


def instructions():
    """Of hit(), but for what it ends with: where they begin."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=hit", PROGRAM],
                          capture_output=True, text=True, check=True).stdout
    found = [int(value, 16) for value in re.findall(r"^ +([0-9a-f]+):", text, re.MULTILINE)]
    check(len(found) > 4, text)
    return found[:-1]


def stops(first):
    program = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdout.readline()
    try:
        with serving("--once", "--attach", "localhost:0", program.pid) as (_, port, _pid):
            debugger = Client(port)
            base = bias(program.pid, PROGRAM)
            for place in instructions():
                if first == "breakpoint":
                    debugger.ask(f"Z1,{base + place:x},1")
                debugger.trace([base + symbols(PROGRAM)["hit"]])
                if first == "tracepoint":
                    debugger.ask(f"Z1,{base + place:x},1")
                debugger.send("vCont;c")
                check(debugger.socket_has_data(30), f"{first} first: no stop at {place:x}")
                reply = debugger.receive()
                pc = (base + place).to_bytes(8, "little").hex()
                check(f"10:{pc}" in reply, f"{first} first: {reply}, not at {place:x}")
                debugger.ask(f"z1,{base + place:x},1")
                debugger.ask("QTStop")
            debugger.vanish()
    finally:
        program.kill()
        program.wait()


def main():
    need("nm", "objdump")
    need_fast_tracepoints()
    if hardware_breakpoint() == "break":
        print("skipped: debug registers stop nothing here")
        return
    for first in ("breakpoint", "tracepoint"):
        stops(first)


main()
