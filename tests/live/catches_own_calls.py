#!/usr/bin/env python3
"""`catch syscall` in GDB tells of the program's system calls. Those that hits of fast tracepoints
make in its threads, such as to read memory that may be gone, are not told of."""
# timeout: 120

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from trace_common import INFERIORS, check, folder, gdb, need, same, serve  # noqa: E402

DEFINITIONS = """
trace hit
actions
collect *page
end
"""

SCRIPT = """
run("target remote %(remote)s")
said = [run("source %(definitions)s")]
run("break begin")
run("continue")
said += [run("catch syscall"), run("tstart")]
calls = []
while gdb.selected_inferior().pid != 0 and len(calls) < 2000:
    calls.append(int(gdb.parse_and_eval("$orig_rax")))
    run("continue")
result({"said": said + [run("tstatus")], "calls": calls, "end": run("print $_exitcode")})
"""

# By their numbers (arch/x86/entry/syscalls/syscall_64.tbl).
MMAP, MUNMAP, EXIT_GROUP = 9, 11, 231
PAGES = 50


def main():
    need("gdb")
    with folder() as work, serve("--once", INFERIORS / "fresh_pages") as remote:
        definitions = work / "definitions"
        definitions.write_text(DEFINITIONS)
        told = gdb(work, SCRIPT % {"remote": remote, "definitions": definitions},
                   INFERIORS / "fresh_pages")
    check(told["end"].endswith("= 0\n"), told)
    # Where it stood before the first one; each at its entry and its return.
    same(told["calls"][1:], [MMAP, MMAP, MUNMAP, MUNMAP] * PAGES + [EXIT_GROUP],
         f"calls, with {told['said']}")


main()
