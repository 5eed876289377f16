#!/usr/bin/env python3
# timeout: 240
"""Whatever tracepoints a trace has, stock GDB opens it: over `tracewell replay` without an image,
and as a trace file that we wrote. GDB makes a tracepoint of its own from each one that it is told
of, and gives up at the first that it cannot make. What it is not told is not lost. Nor does GDB
evaluate, or print as it is, what somebody put into the trace."""

import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import replay_common as common  # noqa: E402
from trace_common import serve  # noqa: E402

CATALOG = {
    "machine": "x86-64",
    "status": {"stop": "requested", "frames": 1},
    "variables": [{"number": 2, "name": "tv", "initial_value": 5}],
}
LAST = {"number": 99, "address": "0x402000", "sources": [{"type": "at", "text": "*0x402000"}]}
FRAME = {"seq": 0, "kind": "frame", "tracepoint": 99, "registers": {"rip": "0x402000"}}


def definition(at=None, cond=None, commands=(), **more):
    texts = [("at", at), ("cond", cond), *(("cmd", one) for one in commands)]
    return {"number": 1, "address": "0x401106", "actions": ["R010000"],
            "sources": [{"type": kind, "text": text} for kind, text in texts if text is not None],
            **more}


DEFINITIONS = [
    definition("*0x401106", fast_length=7),
    definition("*0x401106", fast_length=1),
    definition(fast_length=0),
    definition("*0x401106", static=True),
    definition("-m prog/marker", static=True),
    definition("-probe-stap prog:marker"),
    definition(""),
    definition("*0x401106", "n > 3 && $tv == 5", ["collect n", "collect $rip", "teval $tv = n"]),
    definition("*0x401106", "'p.c'::n > 3", ["while-stepping 2", "collect/s n", "end"]),
    definition("*leaf + 4", "$rip != 0"),
    definition("12"),
    definition("+3"),
]
# GDB asks whether these may stay pending, and does not look at what else they say.
PENDING = [definition("leaf", "n > 3", ["collect n"]), definition("prog.c:12", "n > 3")]

LOOK = """
seen = {{"said": run({connect!r}), "frame": run("tfind 0"), "rip": run("output/x $rip"),
         "points": run("info tracepoints"), "status": run("tstatus")}}
result(seen)
"""


def made(work, one):
    """The definition in front of a harmless one, in a trace file."""
    source = work / "source.jsonl"
    lines = [dict(catalog=dict(CATALOG, tracepoints=[one, LAST])), FRAME]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trace = work / "made.tf"
    subprocess.run([common.TRACEWELL, "convert", source, trace], check=True, capture_output=True)
    return trace


def opened(seen, what):
    """Are all of them there? GDB numbers its own, so the last one is told by its address."""
    common.check("Found trace frame 0" in seen["frame"], f"{what}: {seen}")
    common.same(seen["rip"], "0x402000", f"{what}: a register")
    common.check("0x0000000000402000" in seen["points"], f"{what}: {seen}")


