#!/usr/bin/env python3
# timeout: 120
"""A trace file whose tracepoints used `collect/s`: stock GDB fails to open what it saved itself
(the frames are there, the tracepoints not), and sees it whole through replay."""

import sys

sys.dont_write_bytecode = True

import replay_common as common

RECORD = """
target remote localhost:{port}
break main
continue
trace leaf
actions
collect/s text
collect n
end
break {done}
tstart
continue
tstop
tsave {trace}
kill
"""

LOOK = """
connected = run({connect!r})
texts = []
while len(texts) < 20 and "Found" in run("tfind %d" % len(texts)):
    texts.append([run("output n"), run("output text")])
result({{"connected": connected, "texts": texts, "actions": run("info tracepoints")}})
"""


def record(work, program, trace):
    with common.listening(["gdbserver", "--once", "localhost:0", program]) as server:
        port = server.said.split("Listening on port ")[1].split()[0]
        commands = work / "record.gdb"
        commands.write_text(RECORD.format(port=port, done=common.line_of("done"), trace=trace))
        common.gdb(work, f"gdb.execute('source {commands}', to_string=True)\nresult(True)", program)


def main():
    common.need("gdb", "gdbserver", "gcc")
    with common.folder() as work:
        program = common.compile_program(work, "strings", "-no-pie", "-fno-pie")
        trace = work / "strings.tfile"
        record(work, program, trace)
        by_gdb = common.gdb(work, LOOK.format(connect=f"target tfile {trace}"), program)
        common.check("error" in by_gdb["connected"],
                     f"GDB opens it by now: say so in the documents; {by_gdb}")
        with common.replay(work, trace) as comm:
            by_us = common.gdb(work, LOOK.format(connect=f"target remote {comm}"), program)
        words = ("zero", "one", "two", "three")
        common.same([number for number, _ in by_us["texts"]], [str(n) for n in range(12)], "n")
        for n, (_, text) in enumerate(by_us["texts"]):
            common.check(f'"{words[n % 4]}"' in text, f"frame {n}: {text}")
        common.check("collect/s text" in by_us["actions"], by_us["actions"])


main()
