#!/usr/bin/env python3
# timeout: 400
"""Tracepoints in awkward places, traps and fast ones, by stock
GDB: where a breakpoint stands as well, in a signal
handler, on the way of a fork, vfork and exec, in a library that is loaded late; stepping through
system calls and signals; a pass count that four threads share; where nobody looks."""

import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from parts import chosen  # noqa: E402
from serve_client import Client  # noqa: E402
from serve_common import on_port  # noqa: E402
from trace_common import (  # noqa: E402
    INFERIORS, check, folder, gdb, hardware_breakpoint, line_of, need, records, same)

BEGIN = """
run("target extended-remote %(remote)s")
def shown(*commands):
    return [run(command) for command in commands]
def value(expression):
    return int(gdb.parse_and_eval(expression))
def created():
    return int(run("tstatus").split("Collected ")[1].split()[0])
"""


kind = "trace"


def session(work, program, argument, script, definitions, **places):
    """Runs the script in a GDB with the program; `definitions` is a file for its `source`. All its
    tracepoints are of the present kind."""
    definitions = re.sub(r"^trace ", f"{kind} ", definitions, flags=re.MULTILINE)
    script = script.replace('"trace ', f'"{kind} ')
    (work / "definitions").write_text(definitions % places)
    places |= {"definitions": work / "definitions", "file": work / "saved.tf",
               "hbreak": hardware_breakpoint()}
    # Steps shall not go through the loader, which looks functions up at their first call.
    with on_port(INFERIORS / program, argument, env={**os.environ, "LD_BIND_NOW": "1"}) as server:
        return gdb(work, (BEGIN + script) % {"remote": server.remote, **places},
                   INFERIORS / program)


def with_a_breakpoint(work):
    """Both at one address, whichever comes and goes first: every pass has its frame of each
    tracepoint, once, and the breakpoint stops as if it were alone. (A hardware breakpoint stops
    before the instruction, which is the tracepoint's, is begun.)"""
    got = session(work, "daily", "loops", """
run("source %(definitions)s")
run("break work if i == 3")
seen = shown("tstart", "continue")
seen += [value("i"), created()]
run("%(hbreak)s work if i == 5")
run("continue")
seen += [value("i"), created()]
run("delete 3")
run("delete 4")
run("break work if i == 8")
run("continue")
seen += [value("i"), created()]
seen += shown("tstop")
run("delete 5")
run("break work if i == 12")
run("continue")
seen += [value("i"), created()]
run("delete 6")
seen += shown("continue")
result(seen + [created(), value("$_exitcode")])
""", "trace work\nactions\ncollect i\nend\ntrace work\nactions\ncollect i\nend\n")
    check("rror" not in str(got), str(got))
    created = 10 if hardware_breakpoint() == "hbreak" else 12
    same([one for one in got if isinstance(one, int)], [3, 8, 5, created, 8, 18, 12, 18, 18, 61],
         f"arguments and frames, at each stop: {got}")


def in_a_signal_handler(work):
    """Of four threads, forty times, the same as the program itself counts."""
    got = session(work, "daily", "threads", """
run("handle SIGUSR1 nostop noprint pass")
run("source %(definitions)s")
run("break daily.c:%(joined)d")
seen = shown("tstart", "continue", "tstop")
seen += [created(), value("handled"), value("total")]
run("tsave %(file)s")
run("tfind 39")
seen += shown("output number", "backtrace")
run("tfind none")
result(seen + [run("continue"), value("$_exitcode")])
""", "trace on_signal\nactions\ncollect $regs, number\ncollect *(char *)$rsp@256\nend\n",
                  joined=line_of("daily.c", "joined"))
    handled = 4 * 500 // 50
    same(got[3:5], [handled, handled], f"frames, and what the program counted: {got}")
    same(got[6], "10", "the signal's number")
    check("on_signal (number=10)" in got[7] and "<signal handler called>" in got[7], got[7])
    same(got[9], got[5] % 100, "the program's own result")
    threads = {frame["registers"]["fs_base"] for frame in records(work / "saved.tf")}
    same(len(threads), 4, "threads whose handlers were hit")


