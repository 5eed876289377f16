#!/usr/bin/env python3
"""Steps into a signal handler and on, an instruction each, while fast tracepoints are in it. The
server stops the program for itself during the first step behind a pause: raises ignores SIGSEGV."""

import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, serving, symbols  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints, same  # noqa: E402

PROGRAM = INFERIORS / "raises"
SYMBOLS = symbols(PROGRAM)
RIP = 0x10
SIGUSR1 = "1e"  # as GDB has it
ROUNDS = 12


def pc_of(reply):
    word = re.search(rf"{RIP:02x}:([0-9a-f]{{16}})", reply).group(1)
    return int.from_bytes(bytes.fromhex(word), "little")


def steps(fast):
    """Where the handler is from its start on, told as distances from there."""
    with serving("--fast-tracepoints", fast, "localhost:0", str(PROGRAM)) as (_, port, pid):
        client = Client(port)
        client.say("qSupported:multiprocess+;swbreak+;vContSupported+")
        client.ask("QPassSignals:")
        client.ask("QTinit")
        client.ask("QTBuffer:circular:1")
        for number, site in enumerate(("site_first", "site_second"), 1):
            client.ask(f"QTDP:{number}:{SYMBOLS[site]:x}:E:0:0")
        client.ask("QTStart")
        thread = f"p{pid:x}.{pid:x}"
        reply = client.say("vCont;c")
        same(reply[1:3], SIGUSR1, f"the signal: {reply}")
        reply = client.say(f"vCont;C{SIGUSR1}:p{pid:x}.-1")
        same(reply[1:3], SIGUSR1, f"the next one: {reply}")
        time.sleep(0.4)
        reply = client.say(f"vCont;S{SIGUSR1}:{thread}")
        places = [pc_of(reply)]
        for _ in range(4):
            places.append(pc_of(client.say(f"vCont;s:{thread}")))
        return [place - SYMBOLS["on_signal"] for place in places]


def main():
    need_fast_tracepoints()
    expected = steps("none")
    same(expected, [0, 1, 7, 10, 16], "by traps")
    for _ in range(ROUNDS):
        same(steps("all"), expected, "with fast tracepoints")


main()
