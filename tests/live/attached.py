"""A program that says when it is ready and ends with its input, and a debugger's connection to a
server that is attached to it.

Not a test itself (not executable).
"""

import contextlib
import subprocess

from rsp_client import Client
from serve_common import same, server

READY = "ready\n"


@contextlib.contextmanager
def program(*words, unable=None, **more):
    """Starts it. Yields it once it is ready; None if it ends with the status `unable` before.
    Behind that it gets the end of its input, and ends with 0."""
    with subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, **more) as running:
        try:
            said = running.stdout.readline()
            if said != READY and unable is not None:
                same(running.wait(timeout=60), unable, "what cannot be done here")
                yield None
                return
            same(said, READY, "it is there")
            yield running
            running.stdin.close()
            same(running.wait(timeout=60), 0, "the program's own end")
        finally:
            running.kill()


@contextlib.contextmanager
def attached(pid, *options):
    """Yields (client, server). The server ends when the block does."""
    with server(*options, "--attach", "localhost:0", str(pid)) as running:
        yield Client(int(running.wait_for(r"Listening on port (\d+)").group(1))), running


def fast(which):
    return ("--fast-tracepoints", which)