def stepping_through_a_signal(work):
    """Into the C library, through the system call that sends the signal, through its handler, and
    back: every instruction has its frame, and no step is a SIGTRAP of the program's."""
    got = session(work, "daily", "signals", """
run("handle SIGUSR1 nostop noprint pass")
run("source %(definitions)s")
run("break _exit")
seen = shown("tstart", "continue", "tstop")
run("tsave %(file)s")
handler = gdb.parse_and_eval("&on_signal")
run("tfind pc *on_signal")
seen += [value("$trace_frame"), value("handled")]
run("tfind none")
seen += [value("handled"), int(handler), created()]
result(seen + shown("continue") + [value("$_exitcode")])
""", "trace daily.c:%(raised)d\nactions\ncollect $rip\nwhile-stepping 600\n"
                  "collect $rip, handled\nend\nend\n", raised=line_of("daily.c", "raised"))
    check("rror" not in str(got[:3]) and "SIGTRAP" not in str(got), str(got))
    check(got[3] > 1, f"frames of the handler: {got}")
    same(got[4:6], [0, 1], "`handled` at the handler's first instruction, and at the end")
    same([got[7], got[9]], [601, 1], f"frames, and how the program ends: {got[8]}")
    pcs = [int(frame["pc"], 16) for frame in records(work / "saved.tf")]
    check(got[6] in pcs, "a step to the handler's first instruction")
    # Back behind the line that raised the signal, in main's own code.
    back = [at for at in range(pcs.index(got[6]), len(pcs)) if 0 < pcs[at] - pcs[0] < 64]
    check(back, "steps behind the handler's return")
    check(all(pcs[i] != pcs[i + 1] for i in range(back[0])), "an instruction shown twice")


def stepping_through_system_calls(work):
    got = session(work, "daily", "calls", """
run("source %(definitions)s")
run("break _exit")
seen = shown("tstart", "continue", "tstop")
call = value("(long)&own_call")
run("tsave %(file)s")
result(seen + [call, created()] + shown("continue") + [value("$_exitcode")])
""", "trace *&own_call\nactions\ncollect $regs\nwhile-stepping 40\ncollect $regs\nend\nend\n")
    check("rror" not in str(got[:3]) and "SIGTRAP" not in str(got), str(got))
    same([got[4], got[6]], [41, 3], f"frames, and how the program ends: {got}")
    frames = records(work / "saved.tf")
    same([int(frame["pc"], 16) - got[3] for frame in frames[:2]], [0, 2], "over the system call")
    same(frames[1]["registers"]["rax"], hex(os.getgid()), "what the call returned")


def shared_pass_count(work):
    """Four threads run through it; the run ends with the hit that was asked for, to the frame."""
    got = session(work, "hit_storm", "500", """
run("source %(definitions)s")
run("passcount 777 1")
run("set trace-buffer-size 60000000")
run("break _exit")
result(shown("tstart", "continue", "tstatus", "info tracepoints", "tsave %(file)s", "continue")
       + [value("$_exitcode")])
""", "trace inner\nactions\ncollect $regs\nend\n")
    check("Trace stopped by tracepoint 1." in got[2], got[2])
    check("Collected 777 trace frames" in got[2], got[2])
    check("already hit 777 times" in got[3], got[3])
    same(got[6], 0, "the program's own result")
    threads = {frame["registers"]["fs_base"] for frame in records(work / "saved.tf")}
    check(len(threads) > 1, "hits of one thread only")


def on_the_way_of_children(work):
    """A child has its parent's memory and none of its tracepoints: it runs, and makes no frames."""
    for how, place, code, frames in (("fork", "child_work", 15, 0), ("fork", "inner", 15, 1),
                                     ("vfork", "inner", 26, 1)):
        got = session(work, "debuggee", how, """
run("source %(definitions)s")
run("break _exit")
result(shown("tstart", "continue", "tstatus", "delete 2", "continue")
       + [value("$_exitcode"), created()])
""", f"trace {place}\nactions\ncollect $regs, value\nend\n")
        check("Trace is running" in got[2], got[2])
        same(got[5:], [code, frames], f"{how}, {place}: exit code and frames: {got}")


def at_exec(work):
    """The run ends, its frames stay, and the next program has none of our bytes."""
    got = session(work, "debuggee", "exec", """
run("source %(definitions)s")
result(shown("tstart", "continue", "tstatus") + [value("$_exitcode"), created()]
       + shown("tsave %(file)s"))
""", "trace inner\nactions\ncollect value\nend\n")
    check("Trace stopped by an error (the program replaced itself by exec)" in got[2], got[2])
    same(got[3:5], [4, 1], f"exit code and frames: {got}")
    (frame,) = records(work / "saved.tf")
    same([block["bytes"] for block in frame["memory"]], ["15000000"], "the argument, 21")


