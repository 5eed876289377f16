#!/usr/bin/env python3
"""The process that traces is among the last that the kernel kills for want of memory, where it may
be; the program that it starts is not."""

import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from rsp_client import status  # noqa: E402
from trace_common import INFERIORS, TRACEWELL, listening, same  # noqa: E402


def score(pid):
    return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())


def may_lower():
    before = score(os.getpid())
    try:
        pathlib.Path("/proc/self/oom_score_adj").write_text(str(before - 1))
    except PermissionError:
        return False
    pathlib.Path("/proc/self/oom_score_adj").write_text(str(before))
    return True


def served(plain, traces):
    """The server begins with the score `plain`; its process that traces has that of `traces`."""
    raised = ["sh", "-c", f'echo {plain} > /proc/self/oom_score_adj; exec "$@"', "sh"]
    with listening([*raised, TRACEWELL, "serve", "localhost:0", str(INFERIORS / "busy_leader"),
                    "1"]) as server:
        pid = int(re.search(r"pid = (\d+)", server.said)[1])
        same(score(int(status(pid, "TracerPid"))), traces, "the process that traces")
        same(score(pid), plain, "the program")
        same(score(server.pid), plain, "the server that the user sees")


def main():
    plain = score(os.getpid())
    lowered = may_lower()
    served(plain, -900 if lowered else plain)
    served(plain + 500, -900 if lowered else max(plain, 0))


main()
