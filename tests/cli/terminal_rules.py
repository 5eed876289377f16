#!/usr/bin/env python3
"""What goes to a terminal, by whatever name it is written: no binary format, and colours by
themselves. What goes to a file while a terminal is standard output is neither refused nor has it
colours."""

import os
import pathlib
import subprocess
import sys
import tempfile

TRACEWELL = str(pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell")
SOURCE = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
STEPS = str(SOURCE / "tests/cli/steps.jsonl")
HOOKS = str(SOURCE / "tests/cli/hooks.jsonl")
failures = 0


def check(good, what):
    global failures
    if not good:
        print(f"FAIL: {what}")
        failures += 1


def on_terminal(*words):
    """The exit status of the command whose standard output is a terminal, and what it printed."""
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    words = [name if word == "TTY" else word for word in words]
    with subprocess.Popen([TRACEWELL, *words], stdout=theirs, stderr=subprocess.PIPE,
                          env={**os.environ, "TERM": "xterm", "TZ": "UTC"}) as run:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # EIO: nobody has the other end any more
                break
            if not piece:
                break
            text += piece
        errors = run.stderr.read().decode()
    os.close(ours)
    return run.returncode, text, errors


os.environ.pop("NO_COLOR", None)
with tempfile.TemporaryDirectory() as folder:
    for name in ("-", "/dev/stdout", "TTY"):
        code, text, errors = on_terminal("convert", STEPS, "--format", "trace64", name)
        check(code == 2 and not text and "not written to a terminal" in errors,
              f"convert -o {name}: {code} {text[:40]} {errors}")
        code, text, errors = on_terminal("report", "-r", HOOKS, "-o", name)
        check(code == 2 and not text and "not written to a terminal" in errors,
              f"report -r -o {name}: {code} {text[:40]} {errors}")
        code, text, errors = on_terminal("report", HOOKS, "-o", name)
        check(code == 0 and b"\x1b[" in text, f"report -o {name} is coloured: {code} {errors}")
        os.environ["NO_COLOR"] = "1"
        code, text, errors = on_terminal("report", HOOKS, "-o", name)
        check(code == 0 and text and b"\x1b[" not in text, f"report -o {name} with NO_COLOR")
        del os.environ["NO_COLOR"]
    trace, report = f"{folder}/t.trace64", f"{folder}/report"
    code, text, errors = on_terminal("convert", STEPS, "--format", "trace64", trace)
    check(code == 0 and os.path.getsize(trace) > 0, f"convert into a file: {code} {errors}")
    code, text, errors = on_terminal("report", HOOKS, "-o", report)
    with open(report, "rb") as file:
        written = file.read()
    check(code == 0 and written and b"\x1b[" not in written, f"report into a file: {errors}")
sys.exit(failures != 0)
