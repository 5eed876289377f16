#!/usr/bin/env python3
# skips
# timeout: 120
"""A program's heap and its first stack grow as far as without a trace: code of tracepoints is not
in their way, though there is no other place for it. Nor does it take the last mappings that a
program may have."""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attached import attached, fast, program  # noqa: E402
from rsp_client import bias, symbols  # noqa: E402
from serve_common import check  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

HEAP, STACK = INFERIORS / "grows_heap", INFERIORS / "grows_stack"
MAPS = INFERIORS / "many_maps"


def grows(running, places):
    with attached(running.pid, *fast("all")) as (client, _):
        client.ask("QTinit")
        client.ask("QTBuffer:circular:1")
        for number, address in enumerate(places, 1):
            client.ask(f"QTDP:{number:x}:{address:x}:E:0:0")
        client.console("QTStart")
        client.send("vCont;c")
        print(file=running.stdin, flush=True)
        said = client.receive()
        check(said.startswith("W00"), f"it gets all that it would get without a trace: {said}")


def loader():
    """A program that is begun by it is mapped where libraries are."""
    text = subprocess.run(["ldd", STACK], capture_output=True, text=True, check=True).stdout
    return re.search(r"^\s*(/\S*ld-\S+)", text, re.MULTILINE)[1]


def main():
    need_fast_tracepoints()
    # Without chance, the heap begins behind the program.
    with program("setarch", "-R", HEAP) as running:
        at = symbols(HEAP)
        grows(running, range(at["hit"], at["hit_end"], 6))
    # Without chance, libraries are 128 MB below the end of the stack.
    with program("setarch", "-R", loader(), STACK, unable=77) as running:
        if not running:
            print("not tested: no stack of 64 MB is allowed here")
            return
        at, base = symbols(STACK), bias(running.pid, STACK)
        grows(running, range(base + at["hit"] + 3, base + at["hit_end"], 9))
    with program(MAPS, unable=77) as running:
        if not running:
            print("not tested: vm.max_map_count is too large to be reached")
            return
        at = symbols(MAPS)
        grows(running, range(at["hit"] + 3, at["hit_end"], 9))


main()
