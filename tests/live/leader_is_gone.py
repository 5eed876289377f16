#!/usr/bin/env python3
"""A program whose first thread has ended while it was traced: tracepoints are set as ever."""

import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import Client, bias, serving, status, symbols, wait_until  # noqa: E402
from trace_common import INFERIORS, check, need_fast_tracepoints  # noqa: E402

PROGRAM = INFERIORS / "leader_goes"


def traced(fast):
    with serving("--fast-tracepoints", fast, "localhost:0", str(PROGRAM)) as (_, port, pid):
        client = Client(port)
        client.say("qSupported:multiprocess+;swbreak+;vContSupported+")
        client.send("vCont;c")
        wait_until(lambda: status(pid, "State") == "Z", "the first thread's end")
        client.socket.sendall(b"\x03")
        check(client.receive().startswith("T"), f"{fast}: stopped")
        # The mappings are those of a thread that lives, as the leader has none to show.
        place = bias_of_any(pid) + symbols(PROGRAM)["tick"]
        client.trace([place])
        client.send("vCont;c")
        while not client.stands_after(3):
            time.sleep(0.01)
        check(client.frames_created() >= 3, f"{fast}: hits")


def bias_of_any(pid):
    other = next(int(one.name) for one in pathlib.Path(f"/proc/{pid}/task").iterdir()
                 if int(one.name) != pid)
    return bias(other, PROGRAM)


def main():
    need_fast_tracepoints()
    traced("all")
    traced("none")


main()