def definitions_of(trace):
    words = [common.TRACEWELL, "info", "--json", str(trace)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["tracepoints"]


def replayed(work):
    for one in DEFINITIONS + PENDING:
        with common.replay(work, made(work, one)) as comm:
            seen = common.gdb(work, LOOK.format(connect=f"target remote {comm}"))
        opened(seen, f"replay: {one}")
        if one in DEFINITIONS:
            common.check("0x0000000000401106" in seen["points"], f"replay: {one}: {seen}")


def as_files(work):
    """GDB cannot know names without the program; that is so with its own files, too."""
    for one in DEFINITIONS[:7]:
        trace = made(work, one)
        source = definitions_of(work / "source.jsonl")
        common.same(definitions_of(trace), source, "what is read from our own file")
        again = work / "again.tfile"
        subprocess.run([common.TRACEWELL, "convert", trace, again], check=True)
        common.same(again.read_bytes(), trace.read_bytes(), f"rewritten: {one}")
        seen = common.gdb(work, LOOK.format(connect=f"target tfile {trace}"))
        opened(seen, f"file: {one}")
        common.check("0x0000000000401106" in seen["points"], f"file: {one}: {seen}")


RECORD = """
import shutil
run("target remote {remote}")
open({commands!r}, "w").write("ftrace *&leaf\\nactions\\ncollect $regs\\nend\\n")
said = [run("source " + {commands!r}), run("break {stop}"), run("tstart"), run("continue"),
        run("tstop"), run("tsave {work}/gdb.tf"), run("tsave -r ours.tf")]
shutil.copy({buffer!r}, {kept!r})
run("kill")
result(said)
"""


def recorded(work):
    """A function's first instruction is short. All that can be saved of its fast tracepoint opens:
    GDB's own file of it, ours, and the buffer."""
    program = common.compile_program(work, "prog", "-no-pie", "-fcf-protection=none")
    buffer = work / "live.twb"
    with serve("--buffer", buffer, "--save-dir", work, program) as remote:
        said = common.gdb(work, RECORD.format(
            remote=remote, work=work, stop=common.line_of("done"), buffer=str(buffer),
            kept=str(work / "kept.twb"), commands=str(work / "commands")), program)
    common.check(not any(text.startswith("error") for text in said), str(said))
    for name in ("ours.tf", "kept.twb"):
        (point,) = definitions_of(work / name)
        common.check(0 < point["fast_length"] < 5, f"{name}: {point}")
    for name in ("ours.tf", "gdb.tf"):
        for executable in ([], [program]):
            seen = common.gdb(work, LOOK.format(connect=f"target tfile {work / name}"), *executable)
            common.check("Found trace frame 0" in seen["frame"], f"{name}: {seen}")
            common.check("0x" in seen["rip"], f"{name}: {seen}")
            if executable:  # without it GDB does not know the name in `*&leaf`
                common.check("0x0" in seen["points"], f"{name}: {seen}")
    for name in ("ours.tf", "gdb.tf", "kept.twb"):
        for executable, image in ((0, 0), (1, 0), (0, 1), (1, 1)):
            options = ["--image", str(program)] * image
            with common.replay(work, work / name, *options) as comm:
                seen = common.gdb(work, LOOK.format(connect=f"target remote {comm}"),
                                  *[program] * executable)
            what = f"replay of {name}, executable {executable}, image {image}: {seen}"
            common.check("Found trace frame 0" in seen["frame"], what)
            kind = "fast tracepoint" if image and name != "gdb.tf" else "tracepoint"
            common.check(kind in seen["points"], what)


# GDB 14 has $_shell() built in. Here it, and one of a user's scripts, tell that they are called.
HOSTILE = """
called = []
class Told(gdb.Function):
    def __init__(self, name):
        super().__init__(name)
        self.name = name
    def invoke(self, *arguments):
        called.append(self.name)
        return 1
Told("_shell"), Told("own")
run("set breakpoint pending on")
said = [run(one) for one in ("target {connect}", "tstatus", "info tracepoints", "info tvariables",
                             "tfind 0", "info all-registers", "info threads"{more})]
result({{"called": called, "set": run("output $pwned"), "said": said}})
"""

EVALUATED = [
    definition("*($pwned = 1, &leaf)"),
    definition('*($_shell("id") * 0 + (long)&leaf)'),
    definition("*($own(1) * 0 + (long)&leaf)"),
    definition("leaf if $_shell(1)"),
    definition("$pwned"),
    definition("leaf", "$_shell(1) + ($pwned = 1)"),
    definition("leaf", None, ["collect $regs, $_shell(1)"]),
    definition("leaf", None, ["collect $pwned = 1", "teval $own(1)"]),
    definition("nowhere", "$own(1)", ["while-stepping 2", "collect $_shell(1)", "end"]),
    definition("leaf", None, ["python", "called.append(1)", "end"]),
]

CONTROL = "\x1b]0;a\x07\x1b[31m\u009b2J\u202e\r\x7f"
CORE = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
SHORT = "eflags cs ss ds es fs gs".split()
FLOAT = [f"st{n}" for n in range(8)]
FLAGS = "fctrl fstat ftag fiseg fioff foseg fooff fop".split()


def described():
    """What GDB wants of the machine, and a register of whose name it does not expect that."""
    known = [(name, 64, "int64") for name in CORE] + [(name, 32, "int32") for name in SHORT]
    known += [(name, 80, "i387_ext") for name in FLOAT] + [(name, 32, "int") for name in FLAGS]
    core = "".join(f'<reg name="{a}" bitsize="{b}" type="{c}"/>' for a, b, c in known)
    odd = '<reg name="odd&#155;31m\u009b2J\u202e" bitsize="64"/>'
    return ('<target><architecture>i386:x86-64</architecture>'
            f'<feature name="org.gnu.gdb.i386.core">{core}</feature>'
            f'<feature name="a&#155;">{odd}</feature></target>')


def controls(text):
    return [one for one in text if (ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160 or
            0x202a <= ord(one) <= 0x202e]


def harmless(work):
    program = common.compile_program(work, "symbols", "-no-pie", "-fcf-protection=none")
    names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    leaf = next("0x" + line.split()[0] for line in names.splitlines() if line.endswith(" leaf"))
    showing = dict(CATALOG, variables=[{"number": 2, "name": "tv" + CONTROL}],
                   status={"stop": "requested", "stop_text": "a" + CONTROL, "notes": "b" + CONTROL,
                           "user_name": "c" + CONTROL, "frames": 1})
    shown = definition("leaf" + CONTROL, "1 == 2" + CONTROL, ["collect $regs" + CONTROL])
    cases = [(CATALOG, one, ', "tdump"') for one in EVALUATED]
    cases += [(showing, shown, ""), (dict(showing, target_description=described()), shown, "")]
    for number, (catalog, one, more) in enumerate(cases):
        source, trace = work / "hostile.jsonl", work / "hostile.tf"
        frame = dict(FRAME, registers={})
        lines = [dict(catalog=dict(catalog, tracepoints=[dict(one, address=leaf), LAST])), frame]
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        subprocess.run([common.TRACEWELL, "convert", source, trace], check=True,
                       capture_output=True)
        with common.replay(work, trace) as comm:
            script = HOSTILE.format(connect=f"remote {comm}", more=more)
            replayed = common.gdb(work, script, program)
        opened = common.gdb(work, HOSTILE.format(connect=f"tfile {trace}", more=more), program)
        for how, seen in (("replay", replayed), ("file", opened)):
            what = f"{how}, case {number}, {one}: {seen}"
            common.same((seen["called"], seen["set"]), ([], "void"), what)
            common.check("Found trace frame 0" in seen["said"][4], what)
            common.same(controls("".join(seen["said"])), [], what)
            common.check("odd" in seen["said"][5] or "odd" not in str(catalog), what)


def main():
    common.need("gdb", "gcc")
    with common.folder() as work:
        harmless(work)
        replayed(work)
        as_files(work)
        recorded(work)


main()
