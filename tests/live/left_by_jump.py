#!/usr/bin/env python3
"""Signal handlers that are left by a long jump, a hundred times: a tracepoint that they were to
return to has all its hits, and a breakpoint's condition is looked at each time, also where the
thread gets there by single steps."""

import pathlib
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, symbols  # noqa: E402
from trace_common import INFERIORS, check, same  # noqa: E402

PROGRAM = INFERIORS / "faults"
SYMBOLS = symbols(PROGRAM)


def call_of(pid, place):
    """Where main() calls it."""
    main = bias(pid, PROGRAM) + SYMBOLS["main"]
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(main)
        code = memory.read(0x200)
    for at in range(len(code) - 5):
        if code[at] == 0xE8 and \
                main + at + 5 + struct.unpack_from("<i", code, at + 1)[0] == place:
            return main + at
    raise KeyError("no call")


def hits(client, number, place):
    reply = client.say(f"qTP:{number}:{place:x}")
    check(reply.startswith("V"), reply)
    return int(reply[1:].split(":")[0], 16)


def traced(fast):
    with serving("--fast-tracepoints", fast, "localhost:0", str(PROGRAM), "jump") as \
            (_, port, pid):
        client = Client(port)
        client.say("qSupported:multiprocess+;swbreak+")
        client.ask("QPassSignals:b")
        place = bias(pid, PROGRAM) + SYMBOLS["site_load"]
        call = call_of(pid, place)
        client.ask("QTinit")
        client.ask(f"QTDP:1:{call:x}:E:1:0-")
        client.ask(f"QTDP:-1:{call:x}:SR01")
        client.ask(f"QTDP:2:{place:x}:E:0:0")
        client.ask("QTStart")
        reply = client.say("vCont;c")
        check(reply.startswith("W00"), f"it ends: {reply}")
        same(hits(client, 1, call), 100, f"{fast}: calls")
        same(hits(client, 2, place), 100, f"{fast}: what is called")


for how in ("none", "all"):
    traced(how)
