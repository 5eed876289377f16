#!/usr/bin/env python3
"""`catch syscall`, `catch load`, thread-local variables, thread events, names of threads and
signals at `detach`: stock GDB must show the same through gdbserver and through `serve`."""
# timeout: 240

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import serve_common  # noqa: E402
from rsp_client import Client, serving  # noqa: E402
from serve_common import AS_GDBSERVER, check, folder, gdb, need, on_port, same  # noqa: E402

PROGRAM = serve_common.INFERIORS / "daily"
SOURCE = serve_common.SOURCE_FOLDER / "tests/inferiors/daily.c"

SCRIPT = """
shown = []
stops = []
def on_stop(event):
    # GDB shows the reason on its terminal only.
    what = [point.number for point in getattr(event, "breakpoints", [])]
    stops.append("%%s %%s" %% (type(event).__name__, what))
gdb.events.stop.connect(on_stop)
def on_exit(event):
    stops.append("exited %%s" %% getattr(event, "exit_code", ""))
gdb.events.exited.connect(on_exit)
def show(command):
    text = run(command)
    if stops:
        text += "; ".join(stops) + " call " + run("output/x $orig_rax")
        text += " entry " + run("output $rax == -38")
        stops.clear()
    shown.append([command, text])
run("target extended-remote %(remote)s")
for command in %(commands)r:
    show(command)
result(shown)
"""

CALLS = [
    "break %(start)d", "continue", "catch syscall getppid", "catch syscall getuid",
    "info breakpoints", "continue", "continue", "continue", "print $rax > 0", "continue",
    "delete", "catch syscall getpriority", "continue", "continue", "print $rax",
    "catch syscall exit_group", "continue", "continue"]
ALL_CALLS = ["break %(start)d", "continue", "catch syscall"] + 9 * ["continue"] + [
    "delete", "catch syscall group:process", "continue"]
# Threads too, and those that they start.
THREADS = ["handle SIGUSR1 nostop noprint pass", "break %(start)d", "continue",
           "catch syscall clone3", "continue", "continue", "continue", "continue",
           "print $_inferior_thread_count", "delete", "catch syscall tgkill",
           "continue", "delete", "break daily.c:%(joined)d", "continue",
           "print $_inferior_thread_count", "print total", "print handled", "delete", "continue"]
FORKS = ["set follow-fork-mode child", "break %(start)d", "continue", "catch syscall getuid",
         "continue", "continue", "break daily.c:work if i == 7", "continue", "print i", "continue"]
LOCALS = ["break %(before)d", "continue", "print own", "print zeroed", "print &own != 0",
          "thread apply all -q print own", "thread apply all -q print zeroed",
          "print in_library", "break daily.c:%(loaded)d", "continue",
          "thread apply all -q print own", "print in_library",
          "set var own = 7", "print own", "thread 2", "print own", "print in_library",
          "thread 3", "print in_library", "print own", "print errno", "delete", "continue"]
# The catch is met while the loader is at work: the program has not got what dlopen() returns.
LOADS = ["break daily.c:%(before)d", "continue", "catch load libdaily", "catch load no_such",
         "info breakpoints", "continue", "print 'daily.c'::library_own",
         "info sharedlibrary libdaily", "frame function locals", "continue", "print own"]
NAMES = ["break daily.c:%(started)d", "continue",
         "python print(sorted(one.name for one in gdb.selected_inferior().threads()))",
         "thread name mine", "python print(gdb.selected_thread().name)", "delete",
         "handle SIGUSR1 nostop noprint pass", "continue"]
# What must be shown besides: equally wrong is no better.
SHOWN = {
    ("loads", LOADS[6]): "$1 = (int *(*)(void)) 0x0\n",
    ("names", NAMES[2]): str(["daily"] + [f"worker {i}" for i in range(1, 5)]) + "\n",
}


def places():
    found = {}
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        for mark in re.findall(r"/\* (\w+) \*/", line):
            found[mark] = number
    return found


def without_accidents(text):
    text = re.sub(r"\[(New|Switching to) Thread .*\n", "", text)
    text = re.sub(r"localhost:\d+", "REMOTE", text)
    text = re.sub(r"Thread (0x[0-9a-f]+ \(LWP \d+\)|\d+\.\d+)", "Thread T", text)
    text = re.sub(r"\b\d{3,}(\.\d+)?\b", "ID", text)
    return re.sub(" {2,}", " ", text)


def session(program, argument, commands):
    with folder() as work, on_port(PROGRAM, argument, program=program) as server:
        filled = [command % places() if "%(" in command else command for command in commands]
        shown = gdb(work, SCRIPT % {"remote": server.remote, "commands": filled}, PROGRAM)
    return [[command, without_accidents(text)] for command, text in shown]


SESSIONS = {
    "calls": ("calls", CALLS),
    "all calls": ("calls", ALL_CALLS),
    "calls of threads": ("threads", THREADS),
    "calls of children": ("forks", FORKS),
    "locals": ("locals", LOCALS),
    "loads": ("locals", LOADS),
    "names": ("threads", NAMES),
}


def left_alone(program, how):
    """What a program sees of a signal that has stopped it, when GDB leaves."""
    commands = [f"handle SIGUSR1 stop print {how}", "continue", "detach"]
    with folder() as work, on_port(PROGRAM, "signals", program=program) as server:
        gdb(work, SCRIPT % {"remote": server.remote, "commands": commands}, PROGRAM)
        return server.wait_for(r"handled (\d)").group(1)


def tells_of_threads():
    """GDB asks for thread events in non-stop mode alone. (All-stop, gdbserver dies of the first
    thread's end, and GDB 13 forgets to let the others run on.)"""
    with serving("localhost:0", PROGRAM, "stays") as (_, port, _):
        client = Client(port)
        client.ask("QThreadEvents:1")
        client.ask("QPassSignals:1e")  # SIGUSR1
        told = [client.ask("vCont;c", None) for _ in range(8)]
    created = [re.search("thread:([0-9a-f]+)", one)[1] for one in told if "create:" in one]
    ended = [one.split(";")[1] for one in told if one.startswith("w00;")]
    same(len(created), 4, f"threads that began: {told}")
    same(sorted(ended), sorted(created), f"threads that ended: {told}")


def ends_with_threads():
    """Ends of threads that come with the end of their process."""
    with serving("localhost:0", PROGRAM, "threads") as (_, port, _):
        client = Client(port)
        client.ask("QThreadEvents:1")
        client.ask("QPassSignals:1e")
        told = [""]
        while told[-1][:1] != "W":
            told.append(client.ask("vCont;c", None))
            check(told[-1][0] in "TwW", f"what was told: {told}")
    same(told[-1], "W01", "the end of the process")


need("gdb", "gdbserver")
tells_of_threads()
for _ in range(5):
    ends_with_threads()
for how, seen in ("pass", "1"), ("nopass", "0"):
    same(left_alone(AS_GDBSERVER, how), seen, f"detach at a signal: {how}")
    same(left_alone(["gdbserver"], how), seen, f"gdbserver: detach at a signal: {how}")
for name, (argument, commands) in SESSIONS.items():
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    ours = session(AS_GDBSERVER, argument, commands)
    theirs = session(["gdbserver"], argument, commands)
    for mine, other in zip(ours, theirs):
        same(mine, other, f"{name}: {mine[0]}")
        same(mine[1], SHOWN.get((name, mine[0]), mine[1]), f"{name}: {mine[0]}")
    print(f"{name}: {len(ours)} commands agree")
