"""What the live tests of tracepoints share: a program under `serve`, and GDB with a script.

Not a test itself (not executable).
"""

import contextlib
import os
import pathlib
import re

from replay_common import TRACEWELL, check, folder, gdb, listening, need, same  # noqa: F401

INFERIORS = pathlib.Path(os.environ["TRACEWELL_INFERIORS"])
SOURCES = pathlib.Path(os.environ["TRACEWELL_SOURCE"]) / "tests/inferiors"


def line_of(source, mark):
    """The number of the line of an inferior's source that holds /* mark */."""
    for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise KeyError(mark)


@contextlib.contextmanager
def serve(*words):
    """`tracewell serve` on a free port; yields what GDB's `target remote` takes."""
    with listening([TRACEWELL, "serve", *words[:-1], "localhost:0", words[-1]]) as server:
        port = re.search(r"Listening on port (\d+)", server.said)
        check(port, f"no port in {server.said!r}")
        yield f"localhost:{port.group(1)}"
