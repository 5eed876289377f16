"""What the tests of `tracewell replay` share: programs, recordings, servers, and GDB with a script.

Not a test itself (not executable).
"""

import atexit
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

SOURCE = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
TRACEWELL = str(pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell")
PROGRAM = SOURCE / "tests/live/replay_program.c"


def need(*programs):
    """Fails when a program of the machine is missing: nothing would be tested without it."""
    for program in programs:
        if not shutil.which(program):
            sys.exit(f"{program} is not installed")
    if "gdbserver" in programs and " amx_tile" in pathlib.Path("/proc/cpuinfo").read_text():
        mend_gdbserver()


def mend_gdbserver():
    """Those that are started from now on have wide_xstate.c in them."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    library = f"{folder}/wide_xstate.so"
    source = pathlib.Path(__file__).with_name("wide_xstate.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    wrapper = pathlib.Path(folder, "gdbserver")
    wrapper.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {shutil.which("gdbserver")} "$@"\n')
    wrapper.chmod(0o700)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def check(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def same(got, expected, what):
    check(got == expected, f"{what}\n  got      {got!r}\n  expected {expected!r}")


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="replay-") as path:
        yield pathlib.Path(path)


def compile_program(work, name, *flags):
    path = work / name
    subprocess.run(["gcc", "-g", "-O0", *flags, str(PROGRAM), "-o", str(path)], check=True)
    return path


def line_of(mark):
    """The number of the program's line that holds /* mark */."""
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise KeyError(mark)


def fast_option():
    """Of `serve`: which tracepoints are fast. A test may set it in its environment."""
    mode = os.environ.get("TRACEWELL_FAST")
    return ["--fast-tracepoints", mode] if mode else []


# On a machine that is busy or slow a server may take longer to begin than GDB waits for an answer
# by itself: 2 seconds.
PATIENT = ["-iex", "set remotetimeout 60"]


def gdb(work, script, *arguments, program="gdb", timeout=100):
    """Runs `script` (Python, inside GDB); returns what it passed to result()."""
    out = work / "gdb-result.json"
    out.unlink(missing_ok=True)
    prelude = textwrap.dedent(
        f"""
        import gdb, json
        def run(command):
            try:
                return gdb.execute(command, to_string=True)
            except gdb.error as error:
                return "error: " + str(error)
        def result(value):
            json.dump(value, open({str(out)!r}, "w"))
        for setting in ("pagination off", "confirm off", "width 0", "style enabled off",
                        "print entry-values no", "print address on", "auto-load no"):
            run("set " + setting)
        """
    )
    path = work / "script.py"
    path.write_text(prelude + textwrap.dedent(script))
    words = [program, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", *PATIENT, "-x",
             str(path)]
    done = subprocess.run(
        words + [str(argument) for argument in arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
    )
    if not out.exists():
        print(done.stdout, done.stderr, sep="\n")
        check(False, f"{program} came to no result")
    return json.loads(out.read_text())


@contextlib.contextmanager
def listening(words, wait_for="Listening on"):
    """Runs a server and waits until it says that it listens."""
    server = subprocess.Popen(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = []
        for line in server.stdout:
            said.append(line)
            if wait_for in line:
                break
        else:
            check(False, f"{words[0]} did not listen: {''.join(said)}")
        server.said = "".join(said)
        yield server
    finally:
        server.terminate()
        server.stdout.close()
        server.wait(timeout=30)


@contextlib.contextmanager
def replay(work, trace, *options):
    """`tracewell replay`; yields what GDB's `target remote` takes."""
    socket = work / "socket"
    with listening([TRACEWELL, "replay", *options, trace, f"unix:{socket}"]) as server:
        socket_name = str(socket)
        yield socket_name
        if server.poll() is not None:
            check(server.returncode == 0, f"the server ended with {server.returncode}")


# `actions` reads its lines from a command file only, not from what Python executes. Tracing begins
# at main: gdbserver refuses what GDB downloads again when libraries are loaded.
RECORD = """
target remote localhost:%(port)s
break main
continue
set trace-buffer-size 1000000
tvariable $hits = 0
trace leaf
actions
collect $regs, $args, counter, local
teval $hits = $hits + 1
collect $hits
end
trace middle if n != 3
actions
collect n
collect second
end
trace %(leaves)d
actions
collect $regs, sum, *where
while-stepping 2
collect $rsp, counter
end
end
break %(done)d
tstart some notes
continue
tstop the end
tsave %(trace)s
kill
"""


def record(work, executable, trace):
    """Lets gdbserver trace the program and stock GDB save the trace."""
    with listening(["gdbserver", "--once", "localhost:0", executable]) as server:
        port = server.said.split("Listening on port ")[1].split()[0]
        values = {
            "port": port,
            "leaves": line_of("leaves middle"),
            "done": line_of("done"),
            "trace": trace,
        }
        commands = work / "record.gdb"
        commands.write_text(RECORD % values)
        gdb(work, f"gdb.execute('source {commands}', to_string=True)\nresult(True)", executable)


def frames(trace):
    """The trace's frames, as `tracewell print` tells them."""
    words = [TRACEWELL, "print", "--format", "jsonl", str(trace)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event for event in events if event.get("kind") == "frame"]