def in_a_library(work):
    """Its code is disassembled inside frames, and the stack leads back to the program."""
    got = session(work, "daily", "locals", """
run("break daily.c:%(linked)d")
seen = shown("continue")
run("source %(definitions)s")
run("break daily.c:%(loaded)d")
seen += shown("tstart", "continue", "tstop", "tfind start", "x/2i $pc", "backtrace",
              "info registers rip", "tfind", "tfind")
result(seen + [created()])
""", "trace library_own\nactions\ncollect $regs\ncollect *(char *)$rsp@512\nend\n",
                  linked=line_of("daily.c", "before") + 1, loaded=line_of("daily.c", "loaded"))
    check(re.search(r"=> 0x[0-9a-f]+ <library_own[+0-9]*>:\t\w+", got[5]), got[5])
    check("rror" not in got[5] and "Cannot" not in got[5], got[5])
    check("library_own ()" in got[6] and "locals (" in got[6], got[6])
    same(got[-1], 2, f"frames: main's and the first thread's: {got}")


def after_detach(work):
    """Without disconnected tracing the run ends there; the next debugger has it all the same."""
    (work / "definitions").write_text("trace work\nactions\ncollect i\nend\n")
    with on_port(INFERIORS / "daily", "loops", options=["--multi"]) as server:
        gdb(work, (BEGIN + """
run("source %(definitions)s")
run("break work if i == 9")
run("tstart")
run("continue")
run("detach")
result(True)
""") % {"remote": server.remote, "definitions": work / "definitions"}, INFERIORS / "daily")
        client = Client(server.remote)
        status = client.say("qTStatus")
        check(status.startswith("T0;tdisconnected:0;tframes:a;tcreated:a;"), status)
        same(client.say("QTFrame:9"), "F9T1", "the last frame")
        same(client.say("qXfer:traceframe-info:read::0,fff").count("<memory "), 1, "its memory")
        check(client.say("qTBuffer:0,10").startswith("0100"), "the stream")


def nobody_is_there(work):
    """Traced alone: signals are the program's, new threads and their hits are seen, children and
    new programs run on unharmed. Whoever comes then finds the frames."""
    for program, how, place, code, frames in (
            ("daily", "threads", "work", 1, 4 * 500), ("daily", "signals", "on_signal", 1, 1),
            ("debuggee", "fork", "child_work", 15, 0), ("debuggee", "fork", "inner", 15, 1),
            ("debuggee", "vfork", "inner", 26, 1), ("debuggee", "exec", "inner", 4, 1)):
        with on_port(INFERIORS / program, how, options=[]) as server:
            gdb(work, (BEGIN + """
run("set disconnected-tracing on")
result(shown("trace %(place)s", "tstart", "detach"))
""") % {"remote": server.remote, "place": place}, INFERIORS / program)
            ended = server.wait_for(r"Child exited with status (\d+)").group(1)
            same(int(ended), code, f"{program} {how}: how it ends alone")
            client = Client(server.remote)
            status = client.say("qTStatus")
            text = f"the program exited with status {code}"
            if how == "exec":  # that is where the trace ends, whoever asks to be told
                text = "the program replaced itself by exec"
            said = text.encode().hex()
            check(status.startswith(f"T0;terror:{said}:0;tframes:{frames:x};tcreated:{frames:x};"),
                  f"{program} {how}, {place}: {status}")


def without_traceframe_info(work):
    """GDB then asks for every piece of memory, and must be shown the same."""
    script = """
run("set remote traceframe-info-packet %(info)s")
run("source %(definitions)s")
run("break daily.c:%(joined)d")
run("handle SIGUSR1 nostop noprint pass")
seen = shown("tstart", "continue", "tstop", "tfind 5")
result(shown("tdump", "print name", "print *name@6", "print point", "x/2i $pc"))
"""
    definitions = "trace work\nactions\ncollect $regs, i, name\ncollect *name@6\nend\n"
    first, second = (session(work, "daily", "threads", script, definitions, info=info,
                             joined=line_of("daily.c", "joined")) for info in ("auto", "off"))
    same(second[1:3], first[1:3], "what was collected")
    check('"world' in first[2] and "i = " in first[0] and "i = " in second[0], f"{first} {second}")
    for shown in first[3], second[3]:
        check("unavailable" in shown or "annot access" in shown, f"not collected: {shown}")
    check("=> 0x" in second[4] and "annot" not in second[4], second[4])


STEPPING = (stepping_through_a_signal, stepping_through_system_calls)
EITHER = (with_a_breakpoint, in_a_signal_handler, shared_pass_count, on_the_way_of_children,
          at_exec, in_a_library, after_detach, nobody_is_there, without_traceframe_info)


def main():
    global kind
    need("gdb")
    # Fast tracepoints do not step.
    for kind, fast, parts in (("trace", "none", EITHER + STEPPING), ("trace", "all", EITHER),
                              ("ftrace", "asked", EITHER)):
        os.environ["TRACEWELL_FAST"] = fast
        for part in chosen(parts, kind, fast):
            with folder() as work:
                part(work)


main()
