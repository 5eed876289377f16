#!/usr/bin/env python3
# timeout: 120
"""Backwards and forwards through a recorded run in stock GDB: the session that the how-to shows,
word for word; and registers and memory at every step, as the model of the program has them."""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import replay_common as common  # noqa: E402

PAGE = common.SOURCE / "docs/how-to/travel-in-a-recorded-run.md"
MODEL = common.SOURCE / "examples/travel/squares.py"
NAMES = ("rax", "rbx", "rcx", "rsp", "rip")
COUNTER = 0x404000

EVERY_MOMENT = """
run({connect!r})
numbers = [thread.ptid[1] for thread in gdb.selected_inferior().threads()]
seen = []
for moment in range({count}):
    run("monitor goto %d" % moment)
    run("maintenance flush register-cache")
    run("maintenance flush dcache")
    threads = {{}}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        threads[thread.ptid[1]] = [run("output/x $" + name) for name in {names!r}]
    seen.append([threads, run("output *(int *) {counter}"), run("output $eflags")])
result(seen)
"""


SLICE = """
run("target tfile {trace}")
frames, old = [], None
while "Found" in run("tfind %d" % len(frames)):
    frames.append([run("output/x $" + name) for name in {names!r}])
    old = old or run("output *(long *) ($rbx + $rcx * 8)")
run("tfind 0")
result({{"frames": frames, "old": old, "dump": run("tdump"), "defined": run("info tracepoints"),
        "first": run("tfind start"), "second": run("tfind tracepoint 2")}})
"""


def sample(work):
    """The model's steps; squares.jsonl and squares.trace64 are made of them."""
    printed = subprocess.run([sys.executable, MODEL], capture_output=True, text=True, check=True)
    (work / "squares.jsonl").write_text(printed.stdout)
    subprocess.run([common.TRACEWELL, "convert", "squares.jsonl", "squares.trace64"], cwd=work,
                   check=True, capture_output=True)
    return [json.loads(line) for line in printed.stdout.splitlines()[1:]]


def said(line):
    """A line that says something, and not of GDB's search for an executable."""
    return line.strip() and not line.startswith(("warning: No", "determining exec", "[Inferior"))


def page(work):
    lines = [line[4:] for line in PAGE.read_text().splitlines() if line.startswith("    ")]
    lines = lines[lines.index("$ gdb") + 1:]
    lines = lines[:next(number for number, line in enumerate(lines) if line.startswith("$ "))]
    commands = [line[6:] for line in lines if line.startswith("(gdb) ")]
    shown = ["@@ " + line[6:] if line.startswith("(gdb) ") else line for line in lines]
    script = "set pagination off\nset confirm off\nset style enabled off\n"
    script += "".join(f"echo @@ {command}\\n\n{command}\n" for command in commands)
    (work / "page.gdb").write_text(script)
    path = os.path.dirname(common.TRACEWELL) + ":" + os.environ["PATH"]
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
                           *common.PATIENT, "-x", "page.gdb"], cwd=work,
                          env={**os.environ, "PATH": path}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    got = [line.split() for line in done.stdout.splitlines() if said(line)]
    common.same(got, [line.split() for line in shown], "the session of the how-to")


def every_moment(work, trace, steps):
    """Of a thread, what it has before its next step; of one that has none, before its last."""
    script = EVERY_MOMENT.format(connect=f"target remote | {common.TRACEWELL} replay {trace} -",
                                 count=len(steps), names=NAMES, counter=COUNTER)
    seen = common.gdb(work, script)
    registers, before = {}, []
    for step in steps:
        now = registers.setdefault(step["tid"], {})
        now.update(step["before"])
        before.append(dict(now))
        now.update(step["registers"])
    counter = 0
    for moment, (threads, counted, flags) in enumerate(seen):
        common.same(counted, str(counter), f"the counter before step {moment} of {trace}")
        for access in steps[moment]["memory"]:
            if int(access["addr"], 16) == COUNTER:
                counter += 1
        for thread in {step["tid"] for step in steps}:
            own = [number for number, step in enumerate(steps) if step["tid"] == thread]
            at = next((number for number in own if number >= moment), own[-1])
            common.same(threads[str(thread)], [before[at][name] for name in NAMES],
                        f"thread {thread} before step {moment} of {trace}")
        if trace.endswith(".jsonl"):
            common.same(flags, "<unavailable>", "what nobody recorded")


def slices(work, steps):
    """Some steps as a trace file, which stock GDB goes through without us."""
    store = 0x40100C
    wanted = [number for number, step in enumerate(steps) if int(step["pc"], 16) == store]
    subprocess.run([common.TRACEWELL, "convert", "--at", f"{store:#x},0x401016", "squares.jsonl",
                    "slice.tf"], cwd=work, check=True, capture_output=True)
    seen = common.gdb(work, SLICE.format(trace=str(work / "slice.tf"), names=NAMES))
    registers, expected = {}, []
    for step in steps:
        now = registers.setdefault(step["tid"], {})
        now.update(step["before"])
        if int(step["pc"], 16) in (store, 0x401016):
            expected.append([now[name] for name in NAMES])
        now.update(step["registers"])
    common.same(seen["frames"], expected, "frames")
    first = steps[wanted[0]]["memory"][0]
    common.same(seen["old"], str(int(first["old"], 16)), "what was there before the first store")
    numbers = dict(re.findall(r"^(\d+) +tracepoint .* 0x0*(\w+)", seen["defined"], re.M))
    common.same(numbers, {"1": "40100c", "2": "401016"}, "tracepoints as GDB numbers them")
    common.same("tracepoint 1\n" in seen["first"] + "\n", True, seen["first"])
    common.same("tracepoint 2\n" in seen["second"] + "\n", True, seen["second"])
    dumped = re.search(r"^rip +(\w+)", seen["dump"], re.M)
    common.same(dumped and int(dumped[1], 16), store, "the registers of tdump: " + seen["dump"])
    everything = subprocess.run([common.TRACEWELL, "convert", "--from", "3", "--to", "7",
                                 "squares.jsonl", "range.tf"], cwd=work, capture_output=True)
    common.same(everything.returncode, 0, everything.stderr)
    info = subprocess.run([common.TRACEWELL, "info", "--json", "range.tf"], cwd=work,
                          capture_output=True, text=True, check=True)
    common.same(json.loads(info.stdout)["records"], 5, "a frame of each step of a range")


def the_next_one_begins_anew(work, steps):
    """Not where the first debugger has left it, and without its breakpoints."""
    number = next(at for at, step in enumerate(steps) if step["tid"] != steps[0]["tid"]) + 2
    with common.replay(work, work / "squares.trace64") as comm:
        script = f'''
            run("target remote {comm}")
            run("set breakpoint always-inserted on")
            said = [run("break *{steps[-2]["pc"]}"), run("monitor goto {number}")]
            run("disconnect")
            run("target remote {comm}")
            run("delete")
            said += [gdb.selected_thread().ptid[1], run("output/x $pc"), run("continue")]
            result(said + [run("monitor where")])
        '''
        said = common.gdb(work, script)
    common.same(said[2:4], [steps[0]["tid"], steps[0]["pc"]], f"found: {said}")
    common.same(said[5].split()[2], str(len(steps) - 1), f"no breakpoint of the first: {said}")


def main():
    common.need("gdb")
    with common.folder() as work:
        steps = sample(work)
        the_next_one_begins_anew(work, steps)
        page(work)
        for trace in ("squares.trace64", "squares.jsonl"):
            every_moment(work, str(work / trace), steps)
        slices(work, steps)


main()
