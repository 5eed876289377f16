#!/usr/bin/env python3
# skips
# timeout: 240
"""Programs that handle faults, and hits that read memory which is just gone: the program keeps its
handlers and masks, whatever it was in the middle of."""

import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from replay_common import check, folder, gdb, need, same  # noqa: E402
from rsp_client import Client, bias, symbols  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import INFERIORS, need_fast_tracepoints  # noqa: E402

RUN = """
run("set non-stop %(non_stop)s")
run("target extended-remote %(remote)s")
run("set trace-buffer-size 4000000")
run("set circular-trace-buffer on")
run("tbreak started")
run("continue")
run("source %(definitions)s")
said = [run("tstart")]
for i in range(%(stops)d):
    said.append(run("continue"))
status = run("tstatus")
values = {name: run("output " + name)
          for name in ("passes", "wrong_handlers", "wrong_masks", "own_faults")}
hits = run("info tracepoints")
run("tstop")
result({"said": said, "status": status, "hits": hits, "after": run("tstatus"), **values,
        "end": run("continue"), "code": run("output $_exitcode")})
"""
RUNS = 20
LOOP = """
run("target extended-remote %(remote)s")
run("set circular-trace-buffer on")
run("break started")
run("continue")
run("source %(definitions)s")
said = []
for i in range(%(runs)d):
    said.append(run("tstart"))
    said.append(run("continue"))
    said.append(run("tstatus"))
    run("tstop")
values = {name: run("output " + name) for name in ("passes", "wrong_handlers", "wrong_masks")}
result({"said": said, "status": "".join(said), **values, "end": run("continue"),
        "code": run("output $_exitcode")})
"""
DEFINITIONS = """
trace *pass
actions
collect *(long *)$rdi
end
break finished
"""
MILLION = 1_000_000
OFTEN = INFERIORS / "mends_often"
USR1 = "T1e"  # as GDB counts
PROCESSES, RUNS_OF_EACH = 4, 100 if os.environ.get("TRACEWELL_LONG") else 40


def run(work, what, checks, non_stop="off", stops=1):
    (work / "definitions").write_text(DEFINITIONS)
    script = LOOP if what == "loop" else RUN
    with on_port(INFERIORS / "mends", what, str(checks)) as server:
        got = gdb(work, script % {"remote": server.remote, "definitions": work / "definitions",
                                  "non_stop": non_stop, "stops": stops, "runs": RUNS},
                  INFERIORS / "mends")
        said = server.said()
    same((got["wrong_handlers"], got["wrong_masks"]), ("0", "0"), f"{what}: {got} {said}")
    check("trap" not in said, said)
    return got, said


def restored(got):
    return sum(int(times) for times in
               re.findall(r"took away a handler of the program's (\d+) time", got["status"]))


def it_keeps_handlers(work):
    """One load fails while the signal is blocked, wherever that is: and the handler is there."""
    for what in ("blocks", "late", "another", "files"):
        for non_stop in ("off", "on"):
            got, said = run(work, what, 1000, non_stop)
            same(restored(got), 1, f"{what}: {got} {said}")
            check("memory access error" in got["status"], got["status"])


def it_keeps_them_inside_of_the_handler(work):
    """A fault of the program's own is told to the debugger at first."""
    for what in ("inside", "aside"):
        got, said = run(work, what, 1000, stops=2)
        same((restored(got), got["own_faults"]), (1, "1"), f"{what}: {got} {said}")


def there_is_none_to_keep(work):
    """In the handler of one signal the program has none any more, and nothing is put back."""
    got, said = run(work, "once", 1000, stops=2)
    same((restored(got), got["own_faults"]), (0, "1"), f"{got} {said}")


def others_block_nothing(work):
    """Two threads run into the same, and one of them blocks the signal."""
    for non_stop in ("off", "on"):
        got, said = run(work, "both", 2000, non_stop)
        same(restored(got), 1, f"{got} {said}")


def memory_comes_and_goes(work):
    got, said = run(work, "loop", MILLION)
    check(restored(got) > 0, f"{got} {said}")
    same(got["passes"], str(MILLION), "checks")
    print(f"{restored(got)} handlers were put back", flush=True)


def one_after_the_other(_):
    """In many processes and runs, each with other handlers and masks. A run ends with the load that
    fails: so there are as many as runs, and where the signal is blocked, each of them is counted
    as one that took the handler away."""
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    for process in range(PROCESSES):
        with on_port(OFTEN, str(RUNS_OF_EACH), str(seed + process)) as server:
            client = Client(int(server.remote.split(":")[1]))
            pid = int(server.wait_for(r"pid = (\d+)").group(1))
            place = bias(pid, OFTEN) + symbols(OFTEN)["pass"]
            check(client.say("vCont;c").startswith(USR1), "it begins")
            put_back = [run_of_many(client, place) for _ in range(RUNS_OF_EACH)]
            ended = client.say("vCont;c")
            client.vanish()
            server.ended()
            said = server.said()
            same(ended, "W00", said)
        same(put_back, [1, 1, 1, 0] * (RUNS_OF_EACH // 4), f"handlers that were put back: {said}")
        check(re.search(rf"^{RUNS_OF_EACH} loads failed, \d+ looks, 0 wrong handlers, 0 wrong "
                        "masks, 0 faults$", said, re.MULTILINE), said)


def run_of_many(client, place):
    """Traces from one signal to the next. Returns how often a handler was put back."""
    client.ask("QTinit")
    client.ask("QTBuffer:circular:1")
    client.ask(f"QTDP:1:{place:x}:E:0:0:F5-")
    client.ask(f"QTDP:-1:{place:x}:M5,0,8")
    same(client.console("QTStart"), "", "nothing is wrong")
    told = client.say("vCont;c")
    check(told.startswith(USR1), f"the next run begins: {told}")
    notes = client.notes()
    check("a pad" in notes and "trap" not in notes, notes)
    client.ask("QTStop")
    return restored({"status": notes})


def main():
    need_fast_tracepoints()
    need("gdb")
    for part in chosen((it_keeps_handlers, it_keeps_them_inside_of_the_handler,
                        there_is_none_to_keep, others_block_nothing, memory_comes_and_goes,
                        one_after_the_other)):
        with folder() as work:
            part(work)


main()
