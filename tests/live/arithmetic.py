#!/usr/bin/env python3
# skips
# timeout: 300
"""A program computes the same, to the last bit, untraced, with traps, and with fast tracepoints at
every instruction of its functions: see tests/inferiors/arithmetic.cc for what it does meanwhile.

An eighth of the instructions has tracepoints at a time, since there must be room for the jumps.
Those that find none there have one by themselves. TRACEWELL_ROUNDS: how often it is all done; 1.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import bias, symbols  # noqa: E402
from replay_common import check, same  # noqa: E402
from serve_client import Client  # noqa: E402
from serve_common import INFERIORS, on_port  # noqa: E402
from trace_common import need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "arithmetic"
# Of the program's own, and microseconds between signals: a stop costs a thousand hits, and where a
# handler takes longer than that, nothing else gets its turn.
ROUNDS = {"none": 20, "all": 600}
SIGNALS = {"none": 50_000, "all": 100}
PARTS = 8
# Of all instructions. Some stand behind each other so that no jump finds room, whatever is done.
AT_LEAST = 0.95
RDI_IS_MAGIC = "26000522771327"  # reg rdi, const8 0x77, equal, end


def instructions():
    """Addresses of all instructions of the functions work_…, as the file has them."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", PROGRAM], check=True,
                          capture_output=True, text=True).stdout
    found = []
    for function in re.findall(r"^\w+ <work_[^>]*>:\n((?:.+\n)+)", text, re.MULTILINE):
        # The nops behind a function are never executed.
        lines = [(int(at, 16), what) for at, what in re.findall(r"^ +(\w+):\t(.*)$", function,
                                                                re.MULTILINE)]
        found += [at for at, what in lines if "nop" not in what and "xchg   %ax,%ax" not in what]
    return found


def define(client, number, address):
    """Something of everything that can be collected."""
    kind = number % 4
    condition = f":X{len(RDI_IS_MAGIC) // 2:x},{RDI_IS_MAGIC}" if kind == 3 else ""
    action = {0: "R" + "f" * 40, 1: "M7,0,40", 2: "X3,260007", 3: "R03"}[kind]
    if kind == 2:
        action = "X7,26000722100c27"  # reg rsp, const8 16, trace, end
    same(client.say(f"QTDP:{number:x}:{address:x}:E:0:0:F1{condition}-"), "OK", "definition")
    same(client.say(f"QTDP:-{number:x}:{address:x}:{action}"), "OK", f"action {action}")


def run(fast, addresses):
    """What the program prints, the addresses that became traps, and how many frames there were."""
    rounds = ROUNDS[fast]
    os.environ["TRACEWELL_FAST"] = fast
    with on_port(PROGRAM, str(rounds), str(SIGNALS[fast])) as server:
        client = Client(server.remote)
        base = bias(int(re.search(r"pid = (\d+)", server.said())[1]), PROGRAM)
        main = base + symbols(PROGRAM)["main"]
        same(client.say(f"Z0,{main:x},1"), "OK", "breakpoint")
        check(client.say("vCont;c").startswith("T05"), "main")
        same(client.say(f"z0,{main:x},1"), "OK", "breakpoint")
        same(client.say("QPassSignals:e"), "OK", "SIGALRM is for the program")
        same(client.say("QTinit"), "OK", "QTinit")
        same(client.say("QTBuffer:circular:1"), "OK", "circular")
        for number, address in enumerate(addresses, 1):
            define(client, number, base + address)
        same(client.say("QTStart"), "OK", "start")
        reply = client.say("vCont;c")
        same(reply[:3], "W00", f"the end: {reply}")
        frames = int(re.search(r"tcreated:(\w+)", client.say("qTStatus"))[1], 16)
        client.vanish()
        server.ended()
        said = server.said()
    printed = re.search(r"^[0-9a-f]{16}$", said, re.MULTILINE)
    check(printed, said)
    check("are traps" not in said, said)
    traps = [int(at, 16) - base for at in re.findall(r" at 0x(\w+) is a trap", said)]
    return printed[0], traps, frames


def untraced(rounds):
    return subprocess.run([PROGRAM, str(rounds), "100"], check=True, capture_output=True,
                          text=True).stdout.strip()


def one_round(addresses, expected):
    lonely = []
    for part in range(PARTS):
        mine = addresses[part::PARTS]
        got, _, frames = run("none", mine)
        same(got, expected["none"], f"with traps, part {part}")
        check(frames > 0, "traps were hit")
        got, traps, frames = run("all", mine)
        same(got, expected["all"], f"with fast tracepoints, part {part}")
        check(frames > 1000, f"only {frames} hits")
        lonely += traps
    left = []
    for address in lonely:
        got, traps, _ = run("all", [address])
        same(got, expected["all"], f"with one at 0x{address:x}")
        left += traps
    share = 1 - len(left) / len(addresses)
    print(f"{len(addresses)} instructions: {share:.1%} fast; {len(lonely)} by themselves; traps at "
          f"{[hex(one) for one in left]}", flush=True)
    check(share >= AT_LEAST, "too many traps")


def main():
    need_fast_tracepoints()
    addresses = instructions()
    check(len(addresses) > 250, f"only {len(addresses)} instructions")
    expected = {fast: untraced(rounds) for fast, rounds in ROUNDS.items()}
    for fast, rounds in ROUNDS.items():
        same(untraced(rounds), expected[fast], "twice untraced")
    for _ in range(int(os.environ.get("TRACEWELL_ROUNDS", "1"))):
        one_round(addresses, expected)


main()
